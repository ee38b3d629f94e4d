/** How often each cache had what was asked for. */
import type { Queryable } from "../platform/database.ts";

export const COUNTED_CACHES = ["crawl", "embeddings"] as const;
export type CountedCache = (typeof COUNTED_CACHES)[number];

export async function countCacheUse(
  sql: Queryable,
  cache: CountedCache,
  { hits, misses }: { hits: number; misses: number },
): Promise<void> {
  if (hits + misses === 0) return;
  await sql`
    insert into cache_counts as c (cache, hits, misses) values (${cache}, ${hits}, ${misses})
    on conflict (cache) do update set hits = c.hits + excluded.hits, misses = c.misses + excluded.misses`;
}
