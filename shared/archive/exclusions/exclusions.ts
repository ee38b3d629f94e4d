/** Exclusions as operators make, list and revoke them. */
import { urlKey } from "../../crawl/urls/surt.ts";
import { inTransaction, type Sql } from "../../platform/database/database.ts";
import { uuidv7 } from "../../platform/ids.ts";

export interface NewExclusion {
  /** `*`: the whole archive. */
  url: string;
  matchType: "exact" | "prefix" | "host" | "domain" | "all";
  /** Null: captures of any age. */
  embargoDays: number | null;
  reason: string | null;
}

export interface Exclusion extends NewExclusion {
  id: string;
  createdAt: Date;
}

/** Of captures, as the index has them: from `from` up to `to`, which is none of them. */
interface KeyRange {
  from: string;
  to: string;
}

/** What an exclusion withholds as of this moment. */
export interface Matched {
  captures: number;
  /** There are more: they are not counted any further. */
  isMore: boolean;
}

const MOST_COUNTED = 100_000;

/** The captures within ranges that do not overlap. */
export async function countMatched(
  sql: Sql,
  ranges: readonly KeyRange[],
  embargoDays: number | null,
): Promise<Matched> {
  let captures = 0;
  for (const { from, to } of ranges) {
    const [found] = await sql<{ count: number }[]>`
      select count(*) as count from (
        select from captures c where c.url_key >= ${from} and c.url_key < ${to}
          and c.warc_key is not null and c.reused_from is null
          and ${embargoDays === null ? sql`true` : sql`c.fetched_at > now() - ${embargoDays}::int * interval '1 day'`}
        limit ${MOST_COUNTED + 1 - captures}) matched`;
    captures += found?.count ?? 0;
    if (captures > MOST_COUNTED) return { captures: MOST_COUNTED, isMore: true };
  }
  return { captures, isMore: false };
}

export async function createExclusion(
  sql: Sql,
  { url, matchType, embargoDays, reason }: NewExclusion,
  ranges: readonly KeyRange[],
  apiKeyId: string | null,
): Promise<Exclusion> {
  const id = uuidv7();
  return await inTransaction(sql, async (tx) => {
    const [made] = await tx<{ createdAt: Date }[]>`
      insert into archive_exclusions (id, url, match_type, embargo_days, reason, api_key_id)
      values (${id}, ${url}, ${matchType}, ${embargoDays}, ${reason}, ${apiKeyId}) returning created_at as "createdAt"`;
    for (const { from, to } of ranges) {
      await tx`
        insert into archive_exclusion_keys (exclusion_id, key_from, key_to, embargo)
        values (${id}, ${from}, ${to}, ${embargoDays}::int * interval '1 day')`;
    }
    return { id, url, matchType, embargoDays, reason, createdAt: made?.createdAt as Date };
  });
}

/** Newest first. */
export async function listExclusions(
  sql: Sql,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<Exclusion[]> {
  return await sql<Exclusion[]>`
    select id, url, match_type as "matchType", embargo_days as "embargoDays", reason, created_at as "createdAt"
    from archive_exclusions where ${after === undefined ? sql`true` : sql`id < ${after}`} order by id desc limit ${limit}`;
}

/** @returns false where there is none */
export async function revokeExclusion(sql: Sql, id: string): Promise<boolean> {
  const { count } = await sql`delete from archive_exclusions where id = ${id}`;
  return count === 1;
}

/** Whether a record of a URL is withheld, as of this moment. */
export type IsWithheld = (url: string, date: Date) => boolean;

/** For whoever reads records and no captures. */
export async function readWithheld(sql: Sql): Promise<IsWithheld> {
  const ranges = await sql<(KeyRange & { since: Date | null })[]>`
    select key_from as from, key_to as to, now() - embargo as since from archive_exclusion_keys`;
  if (ranges.length === 0) return () => false;
  return (url, date) => {
    const key = urlKey(url);
    // a date that is none is that of no old capture
    return ranges.some(({ from, to, since }) => from <= key && key < to && (since === null || !(date <= since)));
  };
}
