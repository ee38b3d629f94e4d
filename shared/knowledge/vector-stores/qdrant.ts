/**
 * Qdrant over its REST API (https://api.qdrant.tech/api-reference). Requests are typed by what Qdrant publishes with
 * its client, which stays out of the bundles: see decision 0051. The collection is created at the first write, with the
 * index settings of the reference.
 */
import type { Schemas } from "@qdrant/js-client-rest";
import { z } from "zod";
import { PermanentError, RetryableError, ThrottledError } from "../../platform/errors.ts";
import { CallFailed, callJson, type JsonCall, type JsonReply, jsonIfAny } from "../../platform/json-client.ts";
import { retryAfterMs } from "../../platform/retry-after.ts";
import type { EmbedderDescriptor } from "../embedders/embedder.ts";
import { collectionName } from "./collection-name.ts";
import type { PointLabels, VectorFilter, VectorPoint, VectorStore } from "./vector-store.ts";

export interface QdrantOptions {
  url: string;
  apiKey: string;
  /** Prefix of the collection's name. */
  collection: string;
  descriptor: Pick<EmbedderDescriptor, "model" | "dimension">;
  timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
const POINTS_PER_CALL = 100;
/** Least search-time accuracy of the HNSW index. */
const HNSW_EF = 128;
/** The fields that searches and deletes filter by, and no other: each index takes memory. */
const PAYLOAD_INDEXES = {
  document_id: "uuid",
  collection_id: "uuid",
  domain: "keyword",
  tags: "keyword",
  language: "keyword",
  source: "keyword",
  crawled_at: "datetime",
} as const;

/** Points of before lack some. */
const labelsSchema = z.object({
  document_id: z.string().optional(),
  collection_id: z.string().nullable().optional(),
  domain: z.string().optional(),
  source: z.enum(["crawl", "upload", "api"]).optional(),
  language: z.string().optional(),
  tags: z.array(z.string()).optional(),
});
const idsSchema = z.object({
  result: z.object({
    points: z.array(z.object({ id: z.string(), payload: labelsSchema.nullish() })),
    next_page_offset: z.string().nullish(),
  }),
});
const hitsSchema = z.object({
  result: z.object({ points: z.array(z.object({ id: z.string(), score: z.number() })) }),
});
const vectorsSchema = z.object({ result: z.array(z.object({ id: z.string(), vector: z.array(z.number()) })) });
const infoSchema = z.object({
  result: z.object({
    config: z.object({ params: z.object({ vectors: z.object({ size: z.number(), distance: z.string() }) }) }),
  }),
});

export function createQdrantStore(options: QdrantOptions): VectorStore {
  const name = collectionName(options.collection, options.descriptor);
  const { dimension } = options.descriptor;
  const path = `/collections/${name}`;
  const call = qdrantCaller(options);
  let ready: Promise<void> | undefined;

  async function upsert(points: readonly VectorPoint[]): Promise<void> {
    // a failed creation is tried again by the next write
    ready ??= createCollection(call, path, dimension).catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    await ready;
    const body = { points: points.map(toQdrant) } satisfies Schemas["PointsList"];
    const { status } = await call({ method: "PUT", path: `${path}/points?wait=true`, body }, [404]);
    if (status !== 404) return;
    ready = undefined;
    throw new RetryableError("The Qdrant collection vanished: it is created again", { code: "VECTOR_STORE_RESET" });
  }

  /** What is not there needs no deletion, and no collection for it. */
  async function remove(body: Schemas["PointsSelector"]): Promise<void> {
    await call({ method: "POST", path: `${path}/points/delete?wait=true`, body }, [404]);
  }

  async function scroll(after: string | null, limit: number, signal?: AbortSignal) {
    const body = {
      limit: after === null ? limit : limit + 1,
      with_payload: LABELS,
      ...(after === null ? {} : { offset: after }),
    } satisfies Schemas["ScrollRequest"];
    const reply = await call({ method: "POST", path: `${path}/points/scroll`, body, signal }, [404]);
    if (reply.status === 404) return { ids: [], labels: new Map<string, PointLabels>(), more: false };
    const { points, next_page_offset } = answerOf(reply, idsSchema).result;
    // the offset itself comes first where it is still there
    const others = points.filter(({ id }) => id !== after);
    const labels = new Map(others.map(({ id, payload }) => [id, labelsOf(payload ?? {})]));
    return { ids: [...labels.keys()], labels, more: typeof next_page_offset === "string" };
  }

  return {
    async upsert(points) {
      for (let start = 0; start < points.length; start += POINTS_PER_CALL) {
        await upsert(points.slice(start, start + POINTS_PER_CALL));
      }
    },
    async search(vector, limit, filter) {
      const conditions = toFilter(filter);
      const body = {
        query: [...vector],
        limit,
        ...(conditions === undefined ? {} : { filter: conditions }),
        params: searchParams(limit),
        with_payload: false,
      } satisfies Schemas["QueryRequest"];
      const reply = await call({ method: "POST", path: `${path}/points/query`, body }, [404]);
      // no collection: nothing was embedded yet
      if (reply.status === 404) return [];
      return answerOf(reply, hitsSchema).result.points.map(({ id, score }) => ({ chunkId: id, score }));
    },
    async read(chunkIds) {
      const found = new Map<string, Float32Array>();
      for (let start = 0; start < chunkIds.length; start += POINTS_PER_CALL) {
        const ids = chunkIds.slice(start, start + POINTS_PER_CALL);
        const body = { ids, with_vector: true, with_payload: false } satisfies Schemas["PointRequest"];
        const reply = await call({ method: "POST", path: `${path}/points`, body }, [404]);
        if (reply.status === 404) break;
        for (const { id, vector } of answerOf(reply, vectorsSchema).result) found.set(id, Float32Array.from(vector));
      }
      return found;
    },
    async deleteDocuments(documentIds) {
      if (documentIds.length === 0) return;
      const condition = { key: "document_id", match: { any: [...documentIds] } } satisfies Schemas["FieldCondition"];
      await remove({ filter: { must: [condition] } });
    },
    async deletePoints(chunkIds) {
      if (chunkIds.length > 0) await remove({ points: [...chunkIds] });
    },
    scan: (after, limit) => scroll(after, limit),
    async drop() {
      await call({ method: "DELETE", path }, [404]);
      ready = undefined;
    },
    async isEmpty(signal) {
      return (await scroll(null, 1, signal)).ids.length === 0;
    },
    async check(signal) {
      // unlike /readyz, it is not answered without the key
      const reply = await call({ method: "GET", path, signal }, [404]);
      if (reply.status !== 404) refuseMismatch(reply, dimension);
    },
    async close() {},
  };
}

const LABELS = Object.keys(labelsSchema.shape);

function labelsOf({ document_id, collection_id, ...labels }: z.output<typeof labelsSchema>): PointLabels {
  const named = { documentId: document_id, collectionId: collection_id, ...labels };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

type Call = Pick<JsonCall, "method" | "body" | "signal"> & { path: string };
type Caller = (call: Call, allowed?: readonly number[]) => Promise<JsonReply>;

/** @returns a function whose replies have a status of success, or one that is allowed */
function qdrantCaller({ url, apiKey, timeoutMs = TIMEOUT_MS }: QdrantOptions): Caller {
  const base = url.replace(/\/+$/, "");
  const headers: Record<string, string> = apiKey === "" ? {} : { "api-key": apiKey };
  return async ({ path, ...call }, allowed = []) => {
    const asked = { ...call, url: new URL(base + path), headers, timeoutMs };
    const reply = await callJson(asked)
      .catch((error: unknown) => {
        if (isDeadConnection(error)) return callJson(asked);
        throw error;
      })
      .catch((cause: unknown) => {
        const why = cause instanceof CallFailed ? ` (${cause.reason})` : "";
        throw new RetryableError(`Qdrant did not answer${why}: check QDRANT__URL and that it runs`, {
          code: "VECTOR_STORE_UNAVAILABLE",
          cause,
        });
      });
    if ((reply.status >= 200 && reply.status <= 299) || allowed.includes(reply.status)) return reply;
    throw refusal(reply);
  };
}

/** A connection that the server closed while it was idle; every call here may be made twice. */
function isDeadConnection(error: unknown): boolean {
  if (!(error instanceof CallFailed) || !(error.cause instanceof Error)) return false;
  const { cause } = error.cause;
  return cause instanceof Error && "code" in cause && /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(String(cause.code));
}

/** Of Qdrant's strict mode, which says what to do about it. */
const LIMIT = /strict mode|\bHelp: /i;
const DIMENSION = /dimension/i;

function refusal(reply: JsonReply): RetryableError | PermanentError {
  const { status, headers } = reply;
  const parsed = z.object({ status: z.object({ error: z.string() }) }).safeParse(jsonIfAny(reply));
  const reason = parsed.success ? parsed.data.status.error : "";
  const message = `Qdrant answered ${status}${reason === "" ? "" : `: ${reason}`}`;
  if (status === 429) {
    const wait = retryAfterMs(headers["retry-after"], Date.now());
    if (wait === undefined) return new RetryableError(message, { code: "VECTOR_STORE_BUSY" });
    return new ThrottledError(message, { code: "VECTOR_STORE_BUSY", retryAfterMs: wait });
  }
  // deployment faults: the messages must survive until they are mended
  if (LIMIT.test(reason)) {
    const advice = "Raise that limit of the collection's strict mode";
    return new RetryableError(`${message}. ${advice}`, { code: "VECTOR_STORE_LIMIT" });
  }
  if (status === 401 || status === 403) {
    return new RetryableError(`${message}. Check QDRANT__API_KEY`, { code: "VECTOR_STORE_KEY_REFUSED" });
  }
  if (status === 400 && DIMENSION.test(reason)) return mismatch(reason);
  if (status === 400 || status === 422) return new PermanentError(message, { code: "VECTOR_STORE_REFUSED" });
  return new RetryableError(message, { code: "VECTOR_STORE_UNAVAILABLE" });
}

const mismatch = (reason: string) =>
  new RetryableError(
    `The Qdrant collection does not fit the embedding model (${reason}): delete it, or set QDRANT__COLLECTION`,
    { code: "VECTOR_STORE_MISMATCH" },
  );

/** @throws RetryableError where it is none that this store would have made */
function refuseMismatch(reply: JsonReply, dimension: number): void {
  const parsed = infoSchema.safeParse(jsonIfAny(reply));
  if (!parsed.success) throw mismatch("it has no vectors of its own, or several");
  const { size, distance } = parsed.data.result.config.params.vectors;
  if (size !== dimension) throw mismatch(`its vectors have ${size} numbers, those of the model ${dimension}`);
  if (distance !== "Cosine") throw mismatch(`it compares by ${distance}, not by cosine`);
}

function answerOf<T>(reply: JsonReply, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(jsonIfAny(reply));
  if (parsed.success) return parsed.data;
  throw new RetryableError("Qdrant's answer has no points", { code: "VECTOR_STORE_ANSWER_INVALID" });
}

async function createCollection(call: Caller, path: string, size: number): Promise<void> {
  const found = await call({ method: "GET", path }, [404]);
  if (found.status === 404) {
    const body = {
      vectors: { size, distance: "Cosine", on_disk: true } satisfies Schemas["VectorParams"],
      hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10_000 } satisfies Schemas["HnswConfigDiff"],
      quantization_config: {
        scalar: { type: "int8", quantile: 0.99, always_ram: true },
      } satisfies Schemas["ScalarQuantization"],
    } satisfies Schemas["CreateCollection"];
    // 409: another container was first
    await call({ method: "PUT", path, body }, [409]);
  } else refuseMismatch(found, size);
  // idempotent, and completes what a container that died half-way left
  for (const [field_name, field_schema] of Object.entries(PAYLOAD_INDEXES)) {
    const body = { field_name, field_schema } satisfies Schemas["CreateFieldIndex"];
    await call({ method: "PUT", path: `${path}/index?wait=true`, body });
  }
}

/** Hits of the int8 codes are scored anew by the vectors themselves: recall@10 .999 instead of .983. */
const searchParams = (limit: number) =>
  ({
    hnsw_ef: Math.max(HNSW_EF, 2 * limit),
    quantization: { rescore: true } satisfies Schemas["QuantizationSearchParams"],
  }) satisfies Schemas["SearchParams"];

function toQdrant({ chunkId, vector, payload }: VectorPoint) {
  return {
    id: chunkId,
    vector: [...vector],
    payload: {
      chunk_id: chunkId,
      document_id: payload.documentId,
      generation_id: payload.generationId,
      collection_id: payload.collectionId,
      domain: payload.domain,
      url: payload.url,
      title: payload.title,
      source: payload.source,
      language: payload.language,
      tags: payload.tags,
      crawled_at: payload.crawledAt,
    },
  } satisfies Schemas["PointStruct"];
}

function toFilter(filter: VectorFilter = {}) {
  const { collectionIds, domains, documentIds, anyTag, allTags = [], languages, sources, dateFrom, dateTo } = filter;
  const anyOf = (key: keyof typeof PAYLOAD_INDEXES, any: readonly string[] | undefined) =>
    any === undefined ? [] : [{ key, match: { any: [...any] } } satisfies Schemas["FieldCondition"]];
  const range = {
    ...(dateFrom && { gte: dateFrom }),
    ...(dateTo && { lte: dateTo }),
  } satisfies Schemas["DatetimeRange"];
  const must = [
    ...anyOf("collection_id", collectionIds),
    ...anyOf("domain", domains),
    ...anyOf("document_id", documentIds),
    ...anyOf("tags", anyTag),
    ...allTags.flatMap((tag) => anyOf("tags", [tag])),
    ...anyOf("source", sources),
    ...((dateFrom ?? dateTo) ? [{ key: "crawled_at", range } satisfies Schemas["FieldCondition"]] : []),
    // points of before have no language
    ...anyOf("language", languages).map((known) => ({ should: [known, { is_empty: { key: "language" } }] })),
  ];
  return must.length === 0 ? undefined : ({ must } satisfies Schemas["Filter"]);
}
