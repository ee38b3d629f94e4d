/** What a sweep has read may be old by the time it acts: what others have changed meanwhile holds. */
import { expect, test } from "vitest";
import { MAX_SENDS } from "../../../../shared/crawl/frontier/claim-lease.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { crawlSetup, newJob, page } from "../crawl-setup.ts";
import { holding, untilSomeoneWaits } from "../held-transactions.ts";

const SEEDS = ["http://a.example/1", "http://a.example/2"];

test("a task that answers just as it would be given up goes on", async () => {
  const setup = await crawlSetup();
  const { dependencies, sql } = setup;
  const job = await createJob(dependencies, newJob(SEEDS));
  const [task] = (await setup.tasks()) as [FetchTask];
  await sql`update frontier set sends = ${MAX_SENDS}, lease_until = now() - interval '1 second'`;
  const site = (url: string) => ({ html: page(url) });
  const held = holding(sql);
  const [first, rest] = [
    await setup.capture(task, site, task.urls.slice(0, 1)),
    await setup.capture(task, site, task.urls.slice(1)),
  ];
  const ingested = ingestBatch({ ...dependencies, sql: held.sql }, first);
  await held.worked;
  const swept = sweep(dependencies, Date.now());
  await untilSomeoneWaits(sql);
  held.commit();
  await ingested;
  expect(await swept).toMatchObject({ endedUrls: 0 });
  await ingestBatch(dependencies, rest);
  expect(await readJob(sql, job.job_id)).toMatchObject({ status: "completed", counts: { crawled: 2, failed: 0 } });
});

test("a job whose listener comes back just as it would be ended goes on", async () => {
  const setup = await crawlSetup();
  const { dependencies, sql } = setup;
  const { job_id } = await createJob(dependencies, newJob(SEEDS, { delivery: "stream", endsUnheard: true }));
  await sql`update jobs set watched_at = now() - interval '10 minutes'`;
  const held = holding(sql);
  const back = held.sql.begin((tx) => tx`update jobs set watched_at = now() where id = ${job_id}`);
  await held.worked;
  const swept = sweep(dependencies, Date.now());
  await untilSomeoneWaits(sql);
  held.commit();
  await back;
  expect(await swept).toMatchObject({ jobsWithoutListener: 0 });
  expect(await readJob(sql, job_id)).toMatchObject({ cancel_requested: false, counts: { open: 2 } });
});

test("fetch hears of a cancellation whose process ended before it could say so", async () => {
  const setup = await crawlSetup();
  const { dependencies, sql } = setup;
  const { job_id } = await createJob(dependencies, newJob(SEEDS));
  const dying = { ...dependencies.flags, markCancelled: () => Promise.reject(new Error("the process ends")) };
  await expect(cancelJob({ ...dependencies, flags: dying }, job_id)).rejects.toThrow("the process ends");
  await sql`update jobs set updated_at = now() - interval '1 minute'`;
  await sweep(dependencies, Date.now());
  expect(await readJob(sql, job_id)).toMatchObject({ status: "cancelled" });
  expect(await dependencies.flags.isCancelled(job_id)).toBe(true);
});
