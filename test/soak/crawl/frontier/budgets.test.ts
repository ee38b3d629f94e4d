import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { scopeOfSeeds } from "../../../../shared/crawl/urls/scope-of-seeds.ts";
import { crawlSetup, newSiteJob, page, type Site } from "../../../integration/crawl/crawl-setup.ts";
import { expectBooksToBalance, realCrawl } from "../../../integration/crawl/real-crawl.ts";
import { type LargeSite, startLargeSite } from "../../../sites/large-site.ts";

const config = crawlConfigSchema.parse({ rate_limit_rps: 1000 });

const fan = (count: number, base = ""): string[] => Array.from({ length: count }, (_, at) => `${base}/p${at}`);

describe("on a site of 2,000 pages", () => {
  let site: LargeSite;
  beforeAll(async () => {
    site = await startLargeSite();
  });
  afterAll(() => site.close());

  test.each([1, 3, 50])(
    "max_pages: 10 fetches at most 10, with %i requests at once and three jobs",
    async (concurrency) => {
      site.main.requests.length = 0;
      const crawl = await realCrawl();
      const strategies = ["bfs", "dfs", "best_first"] as const;
      const jobs = await crawl.run(
        ...strategies.map((strategy) =>
          newSiteJob(`${site.main.origin}/page/0`, {
            config,
            maxPages: 10,
            order: { strategy, keywords: ["page"] },
            handling: { concurrency },
          }),
        ),
      );
      expect(site.main.paths()).toHaveLength(30);
      for (const job of jobs) {
        expect(job).toMatchObject({ status: "completed", stop_reason: "max_pages", counts: { crawled: 10 } });
        const codes = await expectBooksToBalance(crawl.sql, job.job_id);
        expect(codes["BUDGET_EXHAUSTED"]).toBe(job.counts.skipped);
      }
    },
  );
});

test("a frontier that is full is a stop reason where nothing else cuts the crawl", async () => {
  const setup = await crawlSetup();
  const denied = { error: { code: "ROBOTS_DENIED", message: "robots.txt forbids it", retryable: false } };
  const site: Site = (url) => (url.endsWith("/") ? { html: page(url, fan(250), 10) } : denied);
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { maxPages: 2 }));
  await setup.crawl(site);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    stop_reason: "budget_exhausted",
    counts: { discovered: 200, crawled: 1, skipped: 199 },
  });
});

test("ten thousand seeds on as many hosts are taken, two hundred at a time, and no task carries them all", async () => {
  const setup = await crawlSetup();
  const seeds = Array.from({ length: 10_000 }, (_, at) => `http://s${at}.example/`);
  const scope = scopeOfSeeds(seeds, { mode: "domain" });
  const { job_id } = await createJob(setup.dependencies, {
    ...newSiteJob("http://s0.example/"),
    seeds,
    scope,
    maxPages: 10_000,
  });
  const first = await setup.tasks();
  expect(first).toHaveLength(200);
  expect(first.every((task) => task.scope.roots.length === 1)).toBe(true);
  const [done] = first;
  if (done === undefined) throw new Error("no task");
  await setup.crawlTask(done, (url) => ({ html: page(url, [], 10) }));
  expect((await setup.tasks()).map((task) => task.urls.length)).toEqual([1]);
  expect((await readJob(setup.sql, job_id))?.counts).toMatchObject({ discovered: 10_000, open: 9_999, crawled: 1 });
});
