/**
 * What every vector store does, asked of each. Qdrant is a real server where `QDRANT__URL` names one (with
 * `QDRANT__API_KEY`), else its stand-in.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { STATIC_DESCRIPTOR } from "../../../../shared/knowledge/embedders/static/static-descriptor.ts";
import { createPgVectorStore } from "../../../../shared/knowledge/vector-stores/pgvector.ts";
import { createQdrantStore } from "../../../../shared/knowledge/vector-stores/qdrant.ts";
import { createVectorStore } from "../../../../shared/knowledge/vector-stores/registry.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import type { VectorPoint, VectorStore } from "../../../../shared/knowledge/vector-stores/vector-store.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { connectDatabase } from "../../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/database.ts";
import { type PgVectorDatabase, pgVectorDatabase } from "../../../services/pgvector-database.ts";
import { QDRANT_VERSION, type QdrantServer, startQdrant } from "../../../services/qdrant-server.ts";

const DIMENSION = 8;
const KEY = "contract";

interface Kind {
  start(): Promise<void>;
  open(model: string): VectorStore;
  stop(): Promise<void>;
}

function sqlite(): Kind {
  let directory: string;
  return {
    async start() {
      directory = await mkdtemp(join(tmpdir(), "strandline-contract-"));
    },
    open: (model) =>
      createSqliteVectorStore({ path: join(directory, "vectors.sqlite"), descriptor: { model, dimension: DIMENSION } }),
    stop: () => rm(directory, { recursive: true, force: true }),
  };
}

function qdrant(realUrl: string | undefined): Kind {
  let server: QdrantServer | undefined;
  return {
    async start() {
      if (realUrl === undefined) server = await startQdrant(KEY);
    },
    open: (model) =>
      createQdrantStore({
        url: realUrl ?? server?.url ?? "",
        apiKey: realUrl === undefined ? KEY : (process.env["QDRANT__API_KEY"] ?? ""),
        collection: "strandline-contract",
        descriptor: { model, dimension: DIMENSION },
      }),
    async stop() {
      server?.close();
    },
  };
}

/** The real extension where `PGVECTOR_TEST_URL` names a database that has it. */
function pgvector(realUrl: string | undefined): Kind {
  let database: PgVectorDatabase | undefined;
  return {
    async start() {
      if (realUrl === undefined) database = await pgVectorDatabase();
    },
    open: (model) =>
      createPgVectorStore({
        sql: connectDatabase({ url: realUrl ?? database?.url ?? "", poolSize: 1 }),
        descriptor: { model, dimension: DIMENSION },
      }),
    async stop() {
      await database?.close();
    },
  };
}

const REAL_PGVECTOR = process.env["PGVECTOR_TEST_URL"] || undefined;
const REAL = process.env["QDRANT__URL"] || undefined;
const KINDS: [string, Kind][] = [
  ["sqlite-vec", sqlite()],
  [REAL === undefined ? `a stand-in for Qdrant ${QDRANT_VERSION}` : "Qdrant", qdrant(REAL)],
  [REAL_PGVECTOR === undefined ? "a stand-in for pgvector" : "pgvector", pgvector(REAL_PGVECTOR)],
];

/** Of length 1; the nearer the angles, the more alike. */
const at = (angle: number) => {
  const vector = new Float32Array(DIMENSION);
  vector[0] = Math.cos(angle);
  vector[1] = Math.sin(angle);
  return vector;
};

function point(angle: number, payload: Partial<VectorPoint["payload"]> = {}): VectorPoint {
  return {
    chunkId: uuidv7(),
    vector: at(angle),
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

describe.each(KINDS)("%s", (_name, kind) => {
  const opened: VectorStore[] = [];
  const open = (model = `model ${uuidv7()}`) => {
    const store = kind.open(model);
    opened.push(store);
    return store;
  };
  const signal = () => AbortSignal.timeout(5_000);
  const ids = (points: readonly VectorPoint[]) => points.map(({ chunkId }) => chunkId);
  const found = async (store: VectorStore, angle: number, limit = 10, filter = {}) =>
    (await store.search(at(angle), limit, filter)).map(({ chunkId }) => chunkId);

  beforeAll(() => kind.start());
  afterEach(async () => {
    for (const store of opened.splice(0)) {
      await store.drop();
      await store.close();
    }
  });
  afterAll(() => kind.stop());

  test("knows nothing before the first write, and nothing of deletes then", async () => {
    const store = open();
    await store.check(signal());
    expect(await store.isEmpty(signal())).toBe(true);
    expect(await store.search(at(0), 5)).toEqual([]);
    expect(await store.scan(null, 5)).toEqual({ ids: [], labels: new Map(), more: false });
    await store.deleteDocuments([uuidv7()]);
    await store.deletePoints([uuidv7()]);
    expect(await store.isEmpty(signal())).toBe(true);
  });

  test("finds the nearest first, by cosine, and no more than asked for", async () => {
    const store = open();
    const points = [0.3, 0.1, 0.2, 3].map((angle) => point(angle));
    await store.upsert(points);
    const hits = await store.search(at(0), 3);
    expect(hits.map(({ chunkId }) => chunkId)).toEqual(ids([points[1], points[2], points[0]] as VectorPoint[]));
    expect(hits.map(({ score }) => score)).toEqual([0.1, 0.2, 0.3].map((angle) => expect.closeTo(Math.cos(angle), 3)));
    expect(await store.isEmpty(signal())).toBe(false);
    await store.check(signal());
  });

  test("keeps one point a chunk: the last", async () => {
    const store = open();
    const first = point(0);
    await store.upsert([first, first]);
    await store.upsert([{ ...first, vector: at(1) }]);
    expect(await store.search(at(1), 5)).toEqual([{ chunkId: first.chunkId, score: expect.closeTo(1, 3) }]);
  });

  test("reads the vectors that it has, whichever are asked for", async () => {
    const store = open();
    expect(await store.read([uuidv7()])).toEqual(new Map());
    const points = Array.from({ length: 250 }, (_, nth) => point(nth / 100));
    await store.upsert(points);
    const read = await store.read([...ids(points), uuidv7()]);
    const close = (vector: Float32Array) => [...vector].map((each) => expect.closeTo(each, 5));
    expect(new Map([...read].map(([id, vector]) => [id, [...vector]]))).toEqual(
      new Map(points.map(({ chunkId, vector }) => [chunkId, close(vector)])),
    );
    expect(await store.read([])).toEqual(new Map());
  });

  test("filters before it cuts", async () => {
    const store = open();
    const collectionId = uuidv7();
    const near = Array.from({ length: 150 }, () => point(0));
    const far = point(1, { domain: "far.example", collectionId });
    const elsewhere = point(1.1, { domain: "far.example", collectionId: uuidv7() });
    await store.upsert([...near, far, elsewhere]);
    expect(await found(store, 0, 5, { domains: ["far.example"] })).toEqual(ids([far, elsewhere]));
    expect(await found(store, 0, 5, { collectionIds: [collectionId] })).toEqual(ids([far]));
    expect(await found(store, 0, 5, { collectionIds: [collectionId], domains: ["site.example"] })).toEqual([]);
    expect(await found(store, 0, 5, { domains: ["none.example", "far.example"] })).toHaveLength(2);
    expect(await found(store, 0, 5, { documentIds: [elsewhere.payload.documentId, uuidv7()] })).toEqual(
      ids([elsewhere]),
    );
  });

  test("filters by any and by all of some tags, before it cuts", async () => {
    const store = open();
    const [a, b, c] = [uuidv7(), uuidv7(), uuidv7()];
    const near = Array.from({ length: 150 }, () => point(0));
    const [one, both, other] = [point(1, { tags: [a] }), point(1.1, { tags: [b, a] }), point(1.2, { tags: [c] })];
    await store.upsert([...near, one, both, other]);
    expect(await found(store, 0, 5, { anyTag: [a] })).toEqual(ids([one, both]));
    expect(await found(store, 0, 5, { anyTag: [b, c, uuidv7()] })).toEqual(ids([both, other]));
    expect(await found(store, 0, 5, { allTags: [a, b] })).toEqual(ids([both]));
    expect(await found(store, 0, 5, { allTags: [a, c] })).toEqual([]);
    expect(await found(store, 0, 5, { anyTag: [uuidv7()] })).toEqual([]);
    expect(await found(store, 0, 5, { anyTag: [a], domains: ["far.example"] })).toEqual([]);
  });

  test("filters by language, source and date, before it cuts", async () => {
    const store = open();
    const near = Array.from({ length: 150 }, () => point(0));
    const [french, upload, old] = [
      point(1, { language: "fr" }),
      point(1.1, { source: "upload" }),
      point(1.2, { crawledAt: "2020-05-05T05:05:05.055Z", language: "de" }),
    ];
    await store.upsert([...near, french, upload, old]);
    expect(await found(store, 0, 5, { languages: ["fr"] })).toEqual(ids([french]));
    expect(await found(store, 0, 5, { languages: ["de", "fr", "xx"] })).toEqual(ids([french, old]));
    expect(await found(store, 0, 5, { languages: ["xx"] })).toEqual([]);
    expect(await found(store, 0, 5, { sources: ["upload", "api"] })).toEqual(ids([upload]));
    expect(await found(store, 0, 5, { sources: ["upload"], languages: ["fr"] })).toEqual([]);
    expect(await found(store, 0, 5, { dateTo: "2025-12-31T23:00:00.000Z" })).toEqual(ids([old]));
    const [exactly, later] = ["2020-05-05T05:05:05.055Z", "2020-05-05T05:07:00.000Z"];
    expect(await found(store, 0, 5, { dateFrom: exactly, dateTo: exactly })).toEqual(ids([old]));
    expect(await found(store, 0, 5, { dateFrom: later, dateTo: "2025-12-31T00:00:00.000Z" })).toEqual([]);
    expect(await found(store, 1.2, 1, { dateFrom: later })).toEqual(ids([upload]));
  });

  test("deletes by document and by point, at once, and one that is not there is no fault", async () => {
    const store = open();
    const documentId = uuidv7();
    const [first, second] = [point(0, { documentId }), point(0.1, { documentId })];
    const [third, last] = [point(0.2), point(0.3)];
    await store.upsert([first, second, third, last]);
    await store.deleteDocuments([documentId, uuidv7()]);
    expect(await found(store, 0)).toEqual(ids([third, last]));
    await store.deletePoints([third.chunkId, uuidv7()]);
    expect(await found(store, 0)).toEqual(ids([last]));
    await store.deleteDocuments([]);
    await store.deletePoints([]);
    expect(await found(store, 0)).toHaveLength(1);
  });

  test("lists all its points in order, page by page, whatever is deleted between the pages", async () => {
    const store = open();
    const points = Array.from({ length: 25 }, () => point(0));
    await store.upsert(points);
    const sorted = ids(points).toSorted();
    const seen: string[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const page = await store.scan(after, 7);
      seen.push(...page.ids);
      more = page.more;
      after = page.ids.at(-1) ?? after;
      if (after !== null) await store.deletePoints([after]);
    }
    expect(seen).toEqual(sorted);
  });

  test("says of each point what it was stored with of its document", async () => {
    const store = open();
    const [plain, labelled] = [
      point(0),
      point(1, { collectionId: uuidv7(), source: "upload", language: "de", tags: [uuidv7(), uuidv7()] }),
    ];
    await store.upsert([plain, labelled]);
    const { labels } = await store.scan(null, 5);
    for (const { chunkId, payload } of [plain, labelled]) {
      const { documentId, collectionId, domain, source, language, tags } = payload;
      expect(labels.get(chunkId)).toEqual({ documentId, collectionId, domain, source, language, tags });
    }
  });

  test("keeps models apart, and drops one without the other", async () => {
    const [one, other] = [open(), open()];
    await one.upsert([point(0)]);
    await other.upsert([point(0)]);
    await one.drop();
    expect([await one.isEmpty(signal()), await other.isEmpty(signal())]).toEqual([true, false]);
    await one.upsert([point(0)]);
    expect(await found(one, 0)).toHaveLength(1);
  });

  test("gives two connections the same points", async () => {
    const model = `model ${uuidv7()}`;
    const [writer, reader] = [open(model), open(model)];
    await Promise.all([writer.upsert([point(0)]), reader.upsert([point(1)])]);
    expect(await found(reader, 0)).toHaveLength(2);
    await writer.deletePoints(await found(writer, 0));
    expect(await found(reader, 0)).toEqual([]);
  });
});

describe("a database without pgvector", () => {
  test("is told to be one, by reads of readiness and by writes, until the extension is there", async () => {
    const { url } = await testDatabase();
    const store = createPgVectorStore({
      sql: connectDatabase({ url, poolSize: 1 }),
      descriptor: { model: "m".repeat(100), dimension: DIMENSION },
    });
    onTestFinished(() => store.close());
    const missing = { code: "VECTOR_STORE_EXTENSION_MISSING", message: expect.stringContaining("VECTOR_STORE") };
    await expect(store.check(AbortSignal.timeout(60_000))).rejects.toMatchObject(missing);
    await expect(store.upsert([point(0)])).rejects.toMatchObject(missing);
    expect(await store.search(at(0), 5)).toEqual([]);
  });

  test("that is slow lets no call wait longer than it may, and is asked again afterwards", async () => {
    const { url, sql, close } = await pgVectorDatabase();
    onTestFinished(close);
    const descriptor = { model: "m", dimension: DIMENSION };
    const storeOf = (timeoutMs?: number) => {
      const own = { sql: connectDatabase({ url, poolSize: 1 }), descriptor };
      const store = createPgVectorStore(timeoutMs === undefined ? own : { ...own, timeoutMs });
      onTestFinished(() => store.close());
      return store;
    };
    const [store, patient] = [storeOf(200), storeOf()];
    const [kept] = [point(0)];
    await patient.upsert([kept]);
    await store.scan(null, 1);
    const late = { code: "VECTOR_STORE_UNAVAILABLE" };
    await sql.begin(async (tx) => {
      const [table] = await tx<
        { name: string }[]
      >`select tablename as name from pg_tables where tablename like 'vectors_%'`;
      await tx`lock table ${tx(table?.name ?? "")} in access exclusive mode`;
      for (const call of [
        () => store.deletePoints([kept.chunkId]),
        () => store.deleteDocuments([kept.payload.documentId]),
        () => store.scan(null, 5),
        () => store.search(at(0), 5),
        () => store.isEmpty(AbortSignal.timeout(60_000)),
        () => store.upsert([point(0)]),
        () => patient.isEmpty(AbortSignal.timeout(200)),
      ]) {
        await expect(call()).rejects.toMatchObject(late);
      }
    });
    const both = [(await store.scan(null, 5)).ids, await patient.isEmpty(AbortSignal.timeout(60_000))];
    expect(both).toEqual([[kept.chunkId], false]);
  });

  test("that does not answer is one that is tried again", async () => {
    const store = createPgVectorStore({
      sql: connectDatabase({ url: "postgres://nobody@127.0.0.1:1/none", poolSize: 1 }),
      descriptor: { model: "m", dimension: DIMENSION },
    });
    onTestFinished(() => store.close());
    const away = { code: "VECTOR_STORE_UNAVAILABLE" };
    for (const call of [() => store.search(at(0), 5), () => store.upsert([point(0)]), () => store.scan(null, 5)]) {
      await expect(call()).rejects.toMatchObject(away);
    }
  });
});

describe("the configuration", () => {
  const storeOf = async (env: Record<string, string>) =>
    await createVectorStore(loadConfig(env), { ...STATIC_DESCRIPTOR, dimension: DIMENSION });

  test("names the store: the database, though there is a Qdrant", async () => {
    const { url, sql, close } = await pgVectorDatabase();
    const vectorsIn = async () => await sql`select from pg_tables where tablename like 'vectors_%'`;
    const env = { VECTOR_STORE: "pgvector", DATABASE__POSTGRES_URL: url, QDRANT__URL: "http://127.0.0.1:1" };
    const store = await storeOf(env);
    await store.upsert([point(0)]);
    expect([await store.search(at(0), 5), await vectorsIn()]).toMatchObject([[{}], [{}]]);
    await store.close();
    await close();
  });

  test("that names a Qdrant or a file without an address is a clear error", async () => {
    await expect(storeOf({ VECTOR_STORE: "qdrant" })).rejects.toThrow("QDRANT__URL");
    await expect(storeOf({ VECTOR_STORE: "sqlite", QDRANT__URL: "http://127.0.0.1:1" })).rejects.toThrow(
      "VECTORS__SQLITE_PATH",
    );
    expect(() => loadConfig({ VECTOR_STORE: "pinecone" })).toThrow("VECTOR_STORE");
  });
});
