/** Deleting and restoring at once with each other, with embedding and with another version: the end is a legal one. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { settleJob } from "../../../shared/crawl/jobs/lifecycle.ts";
import { removeUnseenDocuments } from "../../../shared/knowledge/documents/maintenance.ts";
import { embedChunks } from "../../../shared/knowledge/embedding/embed-worker.ts";
import { outstandingChunks } from "../../../shared/knowledge/embedding/outstanding-chunks.ts";
import { compareStore } from "../../../shared/knowledge/embedding/store-comparison.ts";
import { answerSearch } from "../../../shared/knowledge/search/search.ts";
import { type OpenVectorSide, openVectorSide } from "../../../shared/knowledge/search/vector-side.ts";
import type { VectorStore } from "../../../shared/knowledge/vector-stores/vector-store.ts";
import { deleteDocuments, reindexDocuments, restoreDocument } from "../../../shared/library/change-documents.ts";
import { uploadDocuments } from "../../../shared/library/upload-documents.ts";
import { loadConfig } from "../../../shared/platform/config.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { testDatabase } from "../../services/index.ts";

const log = createLogger({}, "error", () => {});
const NO_QUEUES = { send: async () => {}, sendAll: async () => {}, sendRaw: async () => {} };

let sql: Sql;
let side: OpenVectorSide;
beforeEach(async () => {
  ({ sql } = await testDatabase({ poolSize: 8 }));
  const directory = await mkdtemp(join(tmpdir(), "strandline-races-"));
  const config = loadConfig({ EMBEDDER__PROVIDER: "static", VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite") });
  side = (await openVectorSide(config)()) as OpenVectorSide;
  return async () => {
    await side.vectors.close();
    await rm(directory, { recursive: true, force: true });
  };
});

const library = (vectors: Pick<VectorStore, "deleteDocuments" | "deletePoints"> = side.vectors) => ({
  ...{ sql, log, queues: NO_QUEUES, limit: null, flags: { markActive: async () => {} }, vectors: async () => vectors },
});

async function upload(name: string, says = name): Promise<string> {
  const outcomes = await uploadDocuments(
    library(),
    [
      {
        ...{ content: `# ${says}\n\nThe tide turns at the harbour wall, says ${says}.`, collectionId: null, tags: [] },
        ...{ url: `https://notes.example/${name}`, metadata: {}, languages: ["*"], language: "en" },
      },
    ],
    null,
    512,
  );
  const [outcome] = outcomes;
  if (outcome === undefined || "error" in outcome) throw outcome?.error ?? new Error("Nothing was stored");
  return outcome.document_id;
}

/** @param vectors of the worker: it may be held up */
async function embedAll(vectors = side.vectors): Promise<void> {
  const jobs = await sql<{ id: string; generationId: string }[]>`
    select id, generation_id as "generationId" from jobs where unembedded_chunks > 0`;
  for (const { id: jobId, generationId } of jobs) {
    const chunkIds = await sql.begin((tx) => outstandingChunks(tx, generationId));
    if (chunkIds.length > 0) {
      await embedChunks({ sql, vectorSide: { ...side, vectors }, settleJob, log }, { jobId, chunkIds });
    }
  }
}

/** The document is visible, with its vector, or deleted, without one; both sides of searches say the same. */
async function expectOneOfTwo(id: string): Promise<"visible" | "deleted" | "gone"> {
  await embedAll();
  const found = async (mode: "vector" | "keyword") => {
    const { results } = await answerSearch(
      { sql, vectorSide: async () => side },
      { query: "tide harbour wall", mode, limit: 50 },
    );
    return results.some(({ documentId }) => documentId === id);
  };
  const [row] = await sql<{ deleted: boolean; active: boolean; removed: boolean }[]>`
    select d.deleted_at is not null as deleted, d.generation_active as active,
      exists (select from removed_urls r where r.url_hash = d.url_hash) as removed
    from documents d where id = ${id}`;
  const visible = row?.active === true && !row.deleted;
  const others =
    await sql`select from documents_active where url_hash = (select url_hash from documents where id = ${id})`;
  if (others.length === 0) expect(row?.removed ?? true).toBe(!visible);
  expect(await found("keyword")).toBe(visible);
  // a store without any vector tells so
  if (visible) expect(await found("vector")).toBe(true);
  // what was deleted for good is not restored: maintenance removes its rows
  await removeUnseenDocuments(sql, side.vectors, () => true, 0);
  const { descriptor } = side.embedder;
  const compared = await compareStore(sql, side.vectors, descriptor, null, () => true, { repairs: false });
  expect(compared).toMatchObject({ removedPoints: 0, lostChunks: 0 });
  return visible ? "visible" : row?.active ? "deleted" : "gone";
}

const settle = (...all: Promise<unknown>[]) => Promise.allSettled(all);

test("a document is deleted and restored by many at once", async () => {
  for (let turn = 0; turn < 12; turn++) {
    const id = await upload(`note ${turn}`);
    if (turn % 2 === 0) await embedAll();
    if (turn % 3 === 0) await deleteDocuments(library(), [id]);
    await settle(
      ...[deleteDocuments(library(), [id]), restoreDocument(library(), id), embedAll()],
      ...[deleteDocuments(library(), [id]), restoreDocument(library(), id), reindexDocuments(library(), [id])],
    );
    expect(["visible", "deleted"]).toContain(await expectOneOfTwo(id));
  }
});

test("a document is deleted for good while it is restored, and while it is embedded", async () => {
  for (let turn = 0; turn < 8; turn++) {
    const id = await upload(`note ${turn}`);
    if (turn % 2 === 0) await deleteDocuments(library(), [id]);
    await settle(restoreDocument(library(), id), deleteDocuments(library(), [id], true), embedAll());
    expect(await expectOneOfTwo(id)).toBe("gone");
  }
});

test("a document is deleted and restored while another version of its URL comes", async () => {
  for (let turn = 0; turn < 8; turn++) {
    const id = await upload(`note ${turn}`);
    await embedAll();
    if (turn % 2 === 0) await deleteDocuments(library(), [id]);
    await settle(
      restoreDocument(library(), id),
      upload(`note ${turn}`, "another edition"),
      deleteDocuments(library(), [id]),
    );
    await expectOneOfTwo(id);
    const visible = await sql`
      select from documents_active where url = ${`https://notes.example/note%20${turn}`}`;
    expect(visible).toHaveLength(1);
  }
});

test("vectors that are removed late are not those of a document that was restored meanwhile", async () => {
  const id = await upload("note");
  await embedAll();
  const { promise: mayRemove, resolve: letRemove } = Promise.withResolvers<void>();
  const { promise: removing, resolve: isRemoving } = Promise.withResolvers<void>();
  const deletion = deleteDocuments(
    library({
      ...side.vectors,
      async deleteDocuments(ids) {
        isRemoving();
        await mayRemove;
        await side.vectors.deleteDocuments(ids);
      },
    }),
    [id],
  );
  await removing;
  const restored = restoreDocument(library(), id).then(() => embedAll());
  letRemove();
  await Promise.all([deletion, restored]);
  expect(await expectOneOfTwo(id)).toBe("visible");
});

test("a vector that is stored after its document was deleted does not stay", async () => {
  const id = await upload("note");
  await embedAll({
    ...side.vectors,
    async upsert(points) {
      await deleteDocuments(library(), [id]);
      await side.vectors.upsert(points);
    },
  });
  expect((await side.vectors.scan(null, 10)).ids).toEqual([]);
  expect(await expectOneOfTwo(id)).toBe("deleted");
  await restoreDocument(library(), id);
  expect(await expectOneOfTwo(id)).toBe("visible");
});
