/** Deletes the temporary files of a job that is done with, once nothing depends on them. */
import type { ListedObject, ListedObjects } from "../../platform/aws/listed-objects.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { isWarcFile, removeFile } from "../files/warc-files.ts";
import { type ArchiveJob, readArchiveJob } from "./archive-jobs.ts";
import { temporaryPrefix } from "./job-name.ts";

export interface CleanUp {
  job: ArchiveJob;
  files: number;
  bytes: number;
  dryRun: boolean;
}

interface CleaningUp {
  sql: Sql;
  objects: ListedObjects;
  uploads: Pick<Uploads, "head">;
}

/**
 * May be called again: whoever stops in between leaves files that the next call deletes.
 * @throws ApiError 404; 409 JOB_STATE or FILES_IN_USE
 */
export async function cleanUpJob(
  { sql, objects, uploads }: CleaningUp,
  id: number,
  { dryRun }: { dryRun: boolean },
): Promise<CleanUp> {
  const job = await readArchiveJob(sql, id);
  if (job.status !== "indexed" && job.status !== "index_failed") {
    const message = `The job ${id} is ${job.status}, and needs its files until it is indexed or index_failed`;
    throw new ApiError(409, message, { code: "JOB_STATE", details: { status: job.status } });
  }
  const prefix = temporaryPrefix(job.outputDir);
  await refuseFilesInUse(sql, id, prefix);
  await requireCopies({ sql, uploads }, id, prefix);
  let [files, bytes] = [0, 0];
  for (let after = ""; ; ) {
    const found = await objects.list(prefix, after);
    for (const object of found) {
      if (!dryRun) await remove({ sql, objects }, id, object);
      files++;
      bytes += object.bytes;
    }
    const last = found.at(-1);
    if (last === undefined) break;
    after = last.key;
  }
  if (!dryRun) {
    // of a call before this one
    await sql`
      update warc_files set deleted_at = now()
      where starts_with(key, ${prefix}) and removed_at is not null and deleted_at is null`;
  }
  if (files > 0 && !dryRun) {
    await sql`
      update archive_jobs set cleanup_status = 'temp_cleaned', cleaned_at = now(), state_file_path = null, updated_at = now()
      where id = ${id}`;
  }
  return { job: await readArchiveJob(sql, id), files, bytes, dryRun };
}

/** A WARC file goes with its row: captures that come late are led to its copy, or refused. */
async function remove(
  { sql, objects }: Pick<CleaningUp, "sql" | "objects">,
  id: number,
  { key, bytes, etag, writtenAt }: ListedObject,
): Promise<void> {
  if (!isWarcFile(key)) return await objects.remove(key);
  await sql`
    insert into warc_files (key, bytes, etag, written_at) values (${key}, ${bytes}, ${etag}, ${writtenAt})
    on conflict (key) do update set deleted_at = null`;
  if (!(await removeFile(sql, objects, key))) throw inUse(id, { captures: 1, imports: 0 });
}

/** What was copied elsewhere must lie there before it goes. */
async function requireCopies(
  { sql, uploads }: Pick<CleaningUp, "sql" | "uploads">,
  id: number,
  prefix: string,
): Promise<void> {
  const targets = await sql<{ key: string; least: number }[]>`
    select merged_into as key, max(merged_offset + bytes) as least from warc_files f
    where starts_with(key, ${prefix}) and merged_into is not null and deleted_at is null and captures_in(merged_into) > 0
    group by merged_into order by merged_into`;
  for (const { key, least } of targets) {
    const object = await uploads.head(key);
    if (object !== undefined && object.bytes >= least) continue;
    const message = `The copies of temporary files of the job ${id} are not in ${key}: verify-warcs tells more`;
    throw new ApiError(409, message, { code: "FILES_IN_USE", details: { key } });
  }
}

/** Captures that point into them, those of rendered pages' DOMs too, and imports that read them. */
async function refuseFilesInUse(sql: Sql, id: number, prefix: string): Promise<void> {
  const [used] = await sql<{ captures: number; imports: number }[]>`
    select (select count(*) from captures where starts_with(warc_key, ${prefix})
        or starts_with(rendered->'warc'->>'key', ${prefix})) as captures,
      (select count(*) from warc_imports where starts_with(object_key, ${prefix})
        and status in ('announced', 'pending', 'running')) as imports`;
  const { captures = 0, imports = 0 } = used ?? {};
  if (captures + imports > 0) throw inUse(id, { captures, imports });
}

function inUse(id: number, details: { captures: number; imports: number }): ApiError {
  const { captures, imports } = details;
  const message =
    `${captures} captures and ${imports} imports depend on the temporary files of the job ${id}: ` +
    "consolidate-warcs copies WARC files elsewhere, and then they can go";
  return new ApiError(409, message, { code: "FILES_IN_USE", details });
}
