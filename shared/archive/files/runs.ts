/** Work on the WARC files of the archive: asked for, begun by itself, and what came of it. */
import { z } from "zod";
import type { JobFlags } from "../../crawl/tasks/job-flags.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Sql } from "../../platform/database/database.ts";
import { takeStalled } from "../../platform/database/leased-work.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { type FileFault, LEVELS, WARC_RUNS_QUEUE, type WarcRunTask } from "./task.ts";

export const newRunSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("verify"),
    level: z.enum(LEVELS).default("digests"),
    key: z.string().max(1024).optional(),
  }),
  z.strictObject({ kind: z.literal("consolidate") }),
  z.strictObject({ kind: z.literal("clean"), dryRun: z.boolean().default(false) }),
]);
export type NewRun = z.infer<typeof newRunSchema>;
export const RUN_KINDS = ["verify", "consolidate", "clean"] as const;

export interface RunView {
  id: string;
  kind: NewRun["kind"];
  options: Record<string, unknown>;
  status: "pending" | "running" | "completed" | "failed";
  error: string | null;
  /** Files, bytes and captures that it has done something about. */
  counts: Record<string, number>;
  faults: number;
  createdAt: Date;
  completedAt: Date | null;
}

export interface RunFault extends FileFault {
  key: string;
}

export interface RunsDependencies {
  sql: Sql;
  queues: QueueSender;
  flags: Pick<JobFlags, "markActive">;
  log: Logger;
}

/** The run is taken once this resolves, even if no message could be sent: the sweep sends it. */
export async function createRun(
  { sql, queues, flags, log }: RunsDependencies,
  { kind, ...options }: NewRun,
  apiKeyId: string | null,
  reserved?: string,
): Promise<RunView> {
  const made = reserved === undefined ? undefined : await readRun(sql, reserved);
  if (made !== undefined) return made;
  const id = reserved ?? uuidv7();
  // before the row: a run that the sweep does not look for could hang
  await flags.markActive();
  await insertRun(sql, id, kind, options, apiKeyId);
  await queues.send(WARC_RUNS_QUEUE, { runId: id } satisfies WarcRunTask).catch((error: unknown) => {
    log.warn("a run's message could not be sent: the sweep sends it", { error, run_id: id });
  });
  return (await readRun(sql, id)) as RunView;
}

async function insertRun(sql: Sql, id: string, kind: string, options: object, apiKeyId: string | null): Promise<void> {
  await sql`
    insert into warc_runs (id, kind, options, api_key_id)
    values (${id}, ${kind}, ${JSON.stringify(options)}::text::jsonb, ${apiKeyId})`;
}

export async function readRun(sql: Sql, id: string): Promise<RunView | undefined> {
  const [view] = await selectRuns(sql, sql`id = ${id}`, 1);
  return view;
}

/** Newest first. */
export async function listRuns(
  sql: Sql,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<RunView[]> {
  return await selectRuns(sql, after === undefined ? sql`true` : sql`id < ${after}`, limit);
}

async function selectRuns(sql: Sql, where: ReturnType<Sql>, limit: number): Promise<RunView[]> {
  return await sql<RunView[]>`
    select id, kind, options, status, error, counts, faults, created_at as "createdAt", completed_at as "completedAt"
    from warc_runs where ${where} order by id desc limit ${limit}`;
}

/** In the order in which they were found. */
export async function readFaults(sql: Sql, runId: string, limit: number): Promise<RunFault[]> {
  return await sql<RunFault[]>`
    select key, code, message, byte_offset as offset from warc_faults where run_id = ${runId} order by seq limit ${limit}`;
}

const UPKEEP = ["consolidate", "clean"] as const;

/**
 * Begins what keeps the archive in order by itself, each kind once in so many hours: the sweep sends it.
 * @param hours 0: never
 * @returns how many runs were begun
 */
export async function scheduleUpkeep(sql: Sql, hours: number): Promise<number> {
  if (hours === 0) return 0;
  let begun = 0;
  for (const kind of UPKEEP) {
    const { count } = await sql`
      insert into warc_runs (id, kind, options, updated_at)
      select ${uuidv7()}, ${kind}, '{"scheduled": true}', 'epoch'
      where not exists (
        select from warc_runs where kind = ${kind}
          and (status in ('pending', 'running') or created_at > now() - ${hours} * interval '1 hour'))`;
    begun += count;
  }
  return begun;
}

/** @returns how many were sent again */
export async function resumeRuns({ sql, queues }: Pick<RunsDependencies, "sql" | "queues">): Promise<number> {
  const lost = await takeStalled(sql, "warc_runs");
  for (const runId of lost) await queues.send(WARC_RUNS_QUEUE, { runId } satisfies WarcRunTask);
  return lost.length;
}
