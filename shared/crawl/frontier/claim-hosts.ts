/**
 * Hosts on which something may be claimed, and how much of a job is under way: found by probes of an index, not by
 * counting.
 */
import type { PendingQuery, Row } from "postgres";
import type { Transaction } from "../../platform/database/database.ts";
import type { JobRow } from "../jobs/lifecycle.ts";

/** Hosts with pending URLs. */
export async function pendingHosts(tx: Transaction, jobId: string): Promise<string[]> {
  const rows = await tx<{ host: string }[]>`
    with recursive ${hostsWhere(tx, jobId, tx`f.state = 'pending'`)}
    select host from hosts where host is not null`;
  return rows.map((row) => row.host);
}

/** The hosts of those rows `f` of the job, as `hosts`, by one probe of an index per host; the last one is null. */
function hostsWhere(tx: Transaction, jobId: string, condition: Condition) {
  return tx`hosts as (
    (select f.host from frontier f where f.job_id = ${jobId} and ${condition} order by f.host limit 1)
    union all
    select (select f.host from frontier f
            where f.job_id = ${jobId} and ${condition} and f.host > hosts.host order by f.host limit 1)
    from hosts where hosts.host is not null)`;
}

type Condition = PendingQuery<Row[]>;

/** Tasks of the job that are under way. */
export async function tasksUnderWay(tx: Transaction, jobId: string): Promise<number> {
  const [row] = await tx<{ tasks: number }[]>`
    with recursive tasks as (
      (select host, task_id from frontier where job_id = ${jobId} and state = 'claimed' order by host, task_id limit 1)
      union all
      select following.host, following.task_id
      from tasks cross join lateral (
        select f.host, f.task_id from frontier f
        where f.job_id = ${jobId} and f.state = 'claimed' and (f.host, f.task_id) > (tasks.host, tasks.task_id)
        order by f.host, f.task_id limit 1) following)
    select count(*)::int as tasks from tasks`;
  return row?.tasks ?? 0;
}

/** Requests that all tasks of the job may have under way: none has more than it has URLs left. */
export async function requestsUnderWay(tx: Transaction, jobId: string): Promise<number> {
  const [row] = await tx<{ requests: number }[]>`
    select coalesce(sum(least(coalesce(task.workers, task.urls), task.urls)), 0)::int as requests
    from (select max(workers) as workers, count(*) as urls from frontier
          where job_id = ${jobId} and state = 'claimed' group by host, task_id) task`;
  return row?.requests ?? 0;
}

/**
 * Hosts without a task under way that have URLs which may be claimed. First those of first tries, breadth first of the
 * present level alone, as long as there is budget for any: those that wait to be tried again would hold up what may be
 * fetched now. Then these, which must not be hidden by what is never to be fetched.
 * @param limit at the most so many
 * @param most URLs that the job may have claimed, the tries after the first aside
 */
export async function idleHosts(tx: Transaction, job: JobRow, limit: number, most: number): Promise<string[]> {
  if (limit <= 0) return [];
  const { strategy } = job.settings;
  const hostsOfFirstTries = strategy === "bfs" ? levelHosts : freshHosts;
  const fresh = job.counts.claimed < most ? await hostsOfFirstTries(tx, job.id, limit) : [];
  const retried = fresh.length < limit ? await retriedHosts(tx, job.id, limit) : [];
  return [...new Set([...fresh, ...retried])].slice(0, limit);
}

/** The level is found once, not once per host. */
async function levelHosts(tx: Transaction, jobId: string, limit: number): Promise<string[]> {
  const open = tx`f.attempt = 0 and f.state in ('pending', 'claimed') and f.depth = (select depth from level)`;
  const rows = await tx<{ host: string }[]>`
    with recursive level as materialized (
      select depth from frontier
      where job_id = ${jobId} and attempt = 0 and state in ('pending', 'claimed') order by depth limit 1
    ), ${hostsWhere(tx, jobId, open)}
    ${withoutTask(tx, jobId, limit)}`;
  return rows.map((row) => row.host);
}

const retriedHosts = (tx: Transaction, jobId: string, limit: number): Promise<string[]> =>
  restingHosts(tx, jobId, limit, tx`f.state = 'pending' and f.attempt > 0`);

const freshHosts = (tx: Transaction, jobId: string, limit: number): Promise<string[]> =>
  restingHosts(tx, jobId, limit, tx`f.state = 'pending' and f.attempt = 0`);

async function restingHosts(tx: Transaction, jobId: string, limit: number, condition: Condition): Promise<string[]> {
  const rows = await tx<{ host: string }[]>`
    with recursive ${hostsWhere(tx, jobId, condition)} ${withoutTask(tx, jobId, limit)}`;
  return rows.map((row) => row.host);
}

/** Those of `hosts` that no task of the job is under way for. */
function withoutTask(tx: Transaction, jobId: string, limit: number) {
  return tx`
    select host from hosts
    where host is not null
      and not exists (select from frontier c where c.job_id = ${jobId} and c.host = hosts.host and c.state = 'claimed')
    limit ${limit}`;
}
