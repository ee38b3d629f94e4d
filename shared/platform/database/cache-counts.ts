/** How often each cache had what was asked for. */
import type { Queryable } from "./database.ts";

export type CountedCache = "crawl" | "embeddings";

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

export async function readCacheUse(sql: Queryable, cache: CountedCache): Promise<{ hits: number; misses: number }> {
  const [row] = await sql<{ hits: number; misses: number }[]>`
    select hits, misses from cache_counts where cache = ${cache}`;
  return row ?? { hits: 0, misses: 0 };
}
