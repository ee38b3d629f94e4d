/** `import FILE`: uploads a WARC file, and waits until it is indexed. */
import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import { harmless, type Terminal } from "../terminal.ts";
import { settled } from "../watch-job.ts";

interface Upload {
  id: string;
  uploadUrl: string;
  headers: Record<string, string>;
}

interface Import {
  status: "announced" | "pending" | "running" | "completed" | "failed";
  error: string | null;
  captures: number;
  documents: number;
  danglingRevisits: number;
  signature: { outcome: string; reason: string | null; signer: string | null } | null;
  complaintCount: number;
  complaints: { code: string; message: string; offset: number; url: string | null }[];
}

const SHOWN_COMPLAINTS = 20;

export async function importWarc(
  api: ApiClient,
  terminal: Terminal,
  file: string,
  { json, source }: { json?: true; source?: string },
): Promise<number> {
  const { bytes, sha256 } = await describe(file);
  const upload = await api<Upload>("POST", "/api/admin/warcs", { filename: basename(file), bytes, sha256, source });
  await send(file, upload);
  const done = await settled(() => api<Import>("GET", `/api/admin/warcs/${upload.id}`));
  if (json) terminal.line(JSON.stringify(done, null, 2));
  else show(terminal, done);
  return done.status === "completed" ? EXIT.done : EXIT.failed;
}

export async function describe(file: string): Promise<{ bytes: number; sha256: string }> {
  const { bytes, sha256 } = await read(file);
  if (bytes === 0) throw new CliError(`${file} is empty: there is nothing to import`, EXIT.usage);
  return { bytes, sha256 };
}

async function read(file: string): Promise<{ bytes: number; sha256: string }> {
  try {
    const { size } = await stat(file);
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    return { bytes: size, sha256: hash.digest("hex") };
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`, EXIT.usage);
  }
}

/** @throws CliError where the storage does not take it */
export async function send(file: string, { uploadUrl, headers }: Pick<Upload, "uploadUrl" | "headers">): Promise<void> {
  const answer = await fetch(uploadUrl, { method: "PUT", headers, body: await openAsBlob(file) }).catch(
    (error: unknown) => {
      throw new CliError(`${file} could not be uploaded: ${(error as Error).message}`, EXIT.unreachable);
    },
  );
  if (answer.ok) return;
  const said = (await answer.text()).slice(0, 500);
  throw new CliError(`${file} could not be uploaded: ${answer.status} ${harmless(said)}`, EXIT.failed);
}

function show(terminal: Terminal, done: Import): void {
  const { captures, documents, danglingRevisits, complaintCount, complaints, error, signature } = done;
  for (const { offset, code, message, url } of complaints.slice(0, SHOWN_COMPLAINTS)) {
    terminal.line(harmless(`at ${offset}: ${code}: ${message}${url === null ? "" : ` (${url})`}`));
  }
  if (complaintCount > SHOWN_COMPLAINTS) terminal.line(`and ${complaintCount - SHOWN_COMPLAINTS} more (--json)`);
  if (signature && signature.outcome !== "unsigned") {
    const { outcome, reason, signer } = signature;
    const by = signer === null ? "" : ` of ${signer}`;
    terminal.line(harmless(`its signature${by} is ${outcome}${reason === null ? "" : `: ${reason}`}`));
  }
  if (error !== null) terminal.line(harmless(error));
  const dangling = danglingRevisits === 0 ? "" : `, ${danglingRevisits} revisits without their original`;
  terminal.line(`${captures} captures, ${documents} searchable pages${dangling}, ${complaintCount} complaints`);
}
