/** Generations and embedding models are switched, and switched back, while searches run. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { settleJob } from "../../../shared/crawl/jobs/lifecycle.ts";
import { crawlConfigSchema } from "../../../shared/crawl/settings/crawl-config.ts";
import { jobSettingsSchema } from "../../../shared/crawl/settings/job-settings.ts";
import { ANYWHERE } from "../../../shared/crawl/urls/scope.ts";
import { STATIC_DESCRIPTOR } from "../../../shared/knowledge/embedders/static/static-descriptor.ts";
import { embedChunks } from "../../../shared/knowledge/embedding/embed-worker.ts";
import { changeModel, servingModel } from "../../../shared/knowledge/embedding/model-change.ts";
import { outstandingChunks } from "../../../shared/knowledge/embedding/outstanding-chunks.ts";
import { answerSearch } from "../../../shared/knowledge/search/search.ts";
import { openServingSide, openVectorSide } from "../../../shared/knowledge/search/vector-side.ts";
import { goBackToModel, listModels, pauseChange } from "../../../shared/library/embedding-models.ts";
import { activateAgain } from "../../../shared/library/generations.ts";
import { type Config, loadConfig } from "../../../shared/platform/config.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { type EmbeddingServer, startEmbeddingServer } from "../../services/embedding-server.ts";
import { testDatabase } from "../../services/index.ts";
import { addPages } from "../knowledge/search/corpus.ts";

const log = createLogger({}, "error", () => {});
const ALWAYS = () => true;
const PAGES = 30;
const QUERY = "lighthouses and tides of the harbour wall";

let server: EmbeddingServer;
beforeAll(async () => {
  server = await startEmbeddingServer();
});
afterAll(() => server.close());

let sql: Sql;
let path: string;
beforeEach(async () => {
  ({ sql } = await testDatabase());
  const directory = await mkdtemp(join(tmpdir(), "strandline-switches-"));
  path = join(directory, "vectors.sqlite");
  return () => rm(directory, { recursive: true, force: true });
});

const formerConfig = () => loadConfig({ EMBEDDER__PROVIDER: "static", VECTORS__SQLITE_PATH: path });
const newConfig = () => loadConfig({ ...server.env, VECTORS__SQLITE_PATH: path });
const newModel = () => ({ model: newConfig().teiModel, dimension: newConfig().teiDimension });
const FORMER = { model: STATIC_DESCRIPTOR.model, dimension: STATIC_DESCRIPTOR.dimension };

/** A crawl of the same pages in another edition, which has ended. */
async function crawled(config: Config, edition: string): Promise<{ jobId: string; generationId: string }> {
  const [jobId, generationId] = [uuidv7(), uuidv7()];
  const urls = Array.from({ length: PAGES }, (_, at) => `https://site.example/${at}`);
  const settings = jobSettingsSchema.parse({
    ...{ seeds: urls, scope: ANYWHERE, max_depth: 0, max_pages: PAGES, tags: [], config: crawlConfigSchema.parse({}) },
  });
  await sql`
    insert into jobs (id, kind, status, generation_id, settings, discovered, crawled, unembedded_chunks)
    values (${jobId}, 'pages', 'embedding', ${generationId}, ${JSON.stringify(settings)}::text::jsonb, 1, 1, ${PAGES})`;
  const pages = urls.map((url, at) => ({
    url,
    chunks: [
      `The ${edition} edition, page ${at}${"x".repeat(at)}: lighthouses, tides, and what lies ${"behind ".repeat(at)}.`,
    ],
  }));
  const chunkIds = await addPages(sql, pages, { generationId, active: false });
  await sql`update documents set job_id = ${jobId} where generation_id = ${generationId}`;
  await sql`insert into embeddings (chunk_id) select unnest(${chunkIds}::uuid[])`;
  await embed(config, jobId, chunkIds);
  return { jobId, generationId };
}

async function embed(config: Config, jobId: string, chunkIds: string[]): Promise<void> {
  const vectorSide = await openVectorSide(config)();
  await embedChunks({ sql, vectorSide, settleJob, log }, { jobId, chunkIds });
  await vectorSide?.vectors.close();
}

async function embedOutstanding(config: Config, { jobId, generationId }: { jobId: string; generationId: string }) {
  await embed(config, jobId, await sql.begin((tx) => outstandingChunks(tx, generationId)));
}

async function ask(config: Config, mode: "vector" | "hybrid" = "vector"): Promise<string[]> {
  // one that has learned nothing before
  const vectorSide = openServingSide(config, sql, async () => {});
  const { results, missing } = await answerSearch({ sql, vectorSide }, { query: QUERY, mode, limit: PAGES });
  await (await vectorSide())?.vectors.close();
  expect(missing).toEqual([]);
  return results.map(({ content }) => content);
}

/** Answers of readers who ask again as soon as they are answered, while the work is done. */
async function during(config: Config, work: () => Promise<void>): Promise<string[][]> {
  const answers: string[][] = [];
  let done = false;
  const read = async () => {
    while (!done) answers.push(await ask(config));
  };
  const reading = Promise.all([read(), read()]);
  try {
    await work();
  } finally {
    done = true;
  }
  await reading;
  return answers;
}

const editionsOf = (answer: readonly string[]) => [...new Set(answer.map((text) => text.split(" ")[1]))];

test("vectors of a generation answer at once when it is gone back to, and forward: no mix, no empty moment", async () => {
  const old = await crawled(formerConfig(), "old");
  const young = await crawled(formerConfig(), "young");
  const library = { sql, log, queues: NO_QUEUES, flags: { markActive: async () => {} } };
  const answers = await during(formerConfig(), async () => {
    for (let turn = 0; turn < 5; turn++) {
      for (const [name, { generationId }] of [
        ["old", old],
        ["young", young],
      ] as const) {
        await activateAgain(library, generationId);
        expect(editionsOf(await ask(formerConfig()))).toEqual([name]);
      }
    }
  });
  for (const answer of answers) {
    expect(answer).toHaveLength(PAGES);
    expect(editionsOf(answer)).toHaveLength(1);
  }
});

test("a generation with vectors of a model that answers no more is found by words at once, and by its new vectors", async () => {
  await changeModel(sql, FORMER, ALWAYS);
  const old = await crawled(formerConfig(), "old");
  const young = await crawled(formerConfig(), "young");
  await changeModel(sql, newModel(), ALWAYS);
  await embedOutstanding(newConfig(), young);
  await changeModel(sql, newModel(), ALWAYS);
  expect(await servingModel(sql)).toEqual(newModel());
  const sent: { chunkIds: string[] }[] = [];
  const queues = {
    ...NO_QUEUES,
    sendAll: async (_: string, all: readonly unknown[]) => void sent.push(...(all as never[])),
  };
  await activateAgain({ sql, log, queues, flags: { markActive: async () => {} } }, old.generationId);
  const vectorSide = openServingSide(newConfig(), sql, async () => {});
  const { results } = await answerSearch({ sql, vectorSide }, { query: QUERY, mode: "hybrid", limit: PAGES });
  expect(editionsOf(results.map(({ content }) => content))).toEqual(["old"]);
  await embed(
    newConfig(),
    old.jobId,
    sent.flatMap(({ chunkIds }) => chunkIds),
  );
  expect(editionsOf(await ask(newConfig()))).toEqual(["old"]);
  expect(await ask(newConfig())).toHaveLength(PAGES);
});

const NO_QUEUES = { send: async () => {}, sendAll: async () => {}, sendRaw: async () => {} };

test("a change of the model is paused, gone on with, gone back from and forward again; each answer is of one model", async () => {
  await changeModel(sql, FORMER, ALWAYS);
  const crawl = await crawled(formerConfig(), "only");
  const byFormer = await ask(newConfig());
  const change = () => changeModel(sql, newModel(), ALWAYS);
  const models = async () =>
    (await listModels(sql, newModel())).map(({ model, state, paused, chunks, waiting }) => [
      model === FORMER.model ? "former" : "new",
      paused ? "paused" : state,
      chunks,
      waiting,
    ]);
  let byNew: string[] = [];
  const answers = await during(newConfig(), async () => {
    await expect(pauseChange(sql, true)).rejects.toMatchObject({ status: 409 });
    expect(await change()).toBe(PAGES);
    await pauseChange(sql, true);
    expect(await models()).toEqual([
      ["former", "serving", 0, 0],
      ["new", "paused", 0, PAGES],
    ]);
    await embedOutstanding(newConfig(), crawl);
    expect(await change()).toBe(0);
    expect(await models()).toEqual([
      ["former", "serving", 0, 0],
      ["new", "paused", PAGES, 0],
    ]);
    expect(await ask(newConfig())).toEqual(byFormer);
    await expect(goBackToModel(sql, newModel())).rejects.toMatchObject({ status: 409 });
    await expect(goBackToModel(sql, { model: "nobody's", dimension: 4 })).rejects.toMatchObject({ status: 404 });
    await pauseChange(sql, false);
    await change();
    expect(await models()).toEqual([
      ["new", "serving", PAGES, 0],
      ["former", "leaving", 0, 0],
    ]);
    byNew = await ask(newConfig());
    for (let turn = 0; turn < 3; turn++) {
      await goBackToModel(sql, FORMER);
      expect(await ask(newConfig())).toEqual(byFormer);
      await change();
      expect(await servingModel(sql)).toEqual(FORMER);
      await pauseChange(sql, false);
      await change();
      expect(await ask(newConfig())).toEqual(byNew);
    }
  });
  expect(byNew).not.toEqual(byFormer);
  for (const answer of answers) expect([byFormer, byNew]).toContainEqual(answer);
});

test("a change that is given up by configuration has all vectors of the former model again", async () => {
  await changeModel(sql, FORMER, ALWAYS);
  const first = await crawled(formerConfig(), "first");
  await changeModel(sql, newModel(), ALWAYS);
  await embedOutstanding(newConfig(), first);
  // came while the other model was configured
  const second = await crawled(newConfig(), "second");
  expect(await servingModel(sql)).toEqual(FORMER);
  expect(await changeModel(sql, FORMER, ALWAYS)).toBe(PAGES);
  await embedOutstanding(formerConfig(), second);
  expect(await changeModel(sql, FORMER, ALWAYS)).toBe(0);
  expect(await ask(formerConfig())).toHaveLength(PAGES);
  expect(editionsOf(await ask(formerConfig()))).toEqual(["second"]);
  expect(await listModels(sql, FORMER)).toMatchObject([{ state: "serving", chunks: PAGES }, { state: "leaving" }]);
});
