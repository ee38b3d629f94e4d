/** All documents are cut to another size, and back, while searches run and people change documents. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { settleJob } from "../../../shared/crawl/jobs/lifecycle.ts";
import { changeChunkSize, dropLeavingChunks } from "../../../shared/knowledge/embedding/chunk-size-change.ts";
import { embedChunks } from "../../../shared/knowledge/embedding/embed-worker.ts";
import { outstandingChunks } from "../../../shared/knowledge/embedding/outstanding-chunks.ts";
import { compareStore } from "../../../shared/knowledge/embedding/store-comparison.ts";
import { answerSearch } from "../../../shared/knowledge/search/search.ts";
import type { SearchFilter } from "../../../shared/knowledge/search/search-filter.ts";
import { type OpenVectorSide, openVectorSide } from "../../../shared/knowledge/search/vector-side.ts";
import { deleteDocuments, restoreDocument, tagDocuments } from "../../../shared/library/change-documents.ts";
import { listChunkSizes, pauseChunkSize, useChunkSize } from "../../../shared/library/chunk-sizes.ts";
import { listChunks } from "../../../shared/library/stored-documents.ts";
import { type UploadOutcome, uploadDocuments } from "../../../shared/library/upload-documents.ts";
import { loadConfig } from "../../../shared/platform/config.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { testDatabase } from "../../services/index.ts";

const log = createLogger({}, "error", () => {});
const ALWAYS = () => true;
const MAX_TOKENS = 512;
const DOCUMENTS = 60;
const SMALL = 96;
const QUERY = "lighthouses and tides of the harbour wall";

let sql: Sql;
let url: string;
let side: OpenVectorSide;
beforeEach(async () => {
  ({ sql, url } = await testDatabase());
  const directory = await mkdtemp(join(tmpdir(), "strandline-chunk-size-"));
  const config = loadConfig({ EMBEDDER__PROVIDER: "static", VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite") });
  side = (await openVectorSide(config)()) as OpenVectorSide;
  return async () => {
    await side.vectors.close();
    await rm(directory, { recursive: true, force: true });
  };
});

const NO_QUEUES = { send: async () => {}, sendAll: async () => {}, sendRaw: async () => {} };
const library = () => ({
  ...{ sql, log, queues: NO_QUEUES, limit: null, flags: { markActive: async () => {} } },
  vectors: async () => side.vectors,
});

/** Of three sections, each longer than the small size. */
const text = (name: string) =>
  ["Lighthouses", "Tides", "The harbour wall"]
    .map(
      (heading, at) =>
        `## ${heading}\n\n${`The ${name} speaks of ${heading.toLowerCase()} once more. `.repeat(20 + at)}`,
    )
    .join("\n\n");

async function upload(...names: { name: string; says?: string; tags?: string[] }[]): Promise<string[]> {
  const outcomes: UploadOutcome[] = [];
  for (let at = 0; at < names.length; at += 50) {
    const uploads = names.slice(at, at + 50).map(({ name, says = name, tags = [] }) => ({
      ...{ content: text(says), url: `https://notes.example/${name}`, collectionId: null, tags, metadata: {} },
      ...{ languages: ["*"], language: "en", contentType: "text/markdown" as const },
    }));
    outcomes.push(...(await uploadDocuments(library(), uploads, null, MAX_TOKENS)));
  }
  return outcomes.map((each) => ("error" in each ? each.error.message : each.document_id));
}

/** As the sweep and the embedders do. */
async function embedAll(): Promise<void> {
  const jobs = await sql<{ id: string; generationId: string }[]>`
    select id, generation_id as "generationId" from jobs where unembedded_chunks > 0`;
  for (const { id: jobId, generationId } of jobs) {
    const chunkIds = await sql.begin((tx) => outstandingChunks(tx, generationId));
    await embedChunks({ sql, vectorSide: side, settleJob, log }, { jobId, chunkIds });
  }
}

const sweep = (hasTime = ALWAYS) => changeChunkSize({ sql, log, queues: NO_QUEUES, maxTokens: MAX_TOKENS }, hasTime);

/** One batch, and no more. */
const sweepOnce = () => {
  let asked = 0;
  return sweep(() => asked++ === 0);
};

type Mode = "keyword" | "vector" | "hybrid";

async function ask(mode: Mode, query = QUERY, filter: SearchFilter = {}) {
  const { results, missing } = await answerSearch(
    { sql, vectorSide: async () => side },
    { query, mode, limit: 50, filter },
  );
  expect(missing).toEqual([]);
  return results;
}

async function during(work: () => Promise<void>) {
  const answers: string[][] = [];
  let done = false;
  const read = async (mode: Mode) => {
    while (!done) answers.push((await ask(mode)).map(({ chunkId }) => chunkId));
  };
  const reading = Promise.all([read("vector"), read("hybrid"), read("keyword")]);
  try {
    await work();
  } finally {
    done = true;
    await reading;
  }
  return answers;
}

const sizes = async () =>
  (await listChunkSizes(sql)).map(({ chunk_size, state, paused }) => [chunk_size, paused ? "paused" : state]);

test("documents are cut anew while searches run, and back: no mix, no empty moment, all changes on both sides", async () => {
  const ids = await upload(...Array.from({ length: DOCUMENTS }, (_, at) => ({ name: `note ${at}` })));
  await embedAll();
  const [changed = "", deleted = "", restored = "", tagged = ""] = ids;
  await deleteDocuments(library(), [restored]);
  await expect(pauseChunkSize(sql, true)).rejects.toMatchObject({ status: 409 });
  await expect(useChunkSize(sql, 1024, MAX_TOKENS)).rejects.toMatchObject({ status: 400 });
  const setOf = new Map<string, number>();
  const answers = await during(async () => {
    await useChunkSize(sql, SMALL, MAX_TOKENS);
    await expect(useChunkSize(sql, 200, MAX_TOKENS)).rejects.toMatchObject({ status: 409 });
    expect(await sweepOnce()).toBeGreaterThan(0);
    await pauseChunkSize(sql, true);
    expect(await sweep()).toBe(0);
    expect(await listChunkSizes(sql)).toMatchObject([
      { chunk_size: null, state: "serving", documents: DOCUMENTS - 1, uncut: 0 },
      { chunk_size: SMALL, state: "coming", paused: true, documents: 49, uncut: DOCUMENTS - 50 },
    ]);
    await upload({ name: "note 0", says: "amended edition" }, { name: "newcomer", tags: ["new"] });
    await deleteDocuments(library(), [deleted]);
    await tagDocuments(library(), [tagged, ids.at(-1) ?? ""], { add: ["marked"] });
    await restoreDocument(library(), restored);
    await embedAll();
    await pauseChunkSize(sql, false);
    expect(await sweep()).toBe(DOCUMENTS - 50);
    // their vectors are not there
    expect(await sizes()).toEqual([
      [null, "serving"],
      [SMALL, "coming"],
    ]);
    await embedAll();
    await sweep();
    const both = [
      [SMALL, "serving"],
      [null, "leaving"],
    ];
    expect(await sizes()).toEqual(both);
    await expectChanges();
    for (let turn = 0; turn < 3; turn++) {
      await useChunkSize(sql, null, MAX_TOKENS);
      expect(await sizes()).toEqual([
        [null, "serving"],
        [SMALL, "leaving"],
      ]);
      await expectChanges();
      await useChunkSize(sql, SMALL, MAX_TOKENS);
      expect(await sizes()).toEqual(both);
    }
    for (const { id, set } of await sql<{ id: string; set: number }[]>`select id, chunk_set as set from chunks`) {
      setOf.set(id, set);
    }
  });
  expect(answers.length).toBeGreaterThan(3);
  for (const answer of answers) {
    expect(answer).toHaveLength(50);
    expect(new Set(answer.map((id) => setOf.get(id))).size).toBe(1);
  }
  expect(new Set(answers.map(([first = ""]) => setOf.get(first))).size).toBe(2);
  const compared = await compareStore(sql, side.vectors, side.embedder.descriptor, null, ALWAYS, { repairs: false });
  expect(compared).toMatchObject({ removedPoints: 0, lostChunks: 0, next: null });

  async function expectChanges(): Promise<void> {
    const urlsOf = async (query: string, filter: SearchFilter = {}) => [
      ...new Set((await ask("keyword", query, filter)).map(({ url: found }) => new URL(found).pathname.slice(1))),
    ];
    const vectorUrls = async (filter: SearchFilter) => [
      ...new Set((await ask("vector", QUERY, filter)).map(({ url: found }) => decodeURI(new URL(found).pathname))),
    ];
    expect(await urlsOf("amended edition")).toEqual(["note%200"]);
    expect(await urlsOf("newcomer")).toEqual(["newcomer"]);
    expect((await ask("hybrid", "note speaks")).map(({ documentId }) => documentId)).not.toContain(deleted);
    expect((await vectorUrls({ tags: { ids: [], names: ["marked"], match: "all" } })).sort()).toEqual([
      "/note 3",
      "/note 59",
    ]);
    expect(await listChunks(sql, changed, { limit: 100, after: -1 })).not.toEqual([]);
    expect((await ask("keyword", `"note 2 speaks"`))[0]?.documentId).toBe(restored);
  }
});

test("who is killed while documents are cut goes on there, and what was not sent is embedded", async () => {
  await upload(...Array.from({ length: DOCUMENTS }, (_, at) => ({ name: `note ${at}` })));
  await embedAll();
  await useChunkSize(sql, SMALL, MAX_TOKENS);
  const child = spawn(process.execPath, [join(import.meta.dirname, "cut-and-die.ts"), url], { stdio: "inherit" });
  expect((await once(child, "exit"))[1]).toBe("SIGKILL");
  expect(await listChunkSizes(sql)).toMatchObject([{}, { state: "coming", documents: 50, uncut: DOCUMENTS - 50 }]);
  expect(await sweep()).toBe(DOCUMENTS - 50);
  await embedAll();
  await sweep();
  expect(await listChunkSizes(sql)).toMatchObject([
    { chunk_size: SMALL, state: "serving", documents: DOCUMENTS, uncut: 0, waiting: 0 },
    { chunk_size: null, state: "leaving" },
  ]);
  const perDocument = await sql`
    select document_id, chunk_set, chunk_index from chunks group by 1, 2, 3 having count(*) > 1`;
  expect(perDocument).toEqual([]);
});

test("a change is given up for the size that answers; chunks of sizes that left go, with their vectors", async () => {
  const [id = ""] = await upload({ name: "only" });
  await embedAll();
  const before = await listChunks(sql, id, { limit: 100, after: -1 });
  await useChunkSize(sql, SMALL, MAX_TOKENS);
  await sweep();
  await useChunkSize(sql, null, MAX_TOKENS);
  expect(await sizes()).toEqual([[null, "serving"]]);
  expect(await dropLeavingChunks(sql, side.vectors, ALWAYS)).toBeGreaterThan(0);
  expect(await sql`select chunk_set from chunks group by 1`).toEqual([{ chunk_set: 0 }]);

  await useChunkSize(sql, SMALL, MAX_TOKENS);
  await sweep();
  await embedAll();
  await sweep();
  const cut = await listChunks(sql, id, { limit: 100, after: -1 });
  expect(cut.length).toBeGreaterThan(before.length);
  for (const { token_count } of cut) expect(token_count).toBeLessThanOrEqual(SMALL);
  expect(await dropLeavingChunks(sql, side.vectors, ALWAYS)).toBe(0);
  await sql`update chunk_sets set changed_at = now() - interval '2 days' where state = 'leaving'`;
  expect(await dropLeavingChunks(sql, side.vectors, ALWAYS)).toBe(before.length);
  expect(await sizes()).toEqual([[SMALL, "serving"]]);
  expect(await side.vectors.read(before.map((each) => each.id))).toEqual(new Map());
  // to each document's own size, which nobody has kept
  await useChunkSize(sql, null, MAX_TOKENS);
  await sweep();
  await embedAll();
  await sweep();
  const again = await listChunks(sql, id, { limit: 100, after: -1 });
  expect(again.map(({ start_char, end_char }) => [start_char, end_char])).toEqual(
    before.map(({ start_char, end_char }) => [start_char, end_char]),
  );
});
