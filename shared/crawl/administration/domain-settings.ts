/**
 * Settings of a domain. The row is the truth; fetch reads a copy in the host's item of the state table. A change is
 * committed first and then written through; until that has succeeded the row says so, the caller is asked to repeat,
 * and the sweep repairs it. The claim reads the row itself, so that a block holds for all that is not under way yet in
 * any case.
 */
import { inTransaction, type Queryable, type Sql } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import type { HostStates } from "../politeness/host-state.ts";
import type { JobFlags } from "../tasks/job-flags.ts";

export interface DomainSettings {
  domain: string;
  /** Requests a second; null, here and below: as the deployment is set. */
  rate_limit_rps: number | null;
  circuit_breaker_threshold: number | null;
  circuit_breaker_timeout_s: number | null;
  is_blocked: boolean;
  blocked_reason: string | null;
  /** null where the domain has no settings of its own. */
  updated_at: Date | null;
  /** Whether fetch is known to see these settings. */
  in_force: boolean;
}

/** What is left out stays as it is. */
export type DomainChange = {
  [Name in keyof Omit<DomainSettings, "domain" | "updated_at" | "in_force">]?: DomainSettings[Name] | undefined;
};

export interface DomainDependencies {
  sql: Sql;
  hosts: Pick<HostStates, "applySettings">;
}

interface DomainRow extends DomainSettings {
  revision: number;
}

/** @param domain as `parseDomain` gives it */
export async function readDomainSettings(sql: Queryable, domain: string): Promise<DomainSettings> {
  const [row] = await sql<DomainSettings[]>`select ${columns(sql)} from domain_settings where domain = ${domain}`;
  return row ?? { ...UNSET, domain, updated_at: null, in_force: true };
}

/**
 * In order of name.
 * @param after the last domain seen
 */
export async function listDomainSettings(
  sql: Queryable,
  { blocked, limit, after }: { blocked?: boolean | undefined; limit: number; after?: string | undefined },
): Promise<DomainSettings[]> {
  return await sql<DomainSettings[]>`
    select ${columns(sql)} from domain_settings
    where ${blocked === undefined ? sql`true` : sql`is_blocked = ${blocked}`}
      and ${after === undefined ? sql`true` : sql`domain > ${after}`}
    order by domain limit ${limit}`;
}

/**
 * Changes settings and writes them through.
 * @throws ApiError 503 DOMAIN_NOT_IN_FORCE where they are stored but fetch may not see them yet
 */
export async function changeDomain(
  { sql, hosts, flags }: DomainDependencies & { flags: Pick<JobFlags, "markActive"> },
  domain: string,
  change: DomainChange,
): Promise<DomainSettings> {
  // before the commit, for the sweep to find what is not written through. Where the state table fails, the caller hears
  // of it below.
  await Promise.allSettled([flags.markActive()]);
  const row = await inTransaction(sql, async (tx) => {
    await tx`insert into domain_settings (domain, revision) values (${domain}, 0) on conflict do nothing`;
    const [held] = await tx<DomainSettings[]>`
      select ${columns(tx)} from domain_settings where domain = ${domain} for update`;
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const next = { ...UNSET, ...held, ...given };
    const [written] = await tx<DomainRow[]>`
      update domain_settings set rate_limit_rps = ${next.rate_limit_rps},
        circuit_breaker_threshold = ${next.circuit_breaker_threshold},
        circuit_breaker_timeout_s = ${next.circuit_breaker_timeout_s}, is_blocked = ${next.is_blocked},
        blocked_reason = ${next.is_blocked ? next.blocked_reason : null}, updated_at = clock_timestamp(),
        revision = greatest(revision + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)
      where domain = ${domain} returning ${columns(tx)}, revision`;
    return written as DomainRow;
  });
  try {
    await writeThrough({ sql, hosts }, row);
  } catch (cause) {
    const stored = `The settings of ${domain} are stored`;
    const message = `${stored}, but what is being fetched may not see them yet: send this again`;
    throw new ApiError(503, message, { code: "DOMAIN_NOT_IN_FORCE", cause, headers: { "retry-after": "1" } });
  }
  return await readDomainSettings(sql, domain);
}

/**
 * Writes through what an earlier attempt could not.
 * @returns how many domains it was
 */
export async function repairDomains(dependencies: DomainDependencies): Promise<number> {
  const { sql } = dependencies;
  const rows = await sql<DomainRow[]>`
    select ${columns(sql)}, revision from domain_settings where applied_revision < revision
    order by updated_at limit ${MOST_REPAIRS}`;
  for (const row of rows) await writeThrough(dependencies, row);
  return rows.length;
}

const MOST_REPAIRS = 100;

/** Of two writers at once the later revision stays, in both stores. */
async function writeThrough({ sql, hosts }: DomainDependencies, row: DomainRow): Promise<void> {
  const settings = {
    rate_limit_rps: row.rate_limit_rps ?? undefined,
    blocked: row.is_blocked,
    circuit_threshold: row.circuit_breaker_threshold ?? undefined,
    circuit_timeout_s: row.circuit_breaker_timeout_s ?? undefined,
  };
  await hosts.applySettings(row.domain, settings, row.revision);
  await sql`
    update domain_settings set applied_revision = ${row.revision}
    where domain = ${row.domain} and applied_revision < ${row.revision}`;
}

const UNSET = {
  rate_limit_rps: null,
  circuit_breaker_threshold: null,
  circuit_breaker_timeout_s: null,
  is_blocked: false,
  blocked_reason: null,
} satisfies DomainChange;

function columns(sql: Queryable) {
  return sql`domain, rate_limit_rps, circuit_breaker_threshold, circuit_breaker_timeout_s, is_blocked, blocked_reason,
    updated_at, applied_revision = revision as in_force`;
}
