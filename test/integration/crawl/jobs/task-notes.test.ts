/** What the notes of fetch tasks make of a job. */
import { expect, it } from "vitest";
import { recordTaskNote } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { readCrawlState } from "../../../../shared/crawl/results/crawl-state.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { readProgress } from "../../../../shared/notify/job-progress.ts";
import { crawlSetup, newJob } from "../crawl-setup.ts";

const inSeconds = (seconds: number): string => new Date(Date.now() + 1000 * seconds).toISOString();
const waitFor = (host: string, seconds: number) =>
  ({ host, code: "CIRCUIT_OPEN", message: `${host} failed`, until: inSeconds(seconds) }) as const;

it("a job runs from its first request, and one of its tasks is to tell so", async () => {
  const { dependencies, sql, tasks } = await crawlSetup();
  const seeds = ["http://a.example/", "http://b.example/", "http://c.example/"];
  const { job_id: jobId, created_at } = await createJob(dependencies, newJob(seeds));
  const announcing = (await tasks()).map(({ announce }) => announce);
  expect(announcing.filter(Boolean)).toHaveLength(1);
  expect(announcing.length).toBe(3);
  const begunAt = new Date(created_at.getTime() + 1).toISOString();
  await recordTaskNote(sql, { jobId, begunAt, waits: null });
  expect(await readJob(sql, jobId)).toMatchObject({ status: "running", started_at: new Date(begunAt) });
  await recordTaskNote(sql, { jobId, begunAt: inSeconds(0), waits: null });
  expect(await readJob(sql, jobId)).toMatchObject({ started_at: new Date(begunAt) });
});

it("whatever the clocks say, a job begins after it was taken and before now", async () => {
  const { dependencies, sql } = await crawlSetup();
  for (const seconds of [-3600, 3600]) {
    const { job_id: jobId, created_at } = await createJob(dependencies, newJob(["http://a.example/"]));
    await recordTaskNote(sql, { jobId, begunAt: inSeconds(seconds), waits: null });
    const started = (await readJob(sql, jobId))?.started_at?.getTime() ?? 0;
    expect(started).toBeGreaterThanOrEqual(created_at.getTime());
    expect(started).toBeLessThan(Date.now() + 1000);
  }
});

it("hosts that a job waits for are shown until their time, everywhere", async () => {
  const { dependencies, sql } = await crawlSetup();
  const { job_id: jobId } = await createJob(dependencies, newJob(["http://a.example/"]));
  const before = await readProgress(sql, jobId);
  expect(before?.data.waits).toEqual([]);
  const [first, second, later] = [waitFor("a.example", 60), waitFor("b.example:81", 90), waitFor("a.example", 99)];
  for (const waits of [first, second]) await recordTaskNote(sql, { jobId, begunAt: null, waits });
  expect(await readJob(sql, jobId)).toMatchObject({ status: "pending", waits: [first, second] });
  const progress = await readProgress(sql, jobId);
  expect(progress?.data.waits).toEqual([first, second]);
  expect((await readCrawlState(sql, jobId))?.waits).toEqual([first, second]);
  await recordTaskNote(sql, { jobId, begunAt: null, waits: later });
  expect((await readJob(sql, jobId))?.waits).toEqual([later, second]);
  expect(new Set([before?.id, progress?.id, (await readProgress(sql, jobId))?.id]).size).toBe(3);

  await recordTaskNote(sql, { jobId, begunAt: null, waits: { ...later, until: inSeconds(-1) } });
  expect((await readJob(sql, jobId))?.waits).toEqual([later, second]);
  await sql`update jobs set waits = jsonb_set(waits, '{b.example:81,until}', to_jsonb(${inSeconds(-1)}::text)) where id = ${jobId}`;
  expect((await readJob(sql, jobId))?.waits).toEqual([later]);
  await cancelJob(dependencies, jobId);
  expect((await readJob(sql, jobId))?.waits).toEqual([]);
});

it("of hosts without number those are shown that are waited for longest", async () => {
  const { dependencies, sql } = await crawlSetup();
  const { job_id: jobId } = await createJob(dependencies, newJob(["http://a.example/"]));
  for (let n = 30; n > 0; n--)
    await recordTaskNote(sql, { jobId, begunAt: null, waits: waitFor(`h${n}.example`, 60 + n) });
  const hosts = (await readJob(sql, jobId))?.waits.map(({ host }) => host);
  expect(hosts).toHaveLength(20);
  expect(hosts).toContain("h30.example");
  expect(hosts).not.toContain("h1.example");
});
