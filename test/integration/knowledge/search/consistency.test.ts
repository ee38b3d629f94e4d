/**
 * Searches while pages are replaced, deleted, tagged and moved: what was hidden when a search began is not in its
 * answer, and what was there the whole time is.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAnswerCache } from "../../../../shared/knowledge/search/answer-cache.ts";
import type { SearchFilter } from "../../../../shared/knowledge/search/search-filter.ts";
import type { SearchRequest } from "../../../../shared/knowledge/search/search-request.ts";
import { createPgVectorStore } from "../../../../shared/knowledge/vector-stores/pgvector.ts";
import { createQdrantStore } from "../../../../shared/knowledge/vector-stores/qdrant.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import type { VectorPoint, VectorStore } from "../../../../shared/knowledge/vector-stores/vector-store.ts";
import { connectDatabase, type Sql } from "../../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/index.ts";
import { pgVectorDatabase } from "../../../services/pgvector-database.ts";
import { startQdrant } from "../../../services/qdrant-server.ts";
import { addPages, constantEmbedder, tag } from "./corpus.ts";

const { descriptor } = constantEmbedder;
const KEY = "consistency";

async function sqliteStore(): Promise<VectorStore> {
  const directory = await mkdtemp(join(tmpdir(), "strandline-consistency-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return createSqliteVectorStore({ path: join(directory, "vectors.sqlite"), descriptor });
}

async function qdrantStore(): Promise<VectorStore> {
  const { url, close } = await startQdrant(KEY);
  onTestFinished(close);
  return createQdrantStore({ url, apiKey: KEY, collection: "consistency", descriptor });
}

/** In a database of its own, as searches have connections of their own. */
async function pgVectorStore(): Promise<VectorStore> {
  const { url, close } = await pgVectorDatabase();
  onTestFinished(close);
  return createPgVectorStore({ sql: connectDatabase({ url, poolSize: 2 }), descriptor });
}

const PAGES = 20;
const ROUNDS = 30;
const SEARCHERS = 3;
const VERSIONS = ["old", "new"] as const;
type Version = (typeof VERSIONS)[number];

interface Page {
  url: string;
  generations: Record<Version, string>;
  points: VectorPoint[];
  shown: Version;
  deleted: boolean;
  tagged: boolean;
  collected: boolean;
  /** Odd while the page is being changed. */
  changes: number;
}

/** A page's two versions, of which one is shown; each has a vector. */
async function addPage(sql: Sql, store: VectorStore, at: number): Promise<Page> {
  const url = `https://site.example/${at}`;
  const generations = { old: uuidv7(), new: uuidv7() };
  const points: VectorPoint[] = [];
  for (const [index, version] of VERSIONS.entries()) {
    const written = { generationId: generations[version], active: version === "old" };
    const [chunkId = ""] = await addPages(sql, [{ url, title: version, chunks: [`tide ${version} ${at}`] }], written);
    const [row] = await sql<{ id: string }[]>`select document_id as id from chunks where id = ${chunkId}`;
    const angle = (at * VERSIONS.length + index) / 100;
    const payload = { documentId: row?.id ?? "", ...written, collectionId: null, domain: "site.example", url };
    const rest = {
      title: version,
      source: "crawl" as const,
      language: "en",
      tags: [],
      crawledAt: "2026-01-01T00:00:00Z",
    };
    points.push({
      chunkId,
      vector: Float32Array.of(Math.cos(angle), Math.sin(angle)),
      payload: { ...payload, ...rest },
    });
  }
  await store.upsert(points);
  return { url, generations, points, shown: "old", deleted: false, tagged: false, collected: false, changes: 0 };
}

describe.each([
  ["sqlite-vec", sqliteStore],
  ["a stand-in for Qdrant", qdrantStore],
  ["a stand-in for pgvector", pgVectorStore],
])("on %s", (_name, openStore) => {
  test("nothing hidden is returned, and nothing left out, whatever changes meanwhile", async () => {
    const { sql } = await testDatabase({ poolSize: SEARCHERS + 1 });
    const store = await openStore();
    onTestFinished(() => store.close());
    const pages: Page[] = [];
    for (let at = 0; at < PAGES; at++) pages.push(await addPage(sql, store, at));
    const tagId = await tag(sql, "sea");
    const collectionId = uuidv7();
    await sql`insert into collections (id, name) values (${collectionId}, 'c')`;

    const documents = ({ points }: Page) => points.map(({ payload }) => payload.documentId);
    const operations: ((page: Page) => Promise<void>)[] = [
      async (page) => {
        const next = page.shown === "old" ? "new" : "old";
        await sql.begin(async (tx) => {
          await tx`update documents set generation_active = false where generation_id = ${page.generations[page.shown]}`;
          await tx`update documents set generation_active = true where generation_id = ${page.generations[next]}`;
        });
        page.shown = next;
      },
      async (page) => {
        if (page.deleted) await store.upsert(page.points);
        const at = page.deleted ? null : new Date();
        await sql`update documents set deleted_at = ${at} where id = any(${documents(page)}::uuid[])`;
        if (!page.deleted) await store.deleteDocuments(documents(page));
        page.deleted = !page.deleted;
      },
      async (page) => {
        if (page.tagged) await sql`delete from document_tags where document_id = any(${documents(page)}::uuid[])`;
        else await sql`insert into document_tags select id, ${tagId} from documents where url = ${page.url}`;
        page.tagged = !page.tagged;
      },
      async (page) => {
        const collection = page.collected ? null : collectionId;
        await sql`update documents set collection_id = ${collection} where url = ${page.url}`;
        page.collected = !page.collected;
      },
    ];
    let stop = false;
    let changed = 0;
    const changing = (async () => {
      for (; !stop; changed++) {
        const page = pages[(changed * 7) % PAGES] as Page;
        page.changes++;
        await (operations[Math.floor(Math.random() * operations.length)] as (typeof operations)[0])(page);
        page.changes++;
      }
    })();

    const tags = { ids: [tagId], names: [], match: "any" as const };
    const filters: [SearchFilter, (page: Page) => boolean][] = [
      [{}, () => true],
      [{ tags }, ({ tagged }) => tagged],
      [{ tags: { ids: [], names: ["sea"], match: "all" } }, ({ tagged }) => tagged],
      [{ collectionIds: [collectionId] }, ({ collected }) => collected],
    ];
    const cache = createAnswerCache(60);
    const dependencies = { sql, vectorSide: async () => ({ embedder: constantEmbedder, vectors: store }) };
    let checked = 0;
    const searching = async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const mode = (["hybrid", "keyword", "vector"] as const)[round % 3] as SearchRequest["mode"];
        const [filter, matches] = filters[Math.floor(round / 3) % filters.length] as (typeof filters)[0];
        const before = pages.map((page) => ({ ...page }));
        const { answer } = await cache.search(dependencies, { query: "tide", mode, limit: 100, filter });
        expect(answer.missing).toEqual([]);
        for (const [at, page] of before.entries()) {
          const found = answer.results.filter(({ url }) => url === page.url).map(({ title }) => title);
          // of a page that changes meanwhile one version at the most
          expect(found.length).toBeLessThanOrEqual(1);
          if (page.changes % 2 === 1 || page.changes !== pages[at]?.changes) continue;
          const shown = !page.deleted && matches(page);
          // the store learns of a page's collection when its vectors are stored
          const incomplete = mode === "vector" && filter.collectionIds !== undefined;
          if (!(incomplete && shown && found.length === 0)) {
            expect([mode, filter, page.url, found]).toEqual([mode, filter, page.url, shown ? [page.shown] : []]);
          }
          checked++;
        }
      }
    };
    await Promise.all(Array.from({ length: SEARCHERS }, searching)).finally(() => {
      stop = true;
    });
    await changing;
    expect(changed).toBeGreaterThan(operations.length);
    expect(checked).toBeGreaterThan(PAGES);
  });
});
