/**
 * The frontier: each URL of a job once, with what became of it. Callers hold the locks that jobs/lifecycle.ts names.
 */
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { addCounts, type JobRow, noteLimit } from "../jobs/lifecycle.ts";
import { hostOf, urlHash } from "../urls/normalize-url.ts";
import { giveBackByHost } from "./host-budget.ts";
import { priorityOf } from "./order.ts";

export interface NewUrl {
  /** Normalised. */
  url: string;
  /** SHA-256 of it, hex. */
  urlHash: string;
  depth: number;
  /** The page that links here; null for a seed. */
  discoveredFrom: string | null;
  /** Of the pages whose links are added at once, the one that links here, from 0, and the place of the link on it. */
  page: number;
  position: number;
  /** Relevance, 0 to 1; null where nothing is scored. */
  score: number | null;
}

/** A seed: what was asked for is as relevant as can be. */
export const seedUrl = (url: string, position: number): NewUrl => ({
  url,
  urlHash: urlHash(url),
  depth: 0,
  discoveredFrom: null,
  page: 0,
  position,
  score: null,
});

/**
 * Adds those URLs that the job does not know yet, in the given order, and counts them. Those that it knows and has not
 * begun with move forward where the strategy now gives them a better place. The caller holds the job's row.
 * @returns the hosts that gained a URL
 */
export async function addUrls(tx: Transaction, job: JobRow, urls: readonly NewUrl[]): Promise<Set<string>> {
  if (urls.length === 0) return new Set();
  const { strategy } = job.settings;
  const rows = rowsOf(
    urls.map(({ depth, position, score, ...each }, index) => ({
      hash: each.urlHash,
      url: each.url,
      host: hostOf(each.url),
      depth,
      score,
      priority: priorityOf(strategy, {
        depth,
        position,
        ordinal: job.counts.discovered + index,
        page: each.discoveredFrom === null ? 0 : job.counts.crawled + each.page + 1,
        score: score ?? 1,
      }),
      from: each.discoveredFrom,
    })),
  );
  const added = await tx<{ host: string }[]>`
    insert into frontier (job_id, url_hash, url, host, depth, score, priority, discovered_from)
    select ${job.id}, decode(hash, 'hex'), url, host, depth, score, priority, "from"
    from json_to_recordset(${rows}::text::json)
      as r (hash text, url text, host text, depth int, score real, priority double precision, "from" text)
    on conflict do nothing
    returning host`;
  if (added.length > 0) await addCounts(tx, job, { discovered: added.length, open: added.length });
  // breadth first, what is found again is never nearer than it was
  if (strategy !== "bfs" && added.length < urls.length) await moveForward(tx, job, rows);
  return new Set(added.map((row) => row.host));
}

/** Only what is pending: it changes under the job's row alone, which the caller holds, so that nobody is waited for. */
async function moveForward(tx: Transaction, job: JobRow, rows: string): Promise<void> {
  await tx`
    update frontier f set priority = r.priority, score = greatest(f.score, r.score), depth = least(f.depth, r.depth)
    from json_to_recordset(${rows}::text::json) as r (hash text, depth int, score real, priority double precision)
    where f.job_id = ${job.id} and f.url_hash = decode(r.hash, 'hex') and f.state = 'pending' and f.attempt = 0
      and f.depth > 0 and r.priority < f.priority`;
}

/**
 * Whether the job knows every one of these URLs.
 * @param hashes hex
 */
export async function knowsAll(tx: Transaction, jobId: string, hashes: readonly string[]): Promise<boolean> {
  const [row] = await tx<{ unknown: boolean }[]>`
    select exists (
      select from unnest(${hashes as string[]}::text[]) h
      where not exists (select from frontier where job_id = ${jobId} and url_hash = decode(h, 'hex'))
    ) as unknown`;
  return row?.unknown === false;
}

export interface ClaimedUrl {
  urlHash: string;
  url: string;
  host: string;
  depth: number;
  attempt: number;
  discoveredFrom: string | null;
}

/**
 * Locks those of the URLs that this task is still responsible for: what was answered before is left out.
 * @param hashes hex
 */
export async function lockClaimed(
  tx: Transaction,
  jobId: string,
  taskId: string,
  hashes: readonly string[],
): Promise<ClaimedUrl[]> {
  return await tx<ClaimedUrl[]>`
    select encode(url_hash, 'hex') as "urlHash", url, host, depth, attempt, discovered_from as "discoveredFrom"
    from frontier
    where job_id = ${jobId} and state = 'claimed' and task_id = ${taskId}
      and url_hash in (select decode(h, 'hex') from unnest(${hashes as string[]}::text[]) h)
    order by url_hash for update`;
}

/** As `lockClaimed`, for all URLs that the task is still responsible for. */
export async function lockTask(tx: Transaction, jobId: string, taskId: string): Promise<ClaimedUrl[]> {
  return await tx<ClaimedUrl[]>`
    select encode(url_hash, 'hex') as "urlHash", url, host, depth, attempt, discovered_from as "discoveredFrom"
    from frontier
    where job_id = ${jobId} and state = 'claimed' and task_id = ${taskId}
    order by url_hash for update`;
}

/** As `lockTask`, as far as the lease has lapsed at its `mostSends`th sending: a task that answers gets a new one. */
export async function lockLapsed(
  tx: Transaction,
  jobId: string,
  taskId: string,
  mostSends: number,
): Promise<ClaimedUrl[]> {
  return await tx<ClaimedUrl[]>`
    select encode(url_hash, 'hex') as "urlHash", url, host, depth, attempt, discovered_from as "discoveredFrom"
    from frontier
    where job_id = ${jobId} and state = 'claimed' and task_id = ${taskId}
      and lease_until < statement_timestamp() and sends >= ${mostSends}
    order by url_hash for update`;
}

export interface EndedUrl {
  urlHash: string;
  /** `pending`: tried again after `waitMs`. */
  state: "crawled" | "failed" | "skipped" | "pending";
  errorCode: string | null;
  waitMs: number;
  captureId: number | null;
  givesBudgetBack: boolean;
}

/** What was tried, or refused for a reason of its own, is a result; what the job merely no longer wanted is not. */
const isResult = ({ state, errorCode }: EndedUrl): boolean =>
  state !== "pending" && errorCode !== "CANCELLED" && errorCode !== "TIMEOUT";

/** Ends claimed URLs, or returns them for another try, and counts them. The caller holds the rows and the job's row. */
export async function endClaimed(tx: Transaction, job: JobRow, ended: readonly EndedUrl[]): Promise<void> {
  if (ended.length === 0) return;
  let last = job.counts.results;
  const rows = ended.map((each) => ({
    hash: each.urlHash,
    state: each.state,
    code: each.errorCode,
    wait: each.waitMs,
    capture: each.captureId,
    seq: isResult(each) ? ++last : null,
  }));
  await tx`
    update frontier f set state = r.state, error_code = r.code, capture_id = coalesce(r.capture, f.capture_id),
      attempt = f.attempt + (r.state = 'pending')::int, not_before = statement_timestamp() + r.wait * interval '1 millisecond',
      task_id = null, lease_until = null, result_seq = r.seq
    from json_to_recordset(${rowsOf(rows)}::text::json)
      as r (hash text, state text, code text, wait int, capture bigint, seq int)
    where f.job_id = ${job.id} and f.url_hash = decode(r.hash, 'hex')`;
  await giveBackByHost(
    tx,
    job,
    ended.filter((each) => each.givesBudgetBack).map((each) => each.urlHash),
  );
  if (ended.some(({ errorCode }) => errorCode === "TIMEOUT")) await noteLimit(tx, job, "timeout");
  const count = (state: EndedUrl["state"]) => ended.filter((each) => each.state === state).length;
  await addCounts(tx, job, {
    open: -(ended.length - count("pending")),
    crawled: count("crawled"),
    failed: count("failed"),
    skipped: count("skipped"),
    results: last - job.counts.results,
    claimed: -ended.filter((each) => each.givesBudgetBack).length,
  });
}

/**
 * Ends every URL that nobody has claimed. The caller holds the job's row.
 * @returns how many there were
 */
export async function skipPending(
  tx: Transaction,
  job: JobRow,
  errorCode: "CANCELLED" | "BUDGET_EXHAUSTED" | "QUOTA_EXCEEDED" | "TIMEOUT",
): Promise<number> {
  const { count } = await tx`
    update frontier set state = 'skipped', error_code = ${errorCode}
    where job_id = ${job.id} and state = 'pending'`;
  if (count > 0) await addCounts(tx, job, { open: -count, skipped: count });
  return count;
}
