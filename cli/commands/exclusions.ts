/** `exclusions add|list|revoke`: what the readers of the archive are not shown. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";

interface Exclusion {
  id: string;
  url: string;
  matchType: string;
  embargoDays: number | null;
  reason: string | null;
}

export interface NewExclusionOptions {
  matchType?: string;
  embargoDays?: number;
  reason?: string;
  json?: true;
}

interface Matched {
  matchedCaptures: number;
  matchedMore: boolean;
}

const matchedLine = ({ matchedCaptures, matchedMore }: Matched): string =>
  matchedCaptures === 0
    ? "It matches no capture as of now: those that come later are withheld. If it should, look at its spelling"
    : `It withholds ${matchedMore ? "more than " : ""}${matchedCaptures} captures as of now`;

export async function addExclusion(
  api: ApiClient,
  terminal: Terminal,
  url: string,
  { json, ...options }: NewExclusionOptions,
): Promise<number> {
  const made = await api<Exclusion & Matched>("POST", "/api/admin/exclusions", { url, ...options });
  terminal.line(json ? JSON.stringify(made, null, 2) : lineOf(made));
  if (!json) terminal.line(matchedLine(made));
  return EXIT.done;
}

export async function listExclusions(api: ApiClient, terminal: Terminal, { json }: { json?: true }): Promise<number> {
  const found: Exclusion[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Exclusion> = await api(
      "GET",
      `/api/admin/exclusions?limit=1000${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`,
    );
    found.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  if (json) terminal.line(JSON.stringify(found, null, 2));
  else if (found.length === 0) terminal.line("Nothing is withheld: strandline exclusions add URL does so");
  else for (const each of found) terminal.row(lineOf(each));
  return EXIT.done;
}

export async function revokeExclusion(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { json }: { json?: true },
): Promise<number> {
  const answer = await api<null>("DELETE", `/api/admin/exclusions/${encodeURIComponent(id)}`);
  terminal.line(json ? JSON.stringify(answer) : `The exclusion ${id} is revoked: what it withheld is shown again.`);
  return EXIT.done;
}

const lineOf = ({ id, url, matchType, embargoDays, reason }: Exclusion): string => {
  const age = embargoDays === null ? "" : `  younger than ${embargoDays} days`;
  return `${id}  ${matchType.padEnd(6)}  ${harmless(url)}${age}${reason === null ? "" : `  (${harmless(reason)})`}`;
};
