import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import {
  createDiscovery,
  type NewDiscovery,
  readDiscoveryJob,
  removeExpiredDiscoveries,
  takeDiscovered,
} from "../../../../shared/crawl/discovery/jobs.ts";
import { discoveryTaskSchema } from "../../../../shared/crawl/discovery/task.ts";
import { recordDeadLetter } from "../../../../shared/crawl/recovery/dead-letters.ts";
import { freeInterruptedWork } from "../../../../shared/crawl/recovery/restart.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { crawlSetup } from "../crawl-setup.ts";

type Setup = Awaited<ReturnType<typeof crawlSetup>>;

const NEW: NewDiscovery = {
  domain: "a.example",
  sources: ["sitemap"],
  pattern: null,
  maxUrls: 10,
  scoreQuery: "the price of widgets",
  scoreThreshold: 0.3,
  apiKeyId: null,
};
const ended = (jobId: string, urlsFound = 1) => ({
  event: "ended" as const,
  jobId,
  error: null,
  urlsFound,
  resultKey: `discoveries/${jobId}/x`,
  notes: [{ source: "https://a.example/\ud800", code: "HTTP_404", message: "nul \0", count: null }],
});
const later = () => Date.now() + 600_000;
const messages = async (setup: Setup) =>
  (await setup.aws.receive("discover")).map((each) => discoveryTaskSchema.parse(each));
const openRows = (setup: Setup) => setup.sql`select status, sends, sent_at is null as unsent from discovery_jobs`;
const lapse = (setup: Setup) => setup.sql`update discovery_jobs set sent_at = now() - interval '1 hour'`;

/** A queue service that takes nothing. */
const deaf = (setup: Setup): Setup["dependencies"] => {
  const refuse = () => Promise.reject(new RetryableError("no queue today", { code: "QUEUE_REFUSED" }));
  return { ...setup.dependencies, queues: { ...setup.dependencies.queues, send: refuse } };
};

test("a job goes out as one message, with the words of its query", async () => {
  const setup = await crawlSetup();
  const job = await createDiscovery(setup.dependencies, NEW);
  expect(job).toMatchObject({ status: "pending", urls_found: 0, notes: [] });
  expect(await messages(setup)).toEqual([
    {
      jobId: job.job_id,
      domain: "a.example",
      sources: ["sitemap"],
      pattern: null,
      maxUrls: 10,
      keywords: ["price", "widgets"],
      scoreThreshold: 0.3,
    },
  ]);
});

test("a job that fits no message ends at once, and says why", async () => {
  const setup = await crawlSetup({ sqs: true });
  const job = await createDiscovery(setup.dependencies, { ...NEW, pattern: "x".repeat(1_100_000) });
  expect(job).toMatchObject({ status: "failed", error: expect.stringMatching(/^TASK_REFUSED: .*over 1048576 bytes/) });
});

test("a job begins, and ends exactly once however often its end is told, and in whatever order", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createDiscovery(setup.dependencies, NEW);
  expect(await takeDiscovered(setup.dependencies, { event: "started", jobId: job_id })).toBe(true);
  expect(await readDiscoveryJob(setup.sql, job_id)).toMatchObject({ status: "running" });
  const results = await Promise.all([1, 2, 3].map((found) => takeDiscovered(setup.dependencies, ended(job_id, found))));
  expect(results.filter(Boolean)).toHaveLength(1);
  expect(await takeDiscovered(setup.dependencies, { event: "started", jobId: job_id })).toBe(false);
  expect(await takeDiscovered(setup.dependencies, { ...ended(job_id), error: "late" })).toBe(false);
  expect(await readDiscoveryJob(setup.sql, job_id)).toMatchObject({
    status: "completed",
    urls_found: results.indexOf(true) + 1,
    error: null,
    completed_at: expect.any(Date),
    notes: [{ code: "HTTP_404", message: "nul \uFFFD" }],
  });
});

test("a message that could not be sent is sent by the next sweep", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createDiscovery(deaf(setup), NEW);
  expect(await openRows(setup)).toEqual([{ status: "pending", sends: 0, unsent: true }]);
  expect(await sweep(setup.dependencies, later())).toMatchObject({ resentDiscoveries: 1 });
  expect((await messages(setup)).map(({ jobId }) => jobId)).toEqual([job_id]);
  expect(await sweep(setup.dependencies, later())).toMatchObject({ resentDiscoveries: 0 });
});

test("an outage of the queue costs a job none of its sendings", async () => {
  const setup = await crawlSetup();
  await createDiscovery(deaf(setup), NEW);
  for (let times = 0; times < 5; times++) await sweep(deaf(setup), later());
  expect(await openRows(setup)).toEqual([{ status: "pending", sends: 0, unsent: true }]);
});

test("a job whose worker never answers is sent again, and fails in the end", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createDiscovery(setup.dependencies, NEW);
  await takeDiscovered(setup.dependencies, { event: "started", jobId: job_id });
  for (const resent of [1, 1, 0]) {
    await lapse(setup);
    expect(await sweep(setup.dependencies, later())).toMatchObject({ resentDiscoveries: resent });
  }
  expect(await messages(setup)).toHaveLength(3);
  expect(await readDiscoveryJob(setup.sql, job_id)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^LOST/),
  });
  // its worker answers after all
  expect(await takeDiscovered(setup.dependencies, ended(job_id))).toBe(false);
});

test("two sweeps at once send a lost job once", async () => {
  const setup = await crawlSetup();
  await createDiscovery(setup.dependencies, NEW);
  await messages(setup);
  await lapse(setup);
  await Promise.all([sweep(setup.dependencies, later()), sweep(setup.dependencies, later())]);
  expect(await messages(setup)).toHaveLength(1);
});

test("an open discovery keeps the system awake", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createDiscovery(setup.dependencies, NEW);
  await sweep(setup.dependencies, later());
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
  await takeDiscovered(setup.dependencies, ended(job_id));
  await sweep(setup.dependencies, later());
  expect(await setup.dependencies.flags.activeSince()).toBeUndefined();
});

test("after a restart the next sweep sends what no worker is left to answer for", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createDiscovery(setup.dependencies, NEW);
  await messages(setup);
  const none = () => Promise.reject(new Error("there is no task"));
  await freeInterruptedWork(
    { sql: setup.sql, flags: setup.dependencies.flags, leases: { free: none }, hosts: { freeSlots: none } },
    new Set(),
  );
  expect(await sweep(setup.dependencies, later())).toMatchObject({ resentDiscoveries: 1 });
  expect((await messages(setup)).map(({ jobId }) => jobId)).toEqual([job_id]);
});

test("a job whose message is dead fails; one whose answer is dead is asked for again", async () => {
  const setup = await crawlSetup();
  const redrive = { most: 3, firstS: 60 };
  const letter = (queue: string, body: unknown) => ({
    queue,
    messageId: randomUUID(),
    body: JSON.stringify(body),
    receiveCount: 12,
    attributes: {},
  });
  const [one, other] = [await createDiscovery(setup.dependencies, NEW), await createDiscovery(setup.dependencies, NEW)];
  await messages(setup);
  const dependencies = { ...setup.dependencies, redrive };
  await recordDeadLetter(dependencies, letter("discover", { jobId: one.job_id, domain: 7 }));
  await recordDeadLetter(dependencies, letter("discovered", ended(other.job_id)));
  expect(await readDiscoveryJob(setup.sql, one.job_id)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^DEAD_LETTERED/),
  });
  await sweep(setup.dependencies, later());
  expect((await messages(setup)).map(({ jobId }) => jobId)).toEqual([other.job_id]);
});

test("a job goes with its URLs, after 30 days; one that has not ended never does", async () => {
  const setup = await crawlSetup();
  const [old, young, open] = [
    await createDiscovery(setup.dependencies, NEW),
    await createDiscovery(setup.dependencies, NEW),
    await createDiscovery(setup.dependencies, NEW),
  ];
  for (const { job_id } of [old, young]) await takeDiscovered(setup.dependencies, ended(job_id));
  await setup.sql`update discovery_jobs set created_at = now() - interval '31 days' where id = ${open.job_id}`;
  await setup.sql`update discovery_jobs set completed_at = now() - interval '31 days' where id = ${old.job_id}`;
  expect(await removeExpiredDiscoveries(setup.sql)).toBe(1);
  expect(await readDiscoveryJob(setup.sql, old.job_id)).toBeUndefined();
  expect(await readDiscoveryJob(setup.sql, young.job_id)).toBeDefined();
  expect(await readDiscoveryJob(setup.sql, open.job_id)).toBeDefined();
});
