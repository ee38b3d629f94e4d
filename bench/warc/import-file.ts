/** WARC files imported from end to end by a runtime of its own: what that takes, and what AWS would ask for it. */
import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { labelledDigest } from "../../shared/capture/digest.ts";
import { newRecordId, responseRecord } from "../../shared/capture/warc-record.ts";
import { type Instance, startInstance } from "../../test/services/instance.ts";
import { memoryMb } from "../../test/services/processes.ts";

/** Beside each page: pictures, which compress no further. */
const PICTURES = 3;
const PICTURE_BYTES = 80 * 1024;
const PAGE_WORDS = 1_500;

/** @returns how many records there are */
export async function writeSite(file: string, bytes: number): Promise<number> {
  const handle = await open(file, "w");
  const random = randomOf(42);
  let [written, records] = [0, 0];
  try {
    for (let page = 0; written < bytes; page++) {
      const words = Array.from({ length: PAGE_WORDS }, () => `word${Math.floor(random() ** 3 * 20_000)}`);
      const html = `<title>Page ${page}</title><main><h1>Page ${page}</h1><p>${words.join(" ")}</p></main>`;
      written += await write(handle, `pages/${page}`, "text/html", Buffer.from(html));
      for (let picture = 0; picture < PICTURES; picture++) {
        const noise = Buffer.alloc(PICTURE_BYTES);
        for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE(random() * 2 ** 32, at);
        written += await write(handle, `pictures/${page}-${picture}.jpg`, "image/jpeg", noise);
      }
      records += 1 + PICTURES;
    }
  } finally {
    await handle.close();
  }
  return records;
}

async function write(handle: FileHandle, path: string, type: string, body: Buffer): Promise<number> {
  const head = { startLine: "HTTP/1.1 200 OK", headers: [["Content-Type", type]] as [string, string][] };
  const options = { url: `https://site.example/${path}`, date: Date.UTC(2026, 0, 1), recordId: newRecordId() };
  const member = await responseRecord({ ...head, body }, labelledDigest(body), options);
  await handle.write(member);
  return member.length;
}

/** Numbers from 0 to 1, the same ones each time (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface ImportFigures {
  seconds: number;
  /** Of AWS: requests and time of functions. */
  usd: number;
  captures: number;
  documents: number;
  /** Of the runtime's process, all functions included, so far. */
  peakMb: number;
  /** Messages and invocations of the function that indexes. */
  slices: number;
}

interface Import {
  status: string;
  error: string | null;
  captures: number;
  documents: number;
  complaintCount: number;
}

interface Usage {
  totalUsd: number;
  functions: Record<string, { invocations: number }>;
}

export async function withImporter<T>(
  work: (importFile: (file: string) => Promise<ImportFigures>) => Promise<T>,
): Promise<T> {
  const instance = await startInstance({ env: { EMBEDDER__PROVIDER: "none" } });
  try {
    return await work((file) => importFile(instance, file));
  } finally {
    await instance.stop();
  }
}

type CallError = Error & { status?: number; cause?: { code?: string } };

async function importFile(instance: Instance, file: string): Promise<ImportFigures> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  const usage = () => instance.call<Usage>("GET", "/_local/usage");
  const slicesOf = ({ functions }: Usage) => functions["warc-index"]?.invocations ?? 0;
  const before = await usage();
  const started = performance.now();
  const announced = { filename: "site.warc.gz", bytes: (await stat(file)).size, sha256: hash.digest("hex") };
  const { id, uploadUrl, headers } = await instance.call<{
    id: string;
    uploadUrl: string;
    headers: Record<string, string>;
  }>("POST", "/api/admin/warcs", announced);
  const sent = await fetch(uploadUrl, { method: "PUT", headers, body: await openAsBlob(file) });
  if (!sent.ok) throw new Error(`the upload ended with ${sent.status}: ${await sent.text()}`);
  for (;;) {
    const found = await instance.call<Import>("GET", `/api/admin/warcs/${id}`).catch((error: CallError) => {
      // of a machine that is busy
      if (error.status !== 504 && error.cause?.code !== "ECONNRESET") throw error;
      return undefined;
    });
    if (found === undefined) continue;
    if (found.status === "completed" || found.status === "failed") {
      if (found.status === "failed" || found.complaintCount > 0) throw new Error(JSON.stringify(found));
      const seconds = (performance.now() - started) / 1000;
      const after = await usage();
      return {
        seconds,
        usd: after.totalUsd - before.totalUsd,
        captures: found.captures,
        documents: found.documents,
        peakMb: (await memoryMb(instance.child.pid)).peak,
        slices: slicesOf(after) - slicesOf(before),
      };
    }
    await delay(500);
  }
}
