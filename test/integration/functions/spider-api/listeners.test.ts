import { expect, it } from "vitest";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { readCrawlState } from "../../../../shared/crawl/results/crawl-state.ts";
import { keepListened } from "../../../../shared/crawl/results/listeners.ts";
import { waitForCrawl } from "../../../../shared/crawl/results/wait.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { type Clock, systemClock } from "../../../../shared/platform/clock.ts";
import { crawlSetup, newSiteJob, page, siteOf } from "../../crawl/crawl-setup.ts";

const SEED = "http://a.example/";
const site = siteOf("http://a.example", { "/": page("Home", ["/b", "/c"]), "/b": page("B"), "/c": page("C") });
const never = new AbortController().signal;

it("the sweep ends a job that nobody has listened to for a minute, and no other", async () => {
  const setup = await crawlSetup();
  const { dependencies, sql } = setup;
  const left = await createJob(dependencies, newSiteJob(SEED, { delivery: "stream", endsUnheard: true }));
  const listenedTo = await createJob(dependencies, newSiteJob(SEED, { delivery: "stream", endsUnheard: true }));
  const detached = await createJob(dependencies, newSiteJob(SEED, { delivery: "stream" }));
  await sql`update jobs set watched_at = watched_at - interval '61 seconds'`;
  await keepListened(sql, listenedTo.job_id);
  await keepListened(sql, detached.job_id);
  expect(await sweep(dependencies, Date.now())).toMatchObject({ jobsWithoutListener: 1 });
  const asked = async ({ job_id }: { job_id: string }) => (await readJob(sql, job_id))?.cancel_requested;
  expect([await asked(left), await asked(listenedTo), await asked(detached)]).toEqual([true, false, false]);
});

it("the sweep leaves a job alone that has been crawled, whoever listens", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const { job_id } = await createJob(setup.dependencies, newSiteJob(SEED, { delivery: "stream", endsUnheard: true }));
  await setup.crawl(site);
  await setup.sql`update jobs set watched_at = watched_at - interval '10 minutes'`;
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ jobsWithoutListener: 0 });
  expect(await readJob(setup.sql, job_id)).toMatchObject({ status: "embedding", cancel_requested: false });
});

it("the sweep ends a job whose time is up though nothing of it comes in", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newSiteJob(SEED, { timeoutS: 3600 }));
  const [task] = await setup.tasks();
  if (task === undefined) throw new Error("no task");
  await setup.crawlTask(task, site);
  await setup.tasks();
  // /b and /c are under way and come back for another try
  await setup.sql`update frontier set state = 'pending', task_id = null, lease_until = null where state = 'claimed'`;
  await setup.sql`update jobs set deadline_at = now() - interval '1 second'`;
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ lateJobs: 1 });
  expect(await readJob(setup.sql, job_id)).toMatchObject({
    status: "completed",
    stop_reason: "timeout",
    counts: { crawled: 1, skipped: 2, open: 0 },
  });
});

it("a crawl is waited for until its last URL has ended, not until it is embedded", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const { job_id } = await createJob(setup.dependencies, newSiteJob(SEED));
  const waiting = waitForCrawl({ ...setup.dependencies, clock: systemClock }, job_id, never);
  await setup.crawl(site);
  expect(await waiting).toMatchObject({ over: true, status: "embedding", crawled: 3, stopReason: "completed" });
});

it("a crawl took as long whenever it is asked for, while its pages are embedded and after", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const { job_id } = await createJob(setup.dependencies, newSiteJob(SEED));
  await setup.crawl(site);
  const took = async () => (await readCrawlState(setup.sql, job_id))?.durationSeconds;
  const first = await took();
  await setup.sql`update jobs set status = 'completed', completed_at = now() + interval '1 hour' where id = ${job_id}`;
  expect([await took(), first]).toEqual([first, expect.any(Number)]);
});

it("a crawl whose time is up is told of as it is, though something of it is still under way", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newSiteJob(SEED, { timeoutS: 3600 }));
  const [task] = await setup.tasks();
  if (task === undefined) throw new Error("no task");
  await setup.crawlTask(task, site);
  await setup.sql`update jobs set deadline_at = now() + interval '1 second' where id = ${job_id}`;
  let sleptMs = 0;
  const clock: Clock = {
    now: systemClock.now,
    async sleep(ms, signal) {
      sleptMs += ms;
      await systemClock.sleep(ms, signal);
    },
  };
  const state = await waitForCrawl({ ...setup.dependencies, clock }, job_id, never);
  expect(sleptMs).toBeLessThan(5_000);
  expect(state).toMatchObject({ over: false, crawled: 1, stopReason: "timeout" });
});

it("who waits can leave, and the job goes on", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newSiteJob(SEED));
  const leave = new AbortController();
  const waiting = waitForCrawl({ ...setup.dependencies, clock: systemClock }, job_id, leave.signal);
  leave.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
  expect(await readJob(setup.sql, job_id)).toMatchObject({ cancel_requested: false });
});
