/** How large tables are, at a price that does not grow with them. */
import type { Queryable } from "./database.ts";

export interface RowCount {
  rows: number;
  /** From the statistics of the database, which lag behind. */
  estimated: boolean;
}

/** Up to here rows are counted. */
const MOST_COUNTED = 10_000;

export async function countRows(sql: Queryable, table: string): Promise<RowCount> {
  const [counted] = await sql<{ rows: number }[]>`
    select count(*)::int as rows from (select from ${sql(table)} limit ${MOST_COUNTED + 1}) t`;
  const rows = counted?.rows ?? 0;
  if (rows <= MOST_COUNTED) return { rows, estimated: false };
  const [estimate] = await sql<{ rows: number }[]>`
    select reltuples::float8 as rows from pg_class where oid = ${table}::regclass`;
  return { rows: Math.max(rows, Math.round(estimate?.rows ?? 0)), estimated: true };
}

/** With indexes. */
export async function tableBytes(sql: Queryable, table: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`select pg_total_relation_size(${table}::regclass) as bytes`;
  return row?.bytes ?? 0;
}
