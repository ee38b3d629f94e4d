/** Fills in the keys of captures that are older than keys are. */
import { urlKey } from "../../crawl/urls/surt.ts";
import type { Sql } from "../../platform/database/database.ts";

const BATCH = 2_000;

/** Whether a list of captures by their keys would miss some. */
export async function hasCapturesWithoutKey(sql: Sql): Promise<boolean> {
  const [{ found } = { found: false }] = await sql<{ found: boolean }[]>`
    select exists (
      select from captures where url_key is null and warc_key is not null and reused_from is null) as found`;
  return found;
}

/**
 * @param hasTime asked before each batch
 * @returns how many captures got their key
 */
export async function fillUrlKeys(sql: Sql, hasTime: () => boolean): Promise<number> {
  let filled = 0;
  while (hasTime()) {
    const rows = await sql<{ id: number; url: string }[]>`
      select id, final_url as url from captures
      where url_key is null and warc_key is not null and reused_from is null order by id limit ${BATCH}`;
    await sql`
      update captures c set url_key = made.key
      from unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map(({ url }) => urlKey(url))}::text[]) as made (id, key)
      where c.id = made.id`;
    filled += rows.length;
    if (rows.length < BATCH) break;
  }
  return filled;
}
