/** Measures memory: ten times the pages must not need more of it resident. Each size runs in a fresh runtime. */
import { join } from "node:path";
import { startInstance } from "../../test/services/instance.ts";
import { readJsonLine, startNode } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { runCrawl } from "../crawl/run-crawl.ts";

const SMALL = 300;

export const run: Benchmark = async ({ scale }) => {
  const small = await crawlOf(Math.round(SMALL * scale));
  const large = await crawlOf(Math.round(SMALL * scale) * 10);
  return { rss_mb_small: small, rss_mb_large: large, rss_ratio: large / small };
};

/** @returns the peak resident memory of the runtime in MB */
async function crawlOf(pages: number): Promise<number> {
  const site = startNode(join(import.meta.dirname, "../crawl/site.ts"), [], { PAGES: String(pages) });
  const { port } = await readJsonLine<{ port: number }>(site);
  const instance = await startInstance({
    env: { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: `127.0.0.1:${port}` },
  });
  try {
    return (await runCrawl(instance, `http://127.0.0.1:${port}/page/0`, pages)).rssMb.peak;
  } finally {
    await instance.stop();
    await site.stop();
  }
}
