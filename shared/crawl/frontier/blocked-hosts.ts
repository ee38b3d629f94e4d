/**
 * Jobs that have nothing but blocked hosts to begin with are refused. Other URLs of blocked hosts end before anybody
 * fetches them, or takes them from the cache. What is under way, fetch refuses.
 */
import type { Queryable, Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { addCounts, type JobRow } from "../jobs/lifecycle.ts";
import { hostOf } from "../urls/normalize-url.ts";
import type { ClaimedTask } from "./build-task.ts";
import { endClaimed } from "./frontier.ts";

/** Domains that an answer names. */
const MOST_NAMED = 100;

/** @throws ApiError 403 DOMAIN_BLOCKED with each reason, where every seed is of a blocked host */
export async function refuseBlockedSeeds(sql: Queryable, seeds: readonly string[]): Promise<void> {
  const hosts = new Set(seeds.map((seed) => hostOf(new URL(seed))));
  const blocked = await blockedHosts(sql, [...hosts]);
  if (blocked.size < hosts.size) return;
  const domains = [...blocked].slice(0, MOST_NAMED).map(([domain, reason]) => ({ domain, reason }));
  const named = domains.map(({ domain, reason }) => `${domain}${reason === null ? "" : ` (${reason})`}`);
  const message =
    blocked.size === 1
      ? `The domain ${named[0]} is blocked`
      : `All domains are blocked: ${named.slice(0, 5).join(", ")}`;
  throw new ApiError(403, message, { code: "DOMAIN_BLOCKED", details: { domains } });
}

/** Those of the hosts that are blocked, each with the reason that was given. */
async function blockedHosts(sql: Queryable, hosts: readonly string[]): Promise<Map<string, string | null>> {
  if (hosts.length === 0) return new Map();
  const rows = await sql<{ domain: string; reason: string | null }[]>`
    select domain, blocked_reason as reason from domain_settings
    where is_blocked and domain = any(${hosts as string[]}::text[])`;
  return new Map(rows.map(({ domain, reason }) => [domain, reason]));
}

/**
 * Ends what was just claimed on blocked hosts, and all that is pending there. The caller holds the job's row.
 * @returns the tasks of other hosts
 */
export async function endBlocked(
  tx: Transaction,
  job: JobRow,
  tasks: readonly ClaimedTask[],
): Promise<{ allowed: ClaimedTask[]; ended: boolean }> {
  const blocked = await blockedHosts(tx, [...new Set(tasks.map(({ task }) => task.host))]);
  if (blocked.size === 0) return { allowed: [...tasks], ended: false };
  const [refused, allowed] = [true, false].map((is) => tasks.filter(({ task }) => blocked.has(task.host) === is));
  const claimed = (refused ?? []).flatMap(({ task }) => task.urls);
  const outcome = { state: "skipped", errorCode: "DOMAIN_BLOCKED", waitMs: 0, captureId: null } as const;
  await endClaimed(
    tx,
    job,
    claimed.map(({ urlHash, attempt }) => ({ ...outcome, urlHash, givesBudgetBack: attempt === 0 })),
  );
  const { count } = await tx`
    with ended as (
      select url_hash, row_number() over (order by priority, url_hash) as nth from frontier
      where job_id = ${job.id} and host = any(${[...blocked.keys()]}::text[]) and state = 'pending')
    update frontier f set state = 'skipped', error_code = 'DOMAIN_BLOCKED', result_seq = ${job.counts.results} + ended.nth
    from ended where f.job_id = ${job.id} and f.url_hash = ended.url_hash`;
  if (count > 0) await addCounts(tx, job, { open: -count, skipped: count, results: count });
  return { allowed: allowed ?? [], ended: true };
}
