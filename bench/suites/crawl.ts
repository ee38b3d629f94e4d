/**
 * The crawl, against Crawlee on the same pages in the same run. Crawlee parses and follows links; we also archive,
 * extract, chunk and index. The site's own time is nobody's. CPU is read from /proc, so this needs Linux.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startInstance } from "../../test/services/instance.ts";
import { readJsonLine, startNode } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { measureFetchStage } from "../crawl/fetch-stage.ts";
import { runCrawl, type Usage } from "../crawl/run-crawl.ts";

const PAGES = 1000;
const PEERS = join(import.meta.dirname, "../peers");

export const run: Benchmark = async ({ scale }) => {
  const pages = Math.round(PAGES * scale);
  const site = await startSite(pages);
  try {
    const crawlee = await runCrawlee(site.url);
    const fetchCpu = await measureFetchStage(site.url, pages);
    const { figures, usage } = await crawlOnce(site.url, pages);
    return {
      fetch_cpu_ms_per_page: fetchCpu,
      node_cpu_ms_per_page: figures.nodeCpuMs / figures.pages,
      postgres_cpu_ms_per_page: figures.postgresCpuMs / figures.pages,
      pages_per_second: figures.pages / figures.seconds,
      crawlee_cpu_ms_per_page: crawlee.cpu_ms_per_page,
      crawlee_pages_per_second: crawlee.pages_per_second,
      aws_calls_per_1000_pages: (usage.calls * 1000) / figures.pages,
      usd_per_million_pages: (usage.usd * 1_000_000) / figures.pages,
    };
  } finally {
    await site.child.stop();
  }
};

/** Before the clock starts, so that modules are loaded and compiled, on a site of its own. */
const WARM_UP_PAGES = 100;

async function startSite(pages: number) {
  const child = startNode(join(import.meta.dirname, "../crawl/site.ts"), [], { PAGES: String(pages) });
  const { port } = await readJsonLine<{ port: number }>(child);
  return { child, url: `http://127.0.0.1:${port}/page/0` };
}

async function runCrawlee(siteUrl: string) {
  if (!existsSync(join(PEERS, "node_modules"))) execFileSync("npm", ["ci"], { cwd: PEERS, stdio: "inherit" });
  const child = startNode(join(PEERS, "crawlee.js"), [siteUrl]);
  return await readJsonLine<{ crawled: number; cpu_ms_per_page: number; pages_per_second: number }>(child);
}

async function crawlOnce(siteUrl: string, pages: number) {
  const warmUpSite = await startSite(WARM_UP_PAGES);
  const hosts = [siteUrl, warmUpSite.url].map((url) => new URL(url).host).join(",");
  const instance = await startInstance({ env: { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: hosts } });
  try {
    await runCrawl(instance, warmUpSite.url, WARM_UP_PAGES);
    const before = await instance.call<Usage>("GET", "/_local/usage");
    const figures = await runCrawl(instance, siteUrl, pages);
    const after = await instance.call<Usage>("GET", "/_local/usage");
    return {
      figures,
      usage: { calls: after.totalCalls - before.totalCalls, usd: after.totalUsd - before.totalUsd },
    };
  } finally {
    await instance.stop();
    await warmUpSite.child.stop();
  }
}
