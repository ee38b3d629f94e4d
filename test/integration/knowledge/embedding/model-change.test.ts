/** What becomes of vectors when the model changes, or the store loses some. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { settleJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { jobSettingsSchema } from "../../../../shared/crawl/settings/job-settings.ts";
import { ANYWHERE } from "../../../../shared/crawl/urls/scope.ts";
import { STATIC_DESCRIPTOR } from "../../../../shared/knowledge/embedders/static/static-descriptor.ts";
import { embedChunks } from "../../../../shared/knowledge/embedding/embed-worker.ts";
import { changeModel, dropLeavingModels, servingModel } from "../../../../shared/knowledge/embedding/model-change.ts";
import { outstandingChunks } from "../../../../shared/knowledge/embedding/outstanding-chunks.ts";
import { compareStore } from "../../../../shared/knowledge/embedding/store-comparison.ts";
import { answerSearch } from "../../../../shared/knowledge/search/search.ts";
import { openServingSide, openVectorSide } from "../../../../shared/knowledge/search/vector-side.ts";
import { createVectorStore } from "../../../../shared/knowledge/vector-stores/registry.ts";
import { type Config, loadConfig } from "../../../../shared/platform/config.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { type EmbeddingServer, startEmbeddingServer } from "../../../services/embedding-server.ts";
import { testDatabase } from "../../../services/index.ts";
import { addPages } from "../search/corpus.ts";

const log = createLogger({}, "error", () => {});
const ALWAYS = () => true;
const SETTINGS = jobSettingsSchema.parse({
  seeds: ["https://site.example/"],
  scope: ANYWHERE,
  max_depth: 0,
  max_pages: 1,
  config: crawlConfigSchema.parse({}),
  tags: [],
});

let server: EmbeddingServer;
beforeAll(async () => {
  server = await startEmbeddingServer();
});
afterAll(() => server.close());

let sql: Sql;
let path: string;
beforeEach(async () => {
  ({ sql } = await testDatabase());
  const directory = await mkdtemp(join(tmpdir(), "strandline-model-change-"));
  path = join(directory, "vectors.sqlite");
  return () => rm(directory, { recursive: true, force: true });
});

const formerConfig = () => loadConfig({ EMBEDDER__PROVIDER: "static", VECTORS__SQLITE_PATH: path });
const newConfig = () => loadConfig({ ...server.env, VECTORS__SQLITE_PATH: path });
const newModel = () => ({ model: newConfig().teiModel, dimension: newConfig().teiDimension });

/** As a server that was begun with vectors of this length. */
const shortenedServer = (config: Config): Config => Object.assign(config, { shortened: true });

/** Pages that a completed job has embedded. */
async function embeddedPages(config: Config, texts: string[]): Promise<{ jobId: string; chunkIds: string[] }> {
  const [jobId, generationId] = [uuidv7(), uuidv7()];
  await sql`
    insert into jobs (id, kind, status, generation_id, settings, discovered, crawled, unembedded_chunks)
    values (${jobId}, 'pages', 'embedding', ${generationId}, ${sql.json(SETTINGS)}, 1, 1, ${texts.length})`;
  const pages = texts.map((text) => ({ url: `https://site.example/${jobId}/${text.length}`, chunks: [text] }));
  const chunkIds = await addPages(sql, pages, { generationId, active: false });
  await sql`update documents set job_id = ${jobId} where generation_id = ${generationId}`;
  await sql`insert into embeddings (chunk_id) select unnest(${chunkIds}::uuid[])`;
  await embed(config, { jobId, chunkIds });
  return { jobId, chunkIds };
}

async function embed(config: Config, task: { jobId: string; chunkIds: string[] }): Promise<void> {
  const vectorSide = await openVectorSide(config)();
  await embedChunks({ sql, vectorSide, settleJob, log }, task);
  await vectorSide?.vectors.close();
}

async function outstanding(jobId: string): Promise<string[]> {
  const [job] = await sql<{ generation: string }[]>`select generation_id as generation from jobs where id = ${jobId}`;
  return await sql.begin((tx) => outstandingChunks(tx, job?.generation ?? ""));
}

const storeOf = (config: Config, model = newModel()) => createVectorStore(config, { ...STATIC_DESCRIPTOR, ...model });

describe("a change of the model", () => {
  test("leaves searches to the vectors of the model before until all are made anew, and then drops these", async () => {
    expect(await changeModel(sql, STATIC_DESCRIPTOR, ALWAYS)).toBe(0);
    const texts = ["The harbour café serves fresh bread.", "Tides rise and fall because of the moon's gravity."];
    const { jobId, chunkIds } = await embeddedPages(formerConfig(), texts);
    const woken: string[] = [];
    const ask = async () => {
      const vectorSide = openServingSide(newConfig(), sql, async () => void woken.push("woken"));
      const asked = { query: "what does lunar attraction do to the sea?", mode: "vector", limit: 1 } as const;
      const { results, missing } = await answerSearch({ sql, vectorSide }, asked);
      const side = await vectorSide();
      return { best: results[0]?.chunkId, missing, model: side?.embedder.descriptor.model };
    };
    const asBefore = { best: chunkIds[1], missing: [], model: STATIC_DESCRIPTOR.model };
    expect(await ask()).toEqual(asBefore);
    expect(woken).toEqual(["woken"]);
    // bounded, and gone on with
    expect(await changeModel(sql, newModel(), () => false)).toBe(0);
    expect(await changeModel(sql, newModel(), ALWAYS)).toBe(2);
    expect(await changeModel(sql, newModel(), ALWAYS)).toBe(0);
    expect(await ask()).toEqual(asBefore);
    const [first = "", ...rest] = await outstanding(jobId);
    await embed(newConfig(), { jobId, chunkIds: [first] });
    expect(await changeModel(sql, newModel(), ALWAYS)).toBe(0);
    expect(await ask()).toEqual(asBefore);
    await embed(newConfig(), { jobId, chunkIds: rest });
    expect(await changeModel(sql, newModel(), ALWAYS)).toBe(0);
    expect(await servingModel(sql)).toEqual(newModel());
    expect(await ask()).toMatchObject({ missing: [], model: newModel().model });

    const drop = async (model: { model: string; dimension: number }) => {
      const store = await storeOf(newConfig(), model);
      await store.drop();
      await store.close();
    };
    expect(await dropLeavingModels(sql, newModel(), drop)).toBe(0);
    await sql`update embedding_models set changed_at = now() - interval '2 days'`;
    // configured once more: its vectors are made anew, and none of them goes
    expect(await dropLeavingModels(sql, STATIC_DESCRIPTOR, drop)).toBe(0);
    expect(await dropLeavingModels(sql, newModel(), drop)).toBe(1);
    const left = await storeOf(formerConfig(), STATIC_DESCRIPTOR);
    expect(await left.isEmpty(AbortSignal.timeout(1_000))).toBe(true);
    await left.close();
    expect((await ask()).missing).toEqual([]);
  });

  test("to vectors of another length is one: those of before answer until all are made anew, and then go", async () => {
    const shortConfig = () => loadConfig({ ...server.env, TEI__EMBEDDING_DIMENSION: "4", VECTORS__SQLITE_PATH: path });
    const short = { ...newModel(), dimension: 4 };
    expect(await changeModel(sql, short, ALWAYS)).toBe(0);
    const texts = ["ebb and flood", "calm weather, as far as one sees"];
    const { jobId, chunkIds } = await embeddedPages(shortenedServer(shortConfig()), texts);
    const ask = async () => {
      const vectorSide = openServingSide(newConfig(), sql, async () => {});
      const asked = { query: "ebb and flood", mode: "vector", limit: 5 } as const;
      const { results, missing } = await answerSearch({ sql, vectorSide }, asked);
      const found = results.map(({ chunkId }) => chunkId).toSorted();
      return [found, missing, (await vectorSide())?.embedder.descriptor.dimension];
    };
    expect(await ask()).toEqual([chunkIds.toSorted(), [], 4]);
    expect(await changeModel(sql, newModel(), ALWAYS)).toBe(2);
    const [first = "", ...rest] = await outstanding(jobId);
    await embed(newConfig(), { jobId, chunkIds: [first] });
    expect(await changeModel(sql, newModel(), ALWAYS)).toBe(0);
    expect(await ask()).toEqual([chunkIds.toSorted(), [], 4]);
    await embed(newConfig(), { jobId, chunkIds: rest });
    expect(await changeModel(sql, newModel(), ALWAYS)).toBe(0);
    expect(await ask()).toEqual([chunkIds.toSorted(), [], 8]);

    await sql`update embedding_models set changed_at = now() - interval '2 days'`;
    const dropped: object[] = [];
    expect(await dropLeavingModels(sql, newModel(), async (model) => void dropped.push({ ...model }))).toBe(1);
    expect(dropped).toEqual([short]);
    expect(await sql`select model, dimension, state from embedding_models`).toEqual([
      { ...newModel(), state: "serving" },
    ]);
  });

  test("to vectors of another length, of a server that has no others, goes by words, and says so", async () => {
    const before = { ...newModel(), dimension: 16 };
    expect(await changeModel(sql, before, ALWAYS)).toBe(0);
    await embeddedPages(newConfig(), ["ebb and flood"]);
    await sql`update embeddings set dimension = 16`;
    const vectorSide = openServingSide(newConfig(), sql, async () => {});
    const { results, missing } = await answerSearch({ sql, vectorSide }, { query: "ebb", mode: "hybrid", limit: 1 });
    expect(results).toHaveLength(1);
    expect(missing).toMatchObject([{ side: "vector", code: "EMBEDDING_INVALID" }]);
  });

  test("to one that the configuration knows nothing else of goes by words, and says so", async () => {
    await embeddedPages(formerConfig(), ["ebb and flood"]);
    await sql`update embeddings set model = 'gone', dimension = 4`;
    await sql`insert into embedding_models (model, dimension, state) values ('gone', 4, 'serving')`;
    const vectorSide = openServingSide(newConfig(), sql, async () => {});
    const { results, missing } = await answerSearch({ sql, vectorSide }, { query: "ebb", mode: "hybrid", limit: 1 });
    expect(results).toHaveLength(1);
    expect(missing).toMatchObject([{ side: "vector", code: "VECTORS_OF_ANOTHER_MODEL" }]);
  });
});

describe("the comparison of store and rows", () => {
  test("removes points without rows, and asks again for vectors that are lost", async () => {
    const { jobId, chunkIds } = await embeddedPages(newConfig(), ["ebb", "flood", "calm weather"]);
    const [lost = "", gone = "", kept = ""] = chunkIds;
    const store = await storeOf(newConfig());
    await store.deletePoints([lost]);
    await sql`delete from documents where id = (select document_id from chunks where id = ${gone})`;
    const compare = (next: string | null = null) => compareStore(sql, store, newModel(), next, ALWAYS);
    expect(await compare()).toEqual({ removedPoints: 1, lostChunks: 1, staleChunks: 0, next: null });
    expect((await store.scan(null, 10)).ids).toEqual([kept]);
    expect(await compare()).toEqual({ removedPoints: 0, lostChunks: 0, staleChunks: 0, next: null });
    expect(await outstanding(jobId)).toEqual([lost]);
    await embed(newConfig(), { jobId, chunkIds: [lost] });
    expect((await store.scan(null, 10)).ids).toEqual([lost, kept].toSorted());
    expect(await sql`select from jobs where unembedded_chunks = 0 and status = 'completed'`).toHaveLength(1);
    await store.close();
  });

  test("makes the vectors of an emptied store anew, and those of no job that still runs", async () => {
    const { jobId, chunkIds } = await embeddedPages(newConfig(), ["ebb", "flood"]);
    const running = await embeddedPages(newConfig(), ["calm weather"]);
    await sql`update jobs set status = 'running' where id = ${running.jobId}`;
    const store = await storeOf(newConfig());
    await store.drop();
    const compared = await compareStore(sql, store, newModel(), null, ALWAYS);
    expect(compared).toEqual({ removedPoints: 0, lostChunks: 2, staleChunks: 0, next: null });
    expect((await outstanding(jobId)).toSorted()).toEqual(chunkIds.toSorted());
    await store.close();
  });

  test("changes nothing where that is asked for", async () => {
    const { jobId, chunkIds } = await embeddedPages(newConfig(), ["ebb", "flood", "calm weather"]);
    const [lost = "", gone = "", kept = ""] = chunkIds;
    const store = await storeOf(newConfig());
    await store.deletePoints([lost]);
    await sql`delete from documents where id = (select document_id from chunks where id = ${gone})`;
    const compared = await compareStore(sql, store, newModel(), null, ALWAYS, { repairs: false });
    expect(compared).toEqual({ removedPoints: 1, lostChunks: 1, staleChunks: 0, next: null });
    expect((await store.scan(null, 10)).ids).toEqual([gone, kept].toSorted());
    expect(await outstanding(jobId)).toEqual([]);
    await store.close();
  });

  test("has what is lost of a kept generation embedded once it is shown again", async () => {
    const { jobId, chunkIds } = await embeddedPages(newConfig(), ["ebb", "flood"]);
    const store = await storeOf(newConfig());
    await sql`update documents set generation_active = false`;
    await store.drop();
    const compared = await compareStore(sql, store, newModel(), null, ALWAYS);
    expect(compared).toMatchObject({ lostChunks: 2 });
    expect(await sql`select from embeddings where state = 'pending'`).toHaveLength(2);
    expect(await sql`select from jobs where unembedded_chunks > 0`).toEqual([]);
    expect(await compareStore(sql, store, newModel(), null, ALWAYS)).toMatchObject({ lostChunks: 0 });
    await sql`update documents set generation_active = true`;
    expect((await outstanding(jobId)).toSorted()).toEqual(chunkIds.toSorted());
    await store.close();
  });

  test("goes on where its time ended", async () => {
    await embeddedPages(newConfig(), ["ebb", "flood"]);
    const store = await storeOf(newConfig());
    const stopped = await compareStore(sql, store, newModel(), "01990000-0000-7000-8000-000000000001", () => false);
    expect(stopped.next).toBe("01990000-0000-7000-8000-000000000001");
    await store.close();
  });
});
