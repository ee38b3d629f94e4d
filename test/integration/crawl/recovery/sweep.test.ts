import { expect, test } from "vitest";
import { MAX_SENDS } from "../../../../shared/crawl/frontier/claim-lease.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { embedTaskSchema } from "../../../../shared/knowledge/embedding/embed-task.ts";
import type { QueueSender } from "../../../../shared/platform/aws/queues.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { crawlSetup, newJob, newSiteJob, page, siteOf, traceOf } from "../crawl-setup.ts";

type Setup = Awaited<ReturnType<typeof crawlSetup>>;

const lapse = (setup: Setup) =>
  setup.sql`update frontier set lease_until = now() - interval '1 second' where state = 'claimed'`;
const stall = (setup: Setup) => setup.sql`update jobs set updated_at = now() - interval '10 minutes'`;

const home = siteOf("http://a.example", { "/": page("Home", ["/b"]), "/b": page("B", ["/"]) });

/** A queue service that takes nothing. */
const deafQueues: QueueSender = {
  send: () => Promise.reject(new RetryableError("no queue today", { code: "QUEUE_REFUSED" })),
  sendRaw: () => Promise.reject(new RetryableError("no queue today", { code: "QUEUE_REFUSED" })),
  sendAll: () => Promise.reject(new RetryableError("no queue today", { code: "QUEUE_REFUSED" })),
};

test("a task whose message was lost is sent again under its own id, and the job completes", async () => {
  const setup = await crawlSetup();
  const job = await createJob({ ...setup.dependencies, queues: deafQueues }, newSiteJob("http://a.example/"));
  expect(await setup.tasks()).toEqual([]);
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ awake: true, renewedTasks: 0 });
  await lapse(setup);
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ renewedTasks: 1 });
  const [task] = (await setup.tasks()) as [FetchTask];
  const rows = await setup.sql`select task_id, sends, lease_until > now() as held from frontier`;
  expect(rows).toMatchObject([{ task_id: task.taskId, sends: 2, held: true }]);
  await ingestBatch(setup.dependencies, await setup.capture(task, home));
  await setup.crawl(home);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { crawled: 2 } });
});

test("a renewed task asks only for what it still owes", async () => {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newJob(["/1", "/2", "/3"].map((path) => `http://a.example${path}`)));
  const [task] = (await setup.tasks()) as [FetchTask];
  await ingestBatch(
    setup.dependencies,
    await setup.capture(task, (url) => ({ html: page(url) }), task.urls.slice(0, 2)),
  );
  await lapse(setup);
  await sweep(setup.dependencies, Date.now());
  const [renewed] = (await setup.tasks()) as [FetchTask];
  // the job runs, which only its first task tells; how often the task was deferred, nobody knows here
  expect(renewed).toEqual({ ...task, announce: false, deferrals: null, urls: task.urls.slice(2) });
});

test("captures prolong the lease of what is left of their task", async () => {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newJob(["/1", "/2"].map((path) => `http://a.example${path}`)));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.sql`update frontier set lease_until = now() + interval '1 second', sends = 3`;
  await ingestBatch(setup.dependencies, await setup.capture(task, home, task.urls.slice(0, 1)));
  const rows = await setup.sql`
    select sends, lease_until > now() + interval '1 minute' as held from frontier where state = 'claimed'`;
  expect(rows).toMatchObject([{ sends: 1, held: true }]);
});

test("a task that never answers is given up after its sendings, and the job ends", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  for (let sends = 1; sends < MAX_SENDS; sends++) {
    await lapse(setup);
    expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ renewedTasks: 1, endedUrls: 0 });
  }
  await lapse(setup);
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ renewedTasks: 0, endedUrls: 1 });
  expect(await traceOf(setup.sql, job.job_id)).toMatchObject({
    job: { status: "failed", counts: { failed: 1, open: 0 } },
    frontier: [{ state: "failed", error_code: "DEAD_LETTERED" }],
  });
});

test("two sweeps at once send a lapsed task once", async () => {
  const setup = await crawlSetup();
  await createJob({ ...setup.dependencies, queues: deafQueues }, newJob(["http://a.example/"]));
  await lapse(setup);
  await Promise.all([sweep(setup.dependencies, Date.now()), sweep(setup.dependencies, Date.now())]);
  expect(await setup.tasks()).toHaveLength(1);
});

test("a cancelled job's lapsed task ends instead of being sent again", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  await cancelJob(setup.dependencies, job.job_id);
  await setup.tasks();
  await lapse(setup);
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ renewedTasks: 0, endedUrls: 1 });
  expect(await setup.tasks()).toEqual([]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "cancelled", stop_reason: "manual_stop" });
});

test("pending URLs that nobody has claimed are claimed", async () => {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  await setup.tasks();
  await setup.sql`update frontier set state = 'pending', task_id = null, lease_until = null`;
  await setup.sql`update jobs set claimed = 0`;
  await stall(setup);
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ resumedJobs: 1 });
  expect(await setup.tasks()).toMatchObject([{ urls: [{ url: "http://a.example/" }] }]);
});

test("a job whose counts are zero but whose state is not is moved on", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  await setup.sql`update frontier set state = 'crawled', task_id = null, lease_until = null`;
  await setup.sql`update jobs set open_urls = 0, crawled = 1, status = 'embedding'`;
  await stall(setup);
  await sweep(setup.dependencies, Date.now());
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed" });
});

test("chunks whose embed task was lost are sent again once nothing has moved for a while", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const job = await createJob(setup.dependencies, { ...newJob(["http://a.example/"]), priority: "high" });
  const [task] = (await setup.aws.receive("fetch-high")) as [FetchTask];
  await ingestBatch({ ...setup.dependencies, queues: deafQueues }, await setup.capture(task, home));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "embedding" });
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ resentChunks: 0 });
  await stall(setup);
  const chunks = await setup.sql<{ id: string }[]>`select id from chunks order by id`;
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ resentChunks: chunks.length });
  const messages = await setup.aws.receive("embed-high");
  const sent = messages.flatMap((message) => embedTaskSchema.parse(message).chunkIds);
  expect(sent.toSorted()).toEqual(chunks.map((chunk) => chunk.id));
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ resentChunks: 0 });
});

test("chunks are not sent again while messages of their queue wait, unless these have come to their end", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  await createJob(setup.dependencies, newJob(["http://a.example/"]));
  await setup.crawl(home);
  const silentFor = (minutes: number) =>
    setup.sql`update jobs set updated_at = now() - ${minutes} * interval '1 minute'`;
  await silentFor(5);
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ resentChunks: 0 });
  await silentFor(11);
  await setup.sql`update jobs set crawl_ended_at = now()`;
  expect((await sweep(setup.dependencies, Date.now())).resentChunks).toBeGreaterThan(0);
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ resentChunks: 0 });
});

test("a job completes without its vectors once none has come for a while, and asks for them until they are there", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  await setup.crawl(home);
  await setup.aws.receive("embed-normal");
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ jobsBeforeVectors: 0 });
  await setup.sql`update jobs set crawl_ended_at = now() - interval '1 hour'`;
  await setup.sql`update jobs set embedding_progress_at = now() - interval '9 minutes'`;
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ jobsBeforeVectors: 0 });
  await setup.sql`update jobs set embedding_progress_at = now() - interval '11 minutes'`;
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ jobsBeforeVectors: 1 });
  const { status, counts } = (await readJob(setup.sql, job.job_id)) ?? {};
  expect([status, counts?.unembedded_chunks]).toEqual(["completed", counts?.chunks]);
  expect(await setup.sql`select from documents_active`).toHaveLength(counts?.documents ?? -1);
  await stall(setup);
  // the marker stays for as long as vectors are wanted
  const later = Date.now() + 3_600_000;
  expect(await sweep(setup.dependencies, later)).toMatchObject({ resentChunks: counts?.chunks });
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
});

test("a job whose pending chunks went with their documents does not wait for them", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  await setup.crawl(home);
  await setup.sql`delete from documents`;
  await stall(setup);
  await sweep(setup.dependencies, Date.now());
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed" });
});

test("an idle system's marker is cleared, and from then on the sweep leaves the database alone", async () => {
  const setup = await crawlSetup();
  const later = () => Date.now() + 600_000;
  await createJob(setup.dependencies, newJob(["http://a.example/"]));
  await sweep(setup.dependencies, later());
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
  await setup.crawl(home);
  await sweep(setup.dependencies, later());
  // maintenance has not had its turn yet
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
  // what its captures brought is still to be computed
  await setup.sql`update jobs set completed_at = now() - interval '10 minutes'`;
  await sweep(setup.dependencies, later());
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
  await setup.sql`delete from changes_due`;
  await sweep(setup.dependencies, later());
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
  await setup.sql`delete from snapshots_due`;
  await setup.sql`update jobs set completed_at = now() - interval '10 minutes'`;
  await sweep(setup.dependencies, later());
  expect(await setup.dependencies.flags.activeSince()).toBeUndefined();
  await setup.sql.end();
  expect(await sweep(setup.dependencies, later())).toMatchObject({ awake: false });
});

test.each([
  [
    "a discovery is open",
    (sql: Setup["sql"]) =>
      sql`insert into discovery_jobs (id, domain, sources, max_urls) values (gen_random_uuid(), 'a.example', '{sitemap}', 1)`,
    (sql: Setup["sql"]) => sql`update discovery_jobs set status = 'failed'`,
  ],
  [
    "settings of a domain are not in force",
    (sql: Setup["sql"]) => sql`insert into domain_settings (domain, revision) values ('a.example', 1)`,
    (sql: Setup["sql"]) => sql`update domain_settings set applied_revision = revision`,
  ],
])("the marker stays while %s", async (_what, begin, end) => {
  const setup = await crawlSetup();
  const later = () => Date.now() + 600_000;
  await setup.dependencies.flags.markActive();
  await begin(setup.sql);
  await sweep(setup.dependencies, later());
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
  await end(setup.sql);
  await sweep(setup.dependencies, later());
  expect(await setup.dependencies.flags.activeSince()).toBeUndefined();
});

test("the marker of a job that is just being created is not cleared", async () => {
  const setup = await crawlSetup();
  await setup.dependencies.flags.markActive();
  await sweep(setup.dependencies, Date.now());
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
});

test("what one step cannot do does not keep it from the others, and the sweep says which it was", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  await setup.tasks();
  await setup.sql`update frontier set state = 'pending', task_id = null, lease_until = null`;
  await stall(setup);
  await setup.sql`alter table dead_letters rename to hidden_letters`;
  const faulty = await sweep(setup.dependencies, Date.now() + 600_000);
  expect(faulty).toMatchObject({ resumedJobs: 1, failedSteps: ["lapsed tasks", "dead letters"] });
  // it is not taken for a night without work
  expect(await setup.dependencies.flags.activeSince()).toBeDefined();
  await setup.sql`alter table hidden_letters rename to dead_letters`;
  expect(await sweep(setup.dependencies, Date.now())).toMatchObject({ failedSteps: [] });
  await setup.crawl(home);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { crawled: 2 } });
});
