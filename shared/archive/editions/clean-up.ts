/** Deletes the temporary files of a job that is done with, once nothing depends on them. */
import type { ListedObjects } from "../../platform/aws/listed-objects.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { type ArchiveJob, readArchiveJob } from "./archive-jobs.ts";
import { temporaryPrefix } from "./job-name.ts";

export interface CleanUp {
  job: ArchiveJob;
  files: number;
  bytes: number;
  dryRun: boolean;
}

/** @throws ApiError 404; 409 JOB_STATE or FILES_IN_USE */
export async function cleanUpJob(
  { sql, objects }: { sql: Sql; objects: ListedObjects },
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
  let [files, bytes] = [0, 0];
  for (let after = ""; ; ) {
    const found = await objects.list(prefix, after);
    for (const object of found) {
      if (!dryRun) await objects.remove(object.key);
      files++;
      bytes += object.bytes;
    }
    const last = found.at(-1);
    if (last === undefined) break;
    after = last.key;
  }
  if (files > 0 && !dryRun) {
    await sql`
      update archive_jobs set cleanup_status = 'temp_cleaned', cleaned_at = now(), state_file_path = null, updated_at = now()
      where id = ${id}`;
  }
  return { job: await readArchiveJob(sql, id), files, bytes, dryRun };
}

/** Captures that point into them, and imports that read them. */
async function refuseFilesInUse(sql: Sql, id: number, prefix: string): Promise<void> {
  const [used] = await sql<{ captures: number; imports: number }[]>`
    select (select count(*) from captures where starts_with(warc_key, ${prefix})) as captures,
      (select count(*) from warc_imports where starts_with(object_key, ${prefix})
        and status in ('announced', 'pending', 'running')) as imports`;
  const { captures = 0, imports = 0 } = used ?? {};
  if (captures + imports === 0) return;
  const message =
    `${captures} captures and ${imports} imports depend on the temporary files of the job ${id}: ` +
    "consolidate-warcs copies WARC files elsewhere, and then they can go";
  throw new ApiError(409, message, { code: "FILES_IN_USE", details: { captures, imports } });
}
