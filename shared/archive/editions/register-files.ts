/** Adopts WARC files that lie in the bucket: a job whose work is their imports. */

import { inTransaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { beginImport, type ImportsDependencies, sendImport } from "../import/imports.ts";
import type { UploadedObject } from "../import/task.ts";
import { type ArchiveJob, checkName, insertJob, readArchiveJob } from "./archive-jobs.ts";
import { jobName } from "./job-name.ts";
import { readSource } from "./sources.ts";
import { toolOptionsSchema } from "./tool-options.ts";

interface Registration {
  source: string;
  name?: string | undefined;
  /** At least one. */
  objects: readonly UploadedObject[];
  apiKeyId: string | null;
  requestId?: string | undefined;
}

/**
 * Files that were imported before belong to the job from now on, with their captures as they are.
 * @throws ApiError 409 ALREADY_REGISTERED where a file is that of another job
 */
export async function registerFiles(
  dependencies: ImportsDependencies & { log: Logger },
  { source: code, name: wanted, objects, apiKeyId, requestId }: Registration,
  now: Date,
): Promise<ArchiveJob> {
  const { sql, queues, flags, log } = dependencies;
  const source = await readSource(sql, code);
  const name = wanted ?? jobName(source.nameTemplate, now);
  checkName(name);
  const imports: { id: string; begun: boolean }[] = [];
  for (const object of objects)
    imports.push(await beginImport(dependencies, object, { apiKeyId, source: source.code }));
  await flags.markActive();
  const id = await inTransaction(sql, async (tx) => {
    const planned = {
      sourceCode: source.code,
      engine: "register" as const,
      name,
      config: {
        seeds: objects.map(({ key }) => key),
        zimit_passthrough_args: [],
        tool_options: toolOptionsSchema.parse({}),
      },
    };
    const made = await insertJob(tx, planned, { status: "running", apiKeyId, now, requestId });
    await tx`update archive_jobs set started_at = now() where id = ${made}`;
    const files = await tx<{ key: string; jobId: string | null; error: string | null; owner: number | null }[]>`
      select i.object_key as key, i.job_id as "jobId", i.error, j.archive_job_id as owner
      from warc_imports i left join jobs j on j.id = i.job_id
      where i.id = any(${imports.map((each) => each.id)}) for update of i`;
    for (const { key, jobId, error, owner } of files) {
      if (owner !== null) {
        const message = `${key} belongs to the archive job ${owner} already: leave it out`;
        throw new ApiError(409, message, { code: "ALREADY_REGISTERED", details: { key, jobId: owner } });
      }
      if (jobId === null) throw new ApiError(409, `${key}: ${error}`, { code: "NOT_IMPORTED", details: { key } });
      await tx`
        update jobs set archive_job_id = ${made}, source_code = ${source.code}, hidden = ${source.reserved}
        where id = ${jobId}`;
      const captured = tx`(select id from captures where job_id = ${jobId})`;
      await tx`update snapshot_index set source_code = ${source.code} where capture_id in ${captured}`;
      if (source.reserved) {
        await tx`delete from snapshot_index where capture_id in ${captured}`;
        await tx`delete from snapshots_due where capture_id in ${captured}`;
        await tx`insert into changes_due (page) select distinct page_of(final_url) from captures where job_id = ${jobId}`;
      }
    }
    return made;
  });
  for (const each of imports.filter(({ begun }) => !begun)) {
    await sendImport(queues, each.id).catch((error: unknown) => {
      log.warn("an import's message could not be sent: the sweep sends it", { error, import_id: each.id });
    });
  }
  return await readArchiveJob(sql, id);
}
