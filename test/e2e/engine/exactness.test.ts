/** What a limit of pages means at the server: exactly that, whichever way the crawl goes and whatever else runs. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { type LargeSite, startLargeSite } from "../../sites/large-site.ts";
import { type Engine, engineOf, expectBooksToBalance } from "./engine.ts";

const MAX_PAGES = 10;
const CONCURRENCIES = [1, 8, 50];
/** Slow enough that the jobs on one host are under way together. */
const OVERLAPPING_RPS = 40;
const HEADER = "x-counted-for";

let site: LargeSite;
let engine: Engine;
beforeAll(async () => {
  site = await startLargeSite();
  engine = engineOf(await sharedRuntime());
});
afterAll(async () => {
  await engine?.close();
  await site?.close();
});

/** Its requests carry the name, so that the site can tell whose they are. */
const configOf = (name: string) => ({ rate_limit_rps: OVERLAPPING_RPS, headers: { [HEADER]: name } });

/** What the server was asked in the name of that job, robots.txt apart. */
const requestsOf = (name: string): string[] =>
  site
    .requests()
    .filter(({ path, headers }) => path !== "/robots.txt" && headers[HEADER] === name)
    .map(({ path }) => path);

const limits = { max_depth: 50, max_pages: MAX_PAGES };
/** What a strategy asks for beside. */
const rankingOf = (strategy: string) => (strategy === "best_first" ? { keywords: ["page"], score_threshold: 0 } : {});

it("of jobs of each strategy, route and concurrency, all at once on 2,000 pages, each asks for exactly 10 pages", async () => {
  const jobs = new Map<string, string>();
  const url = `${site.main.origin}/page/0`;
  for (const concurrency of CONCURRENCIES) {
    for (const strategy of ["bfs", "dfs", "best_first"]) {
      const [spider, deep] = [`spider-${strategy}-${concurrency}`, `deep-${strategy}-${concurrency}`];
      const common = { ...limits, strategy, ...rankingOf(strategy), concurrency };
      jobs.set(spider, await engine.store({ seed_urls: [url], ...common, config: configOf(spider) }));
      const body = { url, ...common, config: configOf(deep) };
      jobs.set(deep, (await engine.post<{ job_id: string }>("/api/v1/crawl/deep", body)).job_id);
    }
  }
  expect(jobs.size).toBe(2 * 3 * CONCURRENCIES.length);
  for (const [name, job] of jobs) {
    await engine.instance.waitForJob(job);
    const asked = requestsOf(name);
    expect([name, asked.length, new Set(asked).size]).toEqual([name, MAX_PAGES, MAX_PAGES]);
    const codes = await expectBooksToBalance(engine, job);
    expect(codes["crawled"], name).toBe(MAX_PAGES);
    expect(await engine.results(job), name).toHaveLength(MAX_PAGES);
  }
});

it.each(CONCURRENCIES)(
  "more seeds than the limit, on several hosts, %i at once: the limit is that of the job",
  async (concurrency) => {
    const name = `seeds-${concurrency}`;
    const hosts = [site.main, site.elsewhere, site.slow];
    const seed_urls = Array.from({ length: 60 }, (_, at) => `${hosts[at % 3]?.origin}/page/${Math.floor(at / 3)}`);
    const job = await engine.store({ seed_urls, ...limits, concurrency, config: configOf(name) });
    await engine.instance.waitForJob(job);
    expect(requestsOf(name)).toHaveLength(MAX_PAGES);
    expect(await expectBooksToBalance(engine, job)).toMatchObject({ crawled: MAX_PAGES });
  },
);

it("pages that redirect count as one each, and failed ones count", async () => {
  const name = "redirects";
  const path = (length: number) => `/redirect/chain/${length}`;
  const gone = Array.from({ length: 15 }, (_, at) => `${site.main.origin}/gone/${at}`);
  const seed_urls = [...[5, 6, 7].map((length) => site.main.origin + path(length)), ...gone];
  const job = await engine.store({ seed_urls, ...limits, max_depth: 0, config: configOf(name) });
  await engine.instance.waitForJob(job);
  const asked = new Set(requestsOf(name));
  expect(
    [...asked].filter((each) => each.startsWith("/gone/") || [5, 6, 7].map(path).includes(each)).length,
  ).toBeLessThanOrEqual(MAX_PAGES);
  const codes = await expectBooksToBalance(engine, job);
  expect((codes["crawled"] ?? 0) + (codes["HTTP_404"] ?? 0)).toBe(MAX_PAGES);
});
