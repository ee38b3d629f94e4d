/**
 * `export`: has a job, or what the archive has of a URL, exported as a WACZ file, waits for it, and downloads it.
 * `exports`: those that were asked for are listed and deleted.
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";
import { settled } from "../watch-job.ts";

interface Export {
  id: string;
  status: "pending" | "running" | "completed" | "failed";
  error: string | null;
  filename: string;
  bytes: number | null;
  sha256: string | null;
  records: number;
  pages: number;
  created_at: string;
  download: { url: string } | null;
}

export interface ExportOptions {
  from?: string;
  to?: string;
  filter?: string[];
  output?: string;
  json?: true;
}

export interface ExportListOptions {
  limit: number;
  json?: true;
}

const JOB_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @param what the id of a job, or a URL pattern */
export async function exportWacz(
  api: ApiClient,
  terminal: Terminal,
  what: string,
  { output, json, ...selection }: ExportOptions,
): Promise<number> {
  const isJob = JOB_ID.test(what);
  if (isJob && Object.keys(selection).length > 0) {
    throw new CliError("--from, --to and --filter are of a URL: a job is exported whole", EXIT.usage);
  }
  const { id } = await api<Export>("POST", "/api/v1/exports", isJob ? { job_id: what } : { url: what, ...selection });
  const done = await settled(() => api<Export>("GET", `/api/v1/exports/${id}`));
  if (done.download === null) {
    terminal.line(json ? JSON.stringify(done, null, 2) : harmless(done.error ?? "The export failed"));
    return EXIT.failed;
  }
  const file = output ?? done.filename;
  await download(done.download.url, file, done.sha256);
  if (json) terminal.line(JSON.stringify(done, null, 2));
  else terminal.line(`${harmless(file)}: ${done.records} records, ${done.pages} pages, ${done.bytes} bytes`);
  return EXIT.done;
}

export async function listExports(
  api: ApiClient,
  terminal: Terminal,
  { limit, json }: ExportListOptions,
): Promise<number> {
  const page = await api<Page<Omit<Export, "download">>>("GET", `/api/v1/exports?limit=${Math.min(limit, 200)}`);
  if (json) terminal.line(JSON.stringify(page, null, 2));
  else if (page.items.length === 0) terminal.line("Nothing was exported yet: strandline export JOB_ID");
  else for (const each of page.items) terminal.row(lineOf(each));
  return EXIT.done;
}

function lineOf({ id, status, filename, bytes, created_at, error }: Omit<Export, "download">): string {
  const became = error ?? (bytes === null ? "" : `${bytes} bytes`);
  return `${id}  ${status.padEnd(9)}  ${created_at}  ${harmless(filename)}  ${harmless(became)}`.trimEnd();
}

export async function deleteExport(api: ApiClient, terminal: Terminal, id: string): Promise<number> {
  await api("DELETE", `/api/v1/exports/${encodeURIComponent(id)}`);
  terminal.line(`Deleted the export ${harmless(id)} with its file`);
  return EXIT.done;
}

async function download(url: string, file: string, sha256: string | null): Promise<void> {
  const answer = await fetch(url).catch((error: unknown) => {
    throw new CliError(`The export could not be downloaded: ${(error as Error).message}`, EXIT.unreachable);
  });
  if (!answer.ok || answer.body === null) {
    throw new CliError(`The export could not be downloaded: status ${answer.status}`, EXIT.failed);
  }
  const hash = createHash("sha256");
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.fromWeb(answer.body as ReadableStream), hashed, createWriteStream(file, { flags: "wx" }));
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${(error as Error).message}`, EXIT.failed);
  }
  if (sha256 !== null && hash.digest("hex") !== sha256) {
    throw new CliError(`${file} did not arrive as it was sent: download it again`, EXIT.failed);
  }
}
