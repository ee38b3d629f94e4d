/** The report of what the demonstration did, readable at 80 columns. */
import { basename, dirname } from "node:path";
import { showResult } from "../cli/search-view.ts";
import type { Terminal } from "../cli/terminal.ts";
import type { WarcFile } from "./archive.ts";
import { type Answered, rankOfAnswer } from "./ask.ts";
import type { Crawl, CrawledUrl } from "./crawl-site.ts";

export function reportCrawl(terminal: Terminal, origin: string, { job, urls, seconds }: Crawl): void {
  const { counts } = job;
  const unchanged = urls.filter(({ not_modified }) => not_modified).length;
  const redirected = urls.filter(({ url, final_url }) => final_url !== null && final_url !== url);
  const languages = urls.filter(
    ({ state, document_id, status_code }) => state === "crawled" && status_code === 200 && document_id === null,
  );
  heading(terminal, "What became of the pages");
  fact(
    terminal,
    "crawled",
    `${counts.crawled}${unchanged > 0 ? `, ${unchanged} of them unchanged since the last visit` : ""}`,
  );
  for (const { url, final_url } of redirected)
    detail(terminal, `${path(url, origin)} has moved to ${path(final_url ?? "", origin)}`);
  for (const { url } of languages)
    detail(terminal, `${path(url, origin)} is archived, not indexed: no page in English`);
  fact(terminal, "failed", String(counts.failed));
  for (const [reason, found] of byReason(urls, "failed")) detail(terminal, `${reason}: ${paths(found, origin)}`);
  fact(terminal, "skipped", String(counts.skipped));
  for (const [reason, found] of byReason(urls, "skipped")) detail(terminal, `${reason}: ${paths(found, origin)}`);
  fact(terminal, "searchable", `${counts.documents} documents, ${counts.chunks} chunks, each with an embedding`);
  fact(
    terminal,
    "seconds",
    `${seconds.fetching.toFixed(1)} to fetch, extract and store; ${seconds.embedding.toFixed(1)} more to embed`,
  );
}

/** @param fileOf where an object lies on disk */
export function reportArchive(terminal: Terminal, files: readonly WarcFile[], fileOf: (key: string) => string): void {
  const total: Record<string, number> = {};
  for (const { records } of files) for (const type in records) total[type] = (total[type] ?? 0) + (records[type] ?? 0);
  const contents = Object.entries(total).map(([type, count]) => `${count} ${type}`);
  heading(terminal, "The archive");
  fact(terminal, "WARC files", `${files.length}, with ${contents.join(", ")} records`);
  for (const [folder, found] of Map.groupBy(files, ({ key }) => dirname(fileOf(key)))) {
    terminal.line(`  ${folder}`);
    for (const { key, bytes, records } of found) {
      const pages = (records["response"] ?? 0) + (records["revisit"] ?? 0);
      const size = `${Math.ceil(bytes / 1024)} KB`.padStart(7);
      terminal.line(`    ${basename(fileOf(key))} ${size}, ${pages} pages`);
    }
  }
  const largest = files.toSorted((a, b) => b.bytes - a.bytes)[0];
  if (largest !== undefined) {
    terminal.line("  Look inside with any reader of WARC files, or with:");
    terminal.line(`    zcat < ${quoted(fileOf(largest.key))} | less`);
  }
}

export function reportAnswers(terminal: Terminal, answers: readonly Answered[]): void {
  for (const answered of answers) {
    heading(terminal, `Question: ${answered.question.query}`);
    const rank = rankOfAnswer(answered) ?? 1;
    const result = answered.results[rank - 1];
    if (result === undefined) terminal.line("  No answer.");
    else showResult(terminal, rank, result);
    if (answered.question.sharesNoWord) {
      terminal.line(terminal.dim("   No page holds a word of this question: its vector found the answer."));
    }
  }
}

export function reportNextSteps(terminal: Terminal, apiUrl: string, apiKey: string): void {
  heading(terminal, "The API stays up. In another terminal:");
  const header = `-H "Authorization: Bearer ${apiKey}"`;
  for (const line of [
    `curl -s ${apiUrl}/api/v1/search \\`,
    `  ${header} \\`,
    '  -H "Content-Type: application/json" \\',
    '  -d \'{"query": "what is a revisit record?"}\'',
    "",
    `curl -s ${apiUrl}/api/v1/jobs \\`,
    `  ${header}`,
    "",
    'npx strandline search "what is a revisit record?"',
    "npx strandline crawl https://example.org/ --depth 1 --max-pages 20 --watch",
    "npx strandline jobs",
  ]) {
    terminal.line(`  ${line}`.trimEnd());
  }
  terminal.line("\nCtrl-C stops it. Everything is kept, and `npm start` brings it back.");
}

export function heading(terminal: Terminal, text: string): void {
  terminal.line(`\n${terminal.bold(text)}`);
}

function fact(terminal: Terminal, name: string, value: string): void {
  terminal.line(`  ${name.padEnd(11)}${value}`);
}

function detail(terminal: Terminal, text: string): void {
  terminal.line(terminal.dim(`             ${text}`));
}

function byReason(urls: readonly CrawledUrl[], state: string): Map<string, CrawledUrl[]> {
  return Map.groupBy(
    urls.filter((url) => url.state === state),
    ({ error_code }) => error_code ?? "no reason given",
  );
}

const path = (url: string, origin: string): string => (url.startsWith(origin) ? url.slice(origin.length) : url);
const paths = (urls: readonly CrawledUrl[], origin: string): string =>
  urls.map(({ url }) => path(url, origin)).join(", ");
/** As one word for a shell. */
const quoted = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
