/**
 * The crawl, against Crawlee on the same pages in the same run. Crawlee parses and follows links; we also archive,
 * extract, chunk and index. The site's own time is nobody's. CPU is read from /proc, so this needs Linux.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Instance, startInstance } from "../../test/services/instance.ts";
import { readJsonLine, startNode } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { measureFetchStage } from "../crawl/fetch-stage.ts";
import { type CrawlFigures, runCrawl, type Usage } from "../crawl/run-crawl.ts";

const PAGES = 1000;
const PEERS = join(import.meta.dirname, "../peers");

export const run: Benchmark = async ({ scale }) => {
  const pages = Math.round(PAGES * scale);
  const site = await startSite(pages);
  try {
    const crawlee = await runCrawlee(site.url);
    const fetchCpu = await measureFetchStage(site.url, pages);
    const { all: figures, usage } = await crawlBoth(site.url, pages, { EMBEDDER__PROVIDER: "none" });
    const embedded = await crawlBoth(site.url, pages, {});
    return {
      fetch_cpu_ms_per_page: fetchCpu,
      node_cpu_ms_per_page: figures.nodeCpuMs / figures.pages,
      postgres_cpu_ms_per_page: figures.postgresCpuMs / figures.pages,
      pages_per_second: figures.pages / figures.seconds,
      crawlee_cpu_ms_per_page: crawlee.cpu_ms_per_page,
      crawlee_pages_per_second: crawlee.pages_per_second,
      aws_calls_per_1000_pages: (usage.calls * 1000) / figures.pages,
      usd_per_million_pages: (usage.usd * 1_000_000) / figures.pages,
      pages_per_second_embedded: embedded.all.pages / embedded.all.seconds,
      embed_cpu_ms_per_page: cpuMsPerPage(embedded.all) - cpuMsPerPage(figures),
      seconds_to_vector_searchable: embedded.few.seconds,
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

const cpuMsPerPage = ({ nodeCpuMs, postgresCpuMs, pages }: CrawlFigures): number => (nodeCpuMs + postgresCpuMs) / pages;

/** Of a small site, by whose seconds one sees how long the last page takes until its meaning is found. */
const FEW_PAGES = 300;

/** @param env with an embedder, a job is completed when all its chunks have their vectors */
async function crawlBoth(siteUrl: string, pages: number, env: Record<string, string>) {
  const small = await startSite(FEW_PAGES);
  try {
    return await withInstance([siteUrl, small.url], env, async (instance) => {
      const few = await runCrawl(instance, small.url, FEW_PAGES);
      const before = await instance.call<Usage>("GET", "/_local/usage");
      const all = await runCrawl(instance, siteUrl, pages);
      const after = await instance.call<Usage>("GET", "/_local/usage");
      const usage = { calls: after.totalCalls - before.totalCalls, usd: after.totalUsd - before.totalUsd };
      return { few, all, usage };
    });
  } finally {
    await small.child.stop();
  }
}

async function withInstance<T>(
  siteUrls: readonly string[],
  env: Record<string, string>,
  work: (instance: Instance) => Promise<T>,
): Promise<T> {
  const warmUpSite = await startSite(WARM_UP_PAGES);
  const hosts = [...siteUrls, warmUpSite.url].map((url) => new URL(url).host).join(",");
  const instance = await startInstance({ env: { ...env, ACCESS__ALLOW_HOSTS: hosts } });
  try {
    await runCrawl(instance, warmUpSite.url, WARM_UP_PAGES);
    return await work(instance);
  } finally {
    await instance.stop();
    await warmUpSite.child.stop();
  }
}
