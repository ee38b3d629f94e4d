/**
 * Compares the vector store with the rows, a stretch of ids at a time: points of chunks that are gone are removed, and
 * chunks whose vectors are lost are embedded again.
 */
import { inTransaction, type Sql } from "../../platform/database/database.ts";
import type { VectorStore } from "../vector-stores/vector-store.ts";
import { askAgain, type EmbeddingModel } from "./model-change.ts";

/** Ids that are compared at once. */
const PAGE = 1_000;
/** Chunks that are asked for again in one transaction. */
const BATCH = 2_000;
/** No uuid follows it. */
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export interface Comparison {
  removedPoints: number;
  lostChunks: number;
  /** Where the next run goes on; null: from the first id. */
  next: string | null;
}

/**
 * @param after where the run before ended; null: from the first id
 * @param hasTime asked before each stretch
 */
export async function compareStore(
  sql: Sql,
  vectors: Pick<VectorStore, "scan" | "deletePoints">,
  model: EmbeddingModel,
  after: string | null,
  hasTime: () => boolean,
): Promise<Comparison> {
  const compared: Comparison = { removedPoints: 0, lostChunks: 0, next: after };
  while (hasTime()) {
    const { ids, more } = await vectors.scan(compared.next, PAGE);
    const orphans = await withoutRows(sql, ids);
    await vectors.deletePoints(orphans);
    compared.removedPoints += orphans.length;
    const until = more ? (ids.at(-1) ?? LAST) : LAST;
    compared.lostChunks += await askForLost(sql, model, compared.next, until, ids, hasTime);
    compared.next = more ? until : null;
    if (!more) break;
  }
  return compared;
}

/** A chunk's row is there before its point, and goes after it. */
async function withoutRows(sql: Sql, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await sql<{ id: string }[]>`
    select p.id from unnest(${ids as string[]}::uuid[]) p (id) where not exists (
      select from chunks c join documents d on d.id = c.document_id where c.id = p.id and d.deleted_at is null)`;
  return rows.map(({ id }) => id);
}

/** Of the visible chunks in this stretch that were embedded, those that the store does not have. */
async function askForLost(
  sql: Sql,
  { model, dimension }: EmbeddingModel,
  after: string | null,
  until: string,
  held: readonly string[],
  hasTime: () => boolean,
): Promise<number> {
  let lost = 0;
  for (let from = after; hasTime(); ) {
    const rows = await sql<{ id: string }[]>`
      select e.chunk_id as id
      from embeddings e join chunks c on c.id = e.chunk_id join documents d on d.id = c.document_id
        join jobs j on j.id = d.job_id
      where e.chunk_id > ${from ?? "00000000-0000-0000-0000-000000000000"} and e.chunk_id <= ${until} and e.state = 'done'
        and e.model = ${model} and e.dimension = ${dimension} and d.generation_active and d.deleted_at is null and j.status = 'completed'
        and e.chunk_id <> all(${held as string[]}::uuid[])
      order by e.chunk_id limit ${BATCH}`;
    if (rows.length === 0) break;
    const ids = rows.map(({ id }) => id);
    lost += await inTransaction(sql, (tx) => askAgain(tx, ids));
    from = ids.at(-1) ?? null;
    if (rows.length < BATCH) break;
  }
  return lost;
}
