/** `golden-queries`: judges the ranking of the archive's search by a list of queries with what they should find. */
import { z } from "zod";
import type { ApiClient } from "../api-client.ts";
import { readFields } from "../crawl-request.ts";
import { CliError, EXIT } from "../exit.ts";
import { harmless, type Terminal } from "../terminal.ts";

const WITHIN = 10;

const golden = z.strictObject({
  queries: z
    .array(
      z.strictObject({
        q: z.string().min(1).max(256),
        /** URLs, each of which is to be found. */
        expect: z.array(z.url()).min(1).max(100),
        /** Among so many results. */
        within: z.int().min(1).max(100).default(WITHIN),
        source: z.string().optional(),
      }),
    )
    .min(1)
    .max(10_000),
});

interface Judged {
  q: string;
  url: string;
  /** From 1; null where it is not among them. */
  rank: number | null;
  within: number;
}

export interface GoldenOptions {
  file: string;
  ranking?: string;
  json?: true;
}

export async function judgeRanking(api: ApiClient, terminal: Terminal, options: GoldenOptions): Promise<number> {
  const { file, ranking, json } = options;
  const read = golden.safeParse(readFields(file));
  if (!read.success) {
    const [fault] = read.error.issues;
    throw new CliError(`${file}: ${fault?.path.join(".")}: ${fault?.message}`, EXIT.usage);
  }
  const judged: Judged[] = [];
  for (const { q, expect, within, source } of read.data.queries) {
    const query = new URLSearchParams({
      q,
      view: "pages",
      pageSize: String(within),
      ...(source !== undefined && { source }),
      ...(ranking !== undefined && { ranking }),
    });
    const { results } = await api<{ results: { originalUrl: string }[] }>("GET", `/api/search?${query}`);
    const pages = results.map(({ originalUrl }) => pageOf(originalUrl));
    for (const url of expect) {
      const at = pages.indexOf(pageOf(url));
      judged.push({ q, url, rank: at < 0 ? null : at + 1, within });
    }
  }
  const found = judged.filter(({ rank }) => rank !== null).length;
  const meanReciprocalRank = judged.reduce((sum, { rank }) => sum + (rank === null ? 0 : 1 / rank), 0) / judged.length;
  if (json) terminal.line(JSON.stringify({ found, of: judged.length, meanReciprocalRank, judged }, null, 2));
  else {
    for (const { q, url, rank, within } of judged) {
      const place = rank === null ? `not among ${within}` : `${rank}`;
      terminal.line(`${place.padEnd(14)}  ${harmless(q)}  ${harmless(url)}`);
    }
    terminal.line(`${found} of ${judged.length} found; mean reciprocal rank ${meanReciprocalRank.toFixed(3)}`);
  }
  return found === judged.length ? EXIT.done : EXIT.failed;
}

/** Scheme, host and path, as the archive groups pages. */
function pageOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
