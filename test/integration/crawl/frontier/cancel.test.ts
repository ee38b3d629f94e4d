import { expect, test } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site, traceOf } from "../crawl-setup.ts";

const urls = (count: number) => Array.from({ length: count }, (_, at) => `http://a.example/${at}`);
const site: Site = (url) => ({ html: page(url) });
const cancelled: Site = () => ({ error: { code: "CANCELLED", message: "The job was cancelled", retryable: false } });

test("cancelling ends what nobody fetches at once, and the rest as fetch answers", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(urls(130)));
  const [one, two] = (await setup.tasks()) as [FetchTask, FetchTask];
  await ingestBatch(setup.dependencies, await setup.capture(one, site, one.urls.slice(0, 10)));
  expect(await cancelJob(setup.dependencies, job.job_id)).toBe("cancelled");
  expect(await setup.dependencies.flags.isCancelled(job.job_id)).toBe(true);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "running",
    cancel_requested: true,
    stop_reason: null,
    counts: { crawled: 10, skipped: 30, open: 90 },
  });
  // whoever waits for the host is told at once
  const woken = (await setup.tasks()).map(({ taskId, urls: { length } }) => [taskId, length]);
  expect(new Map(woken as [string, number][])).toEqual(
    new Map([
      [one.taskId, 40],
      [two.taskId, 50],
    ]),
  );
  await ingestBatch(setup.dependencies, await setup.capture(one, cancelled, one.urls.slice(10)));
  await ingestBatch(setup.dependencies, await setup.capture(two, cancelled));
  expect(await setup.tasks()).toEqual([]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "cancelled",
    stop_reason: "manual_stop",
    counts: { crawled: 10, skipped: 120, open: 0 },
  });
  expect(await setup.sql`select from documents_active`).toHaveLength(0);
});

test("a page that arrives after the cancellation is archived, and its links are not followed", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  const [task] = (await setup.tasks()) as [FetchTask];
  await cancelJob(setup.dependencies, job.job_id);
  await ingestBatch(setup.dependencies, await setup.capture(task, () => ({ html: page("Home", ["/b"]) })));
  expect(await traceOf(setup.sql, job.job_id)).toMatchObject({
    job: { status: "cancelled", counts: { discovered: 1, crawled: 1, documents: 0 } },
    captures: [{ url: "http://a.example/" }],
    documents: [],
  });
});

test("cancelling a job that embeds ends it; cancelling what has ended or never was says so", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const job = await createJob(setup.dependencies, newJob(urls(1)));
  await setup.crawl(site);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "embedding" });
  expect(await cancelJob(setup.dependencies, job.job_id)).toBe("cancelled");
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "cancelled" });
  expect(await cancelJob(setup.dependencies, job.job_id)).toBe("finished");
  expect(await cancelJob(setup.dependencies, uuidv7())).toBe("missing");
});

test("cancellations that race with the last captures leave one final state and counts that add up", async () => {
  const setup = await crawlSetup();
  for (let round = 0; round < 6; round++) {
    const job = await createJob(setup.dependencies, newJob(urls(120)));
    const tasks = (await setup.tasks()) as [FetchTask, FetchTask];
    const messages = await Promise.all(
      tasks.flatMap((task) =>
        [0, 1, 2, 3, 4].map((at) => setup.capture(task, site, task.urls.slice(10 * at, 10 * at + 10))),
      ),
    );
    await Promise.all([
      ...messages.map((message) => ingestBatch(setup.dependencies, message)),
      cancelJob(setup.dependencies, job.job_id),
      cancelJob(setup.dependencies, job.job_id),
    ]);
    await setup.crawl(cancelled);
    const { job: view, frontier } = await traceOf(setup.sql, job.job_id);
    expect(view).toMatchObject({
      status: "cancelled",
      stop_reason: "manual_stop",
      counts: { open: 0, discovered: 120 },
    });
    const states = Map.groupBy(frontier, (row) => row["state"] as string);
    expect(states.get("crawled")?.length ?? 0).toBe(view?.counts.crawled);
    expect(states.get("skipped")?.length ?? 0).toBe(view?.counts.skipped);
  }
  const [database] = await setup.sql`select deadlocks from pg_stat_database where datname = current_database()`;
  expect(database?.["deadlocks"]).toBe(0);
});

test("a cancelled job whose host asked for minutes of silence ends at the next sweep, and its late task changes nothing", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(urls(2)));
  const [task] = (await setup.tasks()) as [FetchTask];
  await cancelJob(setup.dependencies, job.job_id);
  // fetch may be about to answer
  await sweep(setup.dependencies, Date.now());
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "pending", counts: { open: 2 } });
  await setup.sql`update jobs set updated_at = now() - interval '31 seconds'`;
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ endedUrls: 2, renewedTasks: 0 });
  const ended = { status: "cancelled", stop_reason: "manual_stop", counts: { skipped: 2, open: 0 } };
  expect(await readJob(setup.sql, job.job_id)).toMatchObject(ended);
  await ingestBatch(setup.dependencies, await setup.capture(task, cancelled));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject(ended);
});

test("a page that fails after the cancellation is not tried again, and its job ends with it", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(urls(2)));
  const [task] = (await setup.tasks()) as [FetchTask];
  await cancelJob(setup.dependencies, job.job_id);
  const reset: Site = () => ({ error: { code: "CONNECT_FAILED", message: "reset", retryable: true } });
  await ingestBatch(setup.dependencies, await setup.capture(task, reset));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "cancelled",
    counts: { failed: 0, skipped: 2, open: 0 },
  });
});
