/** What of imports may have been lost with a message, and is asked for again. */

import { addCounts, lockJob } from "../../crawl/jobs/lifecycle.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import { inTransaction, type Sql } from "../../platform/database/database.ts";
import { takeStalled } from "../../platform/database/leased-work.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { capturesMessage } from "./captures-message.ts";
import { beginImport, type ImportsDependencies, sendImport } from "./imports.ts";
import { settleImport } from "./settle-import.ts";
import { importMessageSchema, uploadedObjects } from "./task.ts";

/** Without an answer for so long, a batch's message may be lost. */
const STALLED_BATCH = "5 minutes";
const MOST = 100;
/** Times that the message of a batch may end among the dead letters, and is sent again. */
const MOST_DEATHS = 3;

/** @returns how many messages were sent */
export async function resumeImports({ sql, queues }: { sql: Sql; queues: QueueSender }): Promise<number> {
  const imports = await takeStalled(sql, "warc_imports");
  for (const id of imports) await sendImport(queues, id);
  const batches = await sql<{ jobId: string; batchKey: string; first: number; last: number }[]>`
    update warc_import_batches b set sent_at = now() from warc_imports i
    where i.id = b.import_id and (b.batch_key, b.first) in (
      select batch_key, first from warc_import_batches where sent_at < now() - ${STALLED_BATCH}::interval
      order by sent_at limit ${MOST})
    returning i.job_id as "jobId", b.batch_key as "batchKey", b.first, b.last`;
  await queues.sendAll("captures", batches.map(capturesMessage));
  return imports.length + batches.length;
}

/** An upload whose event could not be handled for a long time is begun all the same. */
export async function resumeUploads(dependencies: ImportsDependencies, body: string): Promise<void> {
  const message = parsed(body);
  if (message === undefined || !("Records" in message)) return;
  for (const object of uploadedObjects(message)) {
    const { id, begun } = await beginImport(dependencies, object);
    if (!begun) await sendImport(dependencies.queues, id);
  }
}

function parsed(body: string) {
  try {
    return importMessageSchema.safeParse(JSON.parse(body)).data;
  } catch {
    // not JSON: that is why it is dead
    return undefined;
  }
}

/**
 * A batch whose message can never be handled: the sweep sends it again a few times, then its captures end as failed.
 * @returns how many ended
 */
export async function recordDeadBatch(
  { sql, log }: { sql: Sql; log: Logger },
  { jobId, batchKey, first }: { jobId: string; batchKey: string; first: number },
): Promise<number> {
  return await inTransaction(sql, async (tx) => {
    const [batch] = await tx<{ deaths: number; first: number; last: number; importId: string }[]>`
      update warc_import_batches set deaths = deaths + 1 where batch_key = ${batchKey} and first = ${first}
      returning deaths, first, last, import_id as "importId"`;
    if (batch === undefined || batch.deaths < MOST_DEATHS) return 0;
    const job = await lockJob(tx, jobId);
    await tx`delete from warc_import_batches where batch_key = ${batchKey} and first = ${first}`;
    if (job === undefined) return 0;
    const lost = batch.last - batch.first;
    const message = `${lost} captures could not be stored at any delivery: the log says why`;
    await tx`
      with counted as (
        update warc_imports set complaints = complaints + 1 where id = ${batch.importId} returning id, complaints)
      insert into warc_complaints (import_id, seq, code, message, byte_offset)
      select id, complaints - 1, 'CAPTURES_LOST', ${message}, 0 from counted on conflict do nothing`;
    await addCounts(tx, job, { open: -lost, failed: lost });
    await settleImport(tx, job, log);
    return lost;
  });
}
