/**
 * Gives chunks their vectors. The chunk's row says whether it still wants one, so a message that comes twice, or to two
 * workers at once, changes nothing the second time. The vector is stored before the row says so: whoever dies in
 * between leaves a pending row, and the sweep asks again.
 */
import { countCacheUse } from "../../platform/database/cache-counts.ts";
import { inTransaction, type Queryable, type Sql, type Transaction } from "../../platform/database/database.ts";
import { PermanentError, RetryableError } from "../../platform/errors.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { Embedder, EmbedderDescriptor } from "../embedders/embedder.ts";
import { embeddingFault } from "../embedders/validation.ts";
import { recordEmbedded } from "../metrics.ts";
import { prepareForSearches } from "../search/corpus-statistics.ts";
import { noteSearchChange } from "../search/search-version.ts";
import type { VectorSide } from "../search/vector-side.ts";
import type { VectorPoint, VectorStore } from "../vector-stores/vector-store.ts";
import type { EmbedTask } from "./embed-task.ts";

export interface EmbedDependencies {
  sql: Sql;
  /** null where embeddings are switched off: chunks that wait for a vector from before are let go. */
  vectorSide: VectorSide;
  /**
   * Moves the job on where its counts say so; in the same transaction.
   * @returns "completed" where it did that
   */
  settleJob(tx: Transaction, jobId: string, log: Logger): Promise<string>;
  log: Logger;
}

/**
 * A text that the embedder cannot turn into a usable vector this many times is given up; keyword search still finds it.
 * A store or an embedder that is down does not count.
 */
export const MOST_ATTEMPTS = 5;

interface PendingChunk {
  chunkId: string;
  content: string;
  /** Hex. */
  contentHash: string;
  documentId: string;
  generationId: string;
  collectionId: string | null;
  domain: string;
  url: string;
  title: string | null;
  source: VectorPoint["payload"]["source"];
  tags: string[];
  language: string;
  crawledAt: Date;
}

/** A vector, or null where the model knows nothing of the text, or why there is none, by content hash. */
type Outcomes = Map<string, { vector: Float32Array; cached: boolean } | { vector: null } | { fault: string }>;

/** Whoever had a task before may have been killed by one of its chunks, and could not say so. */
const WHOLE_DELIVERIES = 2;

/**
 * A task that keeps coming is worked off in pieces, which are halved with each delivery: what is done is done, and in
 * the end a chunk that kills its worker stands alone. Their order is another each time, so that none always comes after
 * it.
 *
 * @param receiveCount 1 for the first delivery
 * @throws RetryableError where embedder or store are down, or a chunk has attempts left
 */
export async function embedChunks(
  dependencies: EmbedDependencies,
  { jobId, chunkIds }: EmbedTask,
  receiveCount = 1,
): Promise<void> {
  const halvings = Math.max(0, receiveCount - WHOLE_DELIVERIES);
  const order = halvings === 0 ? chunkIds : shuffled(chunkIds);
  const size = Math.max(1, Math.ceil(order.length / 2 ** halvings));
  let left = 0;
  for (let at = 0; at < order.length; at += size) {
    left += await embedPiece(dependencies, jobId, order.slice(at, at + size));
  }
  if (left > 0) {
    throw new RetryableError(`${left} chunks got no usable vector and are tried again`, { code: "EMBEDDING_INVALID" });
  }
}

const shuffled = (ids: readonly string[]): string[] =>
  ids
    .map((id) => ({ id, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id);

/** @returns how many chunks got no usable vector, and have attempts left */
async function embedPiece(dependencies: EmbedDependencies, jobId: string, chunkIds: string[]): Promise<number> {
  const { sql, vectorSide, log } = dependencies;
  const started = performance.now();
  const chunks = await readPendingChunks(sql, jobId, chunkIds);
  if (chunks.length === 0) return 0;
  if (vectorSide === null) {
    await finishChunks(dependencies, jobId, { none: chunks.map(({ chunkId }) => chunkId) });
    recordEmbedded(log, jobId, { released: chunks.length }, started);
    return 0;
  }
  const { embedder, vectors } = vectorSide;
  const known = chunks.filter(({ language }) => isKnown(embedder.descriptor, language));
  const outcomes = await embedContents(sql, embedder, known);
  const points: VectorPoint[] = [];
  const faulty: string[] = [];
  const none = chunks.filter(({ language }) => !isKnown(embedder.descriptor, language)).map(({ chunkId }) => chunkId);
  let cached = 0;
  for (const chunk of known) {
    const outcome = outcomes.get(chunk.contentHash);
    if (outcome !== undefined && "vector" in outcome) {
      if (outcome.vector === null) {
        none.push(chunk.chunkId);
        continue;
      }
      points.push(toPoint(chunk, outcome.vector));
      if (outcome.cached) cached += 1;
    } else {
      faulty.push(chunk.chunkId);
      log.warn("a chunk got no usable vector", { job_id: jobId, chunk_id: chunk.chunkId, fault: outcome?.fault });
    }
  }
  const { model, cached: caches } = embedder.descriptor;
  // before they are stored: a store that is down must not have them made again
  if (caches) await storeInCache(sql, model, outcomes);
  const refused = await storePoints(vectors, points);
  if (refused !== null) {
    const unstored = new Set(refused.points);
    points.splice(0, points.length, ...points.filter((point) => !unstored.has(point)));
    faulty.push(...refused.points.map(({ chunkId }) => chunkId));
    log.warn("the vector store refuses vectors", { job_id: jobId, chunks: unstored.size, error: refused.error });
  }
  if (caches) {
    const hits = [...outcomes.values()].filter((outcome) => "cached" in outcome && outcome.cached).length;
    await countCacheUse(sql, "embeddings", { hits, misses: outcomes.size - hits });
  }
  const finished = { none, points, faulty, model: embedder.descriptor };
  const { left, relabelled } = await finishChunks(dependencies, jobId, finished);
  const embedded = Math.max(0, points.length - cached);
  recordEmbedded(log, jobId, { embedded, cached, released: none.length, refused: faulty.length }, started);
  if (relabelled.length === 0) return left;
  // their documents were moved or tagged meanwhile: the points are to say so
  return left + (await embedPiece(dependencies, jobId, relabelled));
}

/** Refusals after which the rest of a task is taken to be refused, too: one point of a thousand costs ten. */
const MOST_REFUSALS = 40;

interface Refused {
  points: VectorPoint[];
  error: PermanentError;
}

/**
 * Stores all that the store takes: what it refuses is halved until the points are found that it can never take.
 * @returns these and why, or null where it has them all
 */
async function storePoints(vectors: VectorStore, points: readonly VectorPoint[]): Promise<Refused | null> {
  const refused: VectorPoint[] = [];
  let error: PermanentError | null = null;
  let refusals = 0;
  const waiting: (readonly VectorPoint[])[] = [points];
  for (let some = waiting.pop(); some !== undefined; some = waiting.pop()) {
    if (some.length === 0) continue;
    try {
      await vectors.upsert(some);
    } catch (cause) {
      if (!(cause instanceof PermanentError)) throw cause;
      error = cause;
      refusals += 1;
      const half = Math.ceil(some.length / 2);
      if (some.length === 1) refused.push(...some);
      else if (refusals >= MOST_REFUSALS) refused.push(...some, ...waiting.splice(0).flat());
      else waiting.push(some.slice(half), some.slice(0, half));
    }
  }
  return error === null ? null : { points: refused, error };
}

/** Pages whose language nobody knows may be in one that the model does know. */
function isKnown({ languages }: EmbedderDescriptor, language: string): boolean {
  return languages === null || language === "und" || languages.includes(language);
}

async function readPendingChunks(sql: Sql, jobId: string, chunkIds: string[]): Promise<PendingChunk[]> {
  return await sql<PendingChunk[]>`
    select c.id as "chunkId", c.content, encode(c.content_hash, 'hex') as "contentHash", d.id as "documentId",
      d.generation_id as "generationId", d.collection_id as "collectionId", d.domain, d.url, d.title, d.source,
      array(select tag_id::text from document_tags t where t.document_id = d.id) as tags, d.language,
      d.crawled_at as "crawledAt"
    from embeddings e
    join chunks c on c.id = e.chunk_id
    join documents d on d.id = c.document_id
    join jobs j on j.id = d.job_id
    where e.chunk_id = any(${chunkIds}::uuid[]) and e.state = 'pending' and j.id = ${jobId}
      and (j.status in ('pending', 'running', 'embedding') or j.status = 'completed' and d.generation_active)`;
}

function toPoint(chunk: PendingChunk, vector: Float32Array): VectorPoint {
  const { chunkId, documentId, generationId, collectionId, domain, url, title, source, language, tags } = chunk;
  return {
    chunkId,
    vector,
    payload: {
      documentId,
      generationId,
      collectionId,
      domain,
      url,
      title,
      source,
      language,
      tags,
      crawledAt: chunk.crawledAt.toISOString(),
    },
  };
}

/** Each content once, from the cache where it was embedded before. */
async function embedContents(sql: Sql, embedder: Embedder, chunks: readonly PendingChunk[]): Promise<Outcomes> {
  const { dimension } = embedder.descriptor;
  const contents = new Map(chunks.map(({ contentHash, content }) => [contentHash, content]));
  const outcomes: Outcomes = new Map();
  if (embedder.descriptor.cached) {
    for (const [hash, vector] of await readCache(sql, embedder.descriptor, [...contents.keys()])) {
      outcomes.set(hash, { vector, cached: true });
    }
  }
  const wanted = [...contents].filter(([hash]) => !outcomes.has(hash));
  const vectors = await embedOrRefuse(
    embedder,
    wanted.map(([, content]) => content),
  );
  for (const [index, [hash]] of wanted.entries()) {
    outcomes.set(hash, outcomeOf(vectors[index], dimension));
  }
  return outcomes;
}

function outcomeOf(vector: Float32Array | PermanentError | null | undefined, dimension: number) {
  if (vector === undefined) return { fault: "the embedder gave too few vectors" };
  if (vector === null) return { vector };
  if (vector instanceof Error) return { fault: vector.message };
  const fault = embeddingFault(vector, dimension);
  return fault === undefined ? { vector, cached: false } : { fault };
}

/** @param hashes hex */
async function readCache(
  sql: Sql,
  { model, dimension }: EmbedderDescriptor,
  hashes: string[],
): Promise<[hash: string, vector: Float32Array][]> {
  const rows = await sql<{ hash: string; vector: Buffer }[]>`
    select encode(content_hash, 'hex') as hash, vector from embedding_cache
    where model = ${model} and content_hash in (select decode(h, 'hex') from unnest(${hashes}::text[]) h)`;
  const vectors = rows.map(({ hash, vector }): [string, Float32Array] => [hash, fromBytes(vector)]);
  // of another dimension where the model's setting has changed
  return vectors.filter(([, vector]) => embeddingFault(vector, dimension) === undefined);
}

/** Where a batch is refused its halves are tried, down to single texts: only the guilty one shall suffer. */
async function embedOrRefuse(embedder: Embedder, texts: string[]): Promise<(Float32Array | PermanentError | null)[]> {
  if (texts.length === 0) return [];
  try {
    return await embedder.embedDocuments(texts);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    if (texts.length === 1) return [error];
  }
  const middle = texts.length >> 1;
  const first = await embedOrRefuse(embedder, texts.slice(0, middle));
  return [...first, ...(await embedOrRefuse(embedder, texts.slice(middle)))];
}

/**
 * One transaction: the rows, the job's count of them, the job's state.
 * @returns how many chunks still wait for a usable vector, and those that wait since their points say of their
 * documents what holds no more
 */
async function finishChunks(
  { sql, settleJob, log, vectorSide }: EmbedDependencies,
  jobId: string,
  { none = [], points = [], faulty = [], model }: FinishedChunks,
): Promise<{ left: number; relabelled: string[] }> {
  const stored = points.map(({ chunkId }) => chunkId);
  const { left, relabelled, settled } = await inTransaction(sql, async (tx) => {
    // in one order everywhere, so that two workers with the same chunks wait for each other and not in a circle
    await tx`
      select 1 from embeddings where chunk_id = any(${[...none, ...stored, ...faulty]}::uuid[]) order by chunk_id
      for no key update`;
    // whoever changes a document locks these rows before it commits
    const relabelled = await relabelledPoints(tx, points);
    const done = stored.filter((id) => !relabelled.includes(id));
    await removeDeleted(tx, vectorSide?.vectors, stored);
    const finished = await tx<{ state: string }[]>`
      update embeddings set
        attempts = attempts + (chunk_id = any(${faulty}::uuid[]))::int,
        model = case when chunk_id = any(${done}::uuid[]) then ${model?.model ?? null} end,
        dimension = case when chunk_id = any(${done}::uuid[]) then ${model?.dimension ?? null}::int end,
        state = case
          when chunk_id = any(${done}::uuid[]) then 'done'
          when chunk_id = any(${none}::uuid[]) then 'none'
          when attempts + 1 >= ${MOST_ATTEMPTS} then 'failed'
          else 'pending' end
      where chunk_id = any(${[...none, ...done, ...faulty]}::uuid[]) and state = 'pending'
      returning state`;
    const terminal = finished.filter(({ state }) => state !== "pending").length;
    const waiting = finished.length - terminal;
    if (terminal === 0) return { left: waiting, relabelled, settled: "unchanged" };
    const [job] = await tx<{ status: string }[]>`
      update jobs set unembedded_chunks = greatest(0, unembedded_chunks - ${terminal}), updated_at = now(),
        embedding_progress_at = now()
      where id = ${jobId} returning status`;
    // they may be vectors that follow: their chunks can be seen already
    if (job?.status === "completed") await noteSearchChange(tx);
    return { left: waiting, relabelled, settled: await settleJob(tx, jobId, log) };
  });
  if (settled === "completed") {
    try {
      await prepareForSearches(sql);
    } catch (error) {
      log.warn("the index and the statistics of searches are not up to date: maintenance does it", {
        job_id: jobId,
        error,
      });
    }
  }
  return { left, relabelled };
}

/**
 * Removes the points of documents that were deleted while they were embedded: whoever deletes may have removed the
 * document's points before these were stored. Whoever restores waits for the rows of the chunks.
 */
async function removeDeleted(
  tx: Transaction,
  vectors: VectorStore | undefined,
  stored: readonly string[],
): Promise<void> {
  if (vectors === undefined || stored.length === 0) return;
  const rows = await tx<{ id: string }[]>`
    select c.id from chunks c join documents d on d.id = c.document_id
    where c.id = any(${stored as string[]}::uuid[]) and d.deleted_at is not null`;
  if (rows.length > 0) await vectors.deletePoints(rows.map(({ id }) => id));
}

/** Chunks of points whose documents have another collection, or other tags, than when they were read. */
async function relabelledPoints(tx: Transaction, points: readonly VectorPoint[]): Promise<string[]> {
  if (points.length === 0) return [];
  const rows = await tx<{ id: string; labels: string }[]>`
    select c.id, concat_ws(' ', coalesce(d.collection_id::text, '-'), (
        select string_agg(t.tag_id::text, ' ' order by t.tag_id::text collate "C") from document_tags t
        where t.document_id = d.id)) as labels
    from chunks c join documents d on d.id = c.document_id
    where c.id = any(${points.map(({ chunkId }) => chunkId)}::uuid[])`;
  const now = new Map(rows.map(({ id, labels }) => [id, labels]));
  return points
    .filter(({ chunkId, payload: { collectionId, tags } }) => {
      const labels = [collectionId ?? "-", ...tags.toSorted()].join(" ");
      return now.has(chunkId) && now.get(chunkId) !== labels;
    })
    .map(({ chunkId }) => chunkId);
}

interface FinishedChunks {
  none?: string[];
  /** That are stored. */
  points?: VectorPoint[];
  faulty?: string[];
  /** Of those that are stored. */
  model?: Pick<EmbedderDescriptor, "model" | "dimension">;
}

async function storeInCache(tx: Queryable, model: string, outcomes: Outcomes): Promise<void> {
  const fresh = [...outcomes]
    .flatMap(([hash, outcome]) =>
      "cached" in outcome && !outcome.cached ? [{ hash, vector: toHex(outcome.vector) }] : [],
    )
    .sort((a, b) => (a.hash < b.hash ? -1 : 1));
  if (fresh.length === 0) return;
  await tx`
    insert into embedding_cache (model, content_hash, vector)
    select ${model}, decode(hash, 'hex'), decode(vector, 'hex')
    from unnest(${fresh.map(({ hash }) => hash)}::text[], ${fresh.map(({ vector }) => vector)}::text[]) as f (hash, vector)
    on conflict (model, content_hash) do update set vector = excluded.vector, created_at = now()`;
}

/** Little-endian, as every platform that Node runs on keeps it. */
const toHex = (vector: Float32Array): string =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("hex");

const fromBytes = (bytes: Buffer): Float32Array =>
  new Float32Array(Uint8Array.from(bytes).buffer, 0, bytes.length >> 2);
