/** Housekeeping of the searchable side: unseen generations go, with their vectors; old cached embeddings go. */
import { inTransaction, type Sql } from "../../platform/database/database.ts";
import { ANALYSIS, chunkVectors, keywordText } from "../analysis/keyword-vectors.ts";
import type { VectorStore } from "../vector-stores/vector-store.ts";
import { lockActivations } from "./generations.ts";

/** Documents that are removed at once. */
const BATCH = 200;
/** A worker may still be storing vectors for a job that has just been cancelled. */
const ORPHAN_GRACE_MS = 600_000;
const CACHE_BATCH = 5_000;
const ANALYSIS_BATCH = 500;

/**
 * Decides which replaced generations go. Of a host in a collection stay the last `kept` that nothing is visible of,
 * and those that were activated later: crawls of the whole host and crawls of given pages apart. One that is kept for
 * any of its hosts stays.
 * @returns how many go
 */
export async function endOldGenerations(sql: Sql, kept: number): Promise<number> {
  return await inTransaction(sql, async (tx) => {
    await lockActivations(tx);
    const { count } = await tx`
      with known as (
        select g.id, g.collection_id, g.is_whole, g.hosts, g.activated_at,
          exists (
            select from documents d
            where d.generation_id = g.id and d.generation_active and d.deleted_at is null
          ) as is_seen
        from generations g where g.cleaned_at is null
      ), ranked as (
        select id, sum(case when is_seen then 0 else 1 end) over (
          partition by collection_id, is_whole, host order by activated_at desc, id desc) as replaced
        from known cross join unnest(hosts) as h (host)
      )
      update generations g set cleaned_at = now()
      where id in (select id from ranked group by id having min(replaced) > ${kept})
        and exists (select from documents d where d.generation_id = g.id and not d.generation_active)`;
    return count;
  });
}

/**
 * Removes documents of generations that were replaced and are not kept, or whose job failed or was cancelled. The
 * vectors go first: a row without vectors is found again by the next run, vectors without a row never would be.
 * @param vectors null where there is no embedder
 * @param hasTime asked before each batch
 * @returns how many documents went
 */
export async function removeUnseenDocuments(
  sql: Sql,
  vectors: Pick<VectorStore, "deleteDocuments"> | null,
  hasTime: () => boolean,
  orphanGraceMs: number = ORPHAN_GRACE_MS,
): Promise<number> {
  let removed = 0;
  while (hasTime()) {
    const rows = await sql<{ id: string }[]>`
      select d.id from documents d
      where not d.generation_active and not exists (
        select from generations g where g.id = d.generation_id and g.cleaned_at is null
      ) and not exists (
        select from jobs j where j.generation_id = d.generation_id and (
          j.status in ('pending', 'running', 'embedding')
          or j.status <> 'completed' and j.completed_at > now() - ${orphanGraceMs} * interval '1 millisecond'))
      limit ${BATCH}`;
    if (rows.length === 0) break;
    const ids = rows.map((row) => row.id);
    await vectors?.deleteDocuments(ids);
    removed += await deleteDocuments(sql, ids);
  }
  return removed;
}

/** What they held is free again, for the API keys that have uploaded them. */
async function deleteDocuments(sql: Sql, ids: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with gone as (
      delete from documents where id = any(${ids as string[]}::uuid[]) and not generation_active
      returning uploaded_by, upload_bytes
    ), freed as (
      insert into key_work as w (api_key_id, day, stored_bytes)
      select k.id, (statement_timestamp() at time zone 'UTC')::date, -sum(upload_bytes)
      from gone join api_keys k on k.id = gone.uploaded_by group by k.id order by k.id
      on conflict (api_key_id, day) do update set stored_bytes = w.stored_bytes + excluded.stored_bytes
    )
    select count(*)::int as count from gone`;
  return row?.count ?? 0;
}

/**
 * Removes deleted documents whose time to be restored is over.
 * @param days for which they can be restored
 * @returns how many documents go: with the generations that were replaced
 */
export async function endDeletedDocuments(sql: Sql, days: number): Promise<number> {
  const { count } = await sql`
    update documents set generation_active = false, generation_id = gen_random_uuid(), updated_at = now()
    where deleted_at < now() - ${days} * interval '1 day' and generation_active`;
  return count;
}

/** @returns how many embeddings went */
export async function ageEmbeddingCache(sql: Sql, ttlS: number, hasTime: () => boolean): Promise<number> {
  let removed = 0;
  while (hasTime()) {
    const { count } = await sql`
      delete from embedding_cache where (model, content_hash) in (
        select model, content_hash from embedding_cache where created_at < now() - ${ttlS} * interval '1 second'
        order by created_at limit ${CACHE_BATCH})`;
    removed += count;
    if (count < CACHE_BATCH) break;
  }
  return removed;
}

/**
 * Makes the tsvectors of chunks anew that an earlier analysis made: see decision 0044.
 * @param hasTime asked before each batch
 * @returns how many chunks were analysed
 */
export async function analyseOutdatedChunks(sql: Sql, hasTime: () => boolean): Promise<number> {
  let analysed = 0;
  while (hasTime()) {
    const count = await sql.begin(async (tx) => {
      const rows = await tx<
        { id: string; title: string | null; header: string | null; content: string; language: string }[]
      >`
        select c.id, d.title, c.section_header as header, c.content, d.language
        from chunks c join documents d on d.id = c.document_id where c.analysis < ${ANALYSIS}
        order by c.analysis, c.id limit ${ANALYSIS_BATCH} for no key update of c skip locked`;
      const vectors = await chunkVectors(
        tx,
        rows.map(({ title, header, content, language }) => ({ text: keywordText(title, header, content), language })),
      );
      await tx`
        update chunks c set fts = made.fts::tsvector, analysis = ${ANALYSIS}
        from unnest(${rows.map(({ id }) => id)}::uuid[], ${vectors}::text[]) as made (id, fts) where c.id = made.id`;
      return rows.length;
    });
    analysed += count;
    if (count < ANALYSIS_BATCH) break;
  }
  return analysed;
}

/** Empties the embedding cache; vectors that are stored stay. Waits for those who are using it. */
export async function clearEmbeddingCache(sql: Sql): Promise<void> {
  await sql`truncate embedding_cache`;
}
