/** What a running job counts beside its pages, by kind and key; the caller holds the job's row. */
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { sha256 } from "../../platform/ids.ts";

export type CountKind = "query_shapes" | "query_variants" | "same_text" | "calendar" | "refused";

export interface CountKey {
  kind: CountKind;
  /** At most 64 characters; see `shortKey`. */
  key: string;
}

/** A key of any text, short enough for an index. */
export const shortKey = (...parts: string[]): string => sha256(parts.join("\n")).toString("hex").slice(0, 32);

/** @returns the counts in the order of the keys; 0 for what was never counted */
export async function readCounts(tx: Transaction, jobId: string, keys: readonly CountKey[]): Promise<number[]> {
  if (keys.length === 0) return [];
  const rows = await tx<{ at: number; count: number }[]>`
    select r.at, c.count from json_to_recordset(${rowsOf(keys.map((each, at) => ({ ...each, at })))}::text::json)
      as r (kind text, key text, at int)
    join crawl_counts c on c.job_id = ${jobId} and c.kind = r.kind and c.key = r.key`;
  const counts = keys.map(() => 0);
  for (const { at, count } of rows) counts[at] = count;
  return counts;
}

/**
 * @param added keys that differ from each other
 * @returns the new counts, in the order of the keys
 */
export async function addToCounts(
  tx: Transaction,
  jobId: string,
  added: readonly (CountKey & { by: number })[],
): Promise<number[]> {
  if (added.length === 0) return [];
  const rows = await tx<(CountKey & { count: number })[]>`
    insert into crawl_counts (job_id, kind, key, count)
    select ${jobId}, kind, key, by from json_to_recordset(${rowsOf(added)}::text::json) as r (kind text, key text, by int)
    on conflict (job_id, kind, key) do update set count = crawl_counts.count + excluded.count
    returning kind, key, count`;
  const counts = new Map(rows.map(({ kind, key, count }) => [`${kind} ${key}`, count]));
  return added.map(({ kind, key }) => counts.get(`${kind} ${key}`) ?? 0);
}
