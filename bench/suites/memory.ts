/**
 * Memory: ten times the pages must not need more resident memory. Each size runs in a fresh runtime, without an
 * embedder. Told apart are the runtime's own process and its children, which are Postgres. Reads /proc: Linux only.
 */
import { join } from "node:path";
import { startInstance } from "../../test/services/instance.ts";
import { childrenMemoryMb, memoryMb, readJsonLine, startNode, threadsOf } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { runCrawl } from "../crawl/run-crawl.ts";

const SMALL = 300;

interface Footprint {
  rssMb: number;
  threads: number;
  childrenMb: number;
}

const footprintOf = async (pid: number): Promise<Footprint> => ({
  rssMb: (await memoryMb(pid)).now,
  threads: await threadsOf(pid),
  childrenMb: await childrenMemoryMb(pid),
});

export const run: Benchmark = async ({ scale }) => {
  const small = await crawlOf(Math.round(SMALL * scale));
  const large = await crawlOf(Math.round(SMALL * scale) * 10);
  return {
    rss_mb_rest: small.rest.rssMb,
    threads_rest: small.rest.threads,
    children_mb_rest: small.rest.childrenMb,
    rss_mb_small: small.peakMb,
    threads_small: small.after.threads,
    children_mb_small: small.after.childrenMb,
    rss_mb_large: large.peakMb,
    rss_ratio: large.peakMb / small.peakMb,
  };
};

async function crawlOf(pages: number): Promise<{ rest: Footprint; after: Footprint; peakMb: number }> {
  const site = startNode(join(import.meta.dirname, "../crawl/site.ts"), [], { PAGES: String(pages) });
  const { port } = await readJsonLine<{ port: number }>(site);
  const instance = await startInstance({
    env: { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: `127.0.0.1:${port}` },
  });
  try {
    const { pid } = instance.child;
    const rest = await footprintOf(pid);
    const { rssMb } = await runCrawl(instance, `http://127.0.0.1:${port}/page/0`, pages);
    return { rest, after: await footprintOf(pid), peakMb: rssMb.peak };
  } finally {
    await instance.stop();
    await site.stop();
  }
}
