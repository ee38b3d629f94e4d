/** Asks for what a job has captured to be indexed and compared anew. */
import { inTransaction } from "../../platform/database/database.ts";
import { isOfHtml } from "../snapshots/snapshots.ts";
import { type ArchiveJob, type JobsDependencies, moveOrRefuse } from "./archive-jobs.ts";

/**
 * What is searchable stays so until it is replaced, row by row.
 * @throws ApiError 404, or 409 JOB_STATE where nothing has been crawled for it yet
 */
export async function indexArchiveJob(dependencies: JobsDependencies, id: number): Promise<ArchiveJob> {
  const job = await moveOrRefuse(dependencies, id, {
    event: "index_started",
    instead: "only completed, index_failed and indexed jobs can be indexed",
    more: { error: null },
  });
  await inTransaction(dependencies.sql, async (tx) => {
    const mine = tx`
      captures c join jobs j on j.id = c.job_id
      where j.archive_job_id = ${id} and not j.hidden
        and ${isOfHtml(tx)}`;
    await tx`
      insert into snapshots_due (capture_id) select c.id from ${mine}
      on conflict (capture_id) do update set attempts = 0, not_before = now()`;
    await tx`insert into changes_due (page) select distinct page_of(c.final_url) from ${mine}`;
  });
  return job;
}

/**
 * Has the pages of a source compared again: events whose captures are the same stay as they are.
 * @returns how many pages there are
 */
export async function compareSourceAgain({ sql, flags }: JobsDependencies, source: string): Promise<number> {
  await flags.markActive();
  const { count } = await sql`
    insert into changes_due (page)
    select distinct page_of(c.final_url) from captures c join jobs j on j.id = c.job_id
    where j.source_code = ${source} and not j.hidden
      and ${isOfHtml(sql)}`;
  return count;
}
