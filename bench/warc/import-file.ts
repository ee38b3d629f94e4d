/** WARC files imported from end to end by a runtime of its own: what that takes, and what AWS would ask for it. */
import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { settled } from "../../cli/watch-job.ts";
import { type Instance, startInstance } from "../../test/services/instance.ts";
import { memoryMb } from "../../test/services/processes.ts";

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
  /** Of the answers of the API in the meantime. */
  slowestMs: number;
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
  let slowestMs = 0;
  const found = await settled(async () => {
    const asked = performance.now();
    const answer = await instance.call<Import>("GET", `/api/admin/warcs/${id}`);
    slowestMs = Math.max(slowestMs, performance.now() - asked);
    return answer;
  });
  if (found.status === "failed" || found.complaintCount > 0) throw new Error(JSON.stringify(found));
  const seconds = (performance.now() - started) / 1000;
  const after = await usage();
  return {
    seconds,
    slowestMs,
    usd: after.totalUsd - before.totalUsd,
    captures: found.captures,
    documents: found.documents,
    peakMb: (await memoryMb(instance.child.pid)).peak,
    slices: slicesOf(after) - slicesOf(before),
  };
}
