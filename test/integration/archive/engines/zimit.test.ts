/** Archive jobs of the engine zimit, end to end: their tasks run as processes, with a stand-in for zimit itself. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { credentialsIn } from "../../../../local/front/credentials.ts";
import { createSignatureCheck } from "../../../../local/front/signature.ts";
import { startTaskServer, type TaskServer } from "../../../../local/tasks/task-server.ts";
import { createUrlInspector } from "../../../../shared/access/url-inspection.ts";
import { createArchiveJob, planJob, readArchiveJob } from "../../../../shared/archive/editions/archive-jobs.ts";
import { listRuns, noteTaskEvent } from "../../../../shared/archive/editions/engine-runs.ts";
import { runArchiveJobs } from "../../../../shared/archive/editions/run-jobs.ts";
import { sourceSchema } from "../../../../shared/archive/editions/source.ts";
import { seedSources } from "../../../../shared/archive/editions/sources.ts";
import { createEcsTasks } from "../../../../shared/archive/engines/ecs-tasks.ts";
import { obey, startedBy, taskEventSchema, taskOrderSchema } from "../../../../shared/archive/engines/engine-tasks.ts";
import { handleImportMessage } from "../../../../shared/archive/import/handle-message.ts";
import { indexSnapshots } from "../../../../shared/archive/search/index-snapshots.ts";
import { capturesMessageSchema } from "../../../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { createEcs } from "../../../../shared/platform/aws/ecs.ts";
import { createObjectWriters } from "../../../../shared/platform/aws/multipart.ts";
import { createUploads } from "../../../../shared/platform/aws/uploads.ts";
import { crawlSetup } from "../../crawl/crawl-setup.ts";

const MINUTE = 60_000;
const PATIENCE = { timeout: 240_000, interval: 200 };

let setup: Awaited<ReturnType<typeof crawlSetup>>;
let tasks: TaskServer;
let folder: string;
let engine: ReturnType<typeof createEcsTasks>;
const said: string[] = [];
/** What is told of tasks, until somebody notes it. */
const events: unknown[] = [];

beforeAll(async () => {
  setup = await crawlSetup();
  folder = await mkdtemp(join(tmpdir(), "strandline tasks-"));
  const { aws, sql } = setup;
  tasks = await startTaskServer({
    signatures: createSignatureCheck(credentialsIn(aws.env)),
    directory: folder,
    command: join(import.meta.dirname, "stand-in-zimit.mjs"),
    environment: () => ({ ...aws.env, STORAGE__BUCKET: aws.bucket, UPLOAD_EVERY_MS: "200", HEARTBEAT_S: "1" }),
    tell: (event) => events.push(event),
    onLine: (line) => said.push(line),
  });
  const place = { cluster: "local", taskDefinition: "zimit", subnets: ["s"], securityGroup: "g" };
  engine = createEcsTasks(createEcs({ ...aws.env, AWS_ENDPOINT_URL_ECS: tasks.url }), place);
  const source = (code: string) =>
    sourceSchema.parse({
      code,
      name: "A source with a name that is too long for a ZIM file",
      nameTemplate: `${code}-{date:%Y%m%d}`,
      seeds: ["https://site.example/"],
      engine: "zimit",
    });
  await seedSources(sql, [source("books"), source("test")], { inspector: createUrlInspector([]), keep: false });
});
afterAll(async () => {
  await tasks.stop();
  await rm(folder, { recursive: true, force: true });
  await setup.close();
});

interface Made {
  seed: string;
  options?: Record<string, unknown>;
  args?: string[];
  source?: string;
}

/** A job whose only seed says what becomes of its crawls. */
async function made({ seed, options = {}, args = [], source = "books" }: Made): Promise<number> {
  const { sql, dependencies } = setup;
  const request = { source, extraSeeds: [], toolOptions: options, passthroughArgs: args };
  const planned = await planJob(sql, request, { inspector: createUrlInspector([]), now: new Date() });
  planned.config.seeds = [`https://site.example/${seed}`];
  return (await createArchiveJob({ ...dependencies, sql }, planned, null)).id;
}

/** What the schedule and the functions behind the queues do in a minute. */
async function step(): Promise<void> {
  const { dependencies, aws, sql } = setup;
  const uploads = createUploads(aws.s3, aws.bucket);
  const engines = { objects: dependencies.objects, uploads };
  await runArchiveJobs({ ...dependencies, engines }, () => true);
  for (const order of await aws.receive("engine-tasks")) {
    const outcome = await obey(engine, taskOrderSchema.parse(order));
    if (outcome !== undefined) await noteTaskEvent(sql, outcome);
  }
  // each comes twice, as queues may have it
  for (const event of events.splice(0).flatMap((each) => [each, each]))
    await noteTaskEvent(sql, taskEventSchema.parse(event));
  const importing = { ...dependencies, uploads, openWriter: createObjectWriters(aws.s3, aws.bucket) };
  for (const message of await aws.receive("imports"))
    await handleImportMessage(importing, message as { importId: string }, () => 60 * MINUTE);
  for (const each of await aws.receive("captures")) await ingestBatch(dependencies, capturesMessageSchema.parse(each));
  await indexSnapshots(dependencies, () => true);
}

/** What a job waits for, so that its next try or run begins, has come. */
async function hurry(id: number): Promise<void> {
  const { sql } = setup;
  await sql`update archive_jobs set not_before = now() where id = ${id} and status = 'retryable'`;
  await sql`update engine_runs set not_before = now() where archive_job_id = ${id} and status = 'waiting'`;
}

type Seen = Awaited<ReturnType<typeof job>>;

/** Minutes pass in which the open run of a job has made no progress, and in which nothing was told of its task. */
async function age(id: number): Promise<void> {
  const { sql } = setup;
  await sql`
    update engine_runs set progress_at = progress_at - interval '3 minutes',
      task_stopped_at = task_stopped_at - interval '3 minutes'
    where archive_job_id = ${id} and status in ('running', 'stopping')`;
}

async function until(id: number, reached: (seen: Seen) => boolean, between = hurry): Promise<Seen> {
  await vi.waitUntil(async () => {
    await between(id);
    await step();
    return reached(await job(id));
  }, PATIENCE);
  return await job(id);
}

async function job(id: number) {
  const [one, runs] = await Promise.all([readArchiveJob(setup.sql, id), listRuns(setup.sql, id)]);
  return { ...one, runs };
}
const isRunning = ({ runs }: Seen) =>
  runs.at(-1)?.status === "running" && (runs.at(-1)?.report?.log.stats?.crawled ?? 0) > 0;
const isOver = ({ status }: Seen) => ["indexed", "index_failed", "failed"].includes(status);

/** Those that need no help are begun at once, and go side by side. */
const SEEDS = {
  whole: "?pages=4",
  "a size limit that zimit was told to accept": "?code=14",
  "a time limit that zimit was told to accept": "?code=15",
  "a limit of the disk, of a zimit that hands it on": "?code=16&old=1",
  "a size limit of an earlier zimit": "?code=32&old=1",
  "a time limit of an earlier zimit": "?code=33&old=1",
  empty: "?pages=0",
} as const;
const ids = {} as Record<keyof typeof SEEDS, number>;
beforeAll(async () => {
  for (const [name, seed] of Object.entries(SEEDS)) ids[name as keyof typeof SEEDS] = await made({ seed });
});

it("leaves what it leaves in a folder of its own, whenever others of its name were made", async () => {
  const jobs = await Promise.all(Object.values(ids).map((id) => readArchiveJob(setup.sql, id)));
  const dirs = jobs.map(({ outputDir }) => outputDir);
  expect(new Set(jobs.map(({ name }) => name)).size).toBe(1);
  expect(new Set(dirs).size).toBe(dirs.length);
});

describe("a crawl by zimit", () => {
  it("is captured, imported and indexed, and its ZIM file is kept", async () => {
    const id = ids.whole;
    const done = await until(id, isOver);
    expect(done).toMatchObject({
      status: "indexed",
      engine: "zimit",
      crawlerExitCode: 0,
      crawlerStatus: "success",
      error: null,
      pagesCrawled: 4,
      pagesTotal: 4,
      indexedPageCount: 4,
      warcFileCount: 1,
      lastStats: { crawled: 4, pending: 0 },
    });
    expect(done.runs).toMatchObject([{ number: 1, mode: "fresh", intervention: null, verdict: "succeeded" }]);
    expect(done.finalZimPath).toBe(`${done.outputDir}${done.name}_2026-01.zim`);
    expect(done.combinedLogPath).toBe(`${done.outputDir}tmp/run-1/zimit.log`);
    const log = await setup.dependencies.objects.get(done.combinedLogPath ?? "");
    expect(Buffer.from(log ?? []).toString()).toContain('"message":"Crawl statistics"');
    const captures = await setup.sql`
      select c.warc_key, c.title, j.source_code from captures c join jobs j on j.id = c.job_id
      where j.archive_job_id = ${id} order by c.title`;
    expect(captures).toMatchObject([1, 2, 3, 4].map((page) => ({ title: `Page ${page} of the stand-in` })));
    expect(captures[0]).toMatchObject({
      source_code: "books",
      warc_key: expect.stringMatching(new RegExp(`^warcs/engines/${id}/run-1/crawl-`)),
    });
  });

  it.each([
    ["a size limit that zimit was told to accept", 0],
    ["a time limit that zimit was told to accept", 0],
    ["a limit of the disk, of a zimit that hands it on", 16],
    ["a size limit of an earlier zimit", 32],
    ["a time limit of an earlier zimit", 33],
  ] as const)("that met %s counts with what there is", async (name, crawlerExitCode) => {
    const done = await until(ids[name], isOver);
    expect(done).toMatchObject({ status: "indexed", crawlerExitCode, crawlerStatus: "success", indexedPageCount: 3 });
    expect(done.error).toMatch(/limit was reached|limit/);
  });

  it("whose arguments are refused is made no second time", async () => {
    const done = await until(await made({ seed: "", args: ["--warc2zim-refuses"] }), isOver);
    expect(done).toMatchObject({ status: "failed", retryCount: 0, crawlerExitCode: 2, runs: [{ verdict: "refused" }] });
    expect(done.error).toContain("warc2zim refuses the arguments");
  });

  it("that says all went well and left no WARC file has failed", async () => {
    const done = await until(ids.empty, isOver);
    expect(done).toMatchObject({
      status: "failed",
      crawlerExitCode: 0,
      error: expect.stringContaining("exit code 0, and there is no WARC file"),
    });
  });

  it("that fails is made again by its job, and then has failed", async () => {
    const id = await made({ seed: "?code=9&old=1" });
    const done = await until(id, isOver);
    expect(done).toMatchObject({ crawlerExitCode: 9, retryCount: 2, error: "exit code 9: the crawl failed" });
    expect(done.runs.map(({ mode }) => mode)).toEqual(["fresh", "resume", "resume"]);
  });
});

describe("a run that gets nowhere", () => {
  const monitored = { enable_monitoring: true, stall_timeout_minutes: 2 };
  const vpn_connect_command = "echo connecting; echo socks5://10.0.0.1:1080";
  let [stalled, crowded, blocked]: number[] = [];

  beforeAll(async () => {
    stalled = await made({ seed: "?until=config", options: monitored });
    crowded = await made({
      seed: "?until=workers",
      options: { ...monitored, enable_adaptive_workers: true, initial_workers: 2 },
    });
    blocked = await made({
      seed: "?until=proxy",
      options: { ...monitored, enable_vpn_rotation: true, vpn_connect_command },
    });
    for (const id of [stalled, crowded, blocked]) await until(id, isRunning);
    for (const id of [stalled, crowded, blocked]) await until(id, ({ runs }) => runs[0]?.status === "ended", age);
  });

  it("goes on from where it stood, with what was captured before", async () => {
    const done = await until(stalled ?? 0, isOver);
    expect(done.runs).toMatchObject([
      { mode: "fresh", verdict: "interrupted", stopReason: "no page came for 2 minutes" },
      { mode: "resume", intervention: "resumed", verdict: "succeeded" },
    ]);
    // those of the first run: the second had nothing left to crawl
    expect(done).toMatchObject({ status: "indexed", indexedPageCount: 3 });
  });

  it("has fewer workers first, one at a time", async () => {
    const done = await until(crowded ?? 0, isOver);
    expect(done.runs.map(({ workers, intervention }) => [workers, intervention])).toEqual([
      [2, null],
      [1, "fewer_workers"],
    ]);
  });

  it("then goes another way, which a command of the operator names", async () => {
    const done = await until(blocked ?? 0, isOver);
    expect(done.runs).toMatchObject([{}, { intervention: "rotated", verdict: "succeeded" }]);
  });

  it.each([
    ["pages that fail", "?storm=1&until=config", "12 pages in a row failed"],
    ["pages that take too long", "?slow=1&until=config", "12 pages in a row took too long"],
  ])("for %s is ended at once", async (_, seed, stopReason) => {
    const id = await made({ seed, options: monitored });
    const done = await until(id, isOver);
    expect(done.runs).toMatchObject([{ stopReason }, { mode: "resume", verdict: "succeeded" }]);
  });
});

describe("a task", () => {
  it("that goes with its machine leaves what it had uploaded, and another goes on", async () => {
    const id = await made({ seed: "?until=config" });
    await until(id, ({ runs }) => runs.at(-1)?.report?.state != null);
    tasks.kill(startedBy((await job(id)).runs[0]?.id ?? 0));
    await until(id, ({ runs }) => runs[0]?.status === "ended", age);
    const done = await until(id, isOver);
    expect(done.runs).toMatchObject([
      { verdict: "interrupted" },
      { mode: "resume", intervention: "resumed", verdict: "succeeded" },
    ]);
  });

  it("that is warned before its machine goes saves its state and uploads what there is", async () => {
    const id = await made({ seed: "?until=config" });
    await until(id, isRunning);
    // what ECS does, not we
    await engine.stop((await job(id)).runs[0]?.id ?? 0, "Your Spot Task was interrupted.");
    const done = await until(id, isOver);
    expect(done.runs).toMatchObject([
      { verdict: "interrupted", stopReason: null, report: { interrupted: true, exitCode: 3, done: true } },
      { mode: "resume", verdict: "succeeded" },
    ]);
    expect(done).toMatchObject({ status: "indexed", indexedPageCount: 3 });
  });

  it("is thrown away with what it captured where the job overwrites", async () => {
    const id = await made({ seed: "?code=9&old=1", options: { overwrite: true } });
    await until(id, ({ status }) => status === "retryable");
    await setup.sql`update archive_jobs set not_before = now(), config =
      jsonb_set(config, '{seeds}', '["https://site.example/?pages=2"]') where id = ${id}`;
    const done = await until(id, isOver);
    expect(done.runs.at(-1)).toMatchObject({ mode: "overwrite", verdict: "succeeded", discarded: false });
    expect(done).toMatchObject({ status: "indexed", indexedPageCount: 2 });
  });

  it("that is never started is given up after a while, with what ECS said of it", async () => {
    const id = await made({ seed: "" });
    const { sql, dependencies, aws } = setup;
    const engines = { objects: dependencies.objects, uploads: createUploads(aws.s3, aws.bucket) };
    const tick = (minutes: number) =>
      runArchiveJobs({ ...dependencies, engines }, () => true, new Date(Date.now() + minutes * MINUTE));
    await tick(0);
    await tick(0);
    const run = (await job(id)).runs[0]?.id ?? 0;
    await noteTaskEvent(sql, { runId: run, taskId: null, failure: "Capacity is unavailable at this time" });
    await tick(5);
    expect((await job(id)).runs[0]?.status).toBe("starting");
    await tick(21);
    expect((await job(id)).runs[0]).toMatchObject({ status: "ended" });
    expect((await job(id)).error).toContain("Capacity is unavailable at this time");
    await sql`update archive_jobs set status = 'failed' where id = ${id}`;
    await aws.receive("engine-tasks");
  });

  it("of the reserved source shows nobody what it captured", async () => {
    const id = await made({ seed: "?pages=1", source: "test" });
    const done = await until(id, isOver);
    expect(done.status).toBe("indexed");
    const hidden = await setup.sql`select hidden from jobs where archive_job_id = ${id}`;
    expect(hidden).toMatchObject([{ hidden: true }]);
    expect(
      await setup.sql`
      select from snapshot_index s join captures c on c.id = s.capture_id join jobs j on j.id = c.job_id
      where j.archive_job_id = ${id}`,
    ).toHaveLength(0);
  });
});
