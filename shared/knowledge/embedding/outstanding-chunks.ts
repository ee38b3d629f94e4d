/** Chunks of a job that still wait for their vector: those to ask for again, and those to give up. */
import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import { type EmbedDependencies, MOST_ATTEMPTS } from "./embed-worker.ts";

/** Chunks that are sent at once. */
const MOST_CHUNKS = 4096;

/** Of a job that has completed, those that can still be seen. */
export async function outstandingChunks(tx: Transaction, generationId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select c.id from jobs j join documents d on d.generation_id = j.generation_id
      join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
    where j.generation_id = ${generationId} and e.state = 'pending' and (d.generation_active or j.status <> 'completed')
    order by c.id limit ${MOST_CHUNKS}`;
  return rows.map(({ id }) => id);
}

/** Gives up chunks that were refused too often: keyword search still finds them. The others wait for the sweep. */
export async function giveUpRefusedChunks(
  { sql, settleJob, log }: Pick<EmbedDependencies, "sql" | "settleJob" | "log">,
  jobId: string,
): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      update embeddings e set state = 'failed' from chunks c, documents d, jobs j
      where j.id = ${jobId} and d.generation_id = j.generation_id and c.document_id = d.id and e.chunk_id = c.id
        and e.state = 'pending' and e.attempts >= ${MOST_ATTEMPTS}`;
    if (count === 0) return;
    await tx`
      update jobs set unembedded_chunks = greatest(0, unembedded_chunks - ${count}), updated_at = now() where id = ${jobId}`;
    await settleJob(tx, jobId, log);
  });
}
