/** Tags: names in lower case that any document may have. */
import type { Sql, Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { uuidv7 } from "../platform/ids.ts";
import { type CollectionLimit, withinLimit } from "./collection-limit.ts";

export interface Tag {
  id: string;
  name: string;
  /** That can be found and have it. */
  documents: number;
  created_at: Date;
}

/** Makes it, or gives the one that is there. */
export async function createTag(sql: Sql, name: string): Promise<Tag> {
  await sql`insert into tags (id, name) values (${uuidv7()}, ${name}) on conflict do nothing`;
  const [tag] = await select(sql, sql`name = ${name}`, 1);
  return tag as Tag;
}

/**
 * By name.
 * @param after name of the last one seen
 * @param within who is limited sees the tags that documents in reach have, and counts these
 */
export async function listTags(
  sql: Sql,
  { limit, after, within }: { limit: number; after: string | undefined; within: CollectionLimit },
): Promise<Tag[]> {
  if (within === null) {
    return await select(sql, after === undefined ? sql`true` : sql`name > ${after} collate "C"`, limit);
  }
  return await sql<Tag[]>`
    select t.id, t.name, t.created_at, count(*)::int as documents
    from tags t join document_tags dt on dt.tag_id = t.id join documents_active d on d.id = dt.document_id
    where t.name > ${after ?? ""} collate "C" ${withinLimit(sql, within)}
    group by t.id order by t.name collate "C" limit ${limit}`;
}

async function select(sql: Sql, where: ReturnType<Sql>, limit: number): Promise<Tag[]> {
  return await sql<Tag[]>`
    select t.id, t.name, t.created_at, (
      select count(*)::int from document_tags dt join documents_active d on d.id = dt.document_id where dt.tag_id = t.id) as documents
    from (select * from tags where ${where} order by name collate "C" limit ${limit}) t order by t.name collate "C"`;
}

/**
 * Takes it from all documents, too.
 * @throws ApiError 404 NOT_FOUND
 */
export async function deleteTag(sql: Sql, id: string): Promise<void> {
  const { count } = await sql`delete from tags where id = ${id}`;
  if (count === 0) throw new ApiError(404, `There is no tag ${id}`, { code: "NOT_FOUND" });
}

/** Rows of these names, made where they are missing. In one order for all transactions. */
export async function ensureTags(tx: Transaction, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const rows = [...new Set(names)].sort().map((name) => ({ id: uuidv7(), name }));
  await tx`
    insert into tags (id, name)
    select id, name from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ name }) => name)}::text[]) t (id, name)
    on conflict do nothing`;
}
