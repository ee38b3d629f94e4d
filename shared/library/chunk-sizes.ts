/** The chunk sizes that documents are cut to: which one answers searches, and how far a change to another one is. */
import { type ChunkSetState, lockChunkSets } from "../knowledge/documents/chunk-sets.ts";
import { serve } from "../knowledge/embedding/chunk-size-change.ts";
import { refreshCorpusStatistics } from "../knowledge/search/corpus-statistics.ts";
import { inTransaction, type Sql, type Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";

export interface StoredChunkSize {
  /** In tokens; null: each document by the settings that it was crawled or uploaded with. */
  chunk_size: number | null;
  /** `serving`: it answers; `coming`: documents are cut to it; `leaving`: it is kept for a day. */
  state: Exclude<ChunkSetState, "dropped">;
  paused: boolean;
  changed_at: Date;
  /** Visible documents that are cut to it, and those that are not yet. */
  documents: number;
  uncut: number;
  /** Chunks of these, and those of them that wait for their vector. */
  chunks: number;
  waiting: number;
}

/** The one that answers first. */
export async function listChunkSizes(sql: Sql | Transaction): Promise<StoredChunkSize[]> {
  return await sql<StoredChunkSize[]>`
    with counted as (
      select c.chunk_set, count(distinct c.document_id)::int as documents, count(*)::int as chunks,
        (count(*) filter (where e.state = 'pending'))::int as waiting
      from documents_active d join chunks c on c.document_id = d.id left join embeddings e on e.chunk_id = c.id
      group by c.chunk_set)
    select s.chunk_size, s.state, s.paused, s.changed_at, coalesce(n.documents, 0) as documents,
      greatest(0, coalesce((
        select documents from counted a join chunk_sets b on b.id = a.chunk_set and b.state = 'serving'), 0)
        - coalesce(n.documents, 0)) as uncut, coalesce(n.chunks, 0) as chunks, coalesce(n.waiting, 0) as waiting
    from chunk_sets s left join counted n on n.chunk_set = s.id where s.state <> 'dropped'
    order by array_position(array['serving', 'coming', 'leaving'], s.state), s.changed_at desc`;
}

interface SetRow {
  id: number;
  chunk_size: number | null;
  state: ChunkSetState;
}

/**
 * Begins a change of all documents to another size. One that is kept answers again at once, in one transaction; the one
 * that answers gives up the change that is under way.
 * @param maxTokens what the embedder reads; null where there is none
 * @throws ApiError 400 VALIDATION_ERROR, 409 CONFLICT where a change to a third size is under way
 */
export async function useChunkSize(sql: Sql, size: number | null, maxTokens: number | null): Promise<void> {
  if (size !== null && maxTokens !== null && size > maxTokens) {
    const message = `chunk_size: the embedder reads ${maxTokens} tokens at the most`;
    throw new ApiError(400, message, { code: "VALIDATION_ERROR", details: { field: "chunk_size" } });
  }
  const switched = await inTransaction(sql, async (tx) => {
    await lockChunkSets(tx);
    const sets = await tx<SetRow[]>`select id, chunk_size, state from chunk_sets order by id for update`;
    const wanted = sets.find((each) => each.chunk_size === size && each.state !== "dropped");
    const coming = sets.find(({ state }) => state === "coming");
    if (wanted?.state === "coming") return false;
    if (wanted?.state === "leaving") {
      await serve(tx, wanted.id);
      return true;
    }
    if (wanted?.state === "serving") {
      if (coming !== undefined) await tx`update chunk_sets set state = 'dropped' where id = ${coming.id}`;
      return false;
    }
    if (coming !== undefined) {
      const message =
        `A change to ${coming.chunk_size ?? "the sizes of crawls and uploads"} is under way: wait for it, ` +
        "or give it up by asking for the size that answers now";
      throw new ApiError(409, message, { code: "CONFLICT" });
    }
    const id = Math.max(...sets.map((each) => each.id)) + 1;
    await tx`insert into chunk_sets (id, chunk_size, state) values (${id}, ${size}, 'coming')`;
    return false;
  });
  if (switched) await refreshCorpusStatistics(sql);
}

/**
 * Stops the change to another size where it is, or lets it go on. What was sent already is embedded.
 * @throws ApiError 409 CONFLICT where no change is under way
 */
export async function pauseChunkSize(sql: Sql, paused: boolean): Promise<void> {
  const { count } = await sql`update chunk_sets set paused = ${paused} where state = 'coming'`;
  if (count > 0) return;
  throw new ApiError(409, "No change of the chunk size is under way: ask for another chunk_size first", {
    code: "CONFLICT",
  });
}
