/** Against a double of what Qdrant documents that it answers: https://api.qdrant.tech/api-reference */
import { describe, expect, test } from "vitest";
import { createQdrantStore } from "../../../../shared/knowledge/vector-stores/qdrant.ts";
import type { VectorPoint } from "../../../../shared/knowledge/vector-stores/vector-store.ts";
import { PermanentError, RetryableError } from "../../../../shared/platform/errors.ts";
import { type DoubleAnswer, httpDouble, type ReceivedRequest } from "../../../services/http-double.ts";
import { slowness } from "../../../services/slowness.ts";

const NAME = "strandline_qwen-qwen3-embedding-0-6b_3";
const OK = { body: { result: true, status: "ok", time: 0.001 } };
const refused = (status: number, error: string): DoubleAnswer => ({ status, body: { status: { error }, time: 0.001 } });

const infoOf = (size: number, distance = "Cosine"): DoubleAnswer => ({
  body: { result: { config: { params: { vectors: { size, distance } } } }, status: "ok", time: 0.001 },
});

/** A server without collections; `fault` answers first where it wants to. */
function qdrant(fault: (request: ReceivedRequest) => DoubleAnswer | "hang up" | "stall" | undefined = () => undefined) {
  const collections = new Set<string>();
  return httpDouble((request) => {
    const faulty = fault(request);
    if (faulty !== undefined) return faulty;
    const [, , name = "", ...rest] = (request.path.split("?")[0] ?? "").split("/");
    if (request.path === "/readyz") return { body: "all shards are ready" };
    if (rest.length === 0 && request.method === "PUT") {
      if (collections.has(name)) return refused(409, `Wrong input: Collection \`${name}\` already exists!`);
      collections.add(name);
      return OK;
    }
    if (!collections.has(name)) return refused(404, `Not found: Collection \`${name}\` doesn't exist!`);
    if (rest.length === 0 && request.method === "GET") return infoOf(3);
    if (rest.join("/") === "points/query") {
      const points = [{ id: POINT.chunkId, version: 3, score: 0.75 }];
      return { body: { result: { points }, status: "ok", time: 0.001 } };
    }
    return OK;
  });
}

const storeAt = (url: string, timeoutMs = 5_000) =>
  createQdrantStore({
    url,
    apiKey: "secret",
    collection: "strandline",
    descriptor: { model: "Qwen/Qwen3-Embedding-0.6B", dimension: 3 },
    timeoutMs,
  });

const POINT: VectorPoint = {
  chunkId: "01990000-0000-7000-8000-000000000001",
  vector: Float32Array.of(0.5, 0.25, 1),
  payload: {
    documentId: "01990000-0000-7000-8000-000000000002",
    generationId: "01990000-0000-7000-8000-000000000003",
    collectionId: null,
    domain: "site.example",
    url: "https://site.example/",
    title: "Site",
    source: "crawl",
    language: "en",
    tags: ["t"],
    crawledAt: "2026-01-01T00:00:00.000Z",
  },
};

describe("the Qdrant store", () => {
  test("creates the collection with its indexes at the first write, once", async () => {
    const { url, requests } = await qdrant();
    const store = storeAt(url);
    await Promise.all([store.upsert([POINT]), store.upsert([POINT])]);
    await store.upsert([POINT]);
    const creations = requests.filter(({ method, path }) => method === "PUT" && path === `/collections/${NAME}`);
    expect(creations.map(({ body }) => body)).toEqual([
      {
        vectors: { size: 3, distance: "Cosine", on_disk: true },
        hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10_000 },
        quantization_config: { scalar: { type: "int8", quantile: 0.99, always_ram: true } },
      },
    ]);
    const indexes = requests.filter(({ path }) => path.endsWith("/index?wait=true")).map(({ body }) => body);
    expect(indexes).toEqual([
      { field_name: "document_id", field_schema: "uuid" },
      { field_name: "collection_id", field_schema: "uuid" },
      { field_name: "domain", field_schema: "keyword" },
      { field_name: "tags", field_schema: "keyword" },
      { field_name: "language", field_schema: "keyword" },
      { field_name: "source", field_schema: "keyword" },
      { field_name: "crawled_at", field_schema: "datetime" },
    ]);
    const [upsert] = requests.filter(({ path }) => path === `/collections/${NAME}/points?wait=true`);
    expect(upsert?.headers["api-key"]).toBe("secret");
    expect(upsert?.body).toEqual({
      points: [
        {
          id: POINT.chunkId,
          vector: [0.5, 0.25, 1],
          payload: {
            chunk_id: POINT.chunkId,
            document_id: POINT.payload.documentId,
            generation_id: POINT.payload.generationId,
            collection_id: null,
            domain: "site.example",
            url: "https://site.example/",
            title: "Site",
            source: "crawl",
            language: "en",
            tags: ["t"],
            crawled_at: "2026-01-01T00:00:00.000Z",
          },
        },
      ],
    });
  });

  test("searches with filters, and finds nothing where nothing was stored yet", async () => {
    const { url, requests } = await qdrant();
    const store = storeAt(url);
    expect(await store.search(POINT.vector, 5)).toEqual([]);
    await store.upsert([POINT]);
    expect(await store.search(POINT.vector, 5, { domains: ["a", "b"], collectionIds: ["c"] })).toEqual([
      { chunkId: POINT.chunkId, score: 0.75 },
    ]);
    expect(requests.at(-1)?.body).toEqual({
      query: [0.5, 0.25, 1],
      limit: 5,
      filter: {
        must: [
          { key: "collection_id", match: { any: ["c"] } },
          { key: "domain", match: { any: ["a", "b"] } },
        ],
      },
      params: { hnsw_ef: 128, quantization: { rescore: true } },
      with_payload: false,
    });
    await store.search(POINT.vector, 200);
    expect(requests.at(-1)?.body).toMatchObject({ params: { hnsw_ef: 400 } });
  });

  test("writes a hundred points a call", async () => {
    const { url, requests } = await qdrant();
    await storeAt(url).upsert(Array.from({ length: 250 }, () => POINT));
    const sizes = requests
      .filter(({ path }) => path.endsWith("/points?wait=true"))
      .map(({ body }) => (body as { points: unknown[] }).points.length);
    expect(sizes).toEqual([100, 100, 50]);
  });

  test("deletes by document", async () => {
    const { url, requests } = await qdrant();
    const store = storeAt(url);
    await store.deleteDocuments([]);
    expect(requests).toEqual([]);
    await store.deleteDocuments(["d1", "d2"]);
    expect(requests, "and makes no collection for it").toMatchObject([
      {
        method: "POST",
        path: `/collections/${NAME}/points/delete?wait=true`,
        body: { filter: { must: [{ key: "document_id", match: { any: ["d1", "d2"] } }] } },
      },
    ]);
  });

  test("creates a collection again that vanished", async () => {
    let vanished = false;
    const { url } = await qdrant(({ path }) => {
      if (!vanished || !path.includes("/points")) return undefined;
      vanished = false;
      return refused(404, "Not found: Collection doesn't exist!");
    });
    const store = storeAt(url);
    await store.upsert([POINT]);
    vanished = true;
    await expect(store.upsert([POINT])).rejects.toBeInstanceOf(RetryableError);
    await store.upsert([POINT]);
  });

  test.each([
    [500, "VECTOR_STORE_UNAVAILABLE"],
    [503, "VECTOR_STORE_UNAVAILABLE"],
    [429, "VECTOR_STORE_BUSY"],
    [401, "VECTOR_STORE_KEY_REFUSED"],
    [403, "VECTOR_STORE_KEY_REFUSED"],
  ])("tries again later after %i", async (status, code) => {
    const { url } = await qdrant(() => refused(status, "no"));
    const store = storeAt(url);
    await expect(store.upsert([POINT])).rejects.toMatchObject({ name: "RetryableError", code });
    await expect(store.search(POINT.vector, 5)).rejects.toBeInstanceOf(RetryableError);
    await expect(store.check(AbortSignal.timeout(1_000))).rejects.toBeInstanceOf(RetryableError);
  });

  test.each([
    ["7", 7_000],
    [new Date(Date.now() + 3_600_000).toUTCString(), 900_000],
  ])("stays away for as long as an overloaded server says: %s", async (value, retryAfterMs) => {
    const { url } = await qdrant(() => ({ ...refused(429, "Rate limit"), headers: { "retry-after": value } }));
    const throttled = { name: "ThrottledError", code: "VECTOR_STORE_BUSY", retryAfterMs };
    await expect(storeAt(url).search(POINT.vector, 5)).rejects.toMatchObject(throttled);
  });

  test("names the limit of strict mode that is in the way, and keeps the work for later", async () => {
    const help =
      'Bad request: Limit exceeded 400 > 100 for "limit". Help: Reduce the "limit" parameter to or below 100.';
    const { url } = await qdrant(({ path }) => (path.includes("query") ? refused(400, help) : undefined));
    const limited = storeAt(url).search(POINT.vector, 400);
    await expect(limited).rejects.toMatchObject({ name: "RetryableError", code: "VECTOR_STORE_LIMIT" });
    await expect(limited).rejects.toThrow("Help: Reduce");
  });

  test.each([
    ["of another dimension", infoOf(4)],
    ["compared by another measure", infoOf(3, "Dot")],
    ["of named vectors", { body: { result: { config: { params: { vectors: { text: { size: 3 } } } } } } }],
  ])("writes nothing into a collection %s, and says so", async (_name, info) => {
    const { url, requests } = await qdrant(({ method }) => (method === "GET" ? info : undefined));
    const store = storeAt(url);
    const unfit = { name: "RetryableError", code: "VECTOR_STORE_MISMATCH" };
    await expect(store.upsert([POINT])).rejects.toMatchObject(unfit);
    await expect(store.check(AbortSignal.timeout(1_000))).rejects.toMatchObject(unfit);
    expect(requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });

  test("asks once more over a connection that the server had closed", async () => {
    let closed = 0;
    const { url, requests } = await qdrant(({ path }) =>
      path.includes("query") && closed++ === 0 ? "hang up" : undefined,
    );
    expect(await storeAt(url).search(POINT.vector, 5)).toEqual([]);
    expect(requests).toHaveLength(2);
  });

  test("heeds the signal as well as its own time", async () => {
    const { url } = await qdrant(() => "stall");
    const started = performance.now();
    const code = "VECTOR_STORE_UNAVAILABLE";
    await expect(storeAt(url).check(AbortSignal.timeout(50))).rejects.toMatchObject({ code });
    await expect(storeAt(url, 50).check(AbortSignal.timeout(5_000))).rejects.toMatchObject({ code });
    expect(performance.now() - started).toBeLessThan(3_000 * slowness());
  });

  test("gives up points that are refused", async () => {
    const { url } = await qdrant(({ path }) =>
      path.includes("/points") ? refused(400, "Wrong input: the payload is no object") : undefined,
    );
    const refusal = await storeAt(url)
      .upsert([POINT])
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PermanentError);
    expect(String(refusal)).toContain("the payload is no object");
  });

  test.each(["hang up", "stall"] as const)("tries again later where the server does %s", async (fault) => {
    const { url } = await qdrant(() => fault);
    await expect(storeAt(url, 200).upsert([POINT])).rejects.toMatchObject({ code: "VECTOR_STORE_UNAVAILABLE" });
  });

  test("takes no answer without points", async () => {
    const { url } = await qdrant(({ path }) => (path.includes("query") ? { body: { result: [] } } : undefined));
    await expect(storeAt(url).search(POINT.vector, 5)).rejects.toMatchObject({ code: "VECTOR_STORE_ANSWER_INVALID" });
  });

  test("answers a check", async () => {
    const { url } = await qdrant();
    await storeAt(url).check(AbortSignal.timeout(1_000));
  });
});
