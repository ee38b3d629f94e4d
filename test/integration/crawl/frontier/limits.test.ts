import { expect, test } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { listJobUrls, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { crawlSetup, newSiteJob, page, type Site, siteOf } from "../crawl-setup.ts";

const fan = (count: number, prefix = "") => Array.from({ length: count }, (_, at) => `/${prefix}${at}`);

test("no more than max_pages are fetched, though every capture arrives in a batch of its own and all at once", async () => {
  const setup = await crawlSetup();
  const site: Site = (url) => ({ html: page(url, [...fan(60), ...fan(20, new URL(url).pathname.slice(1))]) });
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { maxPages: 10 }));
  const fetched: string[] = [];
  for (let tasks = await setup.tasks(); tasks.length > 0; tasks = await setup.tasks()) {
    const messages = await Promise.all(
      tasks.flatMap((task) => task.urls.map((url) => setup.capture(task, site, [url]).then((each) => [each, each]))),
    );
    fetched.push(...tasks.flatMap((task) => task.urls.map((each) => each.url)));
    await Promise.all(messages.flat().map((message) => ingestBatch(setup.dependencies, message)));
  }
  expect(fetched).toHaveLength(10);
  const view = await readJob(setup.sql, job.job_id);
  expect(view).toMatchObject({ status: "completed", stop_reason: "max_pages", counts: { crawled: 10, open: 0 } });
  const [row] = await setup.sql`
    select count(*)::int as urls, count(*) filter (where error_code = 'BUDGET_EXHAUSTED')::int as cut
    from frontier where job_id = ${job.job_id}`;
  expect(row).toEqual({ urls: view?.counts.discovered, cut: view?.counts.skipped });
  const [database] = await setup.sql`select deadlocks from pg_stat_database where datname = current_database()`;
  expect(database?.["deadlocks"]).toBe(0);
});

test("a URL that robots.txt forbids does not count against max_pages", async () => {
  const setup = await crawlSetup();
  const denied = { error: { code: "ROBOTS_DENIED", message: "robots.txt forbids it", retryable: false } };
  const site: Site = (url) =>
    Number(new URL(url).pathname.slice(1)) % 2 === 1 ? denied : { html: page(url, fan(40)) };
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { maxPages: 10 }));
  await setup.crawl(site);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ stop_reason: "max_pages", counts: { crawled: 10 } });
  const rows = await setup.sql`
    select count(*)::int as denied from frontier where job_id = ${job.job_id} and error_code = 'ROBOTS_DENIED'`;
  expect(rows[0]?.["denied"]).toBeGreaterThan(0);
});

test("a second try does not count against max_pages", async () => {
  const setup = await crawlSetup();
  const seen = new Set<string>();
  const site: Site = (url) => {
    if (seen.has(url) || url.endsWith("/")) return { html: page(url, fan(3)) };
    seen.add(url);
    return { status: 500, error: { code: "HTTP_500", message: "fault", retryable: true } };
  };
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { maxPages: 3 }));
  await setup.crawl(site);
  await setup.crawl(site);
  for (let tasks = await setup.tasks(20); tasks.length > 0; tasks = await setup.tasks()) {
    for (const task of tasks) await ingestBatch(setup.dependencies, await setup.capture(task, site));
  }
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    stop_reason: "max_pages",
    counts: { crawled: 3, skipped: 1, failed: 0 },
  });
});

test("links beyond max_depth are not added, and the stop reason says that there were some", async () => {
  const setup = await crawlSetup();
  const chain = siteOf("http://a.example", {
    "/": page("0", ["/1"]),
    "/1": page("1", ["/2", "/"]),
    "/2": page("2", ["/3"]),
  });
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { maxDepth: 1 }));
  await setup.crawl(chain);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ stop_reason: "max_depth", counts: { discovered: 2 } });
});

test("max_depth that cuts nothing off is no stop reason", async () => {
  const setup = await crawlSetup();
  const pair = siteOf("http://a.example", { "/": page("0", ["/1"]), "/1": page("1", ["/", "http://other.example/"]) });
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { maxDepth: 1 }));
  await setup.crawl(pair);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ stop_reason: "completed", counts: { discovered: 2 } });
});

test("a page is never claimed while one of a lesser depth awaits its first try", async () => {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  const [seed] = (await setup.tasks()) as [FetchTask];
  const site: Site = (url) => ({
    html: page(url, url.endsWith("/") ? fan(120) : fan(5, new URL(url).pathname.slice(1))),
  });
  await ingestBatch(setup.dependencies, await setup.capture(seed, site));
  const [one, two] = (await setup.tasks()) as [FetchTask, FetchTask];
  expect([one, two].map((task) => task.urls.length)).toEqual([50, 50]);
  await ingestBatch(setup.dependencies, await setup.capture(one, site));
  const [three, ...more] = (await setup.tasks()) as [FetchTask];
  expect(more).toEqual([]);
  expect(three.urls.map((each) => each.depth)).toEqual(Array(20).fill(1));
  await ingestBatch(setup.dependencies, await setup.capture(three, site));
  expect(await setup.tasks()).toEqual([]);
  await ingestBatch(setup.dependencies, await setup.capture(two, site));
  const next = await setup.tasks();
  expect(next.flatMap((task) => task.urls.map((each) => each.depth))).toEqual(Array(100).fill(2));
});

test("the list of URLs comes in order of discovery, page by page, each URL once", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { maxDepth: 1 }));
  await setup.crawl((url) => ({ html: page(url, fan(24)) }));
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const { urls, next } = await listJobUrls(setup.sql, job.job_id, { limit: 7, after });
    seen.push(...urls.map((each) => new URL(each.url).pathname));
    after = next ?? undefined;
  } while (after !== undefined);
  expect(seen).toEqual(["/", ...fan(24)]);
});

test("URLs whose task fits no message end with a reason, and so does their job", async () => {
  const setup = await crawlSetup({ sqs: true });
  const roots = ["a.example/", `a.example/${"x".repeat(1_100_000)}`];
  const scope = { mode: "prefix" as const, roots, include: [], exclude: [] };
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { scope }));
  expect(job).toMatchObject({ status: "failed", counts: { failed: 1, open: 0 } });
  const urls = await setup.sql`select state, error_code from frontier where job_id = ${job.job_id}`;
  expect([...urls]).toEqual([{ state: "failed", error_code: "TASK_REFUSED" }]);
});
