import { expect, test } from "vitest";
import { createTaskLeases } from "../../../../shared/crawl/fetch/task-lease.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createHostStates } from "../../../../shared/crawl/politeness/host-state.ts";
import { freeInterruptedWork } from "../../../../shared/crawl/recovery/restart.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import type { QueueSender } from "../../../../shared/platform/aws/queues.ts";
import { takeStalled } from "../../../../shared/platform/database/leased-work.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { insertTestCaptures } from "../../functions/cdx-api/captured.ts";
import { crawlSetup, newJob, page } from "../crawl-setup.ts";

type Setup = Awaited<ReturnType<typeof crawlSetup>>;

/** A process that is killed between its commit and its messages. */
const killed: QueueSender = {
  send: () => Promise.reject(new RetryableError("killed", { code: "QUEUE_REFUSED" })),
  sendRaw: () => Promise.reject(new RetryableError("killed", { code: "QUEUE_REFUSED" })),
  sendAll: () => Promise.reject(new RetryableError("killed", { code: "QUEUE_REFUSED" })),
};

const workersOf = ({ aws, sql, dependencies: { flags } }: Setup) => ({
  sql,
  flags,
  leases: createTaskLeases(aws.dynamo, aws.stateTable),
  hosts: createHostStates(aws.dynamo, aws.stateTable),
});

test("a task whose message was lost is sent by the first sweep after a restart; one that has a message is not sent twice", async () => {
  const setup = await crawlSetup();
  const workers = workersOf(setup);
  await createJob({ ...setup.dependencies, queues: killed }, newJob(["http://lost.example/"]));
  await createJob(setup.dependencies, newJob(["http://queued.example/"]));
  const [queued] = (await setup.tasks()) as [FetchTask];
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ renewedTasks: 0 });

  expect(await freeInterruptedWork(workers, new Set([queued.taskId]))).toEqual({ tasks: 2, lost: 1 });
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ renewedTasks: 1 });
  expect(await setup.tasks()).toMatchObject([{ urls: [{ url: "http://lost.example/" }] }]);
});

test("a task in the hands of a worker that is gone is free after a restart, and its host's slots with it", async () => {
  const setup = await crawlSetup();
  const workers = workersOf(setup);
  await createJob(setup.dependencies, newJob(["http://a.example/"]));
  const [task] = (await setup.tasks()) as [FetchTask];
  await workers.leases.take(task.taskId, "gone");
  const when = { notBefore: Date.now(), maxWaitMs: 5000, intervalMs: 1000 };
  await workers.hosts.reserve("a.example", 600_000, when);
  expect(await workers.hosts.reserve("a.example", 1000, when)).toMatchObject({ taken: false });

  await freeInterruptedWork(workers, new Set([task.taskId]));
  expect((await workers.leases.take(task.taskId, "next")).outcome).toBe("taken");
  expect(await workers.hosts.reserve("a.example", 1000, when)).toMatchObject({ taken: true });
});

test("chunks whose embed task was lost are sent by the first sweep after a restart", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  const [task] = (await setup.tasks()) as [FetchTask];
  const captures = await setup.capture(task, () => ({ html: page("Home") }));
  await ingestBatch({ ...setup.dependencies, queues: killed }, captures);
  await ingestBatch(setup.dependencies, captures);
  expect(await setup.aws.receive("embed-normal")).toEqual([]);

  await freeInterruptedWork(workersOf(setup), new Set());
  const { resentChunks } = await sweep(setup.dependencies, Date.now());
  expect(resentChunks).toBe((await readJob(setup.sql, job.job_id))?.counts.chunks);
  expect(resentChunks).toBeGreaterThan(0);
});

test("work on the archive in the hands of workers that are gone is free after a restart", async () => {
  const { sql, ...setup } = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  const held = { status: "running", created_at: new Date(0), lease_until: new Date(Date.now() + 600_000) };
  await sql`insert into warc_imports ${sql({ ...held, id: uuidv7(), job_id, object_key: "a", etag: "a" })}`;
  await sql`insert into warc_runs ${sql({ ...held, id: uuidv7(), kind: "clean" })}`;
  await sql`insert into exports ${sql({ ...held, id: uuidv7(), job_id, object_key: "b" })}`;
  const [capture] = await insertTestCaptures(sql, [{ url: "http://a.example/", time: "2026-01-02T03:04:05Z" }], job_id);
  await sql`insert into snapshots_due (capture_id) values (${capture ?? 0}) on conflict do nothing`;
  await sql`insert into changes_due (page) values ('http://a.example/')`;
  for (const table of ["snapshots_due", "changes_due"]) {
    await sql`update ${sql(table)} set attempts = 3, not_before = ${held.lease_until}`;
  }

  await freeInterruptedWork(workersOf({ sql, ...setup } as Setup), new Set());
  for (const table of ["warc_imports", "warc_runs", "exports"] as const) {
    expect([table, (await takeStalled(sql, table)).length]).toEqual([table, 1]);
  }
  for (const table of ["snapshots_due", "changes_due"]) {
    const [row] = await sql`
      select bool_and(not_before <= now()) as due, max(attempts)::int as attempts from ${sql(table)}`;
    expect([table, row]).toEqual([table, { due: true, attempts: 3 }]);
  }
  // the functions that work on the archive each minute are awake
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
});

test("a restart without an unfinished job leaves the state table alone", async () => {
  const setup = await crawlSetup();
  expect(await freeInterruptedWork(workersOf(setup), new Set())).toEqual({ tasks: 0, lost: 0 });
  expect(await setup.dependencies.flags.activeSince()).toBeUndefined();
});
