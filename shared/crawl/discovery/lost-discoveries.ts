/** Discovery jobs that nobody speaks of any more: sent again, and given up in the end, so that each of them ends. */
import type { Sql } from "../../platform/database/database.ts";
import { type DiscoveryDependencies, failDiscovery, readDiscoveryJob, sendDiscovery } from "./jobs.ts";

/** Above the worker's longest run, with time for the queue. */
const LOST_AFTER = "30 minutes";
const MAX_SENDS = 3;
const MOST_JOBS = 100;

/** @param hasTime asked before each job */
export async function resumeDiscoveries(
  dependencies: Pick<DiscoveryDependencies, "sql" | "queues" | "log">,
  hasTime: () => boolean,
): Promise<{ resent: number; failed: number }> {
  const { sql, log } = dependencies;
  const done = { resent: 0, failed: 0 };
  const lost = await sql<{ id: string; sends: number }[]>`
    select id, sends from discovery_jobs
    where status in ('pending', 'running') and (sent_at is null or sent_at < now() - ${LOST_AFTER}::interval)
    order by created_at limit ${MOST_JOBS}`;
  for (const { id, sends } of lost) {
    if (!hasTime()) break;
    if (sends >= MAX_SENDS) {
      const why = `LOST: its worker was asked ${sends} times and never answered`;
      if (await failDiscovery(dependencies, id, why)) done.failed += 1;
      continue;
    }
    // before it is sent: two sweeps must not both send it
    const { count } = await sql`
      update discovery_jobs set sends = sends + 1, sent_at = now() where id = ${id} and sends = ${sends}`;
    const job = count > 0 ? await readDiscoveryJob(sql, id) : undefined;
    if (job === undefined) continue;
    await sendDiscovery(dependencies, job);
    log.warn("a discovery is sent again", { job_id: id, sends: sends + 1 });
    done.resent += 1;
  }
  return done;
}

/**
 * For a start at which no worker is left: the next sweep sends them all.
 * @returns how many are open
 */
export async function freeInterruptedDiscoveries(sql: Sql): Promise<number> {
  const { count } = await sql`
    update discovery_jobs set sent_at = null, sends = least(sends, ${MAX_SENDS - 1})
    where status in ('pending', 'running')`;
  return count;
}
