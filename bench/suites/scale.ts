/**
 * A model of larger deployments, from what the other benchmarks measured, and its pictures. `--only check` holds it
 * against crawls of the local runtime: it wants a machine that has nothing else to do.
 */
import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Instance, startInstance } from "../../test/services/instance.ts";
import { cpuMs, readJsonLine, startNode } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { runCrawl } from "../crawl/run-crawl.ts";
import { keptOf, limitsOfRate, localPagesPerSecond, needOf, type PageCost } from "../scale/model.ts";
import { bars, lines } from "../scale/pictures.ts";

const RATES = [1, 10, 100, 1_000, 10_000];
const KEPT = [1e6, 1e7, 1e8, 1e9, 1e10];
const PICTURES = join(import.meta.dirname, "../../docs/guide/pictures");
const RESULTS = join(import.meta.dirname, "../results");

export const run: Benchmark = async ({ only, scale }) => {
  if (only === "check") return await check(scale);
  const page = await measuredPage();
  const limits = limitsOfRate(page);
  const needs = RATES.map((rate) => needOf(page, rate));
  const kept = KEPT.map((pages) => keptOf(page, pages));
  console.table(limits);
  console.table(needs);
  console.table(kept);
  await writeFile(
    join(PICTURES, "scale-limits.svg"),
    bars(
      "Pages a second at which each is used up",
      limits.map(({ name, pagesPerSecond: value }) => ({ name, value })),
    ),
  );
  await writeFile(
    join(PICTURES, "scale-cost.svg"),
    lines(
      "What a month costs",
      ["pages a second, all month; or million pages kept", "USD a month"],
      [
        { name: "crawling", color: "#2a6f97", points: needs.map((need) => [need.pagesPerSecond, need.usdPerMonth]) },
        { name: "keeping", color: "#c1440e", points: kept.map((each) => [each.pages / 1e6, each.usdPerMonth]) },
      ],
    ),
  );
  return {
    first_limit_pages_per_second: limits[0]?.pagesPerSecond ?? Number.NaN,
    largest_database_pages_per_second: limits.find(({ name }) => name.includes("256"))?.pagesPerSecond ?? Number.NaN,
    ...Object.fromEntries(
      needs.map((need) => [`usd_per_month_at_${need.pagesPerSecond}_pages_per_second`, need.usdPerMonth]),
    ),
    ...Object.fromEntries(
      kept.map((each) => [`usd_per_month_to_keep_${each.pages / 1e6}_million_pages`, each.usdPerMonth]),
    ),
  };
};

async function measuredPage(): Promise<PageCost> {
  const read = async (name: string) =>
    JSON.parse(await readFile(join(RESULTS, `${name}.json`), "utf8")) as Record<string, number>;
  const [crawl, economy, search] = await Promise.all([read("crawl"), read("economy"), read("search")]);
  const figure = (results: Record<string, number>, name: string): number =>
    results[name] ?? missing(`bench/results has no ${name}: run its benchmark first`);
  return {
    nodeCpuMs: figure(crawl, "node_cpu_ms_per_page"),
    postgresCpuMs: figure(crawl, "postgres_cpu_ms_per_page"),
    embedCpuMs: figure(crawl, "embed_cpu_ms_per_page"),
    puts: figure(economy, "puts_per_1000_pages") / 1_000,
    vectorBytes: (figure(search, "vectors_mb") * 1024 ** 2) / figure(search, "chunks"),
  };
}

function missing(message: string): never {
  throw new Error(message);
}

interface Setting {
  pages: number;
  embeds: boolean;
  /** To the one host. */
  rps: number;
}

const SETTINGS: Record<string, Setting> = {
  slow_host: { pages: 1_000, embeds: false, rps: 20 },
  full_speed: { pages: 2_000, embeds: false, rps: 10_000 },
  with_vectors: { pages: 2_000, embeds: true, rps: 10_000 },
};
const WARM_UP_PAGES = 300;

/**
 * Pages a second as the model has them, by what a page took of the processors in that very crawl, against those by the
 * job's clock; 0.2 is how far they may be apart. Of one crawl, since a shared machine is twice as fast a minute later.
 */
async function check(scale: number): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const embeds of [false, true]) {
    const settings = Object.entries(SETTINGS).filter(([, setting]) => setting.embeds === embeds);
    const pages = settings.map(([, setting]) => Math.round(setting.pages * scale));
    const sites = await Promise.all([WARM_UP_PAGES, ...pages].map(startSite));
    const instance = await startInstance({
      env: {
        ACCESS__ALLOW_HOSTS: sites.map(({ host }) => host).join(","),
        ...(!embeds && { EMBEDDER__PROVIDER: "none" }),
      },
    });
    try {
      const [warmUp, ...others] = sites as [Site, ...Site[]];
      await crawled(instance, warmUp);
      for (const [at, [name, { rps }]] of settings.entries()) {
        const { cpuMs, pagesPerSecond: measured } = await crawled(instance, others[at] as Site, rps);
        const predicted = localPagesPerSecond(cpuMs, availableParallelism(), rps);
        figures[`cpu_ms_per_page_${name}`] = cpuMs;
        figures[`predicted_${name}`] = predicted;
        figures[`measured_${name}`] = measured;
        figures[`apart_${name}`] = Math.abs(predicted - measured) / measured;
      }
    } finally {
      await instance.stop();
      for (const { child } of sites) await child.stop();
    }
  }
  return figures;
}

type Site = Awaited<ReturnType<typeof startSite>>;

/** The CPU is that of the runtime, its Postgres and the site, in ms a page. */
async function crawled(instance: Instance, { child, url, pages: most }: Site, rps?: number) {
  const before = await cpuMs(child.pid);
  const { pages, seconds, nodeCpuMs, postgresCpuMs } = await runCrawl(instance, url, most, rps);
  const siteCpuMs = (await cpuMs(child.pid)) - before;
  return { pagesPerSecond: pages / seconds, cpuMs: (nodeCpuMs + postgresCpuMs + siteCpuMs) / pages };
}

async function startSite(pages: number) {
  const child = startNode(join(import.meta.dirname, "../crawl/site.ts"), [], { PAGES: String(pages) });
  const { port } = await readJsonLine<{ port: number }>(child);
  return { child, host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/page/0`, pages };
}
