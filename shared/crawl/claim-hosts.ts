/** Hosts on which something may be claimed, and how much of a job is under way: found by probes of an index, not by counting. */
import type { Transaction } from "../platform/database.ts";
import type { JobRow } from "./job-lifecycle.ts";

/** Hosts with pending URLs, by one index probe per host. */
export async function pendingHosts(tx: Transaction, jobId: string): Promise<string[]> {
  const rows = await tx<{ host: string }[]>`
    with recursive hosts as (
      (select host from frontier where job_id = ${jobId} and state = 'pending' order by host limit 1)
      union all
      select (select f.host from frontier f
              where f.job_id = ${jobId} and f.state = 'pending' and f.host > hosts.host order by f.host limit 1)
      from hosts where hosts.host is not null)
    select host from hosts where host is not null`;
  return rows.map((row) => row.host);
}

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

/**
 * Hosts without a task under way that have URLs which may be claimed: breadth first those of the present level and those that
 * are to be tried again, otherwise all that are pending.
 * @param limit at the most so many
 */
export async function idleHosts(tx: Transaction, job: JobRow, limit: number): Promise<string[]> {
  if (limit <= 0) return [];
  const bfs = job.settings.strategy === "bfs";
  const groups = bfs ? [await levelHosts(tx, job.id, limit), await retriedHosts(tx, job.id, limit)] : [];
  const hosts = bfs ? groups.flat() : await waitingHosts(tx, job.id, limit);
  return [...new Set(hosts)].slice(0, limit);
}

async function levelHosts(tx: Transaction, jobId: string, limit: number): Promise<string[]> {
  const rows = await tx<{ host: string }[]>`
    with recursive level as materialized (
      select depth from frontier
      where job_id = ${jobId} and attempt = 0 and state in ('pending', 'claimed') order by depth limit 1
    ), hosts as (
      (select f.host from frontier f
       where f.job_id = ${jobId} and f.attempt = 0 and f.state in ('pending', 'claimed')
         and f.depth = (select depth from level)
       order by f.host limit 1)
      union all
      select (select f.host from frontier f
              where f.job_id = ${jobId} and f.attempt = 0 and f.state in ('pending', 'claimed')
                and f.depth = (select depth from level) and f.host > hosts.host
              order by f.host limit 1)
      from hosts where hosts.host is not null)
    select host from hosts
    where host is not null
      and not exists (select from frontier c where c.job_id = ${jobId} and c.host = hosts.host and c.state = 'claimed')
    limit ${limit}`;
  return rows.map((row) => row.host);
}

async function retriedHosts(tx: Transaction, jobId: string, limit: number): Promise<string[]> {
  const rows = await tx<{ host: string }[]>`
    with recursive hosts as (
      (select host from frontier where job_id = ${jobId} and state = 'pending' and attempt > 0 order by host limit 1)
      union all
      select (select f.host from frontier f
              where f.job_id = ${jobId} and f.state = 'pending' and f.attempt > 0 and f.host > hosts.host
              order by f.host limit 1)
      from hosts where hosts.host is not null)
    select host from hosts
    where host is not null
      and not exists (select from frontier c where c.job_id = ${jobId} and c.host = hosts.host and c.state = 'claimed')
    limit ${limit}`;
  return rows.map((row) => row.host);
}

async function waitingHosts(tx: Transaction, jobId: string, limit: number): Promise<string[]> {
  const rows = await tx<{ host: string }[]>`
    with recursive hosts as (
      (select host from frontier where job_id = ${jobId} and state = 'pending' order by host limit 1)
      union all
      select (select f.host from frontier f
              where f.job_id = ${jobId} and f.state = 'pending' and f.host > hosts.host order by f.host limit 1)
      from hosts where hosts.host is not null)
    select host from hosts
    where host is not null
      and not exists (select from frontier c where c.job_id = ${jobId} and c.host = hosts.host and c.state = 'claimed')
    limit ${limit}`;
  return rows.map((row) => row.host);
}
