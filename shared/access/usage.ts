/** What API keys have used, told day by day of UTC. */
import type { Queryable } from "../platform/database/database.ts";

export interface UsedDay {
  /** `2026-03-01` */
  date: string;
  jobs: number;
  pages: number;
  fetchedBytes: number;
  documents: number;
  /** Bytes that were stored at its end, or are now. */
  storedBytes: number;
}

/**
 * Each day from the first to the last, oldest first.
 * @param apiKeyId undefined: of all keys together
 * @param days `2026-03-01`; at most some hundred days
 */
export async function readUsage(
  sql: Queryable,
  apiKeyId: string | undefined,
  { from, to }: { from: string; to: string },
): Promise<UsedDay[]> {
  const own = apiKeyId === undefined ? sql`true` : sql`api_key_id = ${apiKeyId}`;
  const rows = await sql<(Omit<UsedDay, "storedBytes"> & { stored: number; before: number })[]>`
    select day::date::text as date, coalesce(u.jobs, 0)::int as jobs, coalesce(w.pages, 0)::int as pages,
      coalesce(w.fetched_bytes, 0)::bigint as "fetchedBytes", coalesce(w.documents, 0)::int as documents,
      coalesce(w.stored_bytes, 0)::bigint as stored,
      (select coalesce(sum(stored_bytes), 0)::bigint from key_work where ${own} and day < ${from}::date) as before
    from generate_series(${from}::date::timestamp, ${to}::date::timestamp, '1 day') d (day)
    left join lateral (select sum(jobs) as jobs from key_usage where ${own} and key_usage.day = d.day::date) u on true
    left join lateral (
      select sum(pages) as pages, sum(fetched_bytes) as fetched_bytes, sum(documents) as documents,
        sum(stored_bytes) as stored_bytes
      from key_work where ${own} and key_work.day = d.day::date
    ) w on true
    order by day`;
  let storedBytes = rows[0]?.before ?? 0;
  return rows.map(({ stored, before: _, ...day }) => {
    storedBytes += stored;
    return { ...day, storedBytes };
  });
}
