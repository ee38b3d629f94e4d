import { expect, test } from "vitest";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { scopeOfSeeds } from "../../../../shared/crawl/urls/scope-of-seeds.ts";
import { startLargeSite } from "../../../sites/large-site.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site } from "../crawl-setup.ts";
import { expectBooksToBalance, realCrawl } from "../real-crawl.ts";

const config = crawlConfigSchema.parse({ rate_limit_rps: 1000 });

const fan = (count: number, base = ""): string[] => Array.from({ length: count }, (_, at) => `${base}/p${at}`);

test("max_pages_per_host bounds each host, and its other pages end as HOST_BUDGET_EXHAUSTED", async () => {
  const setup = await crawlSetup();
  const hosts = ["http://a.example", "http://b.example", "http://c.example"];
  const links = hosts.flatMap((host) => fan(20, host));
  const denied = { error: { code: "ROBOTS_DENIED", message: "robots.txt forbids it", retryable: false } };
  // what was never asked for does not count
  const site: Site = (url) => (/b\.example\/p[0-3]$/.test(url) ? denied : { html: page(url, links, 10) });
  const job = await createJob(
    setup.dependencies,
    newSiteJob("http://a.example/", {
      scope: scopeOfSeeds([], { mode: "any" }),
      order: { max_pages_per_host: 5 },
    }),
  );
  await setup.crawl(site);
  const rows = await setup.sql`
    select host, count(*) filter (where state = 'crawled')::int as crawled,
      count(*) filter (where error_code = 'HOST_BUDGET_EXHAUSTED')::int as cut
    from frontier group by host order by host`;
  expect([...rows]).toEqual([
    { host: "a.example", crawled: 5, cut: 16 },
    { host: "b.example", crawled: 5, cut: 11 },
    { host: "c.example", crawled: 5, cut: 15 },
  ]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", stop_reason: "budget_exhausted" });
  await expectBooksToBalance(setup.sql, job.job_id);
});

test("max_pages_per_host that cuts nothing off is no stop reason", async () => {
  const setup = await crawlSetup();
  const job = await createJob(
    setup.dependencies,
    newSiteJob("http://a.example/", { order: { max_pages_per_host: 4 } }),
  );
  await setup.crawl((url) => ({ html: page(url, fan(3), 10) }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ stop_reason: "completed", counts: { crawled: 4 } });
});

test("a second try does not count against max_pages_per_host", async () => {
  const setup = await crawlSetup();
  const seen = new Set<string>();
  const site: Site = (url) => {
    if (seen.has(url) || url.endsWith("/")) return { html: page(url, fan(3), 10) };
    seen.add(url);
    return { status: 500, error: { code: "HTTP_500", message: "fault", retryable: true } };
  };
  const job = await createJob(
    setup.dependencies,
    newSiteJob("http://a.example/", { order: { max_pages_per_host: 3 } }),
  );
  await setup.crawl(site);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    stop_reason: "budget_exhausted",
    counts: { crawled: 3, skipped: 1, failed: 0 },
  });
});

test.each(["bfs", "dfs", "best_first"] as const)(
  "%s: pages beyond max_pages_per_host do not keep a second try from its turn",
  async (strategy) => {
    const setup = await crawlSetup();
    const seen = new Set<string>();
    const site: Site = (url) => {
      if (seen.has(url) || url.endsWith("/")) return { html: page(url, fan(130), 10) };
      seen.add(url);
      return { status: 500, error: { code: "HTTP_500", message: "fault", retryable: true } };
    };
    const job = await createJob(
      setup.dependencies,
      newSiteJob("http://a.example/", { order: { strategy, keywords: ["a"], max_pages_per_host: 3 } }),
    );
    await setup.crawl(site);
    expect(await readJob(setup.sql, job.job_id)).toMatchObject({
      status: "completed",
      stop_reason: "budget_exhausted",
      counts: { crawled: 3, failed: 0, open: 0 },
    });
  },
);

test("a frontier holds a hundred URLs per page that may be fetched, and says when it held no more", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { maxPages: 2 }));
  await setup.crawl((url) => ({ html: page(url, fan(300), 10) }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    stop_reason: "max_pages",
    counts: { discovered: 200, crawled: 2, skipped: 198 },
  });
});

test("when its time is up a job asks for nothing more, ends the rest as TIMEOUT and completes", async () => {
  const site = await startLargeSite({ slowMs: 150 });
  const crawl = await realCrawl();
  // a machine that is slow may not have the first page within a second
  for (let timeoutS = 1; ; timeoutS *= 3) {
    site.slow.requests.length = 0;
    const limits = { config, timeoutS, handling: { concurrency: 1 } };
    const [job] = await crawl.run(newSiteJob(`${site.slow.origin}/page/0`, limits));
    if (job?.counts.crawled === 0 && timeoutS < 20) continue;
    const deadline = (job?.created_at.getTime() ?? 0) + timeoutS * 1000;
    // the one request that left in time may arrive later
    expect(site.slow.requests.filter(({ at }) => at > deadline).length).toBeLessThanOrEqual(1);
    expect(job).toMatchObject({ status: "completed", stop_reason: "timeout" });
    const codes = await expectBooksToBalance(crawl.sql, job?.job_id ?? "");
    expect(codes["TIMEOUT"]).toBeGreaterThan(0);
    break;
  }
  await site.close();
});

test.each(["bfs", "dfs", "best_first"] as const)(
  "a try that is due again is not hidden behind pages of other hosts that cannot be paid for any more: %s",
  async (strategy) => {
    const setup = await crawlSetup();
    const fault = { status: 500, error: { code: "HTTP_500", message: "fault", retryable: true } };
    // the name of the host decides which one is looked at first
    for (const [failing, others] of [
      ["a", ["b", "c"]],
      ["c", ["a", "b"]],
    ] as const) {
      const site: Site = (url, { attempt }) =>
        url.includes(`/${failing}.`) && attempt === 0 ? fault : { html: page(url, [], 10) };
      const seeds = [failing, ...others].map((name) => `http://${name}.example/`);
      const { job_id } = await createJob(
        setup.dependencies,
        newJob(seeds, { maxPages: 2, order: { strategy }, handling: { concurrency: 1 } }),
      );
      await setup.crawl(site);
      expect(await readJob(setup.sql, job_id)).toMatchObject({
        status: "completed",
        stop_reason: "max_pages",
        counts: { crawled: 2, skipped: 1, open: 0 },
      });
    }
  },
);

test.each(["bfs", "dfs", "best_first"] as const)(
  "one request at once: a host that asks for a quarter of an hour does not keep the pages of others waiting: %s",
  async (strategy) => {
    const setup = await crawlSetup();
    const busy = { code: "HTTP_429", message: "busy", retryable: true, retryAfterMs: 900_000 };
    const site: Site = (url) => (url.includes("/a.") ? { status: 429, error: busy } : { html: page(url, [], 10) });
    const seeds = ["a", "b", "c"].map((name) => `http://${name}.example/`);
    const { job_id } = await createJob(
      setup.dependencies,
      newJob(seeds, { order: { strategy }, handling: { concurrency: 1 } }),
    );
    for (const _ of seeds) for (const task of await setup.tasks()) await setup.crawlTask(task, site);
    expect(await readJob(setup.sql, job_id)).toMatchObject({ counts: { crawled: 2, open: 1 } });
  },
);
