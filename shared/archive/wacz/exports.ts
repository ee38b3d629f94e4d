/** Exports: asked for, built by a worker, and what became of them. */
import { createHash } from "node:crypto";
import type { JobFlags } from "../../crawl/tasks/job-flags.ts";
import type { ListedObjects } from "../../platform/aws/listed-objects.ts";
import type { OpenObjectWriter } from "../../platform/aws/multipart.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Sql } from "../../platform/database/database.ts";
import { takeStalled } from "../../platform/database/leased-work.ts";
import { ApiError, PermanentError, RetryableError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { buildWacz, type Exported, type WaczContents, type WaczSources } from "./build-wacz.ts";
import type { Selection } from "./selection.ts";
import { EXPORTS_QUEUE, type ExportTask } from "./task.ts";

export interface ExportView {
  id: string;
  jobId: string | null;
  selection: Selection | null;
  status: "pending" | "running" | "completed" | "failed";
  error: string | null;
  key: string;
  bytes: number | null;
  sha256: string | null;
  records: number;
  pages: number;
  createdAt: Date;
  completedAt: Date | null;
}

export interface ExportsDependencies {
  sql: Sql;
  queues: QueueSender;
  flags: Pick<JobFlags, "markActive">;
  log: Pick<Logger, "warn">;
}

/**
 * The export is taken once this resolves, even if no message could be sent: the sweep sends it.
 * @param wanted `id`: what its id must be; where there is an export with it, that is the one
 */
export async function createExport(
  { sql, queues, flags, log }: ExportsDependencies,
  wanted: Exported & { id?: string | undefined; apiKeyId: string | null },
): Promise<ExportView> {
  const { id = uuidv7(), apiKeyId, ...of } = wanted;
  const made = wanted.id === undefined ? undefined : await readExport(sql, id);
  if (made !== undefined) return made;
  // before the row: an export that the sweep does not look for could hang
  await flags.markActive();
  await sql`
    insert into exports (id, job_id, selection, object_key, api_key_id)
    values (${id}, ${of.jobId ?? null}, ${of.selection ? JSON.stringify(of.selection) : null}::text::jsonb,
      ${`exports/${id}/${nameOf(of)}.wacz`}, ${apiKeyId})`;
  await queues.send(EXPORTS_QUEUE, { exportId: id } satisfies ExportTask).catch((error: unknown) => {
    log.warn("an export's message could not be sent: the sweep sends it", { error, export_id: id });
  });
  return (await readExport(sql, id)) as ExportView;
}

/** As that of a file. */
const nameOf = ({ jobId, selection }: Exported): string =>
  jobId ??
  (selection.url
    .replace(/^[a-z]+:\/\//i, "")
    .replaceAll(/[^\w.-]+/g, "_")
    .slice(0, 100) ||
    "export");

export async function readExport(sql: Sql, id: string): Promise<ExportView | undefined> {
  const [view] = await selectExports(sql, sql`id = ${id}`, 1);
  return view;
}

/** Newest first. */
export async function listExports(
  sql: Sql,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<ExportView[]> {
  return await selectExports(sql, after === undefined ? sql`true` : sql`id < ${after}`, limit);
}

async function selectExports(sql: Sql, where: ReturnType<Sql>, limit: number): Promise<ExportView[]> {
  return await sql<ExportView[]>`
    select id, job_id as "jobId", selection, status, error, object_key as key, bytes, sha256, records, pages,
      created_at as "createdAt", completed_at as "completedAt"
    from exports where ${where} order by id desc limit ${limit}`;
}

/**
 * Deletes an export that has ended, and its file before it: where that fails, the export is still there to be deleted.
 * @throws ApiError 404 NOT_FOUND, 409 CONFLICT where it is under way
 */
export async function deleteExport(
  { sql, objects }: { sql: Sql; objects: Pick<ListedObjects, "remove"> },
  id: string,
): Promise<void> {
  const view = await readExport(sql, id);
  if (view === undefined) throw noExport(id);
  if (view.completedAt === null) {
    throw new ApiError(409, `The export ${id} is under way: delete it once it has ended`, { code: "CONFLICT" });
  }
  // one that has ended is never begun again
  await objects.remove(view.key);
  const deleted = await sql`delete from exports where id = ${id}`;
  // whoever deletes it at the same time has
  if (deleted.count === 0) throw noExport(id);
}

export const noExport = (id: string): ApiError => new ApiError(404, `There is no export ${id}`, { code: "NOT_FOUND" });

/** @returns how many were sent again */
export async function resumeExports({ sql, queues }: Pick<ExportsDependencies, "sql" | "queues">): Promise<number> {
  const lost = await takeStalled(sql, "exports");
  for (const exportId of lost) await queues.send(EXPORTS_QUEUE, { exportId } satisfies ExportTask);
  return lost.length;
}

export interface ExporterDependencies extends WaczSources {
  openWriter: OpenObjectWriter;
  log: Logger;
}

const LEASE_S = 960;
/** Times that a build is begun before it is given up. */
const MOST_ATTEMPTS = 3;
/** Of a function's time: for the end of a file that is being copied. */
const RESERVE_MS = 60_000;
const GIVEN_UP =
  "EXPORT_STOPS: it was begun three times and never came to its end, since it takes longer than a function may, or " +
  "the function failed: its log says why";

/** Builds an export from its beginning; one that has ended, or that another works on, is left alone. */
export async function runExport(
  dependencies: ExporterDependencies,
  id: string,
  remainingMs: () => number,
): Promise<void> {
  const { sql, log } = dependencies;
  const [taken] = await sql<{ jobId: string | null; selection: Selection | null; key: string; attempts: number }[]>`
    update exports set status = 'running', attempts = attempts + 1, updated_at = now(),
      lease_until = now() + ${LEASE_S} * interval '1 second'
    where id = ${id} and status in ('pending', 'running') and (lease_until is null or lease_until < now())
    returning job_id as "jobId", selection, object_key as key, attempts`;
  if (taken === undefined) return;
  if (taken.attempts > MOST_ATTEMPTS) return await failExport(dependencies, id, GIVEN_UP);
  try {
    const { sha256, ...contents } = await writeExport(dependencies, taken, remainingMs);
    await sql`
      update exports set status = 'completed', bytes = ${contents.bytes}, sha256 = ${sha256}, records = ${contents.records},
        pages = ${contents.pages}, lease_until = null, updated_at = now(), completed_at = now()
      where id = ${id}`;
    log.info("a job was exported", { export_id: id, job_id: taken.jobId, ...contents });
  } catch (error) {
    if (error instanceof PermanentError) return await failExport(dependencies, id, `${error.code}: ${error.message}`);
    await sql`update exports set lease_until = null where id = ${id}`;
    throw error;
  }
}

async function failExport({ sql, log }: ExporterDependencies, id: string, error: string): Promise<void> {
  await sql`
    update exports set status = 'failed', error = ${error}, lease_until = null, updated_at = now(), completed_at = now()
    where id = ${id}`;
  log.warn("an export failed", { export_id: id, reason: error });
}

/** Puts the object whole, or not at all. */
async function writeExport(
  dependencies: ExporterDependencies,
  { jobId, selection, key }: { jobId: string | null; selection: Selection | null; key: string },
  remainingMs: () => number,
): Promise<WaczContents & { sha256: string }> {
  const writer = await dependencies.openWriter(key, "application/wacz");
  const hash = createHash("sha256");
  const proceed = () => {
    if (remainingMs() > RESERVE_MS) return;
    throw new RetryableError("The function's time is over before the export is whole", { code: "EXPORT_UNFINISHED" });
  };
  try {
    const of = jobId === null ? { selection: selection as Selection } : { jobId };
    const contents = await buildWacz(dependencies, { ...of, created: new Date(), proceed }, async (bytes) => {
      hash.update(bytes);
      await writer.write(bytes);
    });
    await writer.complete();
    return { ...contents, sha256: hash.digest("hex") };
  } catch (error) {
    await writer.abort().catch((cause: unknown) => dependencies.log.warn("an upload is left", { key, error: cause }));
    throw error;
  }
}
