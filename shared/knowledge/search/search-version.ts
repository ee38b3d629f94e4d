/** Names the state of what searches can see: two equal versions are of one state. */
import type { Queryable, Sql, Transaction } from "../../platform/database/database.ts";

/** What a search reads, all of it as it was at one moment. */
export interface Snapshot {
  sql: Sql;
  version: string;
}

/**
 * Transactions may commit in another order than that of their ids, which the last id alone would not show; and a
 * database that was restored gives ids again, which the time tells apart.
 */
const versionOf = (sql: Queryable) =>
  sql`concat_ws('-', count(*), max(id), sum(id), extract(epoch from max(at))) as version`;

export async function readSearchVersion(sql: Queryable): Promise<string> {
  const [row] = await sql<{ version: string }[]>`select ${versionOf(sql)} from search_changes`;
  return row?.version ?? "";
}

/**
 * Begins what a search reads in a transaction. Also sets what holds for the rest of it: candidates are few, so an index
 * is always right, but the planner cannot know how few.
 * @param timeoutMs of each statement
 */
export async function openSnapshot(sql: Sql, tx: Transaction, timeoutMs: number): Promise<Snapshot> {
  const [row] = await tx<{ version: string }[]>`
    select ${versionOf(tx)}, set_config('enable_seqscan', 'off', true),
      set_config('jit', 'off', true), set_config('statement_timeout', ${String(Math.floor(timeoutMs))}, true)
    from search_changes`;
  return { sql, version: row?.version ?? "" };
}

/** For what changes answers and is no document: to be called in the transaction that changes it. */
export async function noteSearchChange(sql: Queryable): Promise<void> {
  await sql`insert into search_changes default values`;
}

/** As many rows as are read for each search. */
const KEPT = 200;

/** Each answer that is kept is made anew after it. */
export async function forgetSearchChanges(sql: Queryable): Promise<number> {
  const { count } = await sql`
    delete from search_changes where id < (select id from search_changes order by id desc offset ${KEPT} limit 1)`;
  return count;
}
