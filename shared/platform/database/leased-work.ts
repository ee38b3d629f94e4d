/** Rows that stand for work under way: whose message may be lost, and whose worker is known to be. */
import type { Sql } from "./database.ts";

/** Tables with `id`, `status`, `lease_until`, `created_at` and `updated_at`. */
const WORK_TABLES = ["exports", "warc_imports", "warc_runs"] as const;
type WorkTable = (typeof WORK_TABLES)[number];
/** Tables of what is due, whose `attempts` and `not_before` say how often it was begun and when it is taken again. */
const DUE_TABLES = ["changes_due", "snapshots_due"] as const;

/** Without progress for so long, a message may be lost. */
const STALLED = "1 minute";
const MOST = 100;

/** @returns the ids of rows that nobody works on, which count as touched from now on: at most 100, the oldest first */
export async function takeStalled(sql: Sql, table: WorkTable): Promise<string[]> {
  const lost = await sql<{ id: string }[]>`
    update ${sql(table)} set updated_at = now() where id in (
      select id from ${sql(table)}
      where status in ('pending', 'running') and updated_at < now() - ${STALLED}::interval
        and (lease_until is null or lease_until < now())
      order by updated_at limit ${MOST})
    returning id`;
  return lost.map(({ id }) => id);
}

/**
 * For a start at which no worker is left: the next sweep sends what had been begun, and what is due is due at once.
 * @returns how many rows stand for work
 */
export async function freeLeases(sql: Sql): Promise<number> {
  let freed = 0;
  for (const table of WORK_TABLES) {
    const { count } = await sql`
      update ${sql(table)} set lease_until = null, updated_at = created_at where status in ('pending', 'running')`;
    freed += count;
  }
  for (const table of DUE_TABLES) {
    // what brings its worker down stays counted
    const { count } = await sql`
      update ${sql(table)} set not_before = now() where attempts > 0 and not_before > now()`;
    freed += count;
  }
  return freed;
}
