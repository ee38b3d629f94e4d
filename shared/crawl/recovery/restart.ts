/**
 * For a start at which no worker of the one before is left: what they held is free at once, instead of when their
 * leases end, so that jobs go on within seconds.
 */

import { atOnce } from "../../platform/at-once.ts";
import type { Sql } from "../../platform/database/database.ts";
import { freeLeases } from "../../platform/database/leased-work.ts";
import { freeInterruptedDiscoveries } from "../discovery/lost-discoveries.ts";
import type { TaskLeases } from "../fetch/task-lease.ts";
import type { HostStates } from "../politeness/host-state.ts";
import type { JobFlags } from "../tasks/job-flags.ts";

export interface InterruptedDependencies {
  sql: Sql;
  leases: Pick<TaskLeases, "free">;
  hosts: Pick<HostStates, "freeSlots">;
  flags: Pick<JobFlags, "markActive">;
}

/** Calls to the state table at a time. */
const AT_ONCE = 16;
/** Long enough ago for the sweep to take a job for stalled. */
const LONG_AGO = "1 day";

/**
 * To be called before the first message is delivered; the next sweep sends what no message asks for.
 * @param waiting ids of the tasks that some message speaks of: these go on by themselves
 * @returns tasks that were under way, and how many of them no message speaks of
 */
export async function freeInterruptedWork(
  { sql, leases, hosts, flags }: InterruptedDependencies,
  waiting: ReadonlySet<string>,
): Promise<{ tasks: number; lost: number }> {
  const stalled = await sql`
    update jobs set updated_at = now() - ${LONG_AGO}::interval, embedding_progress_at = now() where status in ('pending', 'running', 'embedding')`;
  const discoveries = await freeInterruptedDiscoveries(sql);
  if (discoveries + (await freeLeases(sql)) > 0) await flags.markActive();
  if (stalled.count === 0) return { tasks: 0, lost: 0 };
  // the marker may be older than the state table, where that was replaced
  await flags.markActive();
  const claimed = await sql<{ taskId: string; host: string }[]>`
    select distinct task_id as "taskId", host from frontier where state = 'claimed'`;
  const tasks = claimed.map(({ taskId }) => taskId);
  await atOnce(AT_ONCE, tasks, (taskId) => leases.free(taskId));
  await atOnce(AT_ONCE, new Set(claimed.map(({ host }) => host)), (host) => hosts.freeSlots(host));
  const lost = tasks.filter((taskId) => !waiting.has(taskId));
  await sql`update frontier set lease_until = now() where state = 'claimed' and task_id in (
    select unnest(${lost}::text[])::uuid)`;
  return { tasks: claimed.length, lost: lost.length };
}
