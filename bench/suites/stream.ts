/**
 * Ten thousand stored pages, read as a stream by one who is slow: the server must neither hold them for him nor lose
 * one. The runtime is started anew before the reading, so that its memory is that of streams and not of the crawl.
 * Reads /proc: Linux only.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Instance, startInstance } from "../../test/services/instance.ts";
import { memoryMb, readJsonLine, startNode } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { runCrawl } from "../crawl/run-crawl.ts";

const PAGES = 10_000;
const MB = 1024 * 1024;
/** The slow reader reads so many pages, then nothing for a while, which no buffer on the way can make up for. */
const PAGES_AT_ONCE = 100;
const PAUSE_MS = 1_000;
const LONG_PAUSE_MS = 5_000;

interface Reading {
  /** In order of arrival. */
  urls: string[];
  mb: number;
  seconds: number;
  /** Resident memory after the first tenth of the pages, and the most at any time after that. */
  early: number;
  peak: number;
  statsRecords: number;
  statsLast: boolean;
}

export const run: Benchmark = async ({ scale }) => {
  const pages = Math.round(PAGES * scale);
  const site = startNode(join(import.meta.dirname, "../crawl/site.ts"), [], { PAGES: String(pages) });
  const home = await mkdtemp(join(tmpdir(), "strandline stream "));
  const { port } = await readJsonLine<{ port: number }>(site);
  const start = (): Promise<Instance> =>
    startInstance({ home, env: { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: `127.0.0.1:${port}` } });
  try {
    const crawler = await start();
    const crawl = await runCrawl(crawler, `http://127.0.0.1:${port}/page/0`, pages);
    await crawler.stop();
    const instance = await start();
    try {
      const before = (await memoryMb(instance.child.pid)).now;
      const fast = await readStream(instance, crawl.jobId, pages / 10, () => 0);
      const between = (await memoryMb(instance.child.pid)).now;
      const slow = await readStream(instance, crawl.jobId, pages / 10, (at) =>
        at === pages / 2 ? LONG_PAUSE_MS : PAUSE_MS,
      );
      const after = (await memoryMb(instance.child.pid)).now;
      return {
        pages: slow.urls.length,
        streamed_mb: slow.mb,
        lost: pages - new Set(slow.urls).size,
        duplicates: slow.urls.length - new Set(slow.urls).size,
        out_of_order: slow.urls.filter((url, at) => url !== fast.urls[at]).length,
        stats_records: slow.statsRecords,
        stats_last: Number(slow.statsLast && fast.statsLast),
        rss_mb_before: before,
        rss_mb_fast_peak: fast.peak,
        rss_mb_between: between,
        rss_mb_slow_first_tenth: slow.early,
        rss_mb_slow_peak: slow.peak,
        rss_mb_after: after,
        fast_pages_per_second: fast.urls.length / fast.seconds,
        slow_pages_per_second: slow.urls.length / slow.seconds,
        crawl_pages_per_second: crawl.pages / crawl.seconds,
      };
    } finally {
      await instance.stop();
    }
  } finally {
    await site.stop();
    await rm(home, { recursive: true, force: true });
  }
};

/**
 * Reads all fields of all pages as NDJSON.
 * @param pauseMs how long to read nothing after so many pages
 */
async function readStream(
  instance: Instance,
  jobId: string,
  earlyPages: number,
  pauseMs: (page: number) => number,
): Promise<Reading> {
  const started = performance.now();
  const response = await fetch(`${instance.url}/jobs/${jobId}/stream?include=title,links,content,markdown`, {
    headers: { authorization: `Bearer ${instance.apiKey}` },
  });
  if (!response.ok || response.body === null) throw new Error(`no stream: ${response.status} ${await response.text()}`);
  const reading: Reading = { urls: [], mb: 0, seconds: 0, early: 0, peak: 0, statsRecords: 0, statsLast: false };
  for await (const line of linesOf(response.body)) {
    reading.mb += line.length / MB;
    const { type, data } = JSON.parse(line) as { type: string; data: { url: string; content?: string } };
    reading.statsLast = type === "stats";
    reading.statsRecords += type === "stats" ? 1 : 0;
    if (type !== "page") continue;
    if (!data.content) throw new Error(`${data.url} came without its content`);
    reading.urls.push(data.url);
    if (reading.urls.length % PAGES_AT_ONCE !== 0) continue;
    await delay(pauseMs(reading.urls.length));
    const { now } = await memoryMb(instance.child.pid);
    if (reading.urls.length <= earlyPages) reading.early = now;
    reading.peak = Math.max(reading.peak, now);
  }
  reading.seconds = (performance.now() - started) / 1000;
  return reading;
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
