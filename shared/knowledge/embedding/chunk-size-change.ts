/**
 * A change of the chunk size of all documents: each is cut anew beside the chunks that answer searches, and its new
 * chunks are embedded as those of its job are. Once all are there the new set answers, in one transaction; the one
 * before is kept for a day.
 */
import type { QueueSender } from "../../platform/aws/queues.ts";
import { inTransaction, type Queryable, type Sql, type Transaction } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import {
  blocksOfText,
  type EarlierChunk,
  holdChunkSets,
  limitsOfSize,
  lockChunkSets,
} from "../documents/chunk-sets.ts";
import { type CutText, cutIntoChunks, insertChunks, requestEmbeddings } from "../documents/chunks.ts";
import { type ChunkSizes, chunkLimits } from "../documents/documents.ts";
import { holdActivations } from "../documents/generations.ts";
import { refreshCorpusStatistics } from "../search/corpus-statistics.ts";
import { noteSearchChange } from "../search/search-version.ts";
import type { VectorStore } from "../vector-stores/vector-store.ts";
import { sendEmbedTasks } from "./embed-task.ts";

export interface CutDependencies {
  sql: Sql;
  queues: QueueSender;
  log: Logger;
  /** What the embedder reads; null where there is none. */
  maxTokens: number | null;
}

/** Documents, and bytes of their texts, that are cut in one transaction. */
const BATCH = 50;
const BATCH_BYTES = 4_000_000;

/**
 * Goes on with the change that is under way, unless it is paused.
 * @param hasTime asked before each batch
 * @returns how many documents were cut
 */
export async function changeChunkSize(dependencies: CutDependencies, hasTime: () => boolean): Promise<number> {
  const { sql } = dependencies;
  let cut = 0;
  while (hasTime()) {
    const [coming] = await sql<ComingSet[]>`
      select id, chunk_size as "chunkSize", cut_through as "cutThrough" from chunk_sets
      where state = 'coming' and not paused`;
    if (coming === undefined) return cut;
    const batch = await nextBatch(sql, coming);
    if (batch.length === 0) {
      if (await serveIfWhole(sql, coming.id)) await refreshCorpusStatistics(sql);
      return cut;
    }
    cut += await cutBatch(dependencies, coming, batch);
  }
  return cut;
}

interface ComingSet {
  id: number;
  chunkSize: number | null;
  cutThrough: string | null;
}

interface BatchRow {
  id: string;
  jobId: string | null;
  bytes: number;
}

async function nextBatch(sql: Sql, { cutThrough }: ComingSet): Promise<BatchRow[]> {
  const rows = await sql<BatchRow[]>`
    select id, job_id as "jobId", sum(octet_length(content)) over (order by id)::float8 as bytes
    from (select id, job_id, content from documents
      where id > ${cutThrough ?? "00000000-0000-0000-0000-000000000000"} order by id limit ${BATCH}) d order by id`;
  return rows.filter(({ bytes }, at) => at === 0 || bytes <= BATCH_BYTES);
}

interface StoredText {
  id: string;
  jobId: string | null;
  title: string | null;
  language: string;
  text: string;
  sections: CutText["sections"];
  /** See `packBlocks`; null where they are not known. */
  packed: number[] | null;
  sizes: ChunkSizes | null;
  chunks: EarlierChunk[] | null;
  /** Whether its job waits for its vectors: those of others are asked for when it is shown. */
  isCounted: boolean;
  isDeleted: boolean;
}

/** @returns how many documents were cut: those that had chunks of the set already are not among them */
async function cutBatch(dependencies: CutDependencies, coming: ComingSet, batch: readonly BatchRow[]): Promise<number> {
  const { sql, maxTokens } = dependencies;
  const { cut, sent } = await inTransaction(sql, async (tx) => {
    const jobs = [...new Set(batch.flatMap(({ jobId }) => (jobId === null ? [] : [jobId])))];
    await tx`select from jobs where id = any(${jobs}::uuid[]) order by id for no key update`;
    const sets = await holdChunkSets(tx);
    if (sets.find(({ id }) => id === coming.id)?.state !== "coming") return { cut: 0, sent: [] };
    // what is visible stays so until its chunks are there
    await holdActivations(tx);
    const texts = await textsWithout(tx, coming.id, batch);
    const made = texts.map((each) => ({ ...each, fresh: cutAnew(each, coming, maxTokens) }));
    const chunks = made.flatMap(({ fresh }) => fresh);
    const ids = made.map(({ id }) => id);
    await insertChunks(tx, ids, chunks, coming.id);
    const idsOf = (some: typeof made) => some.flatMap(({ fresh }) => fresh.map(({ row }) => row.id));
    if (maxTokens !== null) {
      await requestEmbeddings(tx, idsOf(made.filter(({ isDeleted }) => !isDeleted)));
      // whoever restores a document asks for the vectors of chunks that are done with
      await tx`
        insert into embeddings (chunk_id, state)
        select unnest(${idsOf(made.filter(({ isDeleted }) => isDeleted))}::uuid[]), 'done'`;
    }
    const counted = maxTokens === null ? [] : made.filter(({ isCounted }) => isCounted);
    const byJob = [...Map.groupBy(counted, ({ jobId }) => jobId as string)]
      .map(([jobId, ofJob]) => ({ jobId, chunkIds: idsOf(ofJob) }))
      .sort((a, b) => (a.jobId < b.jobId ? -1 : 1));
    for (const { jobId, chunkIds } of byJob) {
      await tx`update jobs set unembedded_chunks = unembedded_chunks + ${chunkIds.length} where id = ${jobId}`;
    }
    await tx`update chunk_sets set cut_through = ${batch.at(-1)?.id ?? null} where id = ${coming.id}`;
    return { cut: made.length, sent: byJob };
  });
  for (const { jobId, chunkIds } of sent) await sendEmbedTasks(dependencies, { jobId, priority: "low" }, chunkIds);
  return cut;
}

async function textsWithout(tx: Transaction, set: number, batch: readonly BatchRow[]): Promise<StoredText[]> {
  return await tx<StoredText[]>`
    select d.id, d.job_id as "jobId", d.title, d.language, d.content as text, d.sections, d.blocks as packed, j.settings->'config' as sizes,
      (select json_agg(json_build_object('start_char', c.start_char, 'end_char', c.end_char,
          'content_type', c.content_type) order by c.chunk_index)
        from chunks_serving c where c.document_id = d.id) as chunks,
      d.deleted_at is not null as "isDeleted", coalesce(d.deleted_at is null and (
        j.status in ('pending', 'running', 'embedding') or j.status = 'completed' and d.generation_active), false)
        as "isCounted"
    from documents d left join jobs j on j.id = d.job_id
    where d.id = any(${batch.map(({ id }) => id)}::uuid[]) and ${lacksChunks(tx, set)}
    order by d.id for key share of d`;
}

/** Of a document `d`: it has chunks that answer, and none of the set. */
const lacksChunks = (sql: Queryable, set: number) => sql`
  d.content <> '' and exists (select from chunks_serving c where c.document_id = d.id)
  and not exists (select from chunks c where c.document_id = d.id and c.chunk_set = ${set})`;

function cutAnew({ chunks, sizes, packed, ...text }: StoredText, { chunkSize }: ComingSet, maxTokens: number | null) {
  const blocks = blocksOfText(packed, chunks ?? [], text.text.length);
  const limits =
    chunkSize === null && sizes !== null ? chunkLimits(sizes, maxTokens) : limitsOfSize(chunkSize ?? DEFAULT_SIZE);
  return cutIntoChunks({ ...text, blocks }, limits);
}

/** Of documents whose job is gone. */
const DEFAULT_SIZE = 512;

/** @returns whether the set answers now */
async function serveIfWhole(sql: Sql, set: number): Promise<boolean> {
  const outside = await whatIsMissing(sql, set);
  if (outside === "documents")
    await sql`update chunk_sets set cut_through = null where id = ${set} and state = 'coming'`;
  if (outside !== null) return false;
  return await inTransaction(sql, async (tx) => {
    await lockChunkSets(tx);
    const [coming] = await tx`select from chunk_sets where id = ${set} and state = 'coming' and not paused for update`;
    // it was paused or given up a moment ago, or a document came
    if (coming === undefined || (await whatIsMissing(tx, set)) !== null) return false;
    await serve(tx, set);
    return true;
  });
}

async function whatIsMissing(sql: Queryable, set: number): Promise<"documents" | "vectors" | null> {
  const [document] = await sql`select from documents d where ${lacksChunks(sql, set)} limit 1`;
  if (document !== undefined) return "documents";
  const [vector] = await sql`
    select from jobs j where j.status = 'completed' and j.unembedded_chunks > 0 and exists (
      select from documents_active d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
      where d.job_id = j.id and c.chunk_set = ${set} and e.state = 'pending')
    limit 1`;
  return vector === undefined ? null : "vectors";
}

/** Has a set that is whole answer searches in place of the one that does: to be called under `lockChunkSets`. */
export async function serve(tx: Transaction, set: number): Promise<void> {
  await tx`update chunk_sets set state = 'leaving', changed_at = now() where state = 'serving'`;
  await tx`update chunk_sets set state = 'serving', paused = false, changed_at = now() where id = ${set}`;
  await noteSearchChange(tx);
}

/** So long one can go back to a size that was replaced. */
const KEPT_FOR = "1 day";
/** Chunks that are removed at once. */
const DROPPED_AT_ONCE = 1_000;

/**
 * Removes the chunks of sets that answer no more, with their vectors. The vectors go first, as those of documents do.
 * @param vectors null where there is no embedder
 * @returns how many chunks went
 */
export async function dropLeavingChunks(
  sql: Sql,
  vectors: Pick<VectorStore, "deletePoints"> | null,
  hasTime: () => boolean,
): Promise<number> {
  const dropped = await inTransaction(sql, async (tx) => {
    await lockChunkSets(tx);
    await tx`
      update chunk_sets set state = 'dropped' where state = 'leaving' and changed_at < now() - ${KEPT_FOR}::interval`;
    return await tx<{ id: number }[]>`select id from chunk_sets where state = 'dropped' order by id`;
  });
  let removed = 0;
  for (const { id: set } of dropped) {
    while (hasTime()) {
      const rows = await sql<{ id: string }[]>`
        select id from chunks where chunk_set = ${set} limit ${DROPPED_AT_ONCE}`;
      const ids = rows.map(({ id }) => id);
      if (ids.length > 0) {
        await vectors?.deletePoints(ids);
        await sql`delete from chunks where id = any(${ids}::uuid[])`;
        removed += ids.length;
      }
      if (ids.length < DROPPED_AT_ONCE) {
        await sql`delete from chunk_sets where id = ${set} and state = 'dropped'`;
        break;
      }
    }
  }
  return removed;
}
