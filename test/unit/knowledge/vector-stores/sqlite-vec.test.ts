import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { seededRandom } from "../../../../bench/zipf-corpus.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import type { VectorPoint } from "../../../../shared/knowledge/vector-stores/vector-store.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";

const descriptor = { model: "test-model", dimension: 64 };

async function vectorFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "strandline-vectors-"));
  onTestFinished(async () => await rm(directory, { recursive: true, force: true }));
  return join(directory, "deep", "vectors.sqlite");
}

function openStore(path: string, busyTimeoutMs?: number) {
  const store = createSqliteVectorStore({ path, descriptor, ...(busyTimeoutMs !== undefined && { busyTimeoutMs }) });
  onTestFinished(() => store.close().catch(() => {}));
  return store;
}

function point(vector: Float32Array, payload: Partial<VectorPoint["payload"]> = {}): VectorPoint {
  return {
    chunkId: uuidv7(),
    vector,
    payload: {
      documentId: uuidv7(),
      generationId: uuidv7(),
      collectionId: null,
      domain: "site.example",
      url: "https://site.example/",
      title: null,
      source: "crawl",
      language: "en",
      tags: [],
      crawledAt: "2026-01-01T00:00:00.000Z",
      ...payload,
    },
  };
}

function randomVectors(count: number, seed = 1): Float32Array[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const vector = Float32Array.from({ length: descriptor.dimension }, () => random() - 0.5);
    const norm = Math.hypot(...vector);
    return vector.map((value) => value / norm);
  });
}

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

describe("the sqlite-vec store", () => {
  test("leaves deleted points out of memory without reading the others again", async () => {
    const path = await vectorFile();
    const [writer, reader] = [openStore(path), openStore(path)];
    const vectors = randomVectors(3_000);
    const points = vectors.map((vector, at) => point(vector, { domain: `d${at % 7}.example` }));
    await writer.upsert(points);
    const query = vectors[0] ?? new Float32Array();
    expect(await reader.search(query, 1)).toMatchObject([{ chunkId: points[0]?.chunkId }]);
    const file = new DatabaseSync(path);
    const [table] = file
      .prepare("select name from sqlite_master where name like 'points%' and name not like '%vectors'")
      .all();
    file.exec(`update "${table?.["name"]}" set domain = 'changed behind its back'`);
    file.close();
    await writer.deletePoints(points.filter((_, at) => at % 3 === 1).map(({ chunkId }) => chunkId));
    const added = point(query, { domain: "d1.example" });
    await writer.upsert([added]);
    const left = [...points.filter((_, at) => at % 3 !== 1), added];
    const best = left
      .filter(({ payload }) => payload.domain === "d1.example")
      .toSorted((a, b) => cosine(b.vector, query) - cosine(a.vector, query));
    const found = await reader.search(query, 20, { domains: ["d1.example"] });
    expect(found.map(({ chunkId }) => chunkId)).toEqual(best.slice(0, 20).map(({ chunkId }) => chunkId));
    expect(await reader.search(query, 20, { domains: ["changed behind its back"] })).toEqual([]);
  });

  test("opens a file of before, whose points have no tags, and filters by those of new ones", async () => {
    const path = await vectorFile();
    const [vector = new Float32Array()] = randomVectors(1);
    const [old, tagged, other] = [point(vector), point(vector, { tags: ["a"] }), point(vector, { tags: ["b"] })];
    const before = openStore(path);
    await before.upsert([old]);
    await before.close();
    const db = new DatabaseSync(path);
    db.exec('alter table "points_test-model_64" drop column tags');
    db.close();
    const store = openStore(path);
    await store.upsert([tagged, other]);
    const found = (await store.search(vector, 10, { anyTag: ["a"] })).map(({ chunkId }) => chunkId);
    expect(found.toSorted()).toEqual([old.chunkId, tagged.chunkId].toSorted());
  });

  test("finds the nearest by cosine, best first", async () => {
    const store = openStore(await vectorFile());
    const points = randomVectors(3_000).map((vector) => point(vector));
    await store.upsert(points);
    const [query = new Float32Array()] = randomVectors(1, 99);
    const exact = points
      .map(({ chunkId, vector }) => ({ chunkId, score: cosine(query, vector) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 20);
    const found = await store.search(query, 20);
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
    const recalled = exact.filter(({ chunkId }) => found.some((hit) => hit.chunkId === chunkId));
    expect(recalled.length).toBeGreaterThanOrEqual(18);
    expect(found[0]?.score).toBeCloseTo(exact[0]?.score ?? 0, 5);
  });

  test("replaces a point with the same chunk id", async () => {
    const store = openStore(await vectorFile());
    const [before = new Float32Array(), after = new Float32Array()] = randomVectors(2);
    const first = point(before);
    await store.upsert([first]);
    await store.search(before, 1);
    await store.upsert([{ ...first, vector: after }]);
    expect(await store.search(after, 5)).toEqual([{ chunkId: first.chunkId, score: expect.closeTo(1, 5) }]);
  });

  test("filters by domain and collection", async () => {
    const store = openStore(await vectorFile());
    const [vector = new Float32Array()] = randomVectors(1);
    const collectionId = uuidv7();
    const wanted = point(vector, { domain: "a.example", collectionId });
    await store.upsert([wanted, point(vector, { domain: "a.example" }), point(vector, { collectionId })]);
    const ids = async (filter: object) => (await store.search(vector, 10, filter)).map(({ chunkId }) => chunkId);
    expect(await ids({ domains: ["a.example"], collectionIds: [collectionId] })).toEqual([wanted.chunkId]);
    expect(await ids({ domains: ["a.example", "b.example"] })).toHaveLength(2);
    expect(await ids({ domains: ["c.example"] })).toEqual([]);
  });

  test("deletes by document, and forgets what it deleted", async () => {
    const store = openStore(await vectorFile());
    const points = randomVectors(50).map((vector) => point(vector));
    await store.upsert(points);
    const [first] = points;
    await store.search(first?.vector ?? new Float32Array(), 1);
    await store.deleteDocuments(points.slice(0, 49).map(({ payload }) => payload.documentId));
    const found = await store.search(first?.vector ?? new Float32Array(), 10);
    expect(found.map(({ chunkId }) => chunkId)).toEqual([points[49]?.chunkId]);
  });

  test("sees at once what another connection wrote or deleted", async () => {
    const path = await vectorFile();
    const [writer, reader] = [openStore(path), openStore(path)];
    const [vector = new Float32Array(), other = new Float32Array()] = randomVectors(2);
    expect(await reader.search(vector, 5)).toEqual([]);
    const written = point(vector);
    await writer.upsert([written]);
    expect(await reader.search(vector, 5)).toHaveLength(1);
    await writer.upsert([point(other)]);
    expect(await reader.search(vector, 5)).toHaveLength(2);
    await writer.deleteDocuments([written.payload.documentId]);
    expect(await reader.search(vector, 5)).toHaveLength(1);
  });

  test("takes writes of several threads at once, with readers beside them", async () => {
    const path = await vectorFile();
    const script = `
      import { parentPort } from "node:worker_threads";
      import { createSqliteVectorStore } from ${JSON.stringify(new URL("../../../../shared/knowledge/vector-stores/sqlite-vec.ts", import.meta.url).href)};
      const store = createSqliteVectorStore({ path: ${JSON.stringify(path)}, descriptor: ${JSON.stringify(descriptor)} });
      const vector = Float32Array.from({ length: ${descriptor.dimension} }, (_, at) => Math.sin(at + Math.random()));
      for (let round = 0; round < 40; round++) {
        const points = Array.from({ length: 5 }, () => ({ chunkId: crypto.randomUUID(), vector, payload: {
          documentId: crypto.randomUUID(), domain: "d", collectionId: null, tags: [], language: "en", source: "crawl",
          crawledAt: "2026-01-01T00:00:00Z" } }));
        await store.upsert(points);
        await store.search(vector, 3);
      }
      await store.close();
      parentPort.postMessage("done");`;
    const workers = Array.from(
      { length: 4 },
      () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`)),
    );
    await Promise.all(
      workers.map((worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))),
    );
    await Promise.all(workers.map((worker) => worker.terminate()));
    const [vector = new Float32Array()] = randomVectors(1);
    expect(await openStore(path).search(vector, 2_000)).toHaveLength(800);
  });

  test("a file that stays locked means trying again later, and harms nothing", async () => {
    const path = await vectorFile();
    const store = openStore(path, 50);
    const [vector = new Float32Array()] = randomVectors(1);
    await store.upsert([point(vector)]);
    const locker = new DatabaseSync(path);
    locker.exec("begin immediate");
    await expect(store.upsert([point(vector)])).rejects.toMatchObject({
      name: "RetryableError",
      code: "VECTOR_STORE_UNAVAILABLE",
    });
    expect(await store.search(vector, 5)).toHaveLength(1);
    locker.exec("rollback");
    locker.close();
    await store.upsert([point(vector)]);
    expect(await store.search(vector, 5)).toHaveLength(2);
  });

  test("keeps models and dimensions apart in one file", async () => {
    const path = await vectorFile();
    const [vector = new Float32Array()] = randomVectors(1);
    await openStore(path).upsert([point(vector)]);
    const other = createSqliteVectorStore({ path, descriptor: { model: "test-model", dimension: 3 } });
    expect(await other.search(Float32Array.of(1, 0, 0), 5)).toEqual([]);
    await other.close();
  });
});
