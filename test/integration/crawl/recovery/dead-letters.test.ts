import type { SQSEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { type DeadLetter, recordDeadLetter } from "../../../../shared/crawl/recovery/dead-letters.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { crawlSetup, newJob, newSiteJob, page, receiveRecord, type Site, traceOf } from "../crawl-setup.ts";

type Setup = Awaited<ReturnType<typeof crawlSetup>>;

const site: Site = (url) => ({ html: page(url) });
const letter = (queue: string, message: unknown) => ({
  queue,
  messageId: crypto.randomUUID(),
  body: typeof message === "string" ? message : JSON.stringify(message),
  receiveCount: 3,
  attributes: {},
});
/** Without another try. */
const bury = (setup: Setup, dead: DeadLetter) =>
  recordDeadLetter({ ...setup.dependencies, redrive: { most: 0, firstS: 1 } }, dead);

async function deliver(setup: Setup, queue: string): Promise<SQSEvent> {
  const record = await receiveRecord(setup.aws, queue);
  if (record === undefined) throw new Error(`${queue} is empty`);
  return { Records: [record] };
}

test("a poison batch goes to the dead-letter queue at once, its URLs end as failed, and the job ends", async () => {
  const setup = await crawlSetup({ sqs: true });
  for (const [name, value] of Object.entries({ ...setup.aws.env, DATABASE__POSTGRES_URL: setup.databaseUrl })) {
    vi.stubEnv(name, value);
  }
  const { handler: ingest } = await import("../../../../functions/ingest/handler.ts");
  const { handler: buryIt } = await import("../../../../functions/dead-letter/handler.ts");
  const context = { getRemainingTimeInMillis: () => 60_000 };
  const job = await createJob(setup.dependencies, newJob(["http://a.example/1", "http://a.example/2"]));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.dependencies.objects.put("captures/poison", Buffer.from("not zstd at all"), "application/zstd");
  await setup.dependencies.queues.send("captures", {
    jobId: job.job_id,
    taskId: task.taskId,
    batchKey: "captures/poison",
  });
  expect(await ingest(await deliver(setup, "captures"), context)).toEqual({ batchItemFailures: [] });
  expect(await buryIt(await deliver(setup, "captures-dlq"), context)).toEqual({ batchItemFailures: [] });
  expect(await traceOf(setup.sql, job.job_id)).toMatchObject({
    job: { status: "failed", counts: { failed: 2, open: 0 } },
    frontier: [{ error_code: "DEAD_LETTERED" }, { error_code: "DEAD_LETTERED" }],
  });
  const records = await setup.sql`select queue, job_id, body from dead_letters`;
  expect(records).toMatchObject([{ queue: "captures", job_id: job.job_id }]);
  expect(await setup.sql`select domain, crawled, failed from domain_counts`).toEqual([
    { domain: "a.example", crawled: 0, failed: 2 },
  ]);

  await setup.dependencies.queues.sendRaw("fetch-low-dlq", "{not json");
  expect(await buryIt(await deliver(setup, "fetch-low-dlq"), context)).toEqual({ batchItemFailures: [] });
  const [unreadable] = await setup.sql`select queue, job_id, body from dead_letters where job_id is null`;
  expect(unreadable).toEqual({ queue: "fetch-low", job_id: null, body: "{not json" });
});

test("a dead fetch task ends its URLs, and the job goes on with the others", async () => {
  const setup = await crawlSetup();
  const job = await createJob(
    setup.dependencies,
    newJob(Array.from({ length: 130 }, (_, at) => `http://a.example/${at}`)),
  );
  const [dead, living] = (await setup.tasks()) as [FetchTask, FetchTask];
  const dying = letter("fetch-normal", dead);
  await Promise.all([bury(setup, dying), bury(setup, dying)]);
  const next = await setup.tasks();
  expect(next.map((task) => task.urls.length)).toEqual([30]);
  await Promise.all([living, ...next].map(async (task) => setup.crawlTask(task, site)));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { failed: 50, crawled: 80, open: 0 },
  });
  expect(await setup.sql`select from dead_letters`).toHaveLength(1);
});

test("a dead batch that can be read ends its own URLs alone", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/1", "http://a.example/2"]));
  const [task] = (await setup.tasks()) as [FetchTask];
  const message = await setup.capture(task, site, task.urls.slice(0, 1));
  await bury(setup, letter("captures", message));
  expect(await traceOf(setup.sql, job.job_id)).toMatchObject({
    frontier: [{ state: "failed" }, { state: "claimed" }],
  });
});

test("halves of a batch die apart, and end their own URLs each", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob([1, 2, 3].map((at) => `http://a.example/${at}`)));
  const [task] = (await setup.tasks()) as [FetchTask];
  const message = await setup.capture(task, site);
  await bury(setup, letter("captures", { ...message, range: [0, 1] }));
  expect(await traceOf(setup.sql, job.job_id)).toMatchObject({
    frontier: [{ state: "failed" }, { state: "claimed" }, { state: "claimed" }],
  });
  await bury(setup, letter("captures", { ...message, range: [1, 3] }));
  expect(await traceOf(setup.sql, job.job_id)).toMatchObject({ frontier: Array(3).fill({ state: "failed" }) });
  expect(await setup.sql`select from dead_letters`).toHaveLength(2);
});

test("a site job whose only task is dead fails", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  const [task] = (await setup.tasks()) as [FetchTask];
  // of a later version, say: only what the letter is traced by is right
  await bury(setup, letter("fetch-normal", { ...task, urls: "?" }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("DEAD_LETTERED"),
  });
});

test("a dead embed task leaves its chunks pending, and gives up those that the embedder has refused too often", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 64 } });
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  await setup.crawl(() => ({ html: page("Home", [], 300) }));
  const chunks = await setup.sql<{ id: string }[]>`select id from chunks order by id`;
  expect(chunks.length).toBeGreaterThan(2);
  const dead = { jobId: job.job_id, chunkIds: chunks.map((chunk) => chunk.id) };
  await bury(setup, letter("embed-normal", dead));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ counts: { unembedded_chunks: chunks.length } });
  await setup.sql`update embeddings set attempts = 5 where chunk_id = (select id from chunks where chunk_index = 0)`;
  await bury(setup, letter("embed-normal", dead));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "embedding",
    counts: { unembedded_chunks: chunks.length - 1 },
  });
  await setup.sql`update embeddings set attempts = 5`;
  await bury(setup, letter("embed-normal", dead));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed" });
});

test("a letter of a job that is not known is recorded", async () => {
  const setup = await crawlSetup();
  await bury(setup, letter("fetch-high", { jobId: uuidv7(), taskId: uuidv7() }));
  await bury(setup, letter("embed-normal", "[]"));
  expect(await setup.sql`select queue, job_id from dead_letters order by id`).toEqual([
    { queue: "fetch-high", job_id: null },
    { queue: "embed-normal", job_id: null },
  ]);
});
