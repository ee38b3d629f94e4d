/**
 * Sends dead letters whose fault may have passed again, to the queue that gave them up: after a wait that grows, and no
 * more often than the configuration allows. While a letter waits, its task's lease may lapse: nothing else sends that
 * task.
 */
import { inTransaction, type Sql } from "../../platform/database/database.ts";
import { prolongLease } from "../frontier/claim-lease.ts";
import { peekJob } from "../jobs/lifecycle.ts";
import { endItsWork, type LostWorkDependencies, REDRIVE, traceOf } from "./dead-letters.ts";

export type RedriveDependencies = LostWorkDependencies;

/** Of one sweep. */
const MOST_LETTERS = 500;

interface DueLetter {
  id: string;
  queue: string;
  body: string;
  redrives: number;
  jobId: string;
  taskId: string;
  /** Its job was cancelled, is late, or has ended: nobody waits for what it asks for. */
  unwanted: boolean;
}

/**
 * Sends the letters that are due, and ends the work of those whose job no longer wants it, due or not.
 * @param hasTime whether there is time for one more
 */
export async function redriveLetters(
  dependencies: RedriveDependencies,
  hasTime: () => boolean,
): Promise<{ redriven: number; endedUrls: number }> {
  const { sql, log } = dependencies;
  let [redriven, endedUrls] = [0, 0];
  await noteRecoveries(sql);
  for (const letter of await dueLetters(sql)) {
    if (!hasTime()) break;
    try {
      if (letter.unwanted) endedUrls += await end(dependencies, letter);
      else {
        await sendAgain(dependencies, letter);
        redriven++;
      }
    } catch (error) {
      log.error("a dead letter could not be sent again: the next sweep tries", { error, dead_letter: letter.id });
    }
  }
  return { redriven, endedUrls };
}

/** What a letter asked for is done once nothing of its task is outstanding. */
async function noteRecoveries(sql: Sql): Promise<void> {
  await sql`
    update dead_letters l set state = 'recovered', redrive_at = null, updated_at = now()
    where state in ('waiting', 'sent') and not exists (
      select from frontier f where f.job_id = l.job_id and f.state = 'claimed' and f.task_id = l.task_id)`;
}

async function dueLetters(sql: Sql): Promise<DueLetter[]> {
  return await sql<DueLetter[]>`
    with waiting as (
      select l.id, l.queue, l.body, l.redrives, l.job_id as "jobId", l.task_id as "taskId", l.redrive_at,
        j.cancel_requested or j.status in ('completed', 'failed', 'cancelled')
          or coalesce(j.deadline_at <= now(), false) as unwanted
      from dead_letters l join jobs j on j.id = l.job_id
      where l.state = 'waiting')
    select * from waiting where unwanted or redrive_at <= now()
    order by redrive_at limit ${MOST_LETTERS}`;
}

async function sendAgain({ sql, queues, log }: RedriveDependencies, letter: DueLetter): Promise<void> {
  const { id, queue, body, redrives, jobId, taskId } = letter;
  const time = redrives + 1;
  await inTransaction(sql, async (tx) => {
    const job = await peekJob(tx, jobId);
    if (job !== undefined) await prolongLease(tx, job, taskId);
  });
  await queues.sendRaw(queue, body, { [REDRIVE]: String(time) });
  // a death that is recorded already has counted this time
  await sql`
    update dead_letters set state = 'sent', redrives = ${time}, redrive_at = null, updated_at = now()
    where id = ${id} and state = 'waiting' and redrives = ${redrives}`;
  log.info("a dead letter was sent again", { queue, job_id: jobId, task_id: taskId, redrive: time });
}

async function end(dependencies: RedriveDependencies, { id, queue, body }: DueLetter): Promise<number> {
  const trace = traceOf(body);
  const ended = trace === undefined ? 0 : await endItsWork(dependencies, queue, trace);
  await dependencies.sql`
    update dead_letters set state = 'ended', redrive_at = null, updated_at = now() where id = ${id} and state = 'waiting'`;
  return ended;
}
