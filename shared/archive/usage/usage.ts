/** How often readers asked for what: numbers by day, and nothing of who asked, from where or for what. */
import { inTransaction, type Queryable, type Sql } from "../../platform/database/database.ts";

/** What the public is told of. */
export const PUBLIC_USES = ["searchRequests", "snapshotDetailViews", "rawSnapshotViews", "reportSubmissions"] as const;
export type PublicUse = (typeof PUBLIC_USES)[number];

/** Upper bounds of how long a search took, in seconds. */
export const DURATION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** What a search adds: as Prometheus has it, a duration counts for each bound that it does not exceed. */
export function searchUses(ms: number, mode: string | undefined): Record<string, number> {
  const within = DURATION_BUCKETS.filter((bound) => ms <= bound * 1000).map((bound) => [`searchLe:${bound}`, 1]);
  return {
    searchRequests: 1,
    searchMs: Math.round(ms),
    ...Object.fromEntries(within),
    ...(mode === undefined ? { searchErrors: 1 } : { [`searchMode:${mode}`]: 1 }),
  };
}

export async function addUses(sql: Sql, uses: Readonly<Record<string, number>>): Promise<void> {
  // always in one order, so that no two wait for each other
  const names = Object.keys(uses).sort();
  await inTransaction(sql, async (tx) => {
    // who asked need not wait for the disk: what a crash takes is the count of a moment
    await tx`set local synchronous_commit = off`;
    await tx`
      insert into archive_usage (day, what, count)
      select (now() at time zone 'utc')::date, what, count
      from unnest(${names}::text[], ${names.map((name) => uses[name] ?? 0)}::bigint[]) as u (what, count)
      on conflict (day, what) do update set count = archive_usage.count + excluded.count`;
  });
}

/** Of all time, by what it is. */
export async function totalUses(sql: Queryable): Promise<Map<string, number>> {
  const rows = await sql<{ what: string; count: number }[]>`
    select what, sum(count)::bigint as count from archive_usage group by what order by what`;
  return new Map(rows.map(({ what, count }) => [what, count]));
}

export interface UsageDay {
  /** `2026-03-01` */
  date: string;
  uses: Record<PublicUse, number>;
}

/**
 * Each of the last days, oldest first, today included.
 * @param today in UTC
 */
export async function dailyUses(sql: Queryable, days: number, today: Date): Promise<UsageDay[]> {
  const dates = Array.from({ length: days }, (_, ago) =>
    new Date(today.getTime() - ago * 86_400_000).toISOString().slice(0, 10),
  ).reverse();
  const rows = await sql<{ date: string; what: string; count: number }[]>`
    select day::text as date, what, count from archive_usage
    where day >= ${dates[0] ?? ""}::date and what = any(${[...PUBLIC_USES]})`;
  const counts = new Map(rows.map(({ date, what, count }) => [`${date} ${what}`, count]));
  return dates.map((date) => ({
    date,
    uses: Object.fromEntries(PUBLIC_USES.map((what) => [what, counts.get(`${date} ${what}`) ?? 0])) as UsageDay["uses"],
  }));
}
