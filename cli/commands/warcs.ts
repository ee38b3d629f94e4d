/** `warcs`: the WARC files of the archive listed, and `verify-warcs`, `consolidate-warcs` and `clean-warcs`. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import { harmless, type Terminal } from "../terminal.ts";
import { settled } from "../watch-job.ts";

interface WarcFile {
  key: string;
  bytes: number;
  sha256: string | null;
  captures: number;
  mergedInto: string | null;
}

interface Files {
  items: WarcFile[];
  next_cursor: string | null;
}

interface Run {
  id: string;
  status: "pending" | "running" | "completed" | "failed";
  error: string | null;
  counts: Record<string, number>;
  faultCount: number;
  faults: { key: string; code: string; message: string; offset: number | null }[];
}

const AT_ONCE = 1000;

/**
 * The manifest: a line for each file, as `sha256sum` writes it, with its size and its captures; with `json` a line for
 * each of the API's answers.
 */
export async function listWarcs(
  api: ApiClient,
  terminal: Terminal,
  { unused, json }: { unused?: true; json?: true },
): Promise<number> {
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = new URLSearchParams({ limit: String(AT_ONCE), ...(unused && { unused: "true" }) });
    if (cursor !== "") query.set("cursor", cursor);
    const page: Files = await api<Files>("GET", `/api/admin/warc-files?${query}`);
    if (json) terminal.line(JSON.stringify(page));
    else for (const file of page.items) terminal.line(lineOf(file));
    cursor = page.next_cursor;
  }
  return EXIT.done;
}

const lineOf = ({ sha256, key, bytes, captures, mergedInto }: WarcFile): string => {
  const copied = mergedInto === null ? "" : `, copied into ${harmless(mergedInto)}`;
  return `${sha256 ?? "-".repeat(64)}  ${harmless(key)}  ${bytes} bytes, ${captures} captures${copied}`;
};

export async function runOnWarcs(
  api: ApiClient,
  terminal: Terminal,
  request: Record<string, unknown>,
  { json }: { json?: true },
): Promise<number> {
  const { id } = await api<Run>("POST", "/api/admin/warc-runs", request);
  const done = await settled(() => api<Run>("GET", `/api/admin/warc-runs/${id}`));
  if (json) terminal.line(JSON.stringify(done, null, 2));
  else show(terminal, done);
  return done.status === "completed" && done.faultCount === 0 ? EXIT.done : EXIT.failed;
}

function show(terminal: Terminal, { counts, faults, faultCount, error }: Run): void {
  for (const { key, code, message, offset } of faults) {
    terminal.line(harmless(`${key}${offset === null ? "" : ` at ${offset}`}: ${code}: ${message}`));
  }
  if (faultCount > faults.length) terminal.line(`and ${faultCount - faults.length} more`);
  if (error !== null) terminal.line(harmless(error));
  const done = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  terminal.line([...done, `${faultCount} faults`].join(", "));
}
