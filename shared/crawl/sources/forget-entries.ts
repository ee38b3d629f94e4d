/**
 * Forgets entries that the lists of monitored sources named long ago. One that a list names still would be crawled
 * again as a new one, and a list that has not changed does not name its entries anew: so an entry goes only where each
 * document of its source's lists has changed since it was last named. One that could not be read has not.
 */
import type { Sql } from "../../platform/database/database.ts";

/** Longer than lists, and servers, are away by mistake. */
const KEPT = "90 days";
/** By which the time at which an entry was last listed may be behind: see `noteListed`. */
export const LISTED_WITHIN = "1 day";
const BATCH = 5_000;

/**
 * @param hasTime asked before each batch
 * @returns how many entries went
 */
export async function forgetEntries(sql: Sql, hasTime: () => boolean): Promise<number> {
  let forgotten = 0;
  while (hasTime()) {
    const { count } = await sql`
      delete from crawl_source_entries where (source_id, url_hash) in (
        select e.source_id, e.url_hash from crawl_source_entries e join crawl_sources s on s.id = e.source_id
        where e.last_listed_at < now() - ${KEPT}::interval
          -- what was never crawled waits for its turn
          and e.taken is not distinct from e.version
          and not exists (
            select from crawl_source_lists l
            where l.source_id = e.source_id and l.read_at <= e.last_listed_at + ${LISTED_WITHIN}::interval)
          -- nothing is known of a list that is to be read anew
          and (s.type not in ('feed', 'sitemap') or exists (
            select from crawl_source_lists l where l.source_id = e.source_id and l.gone_at is null))
        limit ${BATCH})`;
    forgotten += count;
    if (count < BATCH) break;
  }
  await sql`delete from crawl_source_lists where gone_at < now() - ${KEPT}::interval`;
  return forgotten;
}
