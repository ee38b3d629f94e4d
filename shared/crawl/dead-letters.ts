/** Messages that no delivery could complete: each is recorded, and what it asked for ends, so that its job ends. */
import { z } from "zod";
import { readCaptureBatch } from "../capture/capture-batch.ts";
import { inTransaction } from "../platform/database.ts";
import { PermanentError } from "../platform/errors.ts";
import { uuidv7 } from "../platform/ids.ts";
import type { ObjectStore } from "../platform/objects.ts";
import { settleJob } from "./job-lifecycle.ts";
import type { JobDependencies } from "./jobs.ts";
import { endLostUrls } from "./lost-work.ts";

export interface DeadLetter {
  /** The queue that gave it up, by its name in the topology. */
  queue: string;
  messageId: string;
  body: string;
  receiveCount: number;
}

export type DeadLetterDependencies = Pick<JobDependencies, "sql" | "queues" | "log"> & { objects: ObjectStore };

/** As much of any message as tells whose it was: it may be dead because the rest of it is wrong. */
const traceSchema = z.looseObject({
  jobId: z.uuid(),
  taskId: z.uuid().nullish(),
  batchKey: z.string().nullish(),
});
type Trace = z.infer<typeof traceSchema>;

/** Idempotent. What cannot be traced to a job is recorded all the same; its rows' leases lapse, and the sweep goes on with them. */
export async function buryDeadLetter(dependencies: DeadLetterDependencies, letter: DeadLetter): Promise<void> {
  const trace = traceOf(letter.body);
  await record(dependencies, letter, trace);
  if (trace === undefined) return;
  if (letter.queue === "embed") await giveUpRefusedChunks(dependencies, trace.jobId);
  else if (trace.taskId) {
    const hashes = letter.queue === "captures" ? await readableUrls(dependencies, trace) : null;
    const ended = await endLostUrls(dependencies, trace.jobId, trace.taskId, hashes);
    dependencies.log.error("a message could not be handled: its URLs end as failed", {
      queue: letter.queue,
      job_id: trace.jobId,
      task_id: trace.taskId,
      ended_urls: ended,
    });
  }
}

function traceOf(body: string): Trace | undefined {
  try {
    return traceSchema.safeParse(JSON.parse(body)).data;
  } catch {
    // not JSON: that may be why it is dead
    return undefined;
  }
}

async function record({ sql }: DeadLetterDependencies, letter: DeadLetter, trace: Trace | undefined): Promise<void> {
  const { queue, messageId, receiveCount } = letter;
  const body = letter.body.toWellFormed().replaceAll("\0", "\uFFFD");
  await sql`
    insert into dead_letters (id, queue, message_id, body, receive_count, job_id)
    values (${uuidv7()}, ${queue}, ${messageId}, ${body}, ${receiveCount},
      (select id from jobs where id = ${trace?.jobId ?? null}))
    on conflict (message_id) do nothing`;
}

/** URLs of the batch, or null where it cannot be read: then all that its task owes is lost. */
async function readableUrls({ objects }: DeadLetterDependencies, { batchKey }: Trace): Promise<string[] | null> {
  if (!batchKey) return null;
  try {
    const captures = await readCaptureBatch(objects, batchKey);
    return captures.map((capture) => capture.urlHash);
  } catch (error) {
    if (error instanceof PermanentError) return null;
    throw error;
  }
}

/** Refusals of a text by the embedder; a store or an embedder that is down counts none. */
const MOST_REFUSALS = 5;

/** Chunks that were refused too often are given up: keyword search still finds them. The others wait for the sweep. */
async function giveUpRefusedChunks({ sql }: DeadLetterDependencies, jobId: string): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      update embeddings e set state = 'failed' from chunks c, documents d, jobs j
      where j.id = ${jobId} and d.generation_id = j.generation_id and c.document_id = d.id and e.chunk_id = c.id
        and e.state = 'pending' and e.attempts >= ${MOST_REFUSALS}`;
    if (count === 0) return;
    await tx`update jobs set unembedded_chunks = unembedded_chunks - ${count}, updated_at = now() where id = ${jobId}`;
    await settleJob(tx, jobId);
  });
}
