/**
 * Compares the vector store with the rows by id, a stretch at a time: points of chunks that are gone are removed, and
 * chunks whose vectors are lost are embedded again, from the embedding cache where it has them. So are chunks whose
 * points say what does not hold of their documents: filters would miss them, or find them wrongly.
 */
import { inTransaction, type Sql } from "../../platform/database/database.ts";
import type { PointLabels, VectorStore } from "../vector-stores/vector-store.ts";
import { sendEmbedTasks } from "./embed-task.ts";
import { askAgain, type EmbeddingModel } from "./model-change.ts";

/** Ids that are compared at once. */
const PAGE = 1_000;
/** Chunks that are asked for again in one transaction. */
const BATCH = 2_000;
/** No uuid follows it. */
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export interface Comparison {
  /** Points of chunks that are gone. */
  removedPoints: number;
  /** Chunks whose vectors are not there, those of generations that are kept among them. */
  lostChunks: number;
  /** Visible chunks whose points carry another collection, host, source, language or other tags than the rows. */
  staleChunks: number;
  /** Where the next run goes on; null: from the first id. */
  next: string | null;
}

export interface ComparisonOptions {
  /** False: differences are told, and stay. */
  repairs?: boolean;
  /** Asks for lost vectors at once; left out: the sweep does. */
  send?: Parameters<typeof sendEmbedTasks>[0];
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
  options: ComparisonOptions = {},
): Promise<Comparison> {
  const compared: Comparison = { removedPoints: 0, lostChunks: 0, staleChunks: 0, next: after };
  while (hasTime()) {
    const { ids, labels, more } = await vectors.scan(compared.next, PAGE);
    const orphans = await withoutRows(sql, ids);
    if (options.repairs !== false && orphans.length > 0) await vectors.deletePoints(orphans);
    compared.removedPoints += orphans.length;
    compared.staleChunks += await askForStale(sql, model, labels, options);
    const until = more ? (ids.at(-1) ?? LAST) : LAST;
    compared.lostChunks += await askForLost(sql, model, { after: compared.next, until, held: ids }, hasTime, options);
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

interface LabelledChunk extends Required<PointLabels>, LostChunk {}

/** A document that changes between the two readings has its chunks wait, or its points made anew once more. */
async function askForStale(
  sql: Sql,
  { model, dimension }: EmbeddingModel,
  labels: ReadonlyMap<string, PointLabels>,
  { repairs = true, send }: ComparisonOptions,
): Promise<number> {
  const rows = await sql<LabelledChunk[]>`
    select c.id, j.id as "jobId", true as "isActive", d.id as "documentId", d.collection_id as "collectionId", d.domain,
      d.source, d.language, array(select tag_id::text from document_tags t where t.document_id = d.id) as tags
    from chunks c join embeddings e on e.chunk_id = c.id join documents_active d on d.id = c.document_id
      join jobs j on j.id = d.job_id
    where c.id = any(${[...labels.keys()]}::uuid[]) and e.state = 'done' and e.model = ${model}
      and e.dimension = ${dimension} and j.status = 'completed'`;
  const stale = rows.filter((row) => isStale(labels.get(row.id) ?? {}, row));
  if (repairs && stale.length > 0) await askForRows(sql, stale, send);
  return stale.length;
}

function isStale({ tags, ...labels }: PointLabels, row: LabelledChunk): boolean {
  const { documentId, collectionId, domain, source, language } = row;
  const known = { documentId, collectionId, domain, source, language };
  const differs = Object.entries(known).some(([name, value]) => {
    const label = labels[name as keyof typeof known];
    return label !== undefined && label !== value;
  });
  return differs || (tags !== undefined && tags.toSorted().join() !== row.tags.toSorted().join());
}

interface Stretch {
  /** null: from the first id. */
  after: string | null;
  until: string;
  /** What the store has of it. */
  held: readonly string[];
}

interface LostChunk {
  id: string;
  jobId: string;
  isActive: boolean;
}

/**
 * Of the chunks in this stretch that were embedded, those that the store does not have. Those of deleted documents are
 * embedded when they are restored.
 */
async function askForLost(
  sql: Sql,
  { model, dimension }: EmbeddingModel,
  { after, until, held }: Stretch,
  hasTime: () => boolean,
  { repairs = true, send }: ComparisonOptions,
): Promise<number> {
  let lost = 0;
  for (let from = after; hasTime(); ) {
    const rows = await sql<LostChunk[]>`
      select e.chunk_id as id, j.id as "jobId", d.generation_active as "isActive"
      from embeddings e join chunks c on c.id = e.chunk_id join documents d on d.id = c.document_id
        join jobs j on j.id = d.job_id
      where e.chunk_id > ${from ?? "00000000-0000-0000-0000-000000000000"} and e.chunk_id <= ${until} and e.state = 'done'
        and e.model = ${model} and e.dimension = ${dimension} and d.deleted_at is null and j.status = 'completed'
        and e.chunk_id <> all(${held as string[]}::uuid[])
      order by e.chunk_id limit ${BATCH}`;
    if (rows.length === 0) break;
    if (repairs) await askForRows(sql, rows, send);
    lost += rows.length;
    from = rows.at(-1)?.id ?? null;
    if (rows.length < BATCH) break;
  }
  return lost;
}

async function askForRows(sql: Sql, rows: readonly LostChunk[], send: ComparisonOptions["send"]): Promise<void> {
  const active = rows.filter(({ isActive }) => isActive);
  const hidden = rows.filter(({ isActive }) => !isActive).map(({ id }) => id);
  await inTransaction(sql, async (tx) => {
    await askAgain(
      tx,
      active.map(({ id }) => id),
    );
    // of generations that are kept: they are embedded when one goes back to them
    await tx`
      update embeddings e set state = 'pending', attempts = 0 from chunks c, documents d
      where e.chunk_id = any(${hidden}::uuid[]) and e.state = 'done' and c.id = e.chunk_id and d.id = c.document_id
        and not d.generation_active`;
  });
  if (send === undefined) return;
  for (const [jobId, chunks] of Map.groupBy(active, (each) => each.jobId)) {
    await sendEmbedTasks(
      send,
      { jobId, priority: "low" },
      chunks.map(({ id }) => id),
    );
  }
}
