/** Collections: each document is in one of them, or in none. */
import { type CollectionDefaults, withCollectionDefaults } from "../crawl/settings/collection-defaults.ts";
import { completeConfig, faultOfSizes } from "../crawl/settings/crawl-config.ts";
import { isUniqueViolation, type Sql, type Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { uuidv7 } from "../platform/ids.ts";
import { type CollectionLimit, isWithin } from "./collection-limit.ts";

export interface Collection {
  id: string;
  name: string;
  description: string | null;
  defaults: CollectionDefaults;
  /** That can be found. */
  documents: number;
  created_at: Date;
  updated_at: Date;
}

export interface CollectionInput {
  name: string;
  description: string | null;
  defaults?: CollectionDefaults;
}

/** @throws ApiError 409 CONFLICT where the name is taken, 400 VALIDATION_ERROR where sizes do not go together */
export async function createCollection(sql: Sql, input: CollectionInput): Promise<Collection> {
  const id = uuidv7();
  const { name, description } = input;
  const defaults = writtenDefaults(input);
  await named(
    name,
    sql`
      insert into collections (id, name, description, defaults)
      values (${id}, ${name}, ${description}, ${defaults}::text::jsonb)`,
  );
  return await readCollection(sql, id);
}

/** @throws as `createCollection`; 404 NOT_FOUND */
export async function replaceCollection(sql: Sql, id: string, input: CollectionInput): Promise<Collection> {
  const { name, description } = input;
  const defaults = writtenDefaults(input);
  await named(
    name,
    sql`
      update collections set name = ${name}, description = ${description}, defaults = ${defaults}::text::jsonb,
        updated_at = now()
      where id = ${id}`,
  );
  return await readCollection(sql, id);
}

function writtenDefaults({ defaults = {} }: CollectionInput): string {
  const fault = faultOfSizes(completeConfig(withCollectionDefaults({}, defaults)));
  if (fault !== undefined) throw new ApiError(400, `defaults: ${fault}`, { code: "VALIDATION_ERROR" });
  return JSON.stringify(defaults);
}

/** What each of some collections says; those that are not there say nothing. */
export async function readDefaults(
  sql: Sql,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string | null, CollectionDefaults>> {
  const named = [...new Set(ids)].filter((id) => id !== null);
  if (named.length === 0) return new Map();
  const rows = await sql<{ id: string; defaults: CollectionDefaults }[]>`
    select id, defaults from collections where id = any(${named}::uuid[])`;
  return new Map(rows.map(({ id, defaults }) => [id, defaults]));
}

/** @throws ApiError 404 NOT_FOUND */
export async function readCollection(sql: Sql, id: string, limit: CollectionLimit = null): Promise<Collection> {
  const [found] = await select(sql, sql`id = ${id}`, 1);
  if (found === undefined || !isWithin(id, limit)) throw missing(id);
  return found;
}

/**
 * Newest first.
 * @param after id of the last one seen
 */
export async function listCollections(
  sql: Sql,
  { limit, after, within }: { limit: number; after: string | undefined; within: CollectionLimit },
): Promise<Collection[]> {
  return await select(sql, after === undefined ? sql`true` : sql`id < ${after}`, limit, within);
}

async function select(
  sql: Sql,
  where: ReturnType<Sql>,
  limit: number,
  within: CollectionLimit = null,
): Promise<Collection[]> {
  const reached = within === null ? sql`` : sql`and id = any(${[...within]}::uuid[])`;
  return await sql<Collection[]>`
    select c.id, c.name, c.description, c.defaults, c.created_at, c.updated_at, (
      select count(*)::int from documents_active d where d.collection_id = c.id) as documents
    from (select * from collections where ${where} ${reached} order by id desc limit ${limit}) c order by c.id desc`;
}

/**
 * @param withDocuments whether its documents go with it; maintenance removes their rows and vectors
 * @throws ApiError 404 NOT_FOUND; 409 COLLECTION_IN_USE while a job fills it, COLLECTION_NOT_EMPTY where it holds
 * documents that are to stay
 */
export async function deleteCollection(sql: Sql, id: string, withDocuments: boolean): Promise<void> {
  await sql.begin(async (tx) => {
    const [found] = await tx`select from collections where id = ${id} for update`;
    if (found === undefined) throw missing(id);
    const [job] = await tx<{ id: string }[]>`
      select id from jobs where collection_id = ${id} and status in ('pending', 'running', 'embedding') limit 1`;
    if (job !== undefined) {
      const message = `Job ${job.id} still fills the collection: cancel it, or wait for its end`;
      throw new ApiError(409, message, { code: "COLLECTION_IN_USE", details: { job_id: job.id } });
    }
    await emptyCollection(tx, id, withDocuments);
    await tx`delete from collections where id = ${id}`;
  });
}

async function emptyCollection(tx: Transaction, id: string, withDocuments: boolean): Promise<void> {
  if (!withDocuments) {
    const [held] = await tx<{ documents: number }[]>`
      select count(*)::int as documents from documents_active where collection_id = ${id}`;
    if (held !== undefined && held.documents > 0) {
      const advice = "move them to another one, or delete them with it (delete_documents=true)";
      throw new ApiError(409, `The collection holds ${held.documents} document(s): ${advice}`, {
        code: "COLLECTION_NOT_EMPTY",
        details: { documents: held.documents },
      });
    }
  }
  await tx`
    update documents set generation_active = false, generation_id = gen_random_uuid(), collection_id = null,
      updated_at = now()
    where collection_id = ${id}`;
  await tx`delete from removed_urls where collection_id = ${id}`;
}

const missing = (id: string) => new ApiError(404, `There is no collection ${id}`, { code: "NOT_FOUND" });

async function named(name: string, query: Promise<unknown>): Promise<void> {
  try {
    await query;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError(409, `name: there is a collection ${JSON.stringify(name)} already`, {
      code: "CONFLICT",
      details: { name },
      cause: error,
    });
  }
}
