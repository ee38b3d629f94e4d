import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { recordTaskNote } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { FIELD_PRESETS } from "../../../../shared/crawl/results/fields.ts";
import { type ResultStreamOptions, type StreamItem, streamResults } from "../../../../shared/crawl/results/stream.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import type { Clock } from "../../../../shared/platform/clock.ts";
import { measuredIn } from "../../../services/measured.ts";
import { crawlSetup, newJob, page, siteOf } from "../../crawl/crawl-setup.ts";

type Setup = Awaited<ReturnType<typeof crawlSetup>>;

const PATHS = Array.from({ length: 60 }, (_, index) => `/${index}`);
const site = siteOf("http://a.example", Object.fromEntries(PATHS.map((path) => [path, page(path)])));
const seeds = PATHS.map((path) => `http://a.example${path}`);

/** Time passes only where something sleeps. */
function fastClock(): Clock {
  let now = Date.now();
  return {
    now: () => now,
    async sleep(ms, signal) {
      await setImmediate();
      signal?.throwIfAborted();
      now += ms;
    },
  };
}

function stream(setup: Setup, jobId: string, options: Partial<ResultStreamOptions> = {}) {
  const { sql, objects, log } = setup.dependencies;
  return streamResults({ sql, objects, log, maxContentBytes: 1000, clock: fastClock() }, jobId, {
    after: 0,
    fields: FIELD_PRESETS.light,
    signal: new AbortController().signal,
    remainingMs: () => 900_000,
    ...options,
  });
}

/** Items but those that say that nothing happened. */
async function next(items: AsyncIterator<StreamItem>): Promise<StreamItem | undefined> {
  for (;;) {
    const { value, done } = await items.next();
    if (done) return undefined;
    if (value.type !== "idle") return value;
  }
}
async function rest(items: AsyncIterator<StreamItem>): Promise<StreamItem[]> {
  const all: StreamItem[] = [];
  for (let item = await next(items); item !== undefined; item = await next(items)) all.push(item);
  return all;
}
const cursors = (items: readonly StreamItem[]) => items.flatMap((item) => (item.type === "page" ? [item.cursor] : []));

it("tells once of each host that the job waits for, and goes on", async () => {
  const setup = await crawlSetup();
  const { job_id: jobId } = await createJob(setup.dependencies, newJob(seeds));
  const until = new Date(Date.now() + 60_000).toISOString();
  const wait = { code: "CIRCUIT_OPEN", message: "a.example failed 5 times in a row", until } as const;
  await recordTaskNote(setup.sql, { jobId, begunAt: null, waits: { host: "a.example", ...wait } });
  const items = stream(setup, jobId);
  expect(await next(items)).toEqual({ type: "error", host: "a.example", ...wait });
  await cancelJob(setup.dependencies, jobId);
  expect(await rest(items)).toMatchObject([{ type: "stats", state: { stopReason: "manual_stop" } }]);
});

it("gives each page once and in order while they come, then the stats, exactly once and last", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  const items = stream(setup, job_id);
  const [first, second] = (await setup.tasks()) as [FetchTask, FetchTask];
  expect(first.urls.length + second.urls.length).toBe(60);
  const waiting = next(items);
  await setup.crawlTask(second, site);
  expect(await waiting).toMatchObject({ type: "page", cursor: 1 });
  await setup.crawlTask(first, site);
  const all = await rest(items);
  expect(cursors(all)).toEqual(PATHS.slice(1).map((_, index) => index + 2));
  expect(all.filter(({ type }) => type !== "page")).toMatchObject([
    { type: "stats", state: { crawled: 60, over: true } },
  ]);
  expect(all.at(-1)?.type).toBe("stats");
  expect(measuredIn(setup.logged, "stream")).toMatchObject({ records: 60, ends_complete: 1 });
});

it("goes on after any cursor with exactly what follows", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  await setup.crawl(site);
  for (const after of [0, 1, 37, 59, 60, 61]) {
    const all = await rest(stream(setup, job_id, { after }));
    expect(cursors(all)).toEqual(PATHS.map((_, index) => index + 1).filter((cursor) => cursor > after));
    expect(all.at(-1)?.type).toBe("stats");
  }
});

it("ends before its time is up, without stats, and says from where to go on", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  const [task, other] = (await setup.tasks()) as [FetchTask, FetchTask];
  await setup.crawlTask(task, site);
  let taken = 0;
  const all = await rest(stream(setup, job_id, { remainingMs: () => (++taken < 10 ? 900_000 : 19_000) }));
  const seen = cursors(all).length;
  expect(seen).toBeGreaterThan(0);
  expect(seen).toBeLessThan(task.urls.length);
  expect(all.at(-1)).toMatchObject({ type: "error", code: "STREAM_TIME_LIMIT", cursor: seen });
  expect(measuredIn(setup.logged, "stream")).toMatchObject({ records: seen, ends_time_limit: 1 });
  await setup.crawlTask(other, site);
  const others = await rest(stream(setup, job_id, { after: seen }));
  expect(cursors(all).concat(cursors(others))).toEqual(PATHS.map((_, index) => index + 1));
});

it("does not wait for what a cancelled job has under way", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  const [first] = (await setup.tasks()) as [FetchTask];
  await setup.crawlTask(first, site);
  await cancelJob(setup.dependencies, job_id);
  const all = await rest(stream(setup, job_id, { after: first.urls.length - 2 }));
  expect(all).toMatchObject([
    { type: "page" },
    { type: "page" },
    { type: "stats", state: { stopReason: "manual_stop", crawled: first.urls.length } },
  ]);
});

it("tells of a job that fails, then of its stats", async () => {
  const setup = await crawlSetup();
  const job = newJob(["http://a.example/gone"], { kind: "site" });
  const { job_id } = await createJob(setup.dependencies, job);
  const items = stream(setup, job_id);
  const first = next(items);
  await setup.crawl(site);
  expect([await first, ...(await rest(items))]).toMatchObject([
    { type: "page", page: { status_code: 404, fetch_error: expect.stringContaining("HTTP_404") } },
    { type: "error", code: "JOB_FAILED", message: expect.stringContaining("HTTP_404") },
    { type: "stats", state: { crawled: 0, failed: 1, stopReason: "error" } },
  ]);
  expect(measuredIn(setup.logged, "stream")).toMatchObject({ records: 1, ends_failed: 1 });
});

it("says every 15 s that nothing has happened", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  const clock = fastClock();
  const { sql, objects, log } = setup.dependencies;
  const leave = new AbortController();
  const options = { after: 0, fields: FIELD_PRESETS.light, signal: leave.signal, remainingMs: () => 900_000 };
  const items = streamResults({ sql, objects, log, maxContentBytes: 1000, clock }, job_id, options);
  for (let index = 0; index < 3; index += 1) {
    const before = clock.now();
    expect(await items.next()).toEqual({ value: { type: "idle" }, done: false });
    expect(clock.now() - before).toBeGreaterThanOrEqual(15_000);
    expect(clock.now() - before).toBeLessThan(15_400);
  }
  leave.abort();
  expect(await items.next()).toEqual({ value: undefined, done: true });
  expect(measuredIn(setup.logged, "stream")).toMatchObject({ records: 0, ends_left: 1 });
});

it("ends with what is left of it where results are gone", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  await setup.crawl(site);
  await setup.sql`delete from frontier where job_id = ${job_id}`;
  const all = await rest(stream(setup, job_id, { after: 10 }));
  expect(all).toMatchObject([{ type: "error", code: "RESULTS_GONE" }, { type: "stats" }]);
});
