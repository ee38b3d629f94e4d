/**
 * What readers of the archive are shown: all captures but those that an operator has excluded, for ever or until they
 * have come of age. It is asked with each answer, so that an exclusion counts at once.
 */
import { urlKey } from "../../crawl/urls/surt.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** `excluded`, whatever its age; `embargoed`, until it is older. */
export type Withheld = "excluded" | "embargoed";

type Fragment = ReturnType<Queryable>;

/**
 * Joins captures with what excludes them. Of one without a key, which is older than keys are, nobody knows yet whether
 * it is excluded.
 */
const matches = (sql: Queryable, capture: Fragment): Fragment => sql`
  (${capture}.url_key is null or (${capture}.url_key >= x.key_from and ${capture}.url_key < x.key_to))
    and (x.embargo is null or ${capture}.fetched_at > now() - x.embargo)`;

/** @param capture the name that the query gives to the table of captures */
export const isShown = (sql: Queryable, capture: Fragment = sql`c`): Fragment => sql`
  not exists (select from archive_exclusion_keys x where ${matches(sql, capture)})`;

/** @param ids of captures, as a list of expressions */
export const areShown = (sql: Queryable, ids: Fragment): Fragment => sql`
  not exists (select from archive_exclusion_keys x join captures w on ${matches(sql, sql`w`)} where w.id in (${ids}))`;

/** What keeps the first of these captures from being shown that is not. */
export async function withheldCapture(sql: Queryable, ids: readonly number[]): Promise<Withheld | undefined> {
  const [found] = await sql<{ withheld: Withheld | null }[]>`
    select case when bool_or(x.embargo is null) then 'excluded' when count(*) > 0 then 'embargoed' end as withheld
    from captures c join archive_exclusion_keys x on ${matches(sql, sql`c`)}
    where c.id = any(${ids}::bigint[])`;
  return found?.withheld ?? undefined;
}

/** What keeps captures of a URL from being shown: the newest ones alone, where it is an embargo. */
export async function withheldUrl(sql: Queryable, url: string): Promise<Withheld | undefined> {
  const key = urlKey(url);
  const [found] = await sql<{ excluded: boolean; embargoed: boolean }[]>`
    select coalesce(bool_or(embargo is null), false) as excluded, coalesce(bool_or(embargo is not null and exists (
        select from captures c where c.url_key = ${key} and c.warc_key is not null and c.reused_from is null
          and c.fetched_at > now() - x.embargo)), false) as embargoed
    from archive_exclusion_keys x where x.key_from <= ${key} and ${key} < x.key_to`;
  return found?.excluded ? "excluded" : found?.embargoed ? "embargoed" : undefined;
}
