/**
 * Claims the next URLs of a job, per host, and makes fetch tasks of them; a claim is a lease that the sweep may renew.
 * How many URLs a task holds and how many tasks are under way is a matter of the strategy: see claim-limits.ts.
 *
 * Breadth first to the letter: no URL of depth d + 1 is claimed, on whatever host, while one of depth d awaits its
 * first try or is being tried, so that each URL has its true depth. URLs that are tried again do not hold up the next
 * level.
 *
 * The time is that of the statement: a transaction that has waited for the job's row began before what it now sees was
 * written, and by its own `now()` what others have just found would lie in the future and be left to nobody.
 */
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { addCounts, type JobRow, noteLimit } from "../jobs/lifecycle.ts";
import { pagesLeft } from "../jobs/page-quota.ts";
import { endBlocked } from "./blocked-hosts.ts";
import { type ClaimedTask, fetchTask, priorOf, type TaskUrl } from "./build-task.ts";
import { idleHosts, pendingHosts, requestsUnderWay, tasksUnderWay } from "./claim-hosts.ts";
import { leaseSeconds } from "./claim-lease.ts";
import { type ClaimShape, claimShape, isOnOneHost, shareRequests, TASKS_PER_HOST, tasksWorth } from "./claim-limits.ts";
import { lookUpTasks } from "./crawl-cache.ts";
import { endIfLate } from "./deadline.ts";
import { skipPending } from "./frontier.ts";
import { countByHost, endSpentHosts, roomOfHosts } from "./host-budget.ts";

/** A URL that may be claimed. */
interface Candidate extends TaskUrl {
  /** Seconds until it may be tried. */
  waitS: number;
  /** Tasks that its host may still have. */
  hostTasks: number;
}

/**
 * Claims what may be claimed: first on these hosts (null: on none in particular), then on others that wait. The caller
 * holds the job's row. Where nothing can be claimed any more because `max_pages` or a quota of its key is reached, the
 * rest of the frontier ends.
 */
export async function claimUrls(tx: Transaction, job: JobRow, hosts: readonly string[] | null): Promise<ClaimedTask[]> {
  const tasks: ClaimedTask[] = [];
  for (;;) {
    // a try that failed after the cancellation has come back as pending
    if (job.cancelRequested) await skipPending(tx, job, "CANCELLED");
    if (job.cancelRequested || job.counts.open === 0 || (await endIfLate(tx, job))) break;
    const { allowed, ended } = await endBlocked(tx, job, await claimNext(tx, job, hosts));
    tasks.push(...allowed);
    if (!ended) break;
  }
  const [first] = tasks;
  if (first !== undefined && job.status === "pending") first.task.announce = true;
  return await lookUpTasks(tx, job, tasks);
}

async function claimNext(tx: Transaction, job: JobRow, hosts: readonly string[] | null): Promise<ClaimedTask[]> {
  const shape = claimShape(job);
  if (job.settings.max_pages_per_host !== null) {
    await endSpentHosts(tx, job, hosts ?? (await pendingHosts(tx, job.id)));
  }
  const most = Math.min(job.settings.max_pages, job.counts.claimed + (await pagesLeft(tx, job)));
  const { among, free } = await whereToClaim(tx, job, hosts, { shape, most });
  const requests = await freeRequests(tx, job, shape);
  const ready = await claimRound(tx, job, among, { shape, most, free, requests, which: "ready" });
  const left = Math.min(free, shape.tasksPerHost * among.length) - ready.length;
  const given = ready.reduce((sum, { task }) => sum + (task.concurrency ?? 0), 0);
  const requestsLeft = requests && requests - given;
  if (left <= 0 || requestsLeft === 0) return ready;
  const waiting = { shape, most, free: left, requests: requestsLeft, which: "waiting" } as const;
  const tasks = [...ready, ...(await claimRound(tx, job, among, waiting))];
  if (tasks.length === 0 && job.counts.claimed >= most) await endWhereBudgetIsSpent(tx, job, most);
  return tasks;
}

/** The hosts to claim on, and how many tasks the job may still have. */
async function whereToClaim(
  tx: Transaction,
  job: JobRow,
  hosts: readonly string[] | null,
  { shape, most }: Pick<Round, "shape" | "most">,
): Promise<{ among: string[]; free: number }> {
  if (isOnOneHost(job)) return { among: [...(hosts ?? (await pendingHosts(tx, job.id)))], free: shape.tasks };
  const free = Math.max(0, shape.tasks - (await tasksUnderWay(tx, job.id)));
  const idle = await idleHosts(tx, job, free, most);
  return { among: free === 0 ? [] : [...new Set([...(hosts ?? []), ...idle])], free };
}

/** Requests at once that the job may still have; null: as the fetcher is set. */
async function freeRequests(tx: Transaction, job: JobRow, { requests }: ClaimShape): Promise<number | null> {
  return requests === null ? null : Math.max(0, requests - (await requestsUnderWay(tx, job.id)));
}

interface Round {
  shape: ClaimShape;
  /** URLs that the job may have claimed, the tries after the first aside. */
  most: number;
  /** Tasks that may be made. */
  free: number;
  /** As `freeRequests` says. */
  requests: number | null;
  /**
   * `ready`: what may be fetched now. `waiting`: what is to be tried again later; it is claimed early, and the queue
   * delays its task, so that no clock of ours has to wake up for it.
   */
  which: "ready" | "waiting";
}

async function claimRound(
  tx: Transaction,
  job: JobRow,
  hosts: readonly string[],
  { shape, most, free, requests, which }: Round,
): Promise<ClaimedTask[]> {
  if (hosts.length === 0 || free <= 0 || requests === 0) return [];
  const budget = most - job.counts.claimed;
  const room = await roomOfHosts(tx, job, hosts);
  // first tries that cannot be paid for must not hide others behind them
  const fresh = budget > 0 ? hosts.filter((host) => (room?.get(host) ?? 1) > 0) : [];
  const candidates =
    which === "ready" ? await findReady(tx, job, hosts, shape, fresh) : await findWaiting(tx, job, hosts, shape);
  if (candidates.length === 0) return [];
  const sliced = inSlices(affordable(candidates, budget, room), shape.urlsPerTask, requests).slice(0, free);
  // what waits for its time makes no requests meanwhile: one at once will do
  const sizes = sliced.map(({ length }) => (which === "ready" ? length : 1));
  const shares = requests === null ? undefined : shareRequests(sizes, requests);
  const slices = sliced.slice(0, shares?.length);
  if (slices.length === 0) return [];
  const tasks = slices.map((slice, index) => ({
    task: fetchTask(job, uuidv7(), slice, shares?.[index] ?? null),
    delayS: Math.ceil(Math.min(untilDeadlineS(job), Math.max(...slice.map((each) => each.waitS)))),
  }));
  await writeClaims(tx, job, tasks, shape);
  const firstTries = slices.flat().filter((each) => each.attempt === 0);
  if (firstTries.length > 0) await addCounts(tx, job, { claimed: firstTries.length });
  await countByHost(
    tx,
    job,
    firstTries.map(({ host }) => host),
  );
  return tasks;
}

/** What waits when the time is up has nothing to wait for: fetch ends it, so that the job ends. */
const untilDeadlineS = ({ deadlineAt }: JobRow): number =>
  deadlineAt === null ? Number.POSITIVE_INFINITY : Math.max(0, deadlineAt.getTime() - Date.now()) / 1000;

/** Tries after the first are paid for already. */
function affordable(
  candidates: readonly Candidate[],
  budget: number,
  room: Map<string, number> | null,
): readonly Candidate[] {
  let left = budget;
  return candidates.filter(({ attempt, host }) => {
    if (attempt > 0) return true;
    const ofHost = room?.get(host) ?? Number.POSITIVE_INFINITY;
    if (left <= 0 || ofHost <= 0) return false;
    left -= 1;
    room?.set(host, ofHost - 1);
    return true;
  });
}

/** The tasks of each host, of about the same size; each host's first task comes before anyone's second. */
function inSlices(urls: readonly Candidate[], most: number, requests: number | null): Candidate[][] {
  const slices = [...Map.groupBy(urls, (each) => each.host).values()].flatMap((ofHost) => {
    const tasks = tasksWorth(ofHost.length, ofHost[0]?.hostTasks ?? 1, requests, most);
    const size = Math.ceil(ofHost.length / tasks);
    return Array.from({ length: Math.ceil(ofHost.length / size) }, (_, rank) => ({
      rank,
      slice: ofHost.slice(rank * size, (rank + 1) * size),
    }));
  });
  return slices.toSorted((a, b) => a.rank - b.rank).map(({ slice }) => slice);
}

/**
 * In order of priority, as many as the host's free tasks hold.
 * @param fresh hosts on which first tries may be claimed
 */
async function findReady(
  tx: Transaction,
  job: JobRow,
  hosts: readonly string[],
  { tasksPerHost, urlsPerTask }: ClaimShape,
  fresh: readonly string[],
): Promise<Candidate[]> {
  const level =
    job.settings.strategy === "bfs"
      ? tx`(select l.depth from frontier l
            where l.job_id = ${job.id} and l.attempt = 0 and l.state in ('pending', 'claimed') order by l.depth limit 1)`
      : tx`null::int`;
  return await tx<Candidate[]>`
    select encode(u.url_hash, 'hex') as "urlHash", u.url, u.host, u.depth, u.attempt, 0 as "waitS", prior.prior,
      ${tasksPerHost}::int - flight.tasks as "hostTasks"
    from (select ${level} as depth) level
    cross join unnest(${hosts as string[]}::text[]) h (host)
    cross join lateral (${tasksInFlight(tx, job)}) flight
    cross join lateral (
      select f.* from frontier f
      where f.job_id = ${job.id} and f.host = h.host and f.state = 'pending' and f.not_before <= statement_timestamp()
        and (f.attempt > 0 or (h.host = any(${fresh as string[]}::text[]) and (level.depth is null or f.depth <= level.depth)))
      order by f.priority
      limit greatest(0, ${tasksPerHost}::int - flight.tasks) * ${urlsPerTask}::int
      for update of f skip locked
    ) u
    left join lateral (${priorOf(tx, job)}) prior on true
    order by u.host, u.priority`;
}

/**
 * What is tried again, in order of time. What has become due since `findReady` looked is among it, or nobody would
 * claim it.
 */
async function findWaiting(
  tx: Transaction,
  job: JobRow,
  hosts: readonly string[],
  { tasksPerHost, urlsPerTask }: ClaimShape,
): Promise<Candidate[]> {
  return await tx<Candidate[]>`
    select encode(u.url_hash, 'hex') as "urlHash", u.url, u.host, u.depth, u.attempt,
      greatest(0, extract(epoch from u.not_before - statement_timestamp()))::float8 as "waitS", prior.prior,
      1 as "hostTasks"
    from unnest(${hosts as string[]}::text[]) h (host)
    cross join lateral (${tasksInFlight(tx, job)}) flight
    cross join lateral (
      select f.* from frontier f
      where f.job_id = ${job.id} and f.host = h.host and f.state = 'pending' and f.attempt > 0
      order by f.not_before
      limit greatest(0, ${tasksPerHost}::int - flight.tasks) * ${urlsPerTask}::int
      for update of f skip locked
    ) u
    left join lateral (${priorOf(tx, job)}) prior on true
    order by u.host, u.not_before`;
}

/** Of the host `h`, by SQL. */
const tasksInFlight = (tx: Transaction, job: JobRow) => tx`
  select count(distinct task_id)::int as tasks
  from frontier where job_id = ${job.id} and host = h.host and state = 'claimed'`;

async function writeClaims(
  tx: Transaction,
  job: JobRow,
  tasks: readonly ClaimedTask[],
  { tasksPerHost }: ClaimShape,
): Promise<void> {
  const sharers = Math.max(TASKS_PER_HOST, tasksPerHost);
  const rows = tasks.flatMap(({ task, delayS }) => {
    const lease = delayS + leaseSeconds(task.urls.length, job.settings.config, sharers);
    return task.urls.map(({ urlHash }) => ({ hash: urlHash, task: task.taskId, workers: task.concurrency, lease }));
  });
  await tx`
    update frontier f set state = 'claimed', task_id = r.task, workers = r.workers,
      lease_until = statement_timestamp() + r.lease * interval '1 second', sends = 1
    from json_to_recordset(${rowsOf(rows)}::text::json) as r (hash text, task uuid, workers smallint, lease int)
    where f.job_id = ${job.id} and f.url_hash = decode(r.hash, 'hex')`;
}

/** Nothing under way can give budget back or come up for another try: the remaining URLs will never be fetched. */
async function endWhereBudgetIsSpent(tx: Transaction, job: JobRow, most: number): Promise<void> {
  const [row] = await tx<{ busy: boolean }[]>`
    select exists (select from frontier where job_id = ${job.id} and state = 'claimed')
      or exists (select from frontier where job_id = ${job.id} and state = 'pending' and attempt > 0) as busy`;
  if (row?.busy !== false) return;
  const byQuota = most < job.settings.max_pages;
  const skipped = await skipPending(tx, job, byQuota ? "QUOTA_EXCEEDED" : "BUDGET_EXHAUSTED");
  if (skipped > 0) await noteLimit(tx, job, byQuota ? "quota_exceeded" : "max_pages");
}
