/**
 * Records messages that no delivery could complete. Where its fault may pass, the sweep sends it again after a while,
 * see redrive.ts. Otherwise what it asked for ends, so that its job ends.
 */
import { z } from "zod";
import { recordDeadBatch } from "../../archive/import/recovery.ts";
import { readCaptureBatch } from "../../capture/capture-batch.ts";
import { isEmbedQueue } from "../../knowledge/embedding/embed-task.ts";
import { giveUpRefusedChunks } from "../../knowledge/embedding/outstanding-chunks.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import { PERMANENT_FAULT } from "../../platform/aws/queues.ts";
import { systemClock } from "../../platform/clock.ts";
import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import { PermanentError, RetryableError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { storable } from "../../platform/text.ts";
import { failDiscovery, releaseDiscovery } from "../discovery/jobs.ts";
import { DISCOVER_QUEUE, DISCOVERED_QUEUE } from "../discovery/task.ts";
import { endLostUrls } from "../frontier/give-up.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { isFinished, peekJob, settleJob } from "../jobs/lifecycle.ts";
import { deliverUnrendered } from "../rendering/deliver.ts";
import { RENDER_QUEUE, renderTaskSchema } from "../tasks/render-task.ts";
import { DEAD_LETTERS } from "./metrics.ts";

export interface DeadLetter {
  /** The queue that gave it up, by its name in the topology. */
  queue: string;
  messageId: string;
  body: string;
  receiveCount: number;
  attributes: Readonly<Record<string, string>>;
}

export type LostWorkDependencies = Pick<JobDependencies, "sql" | "queues" | "log"> & { objects: ObjectStore };

export interface DeadLetterDependencies extends LostWorkDependencies {
  redrive: {
    /** Times that a message is sent again, at the most. */
    most: number;
    /** Before the first of them, in seconds. */
    firstS: number;
  };
}

/** Attribute of a message that is sent again: the how manieth time it is. */
export const REDRIVE = "redrive";
const BACKOFF_FACTOR = 4;
/** Other queues' rows ask again by themselves (embed), or their senders wait no longer. */
const REDRIVEN_QUEUE = /^(fetch-(high|normal|low)|captures)$/;

/** As much of any message as names its job and task: it may be dead because the rest of it is wrong. */
const traceSchema = z.looseObject({
  jobId: z.uuid(),
  taskId: z.uuid().nullish(),
  batchKey: z.string().nullish(),
  range: z.tuple([z.int(), z.int()]).nullish(),
  /** Of the `render` queue. */
  claimKey: z.string().nullish(),
  urlHash: z.string().nullish(),
});
export type Trace = z.infer<typeof traceSchema>;

type LetterState = "waiting" | "sent" | "recovered" | "ended";

/**
 * Idempotent. What cannot be traced to a job is recorded all the same; its rows' leases lapse, and the sweep goes on
 * with them.
 */
export async function recordDeadLetter(dependencies: DeadLetterDependencies, letter: DeadLetter): Promise<void> {
  const trace = traceOf(letter.body);
  const { state, repeated } = await inTransaction(dependencies.sql, (tx) => record(tx, dependencies, letter, trace));
  const { log } = dependencies;
  const about = { queue: letter.queue, job_id: trace?.jobId, task_id: trace?.taskId };
  if (!repeated) {
    const metrics = DEAD_LETTERS.fields({ queue: letter.queue }, { received: { [state]: 1 } }, Date.now());
    log.measure("a message could not be handled", { ...about, ...metrics });
  }
  if (state === "waiting") return log.warn("a message could not be handled: it is sent again later", about);
  if (state === "ended" && trace !== undefined) await endItsWork(dependencies, letter.queue, trace);
}

export function traceOf(body: string): Trace | undefined {
  try {
    return traceSchema.safeParse(JSON.parse(body)).data;
  } catch {
    // not JSON: that may be why it is dead
    return undefined;
  }
}

/** Halves of a batch are messages of their own. */
const batchOf = (trace: Trace | undefined): string | null =>
  trace?.batchKey ? `${trace.batchKey}${trace.range ? `#${trace.range.join("-")}` : ""}` : null;

interface KnownLetter {
  id: string;
  state: LetterState;
  messageId: string;
  redrives: number;
}

/** @returns what is to become of the letter, and whether its death was known */
async function record(
  tx: Transaction,
  { redrive }: DeadLetterDependencies,
  letter: DeadLetter,
  trace: Trace | undefined,
): Promise<{ state: LetterState; repeated: boolean }> {
  const { queue, messageId, receiveCount, attributes } = letter;
  const subject = batchOf(trace) ?? trace?.claimKey ?? trace?.taskId ?? null;
  const [known] = await tx<KnownLetter[]>`
    select id, state, message_id as "messageId", redrives from dead_letters
    where message_id = ${messageId} or (queue = ${queue} and subject = ${subject})
    order by (message_id = ${messageId}) desc limit 1 for update`;
  // sent again, and counted as such only afterwards
  const redrives = Math.max(known?.redrives ?? 0, Number(attributes[REDRIVE] ?? 0));
  if (known !== undefined && isRepeated(known, letter)) return { state: known.state, repeated: true };
  const state = await stateOf(tx, redrive.most, letter, trace, redrives);
  const wait = state === "waiting" ? redrive.firstS * BACKOFF_FACTOR ** redrives : null;
  const row = {
    state,
    redrives,
    message_id: messageId,
    receive_count: receiveCount,
    error_code: attributes[PERMANENT_FAULT] ?? null,
  };
  if (known !== undefined) {
    await tx`
      update dead_letters set ${tx(row)}, redrive_at = now() + ${wait}::float8 * interval '1 second', updated_at = now()
      where id = ${known.id}`;
    return { state, repeated: false };
  }
  const { count } = await tx`
    insert into dead_letters (id, queue, message_id, body, receive_count, job_id, task_id, subject, state, redrives, redrive_at,
      error_code)
    values (${uuidv7()}, ${queue}, ${messageId}, ${storable(letter.body)}, ${receiveCount},
      (select id from jobs where id = ${trace?.jobId ?? null}), ${trace?.taskId ?? null}, ${subject && storable(subject)},
      ${state}, ${redrives}, now() + ${wait}::float8 * interval '1 second', ${row.error_code})
    on conflict do nothing`;
  // the same message, delivered twice at once: what the other delivery decided holds, and ending twice is harmless
  return { state: count === 0 && state === "waiting" ? "sent" : state, repeated: count === 0 };
}

/** Whether this very death is known: SQS delivers at least once, and a task may have more than one message. */
function isRepeated(known: KnownLetter, { messageId, attributes }: DeadLetter): boolean {
  const redrive = attributes[REDRIVE] === undefined ? undefined : Number(attributes[REDRIVE]);
  if (known.state === "ended" || known.messageId === messageId) return true;
  if (known.state === "waiting") return redrive === undefined || redrive <= known.redrives;
  return redrive !== undefined && redrive < known.redrives;
}

async function stateOf(
  tx: Transaction,
  mostRedrives: number,
  { queue, attributes }: DeadLetter,
  trace: Trace | undefined,
  redrives: number,
): Promise<"waiting" | "recovered" | "ended"> {
  if (!trace?.taskId || !REDRIVEN_QUEUE.test(queue)) return "ended";
  const [outstanding] = await tx`
    select from frontier where job_id = ${trace.jobId} and state = 'claimed' and task_id = ${trace.taskId} limit 1`;
  if (outstanding === undefined) return "recovered";
  if (attributes[PERMANENT_FAULT] !== undefined || redrives >= mostRedrives) return "ended";
  const job = await peekJob(tx, trace.jobId);
  if (job === undefined || isFinished(job.status) || job.cancelRequested) return "ended";
  const late = job.deadlineAt !== null && job.deadlineAt.getTime() <= Date.now();
  return late ? "ended" : "waiting";
}

const DEAD_DISCOVERY = "DEAD_LETTERED: the discovery failed at every delivery";

/**
 * Ends what the message asked for. Idempotent.
 * @returns how many URLs ended
 */
export async function endItsWork(dependencies: LostWorkDependencies, queue: string, trace: Trace): Promise<number> {
  if (queue === DISCOVER_QUEUE) await failDiscovery(dependencies, trace.jobId, DEAD_DISCOVERY);
  if (queue === DISCOVERED_QUEUE) await releaseDiscovery(dependencies.sql, trace.jobId);
  const embeds = isEmbedQueue(queue);
  if (embeds) await giveUpRefusedChunks({ ...dependencies, settleJob }, trace.jobId);
  if (queue === "captures" && !trace.taskId && trace.batchKey) {
    const { jobId, batchKey, range } = trace;
    return await recordDeadBatch(dependencies, { jobId, batchKey, first: range?.[0] ?? 0 });
  }
  if (embeds || !trace.taskId) return 0;
  if (queue === RENDER_QUEUE && (await deliveredUnrendered(dependencies, trace))) return 0;
  const hashes = await lostUrls(dependencies, queue, trace);
  const ended = await endLostUrls(dependencies, trace.jobId, trace.taskId, hashes);
  dependencies.log.error("a message could not be handled: its URLs end as failed", {
    queue,
    job_id: trace.jobId,
    task_id: trace.taskId,
    ended_urls: ended,
  });
  return ended;
}

/**
 * A page that cannot be rendered was fetched all the same.
 * @returns false where its capture is lost too
 */
async function deliveredUnrendered({ objects, queues, log }: LostWorkDependencies, trace: Trace): Promise<boolean> {
  const task = renderTaskSchema.safeParse(trace).data;
  if (task === undefined) return false;
  try {
    await deliverUnrendered({ objects, queues, clock: systemClock }, task);
    log.error("a page could not be rendered: it is delivered as it was fetched", { job_id: task.jobId });
    return true;
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}

const isUnreadable = (error: unknown): boolean => error instanceof PermanentError || error instanceof RetryableError;

/** Which URLs of its task the message spoke of; null: all that is outstanding of the task, as far as anybody knows. */
async function lostUrls(dependencies: LostWorkDependencies, queue: string, trace: Trace): Promise<string[] | null> {
  if (queue === "captures") return await readableUrls(dependencies, trace);
  return queue === RENDER_QUEUE && trace.urlHash ? [trace.urlHash] : null;
}

/** URLs of the batch, or null where it cannot be read: then all that is outstanding of its task is lost. */
async function readableUrls({ objects }: LostWorkDependencies, { batchKey, range }: Trace): Promise<string[] | null> {
  if (!batchKey) return null;
  try {
    const captures = await readCaptureBatch(objects, batchKey);
    return captures.slice(...(range ?? [])).map((capture) => capture.urlHash);
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}
