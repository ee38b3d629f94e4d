/**
 * Qdrant over its REST API (https://api.qdrant.tech/api-reference): six calls, so no client library in the bundles.
 * The collection is created at the first write, with the index settings of the reference.
 */
import { z } from "zod";
import { PermanentError, RetryableError } from "../../platform/errors.ts";
import type { EmbedderDescriptor } from "../embedders/embedder.ts";
import { collectionName } from "./collection-name.ts";
import type { VectorFilter, VectorPoint, VectorStore } from "./vector-store.ts";

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
/** Search-time accuracy of the HNSW index. */
const HNSW_EF = 128;
const PAYLOAD_INDEXES = {
  document_id: "uuid",
  generation_id: "uuid",
  collection_id: "uuid",
  domain: "keyword",
  tags: "keyword",
  source: "keyword",
} as const;

const hitsSchema = z.object({
  result: z.object({ points: z.array(z.object({ id: z.string(), score: z.number() })) }),
});

export function createQdrantStore(options: QdrantOptions): VectorStore {
  const name = collectionName(options.collection, options.descriptor);
  const call = qdrantCaller(options);
  let ready: Promise<void> | undefined;

  async function write(method: "PUT" | "POST", path: string, body: unknown): Promise<void> {
    // a failed creation is tried again by the next write
    ready ??= createCollection(call, name, options.descriptor.dimension).catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    await ready;
    const { status } = await call(method, `/collections/${name}${path}?wait=true`, body, [404]);
    if (status === 404) {
      ready = undefined;
      throw new RetryableError("The Qdrant collection vanished: it is created again", { code: "VECTOR_STORE_RESET" });
    }
  }

  return {
    async upsert(points) {
      for (let start = 0; start < points.length; start += POINTS_PER_CALL) {
        await write("PUT", "/points", { points: points.slice(start, start + POINTS_PER_CALL).map(toQdrant) });
      }
    },
    async search(vector, limit, filter) {
      const answer = await call(
        "POST",
        `/collections/${name}/points/query`,
        { query: [...vector], limit, filter: toFilter(filter), params: { hnsw_ef: HNSW_EF }, with_payload: false },
        [404],
      );
      // no collection: nothing was embedded yet
      if (answer.status === 404) return [];
      const parsed = hitsSchema.safeParse(answer.body);
      if (!parsed.success) {
        throw new RetryableError("Qdrant's answer has no points", { code: "VECTOR_STORE_ANSWER_INVALID" });
      }
      return parsed.data.result.points.map(({ id, score }) => ({ chunkId: id, score }));
    },
    async deleteDocuments(documentIds) {
      if (documentIds.length === 0) return;
      const filter = { must: [{ key: "document_id", match: { any: documentIds } }] };
      await write("POST", "/points/delete", { filter });
    },
    async isEmpty(signal) {
      const body = { limit: 1, with_payload: false };
      const answer = await call("POST", `/collections/${name}/points/scroll`, body, [404], signal);
      if (answer.status === 404) return true;
      const parsed = z.object({ result: z.object({ points: z.array(z.unknown()) }) }).safeParse(answer.body);
      return parsed.success && parsed.data.result.points.length === 0;
    },
    async check(signal) {
      // unlike /readyz, it is not answered without the key
      await call("GET", `/collections/${name}`, undefined, [404], signal);
    },
    async close() {},
  };
}

type Caller = (
  method: string,
  path: string,
  body: unknown,
  allowed?: readonly number[],
  signal?: AbortSignal,
) => Promise<{ status: number; body: unknown }>;

function qdrantCaller({ url, apiKey, timeoutMs = TIMEOUT_MS }: QdrantOptions): Caller {
  const base = url.replace(/\/+$/, "");
  const headers = { "content-type": "application/json", ...(apiKey === "" ? {} : { "api-key": apiKey }) };
  return async (method, path, body, allowed = [], signal) => {
    let response: Response;
    let text: string;
    try {
      const init = body === undefined ? {} : { body: JSON.stringify(body) };
      response = await fetch(base + path, {
        method,
        headers,
        signal: signal ?? AbortSignal.timeout(timeoutMs),
        ...init,
      });
      text = await response.text();
    } catch (cause) {
      throw new RetryableError("Qdrant did not answer: check QDRANT__URL and that it runs", {
        code: "VECTOR_STORE_UNAVAILABLE",
        cause,
      });
    }
    const json = parseJson(text);
    if (response.ok || allowed.includes(response.status)) return { status: response.status, body: json };
    throw refusal(response.status, json);
  };
}

/** `/readyz` answers plain text; so do proxies in front of a server that is down. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(status: number, body: unknown): RetryableError | PermanentError {
  const parsed = z.object({ status: z.object({ error: z.string() }) }).safeParse(body);
  const message = `Qdrant answered ${status}${parsed.success ? `: ${parsed.data.status.error}` : ""}`;
  if (status === 401 || status === 403) {
    // a deployment fault: the messages must survive until it is mended
    return new RetryableError(`${message}. Check QDRANT__API_KEY`, { code: "VECTOR_STORE_KEY_REFUSED" });
  }
  if (status === 400 || status === 422) return new PermanentError(message, { code: "VECTOR_STORE_REFUSED" });
  return new RetryableError(message, { code: "VECTOR_STORE_UNAVAILABLE" });
}

async function createCollection(call: Caller, name: string, size: number): Promise<void> {
  const { status } = await call("GET", `/collections/${name}`, undefined, [404]);
  if (status === 404) {
    const settings = {
      vectors: { size, distance: "Cosine", on_disk: true },
      hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10_000 },
      quantization_config: { scalar: { type: "int8", quantile: 0.99, always_ram: true } },
    };
    // 409: another container was first
    await call("PUT", `/collections/${name}`, settings, [409]);
  }
  // idempotent, and completes what a container that died half-way left
  for (const [field_name, field_schema] of Object.entries(PAYLOAD_INDEXES)) {
    await call("PUT", `/collections/${name}/index?wait=true`, { field_name, field_schema });
  }
}

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
      tags: payload.tags,
      crawled_at: payload.crawledAt,
    },
  };
}

function toFilter({ collectionIds, domains }: VectorFilter = {}) {
  const must = [
    ...(collectionIds === undefined ? [] : [{ key: "collection_id", match: { any: collectionIds } }]),
    ...(domains === undefined ? [] : [{ key: "domain", match: { any: domains } }]),
  ];
  return must.length === 0 ? undefined : { must };
}
