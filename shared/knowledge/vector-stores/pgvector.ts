/**
 * Vectors in PostgreSQL itself, by its extension pgvector (https://github.com/pgvector/pgvector), from version 0.8 on.
 * A table for each model, made at the first write. What few points match is scored exactly; else an HNSW index is read
 * on until enough of them match.
 */
import { databaseErrorCode, limitStatements, type Sql, type Transaction } from "../../platform/database/database.ts";
import { RetryableError } from "../../platform/errors.ts";
import { sha256 } from "../../platform/ids.ts";
import { isUnreachable } from "../../platform/transient-errors.ts";
import type { EmbedderDescriptor } from "../embedders/embedder.ts";
import { collectionName } from "./collection-name.ts";
import type { PointLabels, VectorFilter, VectorPoint, VectorStore } from "./vector-store.ts";

export interface PgVectorOptions {
  /** Of the store alone, which ends it: searches ask while they hold another connection. */
  sql: Sql;
  descriptor: Pick<EmbedderDescriptor, "model" | "dimension">;
  /** Of each call. */
  timeoutMs?: number;
}

const OLDEST = [0, 8];
const POINTS_PER_CALL = 100;
const TIMEOUT_MS = 20_000;
/** Up to so many points that match are compared one by one. */
const EXACT_POINTS = 10_000;
/** Of an HNSW index of `vector`. */
const MOST_INDEXED_DIMENSIONS = 2_000;
/** Least search-time accuracy of the index, and the greatest that it takes. */
const EF_SEARCH = 128;
const MOST_EF_SEARCH = 1_000;
/** Points that the index may look at before it gives up finding more that match. */
const MOST_SCANNED = 200_000;
/** In bytes, of PostgreSQL's identifiers, with the longest ending of an index. */
const LONGEST_NAME = 63 - "_document".length;
const UNDEFINED_COLUMN = "42703";
/** Any number; the same in every container. */
const CREATION_LOCK = 7_063_211;

export function createPgVectorStore({ sql, descriptor, timeoutMs = TIMEOUT_MS }: PgVectorOptions): VectorStore {
  const name = tableName(descriptor);
  const table = sql(name);
  const { dimension } = descriptor;
  let ready: Promise<void> | undefined;

  /** Ends what takes too long at the server, and waits no longer for a server that says nothing. */
  async function limited<T>(work: (tx: Transaction) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const end = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]);
    const late = Promise.withResolvers<never>();
    const stop = () => late.reject(tooLate(end.reason));
    end.addEventListener("abort", stop, { once: true });
    if (end.aborted) stop();
    try {
      const working = sql.begin(async (tx) => {
        await limitStatements(tx, timeoutMs);
        return await work(tx);
      });
      return (await Promise.race([working, late.promise])) as T;
    } finally {
      end.removeEventListener("abort", stop);
    }
  }

  async function upsert(points: readonly VectorPoint[]): Promise<void> {
    // a failed creation is tried again by the next write
    ready ??= createTable(sql, name, dimension, timeoutMs).catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    await ready;
    // in one order for all writers, each once
    const last = [...new Map(points.map((point) => [point.chunkId, point])).values()];
    const sorted = last.sort((a, b) => (a.chunkId < b.chunkId ? -1 : 1));
    const column = <T>(of: (point: VectorPoint) => T): T[] => sorted.map(of);
    try {
      await limited(
        (tx) => tx`
        insert into ${table} (chunk_id, document_id, domain, collection_id, tags, language, source, crawled_at, embedding)
        select chunk_id, document_id, domain, collection_id, string_to_array(tags, ',')::uuid[], language, source,
          crawled_at, embedding::vector
        from unnest(${column(({ chunkId }) => chunkId)}::uuid[], ${column(({ payload }) => payload.documentId)}::uuid[],
          ${column(({ payload }) => payload.domain)}::text[], ${column(({ payload }) => payload.collectionId)}::uuid[],
          ${column(({ payload }) => payload.tags.join(","))}::text[], ${column(({ payload }) => payload.language)}::text[],
          ${column(({ payload }) => payload.source)}::text[], ${column(({ payload }) => payload.crawledAt)}::timestamptz[],
          ${column(({ vector }) => textOf(vector))}::text[])
          as point (chunk_id, document_id, domain, collection_id, tags, language, source, crawled_at, embedding)
        on conflict (chunk_id) do update set document_id = excluded.document_id, domain = excluded.domain,
          collection_id = excluded.collection_id, tags = excluded.tags, language = excluded.language,
          source = excluded.source, crawled_at = excluded.crawled_at, embedding = excluded.embedding`,
      );
    } catch (error) {
      if (!isMissingTable(error)) throw error;
      ready = undefined;
      throw new RetryableError("The table of vectors vanished: it is created again", { code: "VECTOR_STORE_RESET" });
    }
  }

  async function nearest(tx: Transaction, vector: Float32Array, limit: number, filter: VectorFilter) {
    const query = textOf(vector);
    const conditions = conditionsOf(tx, filter);
    const filtered = Object.values(filter).some((value) => value !== undefined);
    const exact = filtered && (filter.documentIds !== undefined || (await areFew(tx, name, conditions)));
    if (exact || dimension > MOST_INDEXED_DIMENSIONS) {
      return await tx<Scored[]>`
        with matching as materialized (select chunk_id, embedding from ${tx(name)} where true ${conditions})
        select chunk_id as "chunkId", 1 - (embedding <=> ${query}::vector) as score from matching
        order by embedding <=> ${query}::vector, chunk_id limit ${limit}`;
    }
    const accuracy = Math.min(MOST_EF_SEARCH, Math.max(EF_SEARCH, 2 * limit));
    await tx`
      select set_config('hnsw.ef_search', ${String(accuracy)}, true),
        set_config('hnsw.iterative_scan', 'strict_order', true),
        set_config('hnsw.max_scan_tuples', ${String(MOST_SCANNED)}, true)`;
    return await tx<Scored[]>`
      select chunk_id as "chunkId", 1 - (embedding <=> ${query}::vector) as score from ${tx(name)}
      where true ${conditions} order by embedding <=> ${query}::vector limit ${limit}`;
  }

  return {
    async upsert(points) {
      for (let start = 0; start < points.length; start += POINTS_PER_CALL) {
        await guarded(() => upsert(points.slice(start, start + POINTS_PER_CALL)));
      }
    },
    async search(vector, limit, filter = {}) {
      const find = (asked: VectorFilter) => limited((tx) => nearest(tx, vector, limit, asked));
      return await unlessMissing([], async () => {
        const rows = await find(filter).catch(async (error: unknown) => {
          if (databaseErrorCode(error) !== UNDEFINED_COLUMN) throw error;
          // a table of before, until the next write
          const { languages, sources, dateFrom, dateTo, ...known } = filter;
          return await find(known);
        });
        return rows.map(({ chunkId, score }) => ({ chunkId, score: Number(score) }));
      });
    },
    async read(chunkIds) {
      const ids = [...chunkIds];
      const select = (tx: Transaction) => tx<{ id: string; vector: string }[]>`
        select chunk_id as id, embedding::text as vector from ${table} where chunk_id = any(${ids}::uuid[])`;
      const rows = await unlessMissing<readonly { id: string; vector: string }[]>([], () => limited(select));
      return new Map(rows.map(({ id, vector }) => [id, Float32Array.from(vector.slice(1, -1).split(","), Number)]));
    },
    async deleteDocuments(documentIds) {
      const ids = [...documentIds];
      const remove = (tx: Transaction) => tx`delete from ${table} where document_id = any(${ids}::uuid[])`;
      await unlessMissing(null, () => limited(remove));
    },
    async deletePoints(chunkIds) {
      const ids = [...chunkIds];
      const remove = (tx: Transaction) => tx`delete from ${table} where chunk_id = any(${ids}::uuid[])`;
      await unlessMissing(null, () => limited(remove));
    },
    async scan(after, limit) {
      const read = (columns: string) => (tx: Transaction) =>
        tx<Scanned[]>`
        select chunk_id as id, ${tx.unsafe(columns)} from ${table}
        where ${after}::uuid is null or chunk_id > ${after}::uuid order by chunk_id limit ${limit + 1}`;
      const rows = await unlessMissing<readonly Scanned[]>([], async () =>
        limited(read(LABELS)).catch(async (error: unknown) => {
          if (databaseErrorCode(error) !== UNDEFINED_COLUMN) throw error;
          // a table of before, until the next write
          return await limited(read('document_id as "documentId"'));
        }),
      );
      const labels = new Map(
        rows.slice(0, limit).map(({ id, ...known }): [string, PointLabels] => {
          const set = Object.entries(known).filter(([name, value]) => value !== null || name === "collectionId");
          return [id, Object.fromEntries(set)];
        }),
      );
      return { ids: [...labels.keys()], labels, more: rows.length > limit };
    },
    async drop() {
      await guarded(() => limited((tx) => tx`drop table if exists ${table}`));
      ready = undefined;
    },
    async isEmpty(signal) {
      const read = (tx: Transaction) => tx`select from ${table} limit 1`;
      return (await unlessMissing<readonly unknown[]>([], () => limited(read, signal))).length === 0;
    },
    async check(signal) {
      await guarded(() => limited(checkExtension, signal));
    },
    async close() {
      await sql.end({ timeout: 5 });
    },
  };
}

const LABELS =
  'document_id as "documentId", collection_id as "collectionId", domain, source, language, tags::text[] as tags';

type Scanned = { id: string } & { [Name in keyof PointLabels]?: PointLabels[Name] | null };

interface Scored {
  chunkId: string;
  score: number;
}

/** @throws RetryableError where the extension is missing: messages survive until somebody installs it */
async function checkExtension(sql: Transaction): Promise<void> {
  const [found] = await sql<{ version: string }[]>`
    select coalesce(installed_version, default_version) as version from pg_available_extensions where name = 'vector'`;
  if (found === undefined) {
    throw extensionMissing("PostgreSQL has no extension pgvector: install it on the server, or change VECTOR_STORE");
  }
  const [major = 0, minor = 0] = found.version.split(".").map(Number);
  if (major > (OLDEST[0] ?? 0) || minor >= (OLDEST[1] ?? 0)) return;
  throw extensionMissing(
    `pgvector ${found.version} is too old: update it to 0.8 or newer (alter extension vector update)`,
  );
}

const tooLate = (cause: unknown) =>
  new RetryableError("PostgreSQL did not answer for its vectors in time", { code: "VECTOR_STORE_UNAVAILABLE", cause });

const extensionMissing = (message: string, cause?: unknown) =>
  new RetryableError(message, { code: "VECTOR_STORE_EXTENSION_MISSING", cause });

/** @param timeoutMs of each wait for a lock; to build an index over what is there may take longer */
async function createTable(sql: Sql, name: string, dimension: number, timeoutMs: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select set_config('lock_timeout', ${String(timeoutMs)}, true)`;
    // two containers at once would both find nothing, and one of them fail
    await tx`select pg_advisory_xact_lock(${CREATION_LOCK})`;
    await checkExtension(tx);
    const [installed] = await tx`select from pg_extension where extname = 'vector'`;
    if (installed === undefined) {
      await tx.unsafe("create extension vector").catch((cause: unknown) => {
        throw extensionMissing(
          "The database's user may not create the extension pgvector: let its owner run `create extension vector`",
          cause,
        );
      });
    }
    await tx.unsafe(`
      create table if not exists "${name}" (
        chunk_id uuid primary key,
        document_id uuid not null,
        domain text not null,
        collection_id uuid,
        tags uuid[] not null,
        embedding vector(${dimension}) not null,
        language text,
        source text,
        crawled_at timestamptz
      )`);
    const [labelled] = await tx`select from pg_attribute where attrelid = ${name}::regclass and attname = 'language'`;
    if (labelled === undefined) {
      await tx.unsafe(
        `alter table "${name}" add column language text, add column source text, add column crawled_at timestamptz`,
      );
    }
    await tx.unsafe(`
      create index if not exists "${name}_document" on "${name}" (document_id);
      create index if not exists "${name}_domain" on "${name}" (domain);
      create index if not exists "${name}_collect" on "${name}" (collection_id);
      create index if not exists "${name}_tags" on "${name}" using gin (tags);
      create index if not exists "${name}_language" on "${name}" (language);
      create index if not exists "${name}_crawled" on "${name}" (crawled_at)`);
    if (dimension > MOST_INDEXED_DIMENSIONS) return;
    await tx.unsafe(`create index if not exists "${name}_hnsw" on "${name}" using hnsw (embedding vector_cosine_ops)`);
  });
}

/** Names that PostgreSQL would cut end with a hash. */
function tableName(descriptor: PgVectorOptions["descriptor"]): string {
  const name = collectionName("vectors", descriptor);
  if (name.length <= LONGEST_NAME) return name;
  const end = sha256(name).toString("hex").slice(0, 8);
  return `${name.slice(0, LONGEST_NAME - end.length - 1)}_${end}`;
}

function conditionsOf(tx: Transaction, filter: VectorFilter) {
  const { collectionIds, domains, documentIds, anyTag, allTags, languages, sources, dateFrom, dateTo } = filter;
  return [
    tx``,
    ...(collectionIds === undefined ? [] : [tx`and collection_id = any(${collectionIds}::uuid[])`]),
    ...(domains === undefined ? [] : [tx`and domain = any(${domains}::text[])`]),
    ...(documentIds === undefined ? [] : [tx`and document_id = any(${documentIds}::uuid[])`]),
    ...(anyTag === undefined ? [] : [tx`and tags && ${anyTag}::uuid[]`]),
    ...(allTags === undefined ? [] : [tx`and tags @> ${allTags}::uuid[]`]),
    // rows of before have none of these
    ...(languages === undefined ? [] : [tx`and (language = any(${languages}::text[]) or language is null)`]),
    ...(sources === undefined ? [] : [tx`and (source = any(${sources}::text[]) or source is null)`]),
    ...(dateFrom === undefined ? [] : [tx`and (crawled_at >= ${dateFrom}::timestamptz or crawled_at is null)`]),
    ...(dateTo === undefined ? [] : [tx`and (crawled_at <= ${dateTo}::timestamptz or crawled_at is null)`]),
  ];
}

async function areFew(tx: Transaction, name: string, conditions: ReturnType<typeof conditionsOf>): Promise<boolean> {
  const [row] = await tx<{ points: number }[]>`
    select count(*)::int as points from (select from ${tx(name)} where true ${conditions} limit ${EXACT_POINTS + 1}) matching`;
  return (row?.points ?? 0) <= EXACT_POINTS;
}

const textOf = (vector: Float32Array): string => `[${vector.join(",")}]`;

/** Of a table that is not there yet, or of no extension that its type belongs to. */
const isMissingTable = (error: unknown): boolean => databaseErrorCode(error) === "42P01";

/** What is not there holds nothing, and needs no deletion. */
async function unlessMissing<T>(nothing: T, work: () => Promise<T>): Promise<T> {
  try {
    return await guarded(work);
  } catch (error) {
    if (isMissingTable(error)) return nothing;
    throw error;
  }
}

const OUT_OF_TIME = new Set<string | undefined>(["57014" /* query_canceled */, "55P03" /* lock_not_available */]);

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isUnreachable(cause) && !OUT_OF_TIME.has(databaseErrorCode(cause))) throw cause;
    throw new RetryableError("PostgreSQL did not answer for its vectors", { code: "VECTOR_STORE_UNAVAILABLE", cause });
  }
}
