/** Dead letters that are sent again: a consumer that is broken for a while, or for good. */
import { expect, test } from "vitest";
import { createQueueHandler } from "../../../../functions/adapters/queue/consumer.ts";
import { capturesMessageSchema } from "../../../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { recordDeadLetter } from "../../../../shared/crawl/recovery/dead-letters.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { type FetchTask, fetchTaskSchema } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { crawlSetup, newJob, page, receiveRecord, type Site } from "../crawl-setup.ts";

const site: Site = (url) => ({ html: page(url) });
const urls = ["http://a.example/1", "http://a.example/2"];

/** The consumers with their dead-letter queues, driven by hand: deliveries until a queue is empty. */
async function redriving(most = 3) {
  const setup = await crawlSetup({ sqs: true });
  const { aws, dependencies, sql } = setup;
  const letters = { ...dependencies, redrive: { most, firstS: 60 } };
  const shared = () => ({ ...dependencies, sqs: aws.sqs, queueUrlPrefix: aws.queueUrlPrefix });
  const ingest = createQueueHandler(shared, {
    schema: capturesMessageSchema,
    handle: async (message) => await ingestBatch(dependencies, message),
  });
  const receive = (queue: string) => receiveRecord(aws, queue, 12);
  return {
    ...setup,
    receive,
    /**
     * One delivery to ingest.
     * @returns whether the message comes back to the queue
     */
    async ingestNext(): Promise<boolean> {
      const record = await receive("captures");
      if (record === undefined) throw new Error("captures is empty");
      const answer = await ingest({ Records: [record] }, { getRemainingTimeInMillis: () => 60_000 });
      return answer.batchItemFailures.length > 0;
    },
    /** A message that used up its deliveries, as the queue service gives it to the dead-letter function. */
    async bury(
      queue: string,
      message: string,
      attributes: Record<string, string> = {},
      messageId = crypto.randomUUID(),
    ) {
      await recordDeadLetter(letters, { queue, messageId, body: message, receiveCount: 12, attributes });
    },
    /** Takes what the sweep sent again. */
    async takeSentAgain(queue: string) {
      const record = await receive(queue);
      const redrive = record?.messageAttributes["redrive"]?.stringValue;
      return { body: record?.body ?? "", attributes: redrive === undefined ? {} : { redrive } };
    },
    letters: () =>
      sql`select queue, state, redrives, error_code, redrive_at is not null as due from dead_letters order by id`,
    waits: async () => {
      const [row] = await sql<{ s: number }[]>`
        select round(extract(epoch from redrive_at - updated_at))::int as s from dead_letters`;
      return row?.s;
    },
    /** As if the wait were over. */
    passWait: () => sql`update dead_letters set redrive_at = now() where state = 'waiting'`,
    sweep: () => sweep(dependencies, Date.now()),
  };
}

test("a batch that is missing for a while is ingested once it is back, and its job completes with every page", async () => {
  const setup = await redriving();
  const job = await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  const message = await setup.capture(task, site);
  const batch = await setup.dependencies.objects.get(message.batchKey);
  await setup.aws.removeObject(message.batchKey);
  await setup.dependencies.queues.send("captures", message);
  // it comes back to the queue, and would until its deliveries are used up
  expect(await setup.ingestNext()).toBe(true);
  await setup.bury("captures", JSON.stringify(message));
  expect(await setup.letters()).toEqual([
    { queue: "captures", state: "waiting", redrives: 0, error_code: null, due: true },
  ]);
  expect(await setup.waits()).toBe(60);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ counts: { open: 2, failed: 0 } });
  expect(await setup.sweep()).toMatchObject({ redrivenLetters: 0, renewedTasks: 0 });

  await setup.dependencies.objects.put(message.batchKey, batch as Uint8Array, "application/zstd");
  await setup.passWait();
  // the lease that lapsed meanwhile is the letter's affair
  await setup.sql`update frontier set lease_until = now() - interval '1 hour' where state = 'claimed'`;
  expect(await setup.sweep()).toMatchObject({ redrivenLetters: 1, renewedTasks: 0, endedUrls: 0 });
  expect(await setup.letters()).toMatchObject([{ state: "sent", redrives: 1, due: false }]);
  expect(await setup.sweep()).toMatchObject({ redrivenLetters: 0, renewedTasks: 0 });
  await expect.poll(() => setup.ingestNext().catch(() => undefined)).toBe(false);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { discovered: 2, crawled: 2, failed: 0, skipped: 0, open: 0, documents: 2 },
  });
  await setup.sweep();
  expect(await setup.letters()).toMatchObject([{ state: "recovered", redrives: 1 }]);
});

test("a task that never succeeds is sent again after 1, 4 and 16 minutes, and then its URLs end", async () => {
  const setup = await redriving();
  const job = await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  let dead: { body: string; attributes: Record<string, string> } = { body: JSON.stringify(task), attributes: {} };
  const waits = [];
  for (let time = 1; time <= 3; time++) {
    const messageId = crypto.randomUUID();
    // the dead-letter queue delivers at least once
    await Promise.all([1, 2].map(() => setup.bury("fetch-normal", dead.body, dead.attributes, messageId)));
    await setup.bury("fetch-normal", dead.body, dead.attributes, messageId);
    waits.push(await setup.waits());
    await setup.passWait();
    expect(await setup.sweep()).toMatchObject({ redrivenLetters: 1 });
    dead = await setup.takeSentAgain("fetch-normal");
    expect(dead.attributes).toEqual({ redrive: String(time) });
    expect(fetchTaskSchema.parse(JSON.parse(dead.body))).toEqual(task);
  }
  expect(waits).toEqual([60, 240, 960]);
  await setup.bury("fetch-normal", dead.body, dead.attributes);
  expect(await setup.letters()).toMatchObject([{ state: "ended", redrives: 3, due: false }]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "failed",
    counts: { discovered: 2, crawled: 0, failed: 2, skipped: 0, open: 0 },
  });
});

test("a task that was sent again, delayed itself and lost the mark of that still counts its times", async () => {
  const setup = await redriving(1);
  await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.bury("fetch-normal", JSON.stringify(task));
  await setup.passWait();
  await setup.sweep();
  await setup.takeSentAgain("fetch-normal");
  await setup.bury("fetch-normal", JSON.stringify(task));
  expect(await setup.letters()).toMatchObject([{ state: "ended", redrives: 1 }]);
});

test("a message that can never be handled says so on its way to the dead-letter queue, and ends at once", async () => {
  const setup = await redriving();
  const job = await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.dependencies.objects.put("captures/poison", Buffer.from("not zstd"), "application/zstd");
  const poison = { jobId: job.job_id, taskId: task.taskId, batchKey: "captures/poison" };
  await setup.dependencies.queues.send("captures", poison);
  expect(await setup.ingestNext()).toBe(false);
  const record = await setup.receive("captures-dlq");
  expect(record?.messageAttributes["permanent_fault"]?.stringValue).toBe("BATCH_INVALID");
  await setup.bury("captures", record?.body ?? "", { permanent_fault: "BATCH_INVALID" });
  expect(await setup.letters()).toMatchObject([{ state: "ended", redrives: 0, error_code: "BATCH_INVALID" }]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "failed", counts: { failed: 2, open: 0 } });
});

test("a fault of the database that passes is one that a message survives, whatever it is called", async () => {
  const setup = await redriving();
  let broken = true;
  const handler = createQueueHandler(
    () => ({ ...setup.dependencies, sqs: setup.aws.sqs, queueUrlPrefix: setup.aws.queueUrlPrefix }),
    {
      schema: capturesMessageSchema,
      handle: async (message) => {
        if (broken) throw Object.assign(new Error("could not read block 12"), { code: "XX001" });
        await ingestBatch(setup.dependencies, message);
      },
    },
  );
  const deliver = async (queue: string) => {
    const record = await setup.receive(queue);
    if (record === undefined) throw new Error(`${queue} is empty`);
    await handler({ Records: [record] }, { getRemainingTimeInMillis: () => 60_000 });
  };
  const job = await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.dependencies.queues.send("captures", await setup.capture(task, site));
  await deliver("captures");
  const dead = await setup.takeSentAgain("captures-dlq");
  await setup.bury("captures", dead.body);
  broken = false;
  await setup.passWait();
  await setup.sweep();
  await deliver("captures");
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { crawled: 2, open: 0 } });
});

test("a letter that waits ends with its job: cancelled, or out of time", async () => {
  const setup = await redriving();
  const cancelled = await createJob(setup.dependencies, newJob(urls));
  const late = await createJob(setup.dependencies, newJob(urls, { timeoutS: 3600 }));
  for (const task of await setup.tasks()) await setup.bury("fetch-normal", JSON.stringify(task));
  expect(await setup.letters()).toMatchObject([{ state: "waiting" }, { state: "waiting" }]);
  await cancelJob(setup.dependencies, cancelled.job_id);
  await setup.sql`update jobs set deadline_at = now() where id = ${late.job_id}`;
  expect(await setup.sweep()).toMatchObject({ redrivenLetters: 0, endedUrls: 4 });
  expect(await setup.letters()).toMatchObject([{ state: "ended" }, { state: "ended" }]);
  expect(await readJob(setup.sql, cancelled.job_id)).toMatchObject({ status: "cancelled", counts: { skipped: 2 } });
  expect(await readJob(setup.sql, late.job_id)).toMatchObject({ status: "failed", counts: { failed: 2, open: 0 } });
});

test("the sweep stays awake for a letter, and one that no queue takes is tried again", async () => {
  const setup = await redriving();
  await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.bury("fetch-normal", JSON.stringify(task));
  await setup.passWait();
  const sendRaw = () => Promise.reject(new RetryableError("no", { code: "QUEUE_REFUSED" }));
  const deaf = { ...setup.dependencies, queues: { ...setup.dependencies.queues, sendRaw } };
  expect(await sweep(deaf, Date.now() + 3_600_000)).toMatchObject({ awake: true, redrivenLetters: 0 });
  expect(await setup.letters()).toMatchObject([{ state: "waiting", redrives: 0 }]);
  expect(await setup.sweep()).toMatchObject({ awake: true, redrivenLetters: 1 });
});
