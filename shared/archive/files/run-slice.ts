/** Does what a run asks for, slice by slice: each step and what it has come to are one transaction. */
import type { ListedObjects } from "../../platform/aws/listed-objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import { inTransaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { RetryableError } from "../../platform/errors.ts";
import { type CleaningDependencies, clean } from "./clean.ts";
import { type ConsolidationDependencies, consolidate } from "./consolidate.ts";
import type { NewRun, RunFault } from "./runs.ts";
import { type Level, WARC_RUNS_QUEUE, type WarcRunTask } from "./task.ts";
import { type KnownFile, verifyFile } from "./verify-file.ts";
import { LISTED, listFiles } from "./warc-files.ts";

export interface RunnerDependencies extends ConsolidationDependencies, CleaningDependencies {
  objects: ListedObjects;
  queues: QueueSender;
  limits: {
    targetBytes: number;
    /** How long files that have been copied stay, in ms. */
    mergedMs: number;
    /** How long files stay at which no capture points, in ms. */
    unusedMs: number;
  };
}

const LEASE_S = 960;
const MOST_ATTEMPTS = 5;
const RESERVE_MS = 60_000;
/** Files that are worth a new one: when somebody asks for it, and by itself. */
const LEAST_FILES = 2;
const LEAST_SCHEDULED_FILES = 20;
/** All are counted. */
const KEPT_FAULTS = 1000;
const GIVEN_UP = "RUN_STOPS: it was begun five times at this place and came to nothing: the log of warc-keep says why";

interface Run {
  id: string;
  kind: NewRun["kind"];
  options: { level?: Level; key?: string; dryRun?: boolean; scheduled?: boolean };
  phase: number;
  after: string;
  faults: number;
  attempts: number;
}

interface Step {
  phase: number;
  after: string;
  done: boolean;
  counts: Record<string, number>;
  faults: readonly RunFault[];
}

/** Does a slice of a run; one that has ended, or that another works on, is left alone. */
export async function runSlice(dependencies: RunnerDependencies, id: string, remainingMs: () => number): Promise<void> {
  const { sql, queues, log } = dependencies;
  const [run] = await sql<Run[]>`
    update warc_runs set status = 'running', attempts = attempts + 1, updated_at = now(),
      lease_until = now() + ${LEASE_S} * interval '1 second'
    where id = ${id} and status in ('pending', 'running') and (lease_until is null or lease_until < now())
    returning id, kind, options, phase, after_key as after, faults, attempts`;
  if (run === undefined) return;
  if (run.attempts > MOST_ATTEMPTS) {
    log.error("work on the WARC files stops", { run_id: id, kind: run.kind, reason: GIVEN_UP });
    await sql`
      update warc_runs set status = 'failed', error = ${GIVEN_UP}, lease_until = null, completed_at = now() where id = ${id}`;
    return;
  }
  try {
    for (let done = false; !done; ) {
      const step = await stepOf(dependencies, run, remainingMs);
      if (!(await moveOn(dependencies, run, step))) return;
      run.attempts = 1;
      done = step.done;
      if (!done && remainingMs() < RESERVE_MS) break;
      if (done) return log.info("work on the WARC files is done", { run_id: id, kind: run.kind });
    }
    await sql`update warc_runs set lease_until = null where id = ${id}`;
    await queues.send(WARC_RUNS_QUEUE, { runId: id } satisfies WarcRunTask);
  } catch (error) {
    await sql`update warc_runs set lease_until = null where id = ${id}`;
    throw error;
  }
}

async function stepOf(dependencies: RunnerDependencies, run: Run, remainingMs: () => number): Promise<Step> {
  const { sql, objects, limits } = dependencies;
  const nothing = { counts: {}, faults: [] };
  if (run.phase < LISTED) {
    const listing = await listFiles(sql, objects, run);
    return { ...nothing, ...listing, done: false };
  }
  const now = Date.now();
  const phase = LISTED;
  switch (run.kind) {
    case "verify":
      return { phase, ...(await verifyNext(dependencies, run, remainingMs)) };
    case "consolidate": {
      const leastFiles = run.options.scheduled ? LEAST_SCHEDULED_FILES : LEAST_FILES;
      const options = { targetBytes: limits.targetBytes, leastFiles, leastAgeMs: 0, now };
      const { files, captures, bytes, ...step } = await consolidate(dependencies, run.after, options, remainingMs);
      return { phase, ...step, counts: { files, captures, bytes } };
    }
    case "clean": {
      const options = { ...limits, dryRun: run.options.dryRun === true, now };
      const hasTime = () => remainingMs() > RESERVE_MS;
      const { files, bytes, ...step } = await clean(dependencies, run.after, options, hasTime);
      return { phase, ...step, counts: { files, bytes } };
    }
  }
}

async function verifyNext(
  { sql, uploads }: RunnerDependencies,
  { after, attempts, options: { level = "digests", key } }: Run,
  remainingMs: () => number,
): Promise<Omit<Step, "phase">> {
  const [file] = await sql<KnownFile[]>`
    select key, bytes, etag, sha256 from warc_files
    where ${key === undefined ? sql`key > ${after}` : sql`key = ${key} and key > ${after}`} and deleted_at is null
    order by key limit 1`;
  if (file === undefined) {
    const isUnknown = key !== undefined && after === "";
    return { after, done: true, counts: {}, faults: isUnknown ? [unknownFile(key)] : [] };
  }
  const proceed = () => {
    if (remainingMs() > RESERVE_MS / 2) return;
    throw new RetryableError(`There was no time left to verify ${file.key}`, { code: "RUN_UNFINISHED" });
  };
  const { faults, records, sha256 } = await verifyFile({ sql, uploads }, file, level, proceed).catch(
    (error: unknown) => {
      if (attempts < TRIES_OF_A_FILE || !isUnfinished(error)) throw error;
      const message = "it takes longer than the function may: split it, or verify it where it can be copied to";
      return { faults: [{ code: "NOT_VERIFIED", message, offset: null }], records: null, sha256: null };
    },
  );
  const isWhole = level === "digests";
  await sql`
    update warc_files set records = coalesce(${records}, records), sha256 = coalesce(sha256, ${sha256}),
      faults = case when ${isWhole || faults.length > 0} then ${faults.length}::int else faults end,
      verified_at = case when ${isWhole} then now() else verified_at end
    where key = ${file.key}`;
  const counts = { files: 1, bytes: file.bytes, records: records ?? 0 };
  return { after: file.key, done: false, counts, faults: faults.map((fault) => ({ ...fault, key: file.key })) };
}

const unknownFile = (key: string): RunFault => ({
  key,
  code: "FILE_UNKNOWN",
  message: `the archive has no WARC file ${key}: GET /api/admin/warc-files lists them`,
  offset: null,
});

/** With all of a function's time for it, but for the first one. */
const TRIES_OF_A_FILE = 3;
const isUnfinished = (error: unknown): boolean => error instanceof RetryableError && error.code === "RUN_UNFINISHED";

/** @returns false where another has moved the run on */
async function moveOn({ sql }: RunnerDependencies, run: Run, step: Step): Promise<boolean> {
  const { phase, after, done, counts, faults } = step;
  const moved = await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      update warc_runs r set phase = ${phase}, after_key = ${after}, faults = faults + ${faults.length},
        attempts = case when ${phase !== run.phase || after !== run.after || done} then 0 else attempts end,
        updated_at = now(), status = ${done ? "completed" : "running"}, completed_at = case when ${done} then now() end,
        lease_until = case when not ${done} then now() + ${LEASE_S} * interval '1 second' end,
        counts = r.counts || coalesce((
          select jsonb_object_agg(key, value::bigint + coalesce((r.counts->>key)::bigint, 0))
          from jsonb_each_text(${JSON.stringify(counts)}::text::jsonb)), '{}')
      where id = ${run.id} and status = 'running' and phase = ${run.phase} and after_key = ${run.after}`;
    if (count === 0) return false;
    const kept = faults.slice(0, Math.max(0, KEPT_FAULTS - run.faults));
    await tx`
      insert into warc_faults (run_id, seq, key, code, message, byte_offset)
      select ${run.id}, seq, key, code, message, byte_offset
      from json_to_recordset(${rowsOf(kept.map(({ offset, ...rest }, index) => ({ ...rest, byte_offset: offset, seq: run.faults + index })))}::text::json)
        as r (seq int, key text, code text, message text, byte_offset bigint)`;
    return true;
  });
  Object.assign(run, { phase, after, faults: run.faults + faults.length });
  return moved;
}
