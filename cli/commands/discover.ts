/** `discover SITE`: the URLs that a site's sitemaps and feeds name, one a line. */
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import { hasEnded, type Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";
import { lastOf, watchJob } from "../watch-job.ts";

export interface DiscoverOptions {
  query?: string;
  pattern?: string;
  maxUrls?: number;
  json?: true;
}

interface Discovery {
  status: "pending" | "running" | "completed" | "failed";
  error: string | null;
  /** What went wrong with single lists, and what was left out. */
  notes: { source: string; code: string; message: string; count: number | null }[];
  results: Page<{ url: string }>;
}

const URLS_PER_CALL = 1_000;

/**
 * @param beside where it is said that nothing was found, so that the output holds URLs alone
 * @returns the exit code; with `json` each line is one of the API's answers
 */
export async function discover(
  api: ApiClient,
  terminal: Terminal,
  beside: Terminal,
  domain: string,
  options: DiscoverOptions,
): Promise<number> {
  const { query, pattern, maxUrls, json } = options;
  const wanted = { domain, score_query: query, pattern, max_urls: maxUrls };
  const { job_id } = await api<{ job_id: string }>("POST", "/api/v1/discover", wanted);
  const path = `/api/v1/discover/${job_id}?limit=${URLS_PER_CALL}`;
  let answer = await lastOf(watchJob(() => api<Discovery>("GET", path), hasEnded));
  if (json) return await showAnswers(api, terminal, path, answer);
  if (answer.status === "failed") throw new CliError(answer.error ?? "The discovery failed", EXIT.failed);
  if (answer.results.items.length === 0) explainNothing(beside, answer, options);
  for (;;) {
    const { items, next_cursor } = answer.results;
    for (const item of items) terminal.line(harmless(item.url));
    if (next_cursor === null) return EXIT.done;
    answer = await api<Discovery>("GET", `${path}&cursor=${encodeURIComponent(next_cursor)}`);
  }
}

async function showAnswers(api: ApiClient, terminal: Terminal, path: string, first: Discovery): Promise<number> {
  for (let answer = first; ; ) {
    terminal.line(JSON.stringify(answer));
    const { next_cursor } = answer.results;
    if (next_cursor === null) return answer.status === "failed" ? EXIT.failed : EXIT.done;
    answer = await api<Discovery>("GET", `${path}&cursor=${encodeURIComponent(next_cursor)}`);
  }
}

function explainNothing(beside: Terminal, { notes }: Discovery, { query, pattern }: DiscoverOptions): void {
  beside.line("No URL was found");
  for (const { source, code, message, count } of notes) {
    beside.line(`  ${code}  ${harmless(`${source}: ${message}${count === null ? "" : ` (${count})`}`)}`);
  }
  if (query !== undefined) beside.line("  With --query only URLs are listed that hold enough of its words");
  if (pattern !== undefined) beside.line("  With --pattern only URLs are listed that match it");
}
