/**
 * Claims the next URLs of a job, per host, and makes fetch tasks of them. At most two tasks per host are under way, so that
 * one can be fetched while the other is being written; a claim is a lease that the sweep may renew.
 *
 * Breadth first to the letter: no URL of depth d + 1 is claimed while one of depth d awaits its first try, so that each URL
 * has its true depth. URLs that are tried again do not hold up the next level.
 */
import type { Transaction } from "../platform/database.ts";
import { uuidv7 } from "../platform/ids.ts";
import { rowsOf } from "../platform/rows.ts";
import { endBlocked } from "./blocked-hosts.ts";
import { leaseSeconds, TASKS_PER_HOST } from "./claim-lease.ts";
import { type ClaimedTask, fetchTask, priorOf, type TaskUrl } from "./claimed-task.ts";
import { lookUpTasks } from "./crawl-cache.ts";
import { MAX_URLS_PER_TASK } from "./fetch-task.ts";
import { skipPending } from "./frontier.ts";
import { addCounts, type JobRow, noteLimit } from "./job-lifecycle.ts";
import { endIfLate } from "./time-limit.ts";

/** A URL that may be claimed. */
interface Candidate extends TaskUrl {
  /** Seconds until it may be tried. */
  waitS: number;
}

/**
 * Claims what may be claimed on these hosts (null: on all that have pending URLs). The caller holds the job's row. Where
 * nothing can be claimed any more because `max_pages` is reached, the rest of the frontier ends.
 */
export async function claimUrls(tx: Transaction, job: JobRow, hosts: readonly string[] | null): Promise<ClaimedTask[]> {
  const tasks: ClaimedTask[] = [];
  for (;;) {
    if (job.cancelRequested || job.counts.open === 0 || (await endIfLate(tx, job))) break;
    const { allowed, ended } = await endBlocked(tx, job, await claimNext(tx, job, hosts));
    tasks.push(...allowed);
    if (!ended) break;
  }
  return await lookUpTasks(tx, job, tasks);
}

async function claimNext(tx: Transaction, job: JobRow, hosts: readonly string[] | null): Promise<ClaimedTask[]> {
  const among = hosts ?? (await pendingHosts(tx, job.id));
  const ready = await claimRound(tx, job, among, "ready");
  if (ready.length >= TASKS_PER_HOST * among.length) return ready;
  const tasks = [...ready, ...(await claimRound(tx, job, among, "waiting"))];
  if (tasks.length === 0 && job.counts.claimed >= job.settings.max_pages) await endWhereBudgetIsSpent(tx, job);
  return tasks;
}

/**
 * `ready`: what may be fetched now. `waiting`: what is to be tried again later; it is claimed early, and the queue delays
 * its task, so that no clock of ours has to wake up for it.
 */
async function claimRound(
  tx: Transaction,
  job: JobRow,
  hosts: readonly string[],
  which: "ready" | "waiting",
): Promise<ClaimedTask[]> {
  if (hosts.length === 0) return [];
  let budget = job.settings.max_pages - job.counts.claimed;
  const candidates =
    which === "ready" ? await findReady(tx, job, hosts, budget > 0) : await findWaiting(tx, job, hosts);
  const affordable = candidates.filter((each) => each.attempt > 0 || budget-- > 0);
  if (affordable.length === 0) return [];
  const tasks = makeTasks(job, affordable);
  await writeClaims(tx, job, tasks);
  const firstTries = affordable.filter((each) => each.attempt === 0).length;
  if (firstTries > 0) await addCounts(tx, job, { claimed: firstTries });
  return tasks;
}

/** Hosts with pending URLs, by one index probe per host. */
async function pendingHosts(tx: Transaction, jobId: string): Promise<string[]> {
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

/** In order of priority, as many as the host's free tasks hold. */
async function findReady(
  tx: Transaction,
  job: JobRow,
  hosts: readonly string[],
  firstTries: boolean,
): Promise<Candidate[]> {
  return await tx<Candidate[]>`
    select encode(u.url_hash, 'hex') as "urlHash", u.url, u.host, u.depth, u.attempt, 0 as "waitS", prior.prior
    from unnest(${hosts as string[]}::text[]) h (host)
    cross join lateral (
      select count(distinct task_id)::int as tasks, min(depth) filter (where attempt = 0) as depth
      from frontier where job_id = ${job.id} and host = h.host and state = 'claimed'
    ) flight
    cross join lateral (
      select least(flight.depth, (
        select f.depth from frontier f
        where f.job_id = ${job.id} and f.host = h.host and f.state = 'pending' and f.attempt = 0
        order by f.priority limit 1)) as depth
    ) level
    cross join lateral (
      select f.* from frontier f
      where f.job_id = ${job.id} and f.host = h.host and f.state = 'pending' and f.not_before <= now()
        and (f.attempt > 0 or (${firstTries} and f.depth <= level.depth))
      order by f.priority
      limit greatest(0, ${TASKS_PER_HOST}::int - flight.tasks) * ${MAX_URLS_PER_TASK}::int
      for update of f skip locked
    ) u
    left join lateral (${priorOf(tx, job)}) prior on true
    order by u.host, u.priority`;
}

async function findWaiting(tx: Transaction, job: JobRow, hosts: readonly string[]): Promise<Candidate[]> {
  return await tx<Candidate[]>`
    select encode(u.url_hash, 'hex') as "urlHash", u.url, u.host, u.depth, u.attempt,
      extract(epoch from u.not_before - now())::float8 as "waitS", prior.prior
    from unnest(${hosts as string[]}::text[]) h (host)
    cross join lateral (
      select count(distinct task_id)::int as tasks
      from frontier where job_id = ${job.id} and host = h.host and state = 'claimed'
    ) flight
    cross join lateral (
      select f.* from frontier f
      where f.job_id = ${job.id} and f.host = h.host and f.state = 'pending' and f.attempt > 0 and f.not_before > now()
      order by f.not_before
      limit greatest(0, ${TASKS_PER_HOST}::int - flight.tasks) * ${MAX_URLS_PER_TASK}::int
      for update of f skip locked
    ) u
    left join lateral (${priorOf(tx, job)}) prior on true
    order by u.host, u.not_before`;
}

/** One task per 50 URLs of a host. */
function makeTasks(job: JobRow, urls: readonly Candidate[]): ClaimedTask[] {
  const slices = [...Map.groupBy(urls, (each) => each.host).values()].flatMap(inSlices);
  return slices.map((slice) => ({
    task: fetchTask(job, uuidv7(), slice),
    delayS: Math.ceil(Math.max(...slice.map((each) => each.waitS))),
  }));
}

function inSlices(urls: readonly Candidate[]): Candidate[][] {
  const slices: Candidate[][] = [];
  for (let start = 0; start < urls.length; start += MAX_URLS_PER_TASK) {
    slices.push(urls.slice(start, start + MAX_URLS_PER_TASK));
  }
  return slices;
}

async function writeClaims(tx: Transaction, job: JobRow, tasks: readonly ClaimedTask[]): Promise<void> {
  const rows = tasks.flatMap(({ task, delayS }) => {
    const lease = delayS + leaseSeconds(task.urls.length, job.settings.config);
    return task.urls.map(({ urlHash }) => ({ hash: urlHash, task: task.taskId, lease }));
  });
  await tx`
    update frontier f set state = 'claimed', task_id = r.task, lease_until = now() + r.lease * interval '1 second', sends = 1
    from json_to_recordset(${rowsOf(rows)}::text::json) as r (hash text, task uuid, lease int)
    where f.job_id = ${job.id} and f.url_hash = decode(r.hash, 'hex')`;
}

/** Nothing under way can give budget back or come up for another try: the remaining URLs will never be fetched. */
async function endWhereBudgetIsSpent(tx: Transaction, job: JobRow): Promise<void> {
  const [row] = await tx<{ busy: boolean }[]>`
    select exists (select from frontier where job_id = ${job.id} and state = 'claimed')
      or exists (select from frontier where job_id = ${job.id} and state = 'pending' and attempt > 0) as busy`;
  if (row?.busy !== false) return;
  const skipped = await skipPending(tx, job, "BUDGET_EXHAUSTED");
  if (skipped > 0) await noteLimit(tx, job, "max_pages");
}
