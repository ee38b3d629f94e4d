/** `generations` listed, activated and compared. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";

interface Generation {
  id: string;
  hosts: string[];
  is_whole: boolean;
  state: string;
  documents: number;
  visible_documents: number;
  activated_at: string;
}

interface ChangedPage {
  url: string;
  change: "added" | "removed" | "changed";
  difference: { hunks: { from: number; to: number; lines: [string, string][] }[] } | null;
}

export interface GenerationListOptions {
  host?: string;
  collection?: string;
  limit: number;
  json?: true;
}

export async function listGenerations(
  api: ApiClient,
  terminal: Terminal,
  { host, collection, limit, json }: GenerationListOptions,
): Promise<number> {
  const query = new URLSearchParams({ limit: String(Math.min(limit, 200)) });
  if (host !== undefined) query.set("host", host);
  if (collection !== undefined) query.set("collection_id", collection);
  const page = await api<Page<Generation>>("GET", `/api/v1/generations?${query}`);
  if (json) terminal.line(JSON.stringify(page, null, 2));
  else for (const each of page.items) terminal.line(lineOf(each));
  return EXIT.done;
}

function lineOf({ id, hosts, is_whole, state, documents, visible_documents, activated_at }: Generation): string {
  const of = is_whole ? "site" : "pages";
  const shown = `${visible_documents}/${documents} visible`;
  return harmless(`${id}  ${state.padEnd(7)}  ${activated_at.slice(0, 16)}  ${of}  ${shown}  ${hosts.join(" ")}`);
}

export async function activateGeneration(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { json }: { json?: true },
): Promise<number> {
  const generation = await api<Generation>("POST", `/api/v1/generations/${encodeURIComponent(id)}/activate`);
  terminal.line(json ? JSON.stringify(generation, null, 2) : lineOf(generation));
  return EXIT.done;
}

const MARKS = { added: "+", removed: "-", changed: "~" } as const;

/** All pages, however many: an object a line as JSON. */
export async function diffGenerations(
  api: ApiClient,
  terminal: Terminal,
  [from, to]: readonly [string, string],
  { text, json }: { text?: true; json?: true },
): Promise<number> {
  const path = `/api/v1/generations/${encodeURIComponent(from)}/diff/${encodeURIComponent(to)}`;
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams({ text: String(text === true), ...(cursor === null ? {} : { cursor }) });
    const page: Page<ChangedPage> = await api<Page<ChangedPage>>("GET", `${path}?${query}`);
    for (const each of page.items) {
      if (json) terminal.line(JSON.stringify(each));
      else for (const line of linesOf(each)) terminal.line(harmless(line));
    }
    cursor = page.next_cursor;
    if (cursor === null) return EXIT.done;
  }
}

function linesOf({ url, change, difference }: ChangedPage): string[] {
  const hunks = (difference?.hunks ?? []).flatMap(({ from, to, lines }) => [
    `    @@ -${from} +${to} @@`,
    ...lines.map(([mark, line]) => `    ${mark === "=" ? " " : mark} ${line}`),
  ]);
  return [`${MARKS[change]} ${url}`, ...hunks];
}
