/** Which tables a back-up holds, by the database's own catalogue: a new table is in it without a line here. */
import type { Queryable } from "../platform/database/database.ts";

/** Tables that are not saved, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  migrations: "the files of the migrations say it; the manifest lists those that were applied",
  readiness: "written by health checks",
  idempotency_keys: "answers of the last day, which may hold secrets: a request that is sent again is a new one",
};

/** What the reason is for a table that holds vectors. */
export const VECTOR_TABLE = "vectors: they are made again from the chunks and the embedding cache";

export interface SavedTable {
  name: string;
  /** Without those that the database computes. */
  columns: string[];
}

/** In the order of their names. Whatever holds vectors is not among them. */
export async function readTables(
  sql: Queryable,
): Promise<{ saved: SavedTable[]; left: { table: string; reason: string }[] }> {
  const rows = await sql<{ name: string; columns: string[]; hasVectors: boolean }[]>`
    select c.relname as name,
      array_agg(a.attname::text order by a.attnum) filter (where a.attgenerated = '') as columns,
      bool_or(format_type(a.atttypid, null) ~ '^(vector|halfvec|sparsevec)$') as "hasVectors"
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') group by c.relname order by c.relname`;
  const left = rows.flatMap(({ name, hasVectors }) => {
    const reason = hasVectors ? VECTOR_TABLE : LEFT_OUT[name];
    return reason === undefined ? [] : [{ table: name, reason }];
  });
  const names = new Set(left.map(({ table }) => table));
  return { saved: rows.filter(({ name }) => !names.has(name)).map(({ name, columns }) => ({ name, columns })), left };
}

/** The last value that each sequence gave; those that gave none are not among them. */
export async function readSequences(sql: Queryable): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; last: number }[]>`
    select sequencename::text as name, last_value as last from pg_sequences
    where schemaname = 'public' and last_value is not null order by 1`;
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

/** Names of the migrations that were applied; none where there is no schema. */
export async function readSchema(sql: Queryable): Promise<string[]> {
  const [known] = await sql`select from pg_tables where schemaname = 'public' and tablename = 'migrations'`;
  if (known === undefined) return [];
  return (await sql<{ name: string }[]>`select name from migrations order by name`).map(({ name }) => name);
}
