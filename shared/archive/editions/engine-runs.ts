/** The rows of runs of engines that are no crawler of ours, and what becomes of them. */

import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import { inTransaction, type Queryable, type Sql, type Transaction } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { runOf, TASKS_QUEUE, type TaskEvent, type TaskOrder } from "../engines/engine-tasks.ts";
import { verdictOf } from "../engines/exit-codes.ts";
import { readPassthrough } from "../engines/passthrough.ts";
import {
  orderKey,
  type RunOrder,
  type RunReport,
  reportKey,
  runPrefix,
  runReportSchema,
  warcPrefix,
} from "../engines/run-files.ts";
import {
  type Done,
  INTERVENTIONS,
  type Intervention,
  type Limits,
  type Next,
  nextAfter,
  type RunMode,
  reasonToStop,
  runMode,
} from "../engines/supervise.ts";
import { zimitCommand } from "../engines/zimit-command.ts";
import { type ArchiveJob, moveJob } from "./archive-jobs.ts";
import { temporaryPrefix } from "./job-name.ts";
import type { ToolOptions } from "./tool-options.ts";

export interface EngineRun {
  id: number;
  number: number;
  mode: RunMode;
  intervention: Intervention | null;
  workers: number;
  prefix: string;
  status: "waiting" | "starting" | "running" | "stopping" | "ended";
  notBefore: Date;
  startedAt: Date | null;
  progressAt: Date | null;
  crawled: number;
  report: RunReport | null;
  stopReason: string | null;
  taskStoppedAt: Date | null;
  taskStoppedReason: string | null;
  taskExitCode: number | null;
  verdict: string | null;
  discarded: boolean;
  createdAt: Date;
}

/** Oldest first. */
export async function listRuns(sql: Queryable, archiveJobId: number): Promise<EngineRun[]> {
  return await sql<EngineRun[]>`
    select id, number, mode, intervention, workers, prefix, status, not_before as "notBefore",
      started_at as "startedAt", progress_at as "progressAt", crawled, report, stop_reason as "stopReason",
      task_stopped_at as "taskStoppedAt", task_stopped_reason as "taskStoppedReason",
      task_exit_code as "taskExitCode", verdict, discarded, created_at as "createdAt"
    from engine_runs where archive_job_id = ${archiveJobId} order by number`;
}

export interface RunsDependencies {
  sql: Sql;
  objects: Pick<ObjectStore, "put" | "get">;
  queues: QueueSender;
  log: Logger;
}

/** Where the reference names no number. */
const DEFAULTS = { stallMinutes: 30, faults: 10, reductions: 2, rotations: 3, rotationMinutes: 60, backOffMinutes: 15 };
const MOST_RESUMES = 3;
const MOST_BACK_OFFS = 2;

export function limitsOf(options: ToolOptions): Limits {
  const monitored = options.enable_monitoring;
  return {
    monitored,
    stallMinutes: options.stall_timeout_minutes ?? DEFAULTS.stallMinutes,
    timeouts: options.error_threshold_timeout ?? DEFAULTS.faults,
    httpFaults: options.error_threshold_http ?? DEFAULTS.faults,
    adaptive: options.enable_adaptive_workers,
    fewestWorkers: options.min_workers ?? 1,
    mostReductions: options.max_worker_reductions ?? DEFAULTS.reductions,
    rotates: options.enable_vpn_rotation,
    mostRotations: options.max_vpn_rotations ?? DEFAULTS.rotations,
    rotationMinutes: options.vpn_rotation_frequency_minutes ?? DEFAULTS.rotationMinutes,
    mostResumes: MOST_RESUMES,
    // without monitoring, the job itself is tried again
    mostBackOffs: monitored ? MOST_BACK_OFFS : 0,
    backOffMinutes: options.backoff_delay_minutes ?? DEFAULTS.backOffMinutes,
  };
}

/** The first run of a job, or the one that somebody asks for; its task is started a minute later at the most. */
export async function beginRuns(tx: Transaction, job: ArchiveJob, now: Date): Promise<RunMode> {
  const runs = await listRuns(tx, job.id);
  return await insertRun(tx, job, runs, {
    intervention: null,
    workers: job.config.tool_options.initial_workers,
    notBefore: now,
  });
}

interface WantedRun {
  intervention: Intervention | null;
  workers: number;
  notBefore: Date;
}

async function insertRun(tx: Transaction, job: ArchiveJob, runs: readonly EngineRun[], wanted: WantedRun) {
  const kept = runs.filter(({ discarded }) => !discarded);
  const mode = runMode({
    earlierRuns: kept.length,
    state: stateOf(kept),
    warcFiles: warcsOf(kept).length,
    overwrites: job.config.tool_options.overwrite && wanted.intervention === null,
  });
  if (mode === "overwrite") await tx`update engine_runs set discarded = true where archive_job_id = ${job.id}`;
  const number = (runs.at(-1)?.number ?? 0) + 1;
  await tx`
    insert into engine_runs (archive_job_id, number, mode, intervention, workers, prefix, status, not_before)
    values (${job.id}, ${number}, ${mode}, ${wanted.intervention}, ${wanted.workers},
      ${runPrefix(temporaryPrefix(job.outputDir), number)}, 'waiting', ${wanted.notBefore})`;
  return mode;
}

/** The newest saved state that there is. */
const stateOf = (runs: readonly EngineRun[]): string | null =>
  runs.findLast(({ report }) => report?.state != null)?.report?.state ?? null;

/** What counts of all runs of a job. */
export const warcsOf = (runs: readonly EngineRun[]): { key: string; bytes: number }[] =>
  runs.filter(({ discarded }) => !discarded).flatMap(({ report }) => report?.warcs ?? []);

/** Writes down what was told of a task. Twice, late or of a run that has ended, it changes nothing. */
export async function noteTaskEvent(sql: Sql, event: TaskEvent): Promise<void> {
  if ("runId" in event) {
    const { runId, taskId, failure } = event;
    await sql`
      update engine_runs set task_id = coalesce(${taskId}, task_id),
        task_stopped_reason = ${taskId === null ? failure : null}
      where id = ${runId} and status <> 'ended' and task_stopped_at is null`;
    return;
  }
  const { taskArn, lastStatus, startedBy: name, stoppedReason = null, stopCode, containers } = event.detail;
  const id = runOf(name);
  if (id === undefined) return;
  if (lastStatus === "RUNNING") {
    await sql`
      update engine_runs set status = 'running', task_id = ${taskArn}, running_at = now(), progress_at = now(),
        task_stopped_reason = null
      where id = ${id} and status = 'starting'`;
  }
  if (lastStatus !== "STOPPED") return;
  const exitCode = containers.find((each) => each.name === "zimit")?.exitCode ?? null;
  const reason = [stopCode, stoppedReason].filter((each) => each !== undefined && each !== null).join(": ");
  await sql`
    update engine_runs set task_id = ${taskArn}, task_stopped_at = now(), task_stopped_reason = ${reason},
      task_exit_code = ${exitCode}
    where id = ${id} and status <> 'ended' and task_stopped_at is null`;
}

/** Its last report may be on its way. */
const REPORT_MINUTES = 2;
/** Of a task that was asked to stop, and of which nobody tells that it has. */
const STOP_MINUTES = 15;

export type Followed = "runs" | "ended" | "complete";

/**
 * Moves the open run of a job on.
 * @returns `complete` once a run has come to a good end, `ended` where the job has none any more
 */
export async function followRuns(
  { sql, objects, queues, log }: RunsDependencies,
  job: ArchiveJob,
  now: Date,
): Promise<Followed> {
  const open = (await listRuns(sql, job.id)).at(-1);
  if (open === undefined) return "ended";
  if (open.status === "ended") return open.verdict === "succeeded" || open.verdict === "limited" ? "complete" : "ended";
  if (open.status === "waiting") {
    if (open.notBefore > now) return "runs";
    await putOrder({ sql, objects }, job, open);
  }
  const report = open.status === "waiting" ? undefined : await readReport(objects, open, log);
  const orders: TaskOrder[] = [];
  const followed = await inTransaction(sql, async (tx) => {
    await tx`select from archive_jobs where id = ${job.id} for update`;
    const runs = await listRuns(tx, job.id);
    const run = runs.at(-1);
    // another has followed it in the meantime
    if (run === undefined || run.id !== open.id || run.status === "ended") return "runs";
    return await followRun(tx, { job, runs, run, report, now, orders });
  });
  for (const order of orders) await queues.send(TASKS_QUEUE, order);
  return followed;
}

interface Step {
  job: ArchiveJob;
  runs: readonly EngineRun[];
  run: EngineRun;
  report: RunReport | undefined;
  now: Date;
  /** Sent once all is written. */
  orders: TaskOrder[];
}

async function followRun(tx: Transaction, step: Step): Promise<Followed> {
  const { job, run, report, now, orders } = step;
  if (run.status === "waiting") {
    await tx`update engine_runs set status = 'starting', started_at = ${now} where id = ${run.id}`;
    orders.push({ do: "start", runId: run.id, prefix: run.prefix });
    return "runs";
  }
  if (report !== undefined) await takeReport(tx, step, report);
  const stoppedMinutes = run.taskStoppedAt === null ? 0 : (now.getTime() - run.taskStoppedAt.getTime()) / 60_000;
  if (report?.done || stoppedMinutes >= REPORT_MINUTES) return await endRun(tx, step);
  const { progressAt } = (await listRuns(tx, job.id)).at(-1) ?? run;
  const limits = limitsOf(job.config.tool_options);
  const startedAt = run.startedAt ?? run.createdAt;
  const reason =
    run.taskStoppedAt === null
      ? reasonToStop(
          {
            status: run.status as "starting" | "running" | "stopping",
            workers: run.workers,
            startedAt,
            progressAt: progressAt ?? startedAt,
            reportedAt: report === undefined ? null : new Date(report.writtenAt),
            stats: report?.log.stats ?? null,
            httpFaults: report?.log.httpFaults ?? 0,
            timeouts: report?.log.timeouts ?? 0,
          },
          limits,
          now,
        )
      : undefined;
  if (reason !== undefined) {
    await tx`
      update engine_runs set status = 'stopping', stop_reason = ${withTaskReason(reason, run)}, not_before = ${now}
      where id = ${run.id}`;
    orders.push({ do: "stop", runId: run.id, reason });
    // there is nothing to wait for
    return run.status === "starting" ? await endRun(tx, step, reason) : "runs";
  }
  if (run.status === "stopping") {
    orders.push({ do: "stop", runId: run.id, reason: run.stopReason ?? "" });
    const minutes = (now.getTime() - run.notBefore.getTime()) / 60_000;
    return minutes >= STOP_MINUTES ? await endRun(tx, step) : "runs";
  }
  // the same order twice starts one task
  if (run.status === "starting") orders.push({ do: "start", runId: run.id, prefix: run.prefix });
  return "runs";
}

const withTaskReason = (reason: string, { taskStoppedReason }: EngineRun): string =>
  taskStoppedReason === null ? reason : `${reason} (${taskStoppedReason})`;

async function takeReport(tx: Transaction, { job, run }: Step, report: RunReport): Promise<void> {
  const { stats } = report.log;
  const crawled = stats?.crawled ?? 0;
  await tx`
    update engine_runs set report = ${JSON.stringify(report)}::text::jsonb, crawled = ${crawled},
      status = case when status = 'starting' then 'running' else status end,
      running_at = coalesce(running_at, now()),
      progress_at = case when ${crawled} > crawled or progress_at is null then ${report.writtenAt}::timestamptz else progress_at end
    where id = ${run.id}`;
  const counts = stats && { pages_crawled: crawled, pages_total: stats.total, pages_failed: stats.failed };
  const last = stats && { last_stats: JSON.stringify(stats) };
  const paths = { state_file_path: report.state, final_zim_path: report.zim };
  await tx`
    update archive_jobs set ${tx({ ...counts, ...paths } as never)}, updated_at = now() where id = ${job.id}`;
  if (last) await tx`update archive_jobs set last_stats = ${last.last_stats}::text::jsonb where id = ${job.id}`;
}

async function endRun(tx: Transaction, step: Step, unstarted?: string): Promise<Followed> {
  const { job, runs, run, now } = step;
  const report = step.report ?? run.report;
  const exitCode = report?.exitCode ?? run.taskExitCode;
  const stopReason = unstarted ?? run.stopReason;
  const { verdict, why } = verdictOf({
    exitCode,
    interrupted: (report?.interrupted ?? false) || stopReason !== null,
    warcFiles: warcsOf([...runs.filter(({ id }) => id !== run.id), { ...run, report }]).length,
    partial: (report?.partial ?? false) || (report?.log.stats?.limitHit ?? false),
  });
  await tx`
    update engine_runs set status = 'ended', ended_at = ${now}, exit_code = ${exitCode}, verdict = ${verdict}
    where id = ${run.id}`;
  const limits = limitsOf(job.config.tool_options);
  const next = nextAfter({ verdict, workers: run.workers, stopReason }, limits, doneSoFar(runs), now);
  // of each task that ends ECS says why, of one that did its work as well
  const isGood = verdict === "succeeded" || verdict === "limited";
  const because = [stopReason, why, isGood ? null : run.taskStoppedReason].filter(Boolean).join("; ");
  return await follow(tx, step, next, { exitCode, verdict, because });
}

/** Since somebody asked for a run. */
function doneSoFar(runs: readonly EngineRun[]): Done {
  const since = runs.slice(runs.findLastIndex(({ intervention }) => intervention === null));
  const counts = Object.fromEntries(
    INTERVENTIONS.map((each) => [each, since.filter(({ intervention }) => intervention === each).length]),
  ) as Done["counts"];
  return { counts, rotatedAt: since.findLast(({ intervention }) => intervention === "rotated")?.createdAt ?? null };
}

async function follow(
  tx: Transaction,
  { job, runs, run, now, report }: Step,
  next: Next,
  { exitCode, verdict, because }: { exitCode: number | null; verdict: string; because: string },
): Promise<Followed> {
  const at = { crawler_exit_code: exitCode, combined_log_path: report?.done ? `${run.prefix}zimit.log` : null };
  if (next.what === "complete") {
    const more = { ...at, crawler_status: "success", crawler_stage: "import", error: because === "" ? null : because };
    await tx`update archive_jobs set ${tx(more as never)}, updated_at = now() where id = ${job.id}`;
    return "complete";
  }
  if (next.what === "run") {
    const ended = (await listRuns(tx, job.id)).slice(0, runs.length);
    const mode = await insertRun(tx, job, ended, {
      intervention: next.by,
      workers: next.workers,
      notBefore: next.notBefore,
    });
    const more = { ...at, crawler_stage: `${next.by}: ${mode}`, error: because };
    await tx`update archive_jobs set ${tx(more as never)}, updated_at = now() where id = ${job.id}`;
    return "runs";
  }
  const more = { ...at, crawler_status: "failed", crawler_stage: null, error: because, finished_at: now };
  // another try would be refused as well, or all that helps was tried
  if (verdict === "refused" || job.config.tool_options.enable_monitoring) {
    await tx`update archive_jobs set ${tx({ ...more, status: "failed" } as never)}, updated_at = now() where id = ${job.id}`;
    return "ended";
  }
  const not_before = new Date(now.getTime() + DEFAULTS.backOffMinutes * 2 ** job.retryCount * 60_000);
  await moveJob(tx, job.id, "crawl_failed", { ...more, not_before });
  return "ended";
}

async function putOrder(
  { sql, objects }: Pick<RunsDependencies, "sql" | "objects">,
  job: ArchiveJob,
  run: EngineRun,
): Promise<void> {
  const earlier = (await listRuns(sql, job.id)).filter((each) => each.number < run.number && !each.discarded);
  const { seeds, tool_options: options, zimit_passthrough_args: args } = job.config;
  const state = run.mode === "resume" ? stateOf(earlier) : null;
  const order: RunOrder = {
    command: zimitCommand({
      jobName: job.name,
      title: job.sourceName,
      workers: run.workers,
      logLevel: options.log_level,
      passthrough: readPassthrough(args).options,
      resumes: state !== null,
    }),
    seeds,
    state,
    // whoever went another way goes on by it
    rotate: [...earlier, run].some(({ intervention }) => intervention === "rotated")
      ? (options.vpn_connect_command ?? null)
      : null,
    warcs: warcPrefix(job.id, run.number),
    zims: job.outputDir,
  };
  await objects.put(orderKey(run.prefix), Buffer.from(JSON.stringify(order)), "application/json");
}

/** undefined where there is none that can be read. */
async function readReport(
  objects: Pick<ObjectStore, "get">,
  { prefix, id }: EngineRun,
  log: Logger,
): Promise<RunReport | undefined> {
  const bytes = await objects.get(reportKey(prefix));
  if (bytes === undefined) return undefined;
  const parsed = runReportSchema.safeParse(parsedJson(bytes));
  if (!parsed.success) log.warn("a run's report cannot be read: the next one may be", { run_id: id });
  return parsed.data;
}

function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}
