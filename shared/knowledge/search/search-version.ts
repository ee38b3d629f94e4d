/** Names the state of what searches can see: two equal versions are of one state. */
import type { Queryable } from "../../platform/database/database.ts";

/** In the snapshot of the transaction, where it is given one. */
export async function readSearchVersion(sql: Queryable): Promise<string> {
  // transactions may commit in another order than that of their ids, which the last id alone would not show; and a
  // database that was restored gives ids again, which the time tells apart
  const [row] = await sql<{ version: string }[]>`
    select concat_ws('-', count(*), max(id), sum(id), extract(epoch from max(at))) as version from search_changes`;
  return row?.version ?? "";
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
