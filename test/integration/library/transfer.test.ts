/** Documents that leave one installation and come into another: searches there answer as they did here. */
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { settleJob } from "../../../shared/crawl/jobs/lifecycle.ts";
import { embedTaskSchema } from "../../../shared/knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../../shared/knowledge/embedding/embed-worker.ts";
import { search } from "../../../shared/knowledge/search/search.ts";
import type { SearchRequest } from "../../../shared/knowledge/search/search-request.ts";
import { type OpenVectorSide, openVectorSide } from "../../../shared/knowledge/search/vector-side.ts";
import { createCollection } from "../../../shared/library/collections.ts";
import { listDocuments } from "../../../shared/library/stored-documents.ts";
import { exportPart } from "../../../shared/library/transfer/export-documents.ts";
import { type ImportOptions, importDocuments } from "../../../shared/library/transfer/import-documents.ts";
import { readLines } from "../../../shared/library/transfer/read-lines.ts";
import { type Upload, uploadDocuments } from "../../../shared/library/upload-documents.ts";
import { loadConfig } from "../../../shared/platform/config.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { testDatabase } from "../../services/database.ts";
import { memoryQueues } from "../../services/memory-queues.ts";

const SITE = join(import.meta.dirname, "../../../demo/site");
const log = createLogger({}, "error", () => {});
const LINES = { line: 1_000_000, whole: 50_000_000, lines: 10_000 };
const PLENTY = { bytes: 100_000_000, documents: 10_000, until: Number.POSITIVE_INFINITY };
const ALL: ImportOptions = { collectionId: undefined, fromLine: 1, apiKeyId: null, until: Number.POSITIVE_INFINITY };
const EVERYTHING = { deleted: false, limit: null };
const text = (word: string): string =>
  `The ${word} stands by the harbour, and everybody who lives there knows it well.`;

/** A database, a store of vectors and queues of its own. */
async function installation(directory: string, model?: string) {
  const database = await testDatabase();
  const { sql } = database;
  const path = join(directory, `vectors-${Math.random()}.sqlite`);
  const config = loadConfig({ ...process.env, EMBEDDER__PROVIDER: "static", VECTORS__SQLITE_PATH: path });
  const side = (await openVectorSide(config)()) as OpenVectorSide;
  const descriptor = { ...side.embedder.descriptor, ...(model !== undefined && { model }) };
  const vectorSide: OpenVectorSide = { ...side, embedder: { ...side.embedder, descriptor } };
  const queues = memoryQueues();
  const flags = { markActive: async () => {} };
  const dependencies = { sql, queues, flags, log, limit: null, descriptor, vectors: async () => side.vectors };
  return {
    sql,
    dependencies,
    async upload(...uploads: Partial<Upload>[]) {
      const whole = uploads.map((each) => ({
        ...{ content: "", collectionId: null, tags: [], metadata: {}, languages: ["*"] },
        ...each,
      }));
      for (let at = 0; at < whole.length; at += 50) {
        await uploadDocuments(dependencies, whole.slice(at, at + 50), null, descriptor.maxTokens);
      }
    },
    /** Does what the messages that were sent ask for. */
    async embed(): Promise<number> {
      let chunks = 0;
      for (;;) {
        const messages = await queues.receive("embed-high");
        if (messages.length === 0) return chunks;
        for (const message of messages) {
          const task = embedTaskSchema.parse(message);
          await embedChunks({ sql, vectorSide, settleJob, log }, task);
          chunks += task.chunkIds.length;
        }
      }
    },
    async export(after?: string, bounds = PLENTY, filter = {}) {
      const source = { sql, vectors: dependencies.vectors, model: descriptor };
      return await exportPart(source, { ...EVERYTHING, ...filter }, after, bounds);
    },
    async import(bytes: string | Buffer, options: Partial<ImportOptions> = {}) {
      const lines = readLines(Readable.from([Buffer.from(bytes)]), LINES);
      return await importDocuments(dependencies, lines, { ...ALL, ...options });
    },
    /** What a search gives, without what each installation names for itself. */
    async answers(request: Partial<SearchRequest> & { query: string }) {
      const asked = { mode: "hybrid" as const, limit: 20, ...request };
      const found = await search({ sql, vectorSide: async () => vectorSide }, asked);
      return found.map(({ documentId, chunkId, ...more }) => more);
    },
    async documents() {
      const found = await listDocuments(sql, EVERYTHING, { limit: 1_000, after: undefined });
      return found.map(({ id, job_id, collection_id, tags, updated_at, ...more }) => ({
        ...more,
        tags: tags.map(({ name }) => name),
      }));
    },
    async close() {
      await side.vectors.close();
      await database.drop();
    },
  };
}

type Installation = Awaited<ReturnType<typeof installation>>;

let directory: string;
const opened: Installation[] = [];
const open = async (model?: string): Promise<Installation> => {
  const made = await installation(directory, model);
  opened.push(made);
  return made;
};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline-transfer-"));
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function handbook(collectionId: string): Promise<Partial<Upload>[]> {
  const pages: Partial<Upload>[] = [];
  for await (const name of glob("**/*.html", { cwd: SITE })) {
    const content = await readFile(join(SITE, name), "utf8");
    const [folder = ""] = name.split("/");
    pages.push({
      content,
      url: `https://handbook.example/${name}`,
      contentType: "text/html",
      tags: [folder.toLowerCase()],
      collectionId,
    });
  }
  return pages.toSorted((a, b) => String(a.url).localeCompare(String(b.url)));
}

const QUESTIONS = [
  "How is a redirect recorded in the archive?",
  "Why do readers never see a mix of old and new pages?",
  "What if there is an electricity outage?",
  '"robots.txt" rules',
  "max_pages",
  "tide -harbour",
  "mise en page",
];

describe("a collection", () => {
  test("is found in another installation as it was, and nothing is embedded anew", async () => {
    const [here, there] = [await open(), await open()];
    const { id } = await createCollection(here.sql, { name: "Handbook", description: "Of the demo" });
    await here.upload(...(await handbook(id)));
    await here.upload({
      content: text("zanzibar 🌊 naïve"),
      title: "A tide",
      metadata: { by: "Ödön 🌊" },
      tags: ["own"],
    });
    expect(await here.embed()).toBeGreaterThan(50);
    const { gzip, documents, next } = await here.export();
    expect(next).toBeNull();
    expect(documents).toBeGreaterThan(50);

    const imported = await there.import(gzip);
    expect(imported).toMatchObject({ created: documents, failed: [], toEmbed: 0, nextLine: null });
    expect(imported.vectors).toBeGreaterThan(50);
    expect(await there.embed()).toBe(0);
    expect(await there.documents()).toEqual(await here.documents());
    for (const query of QUESTIONS) {
      for (const mode of ["hybrid", "vector", "keyword"] as const) {
        for (const filter of [{}, { tags: { ids: [], names: ["concepts"], match: "any" as const } }]) {
          const asked = { query, mode, filter, expand: true };
          expect(await there.answers(asked), `${mode}: ${query}`).toEqual(await here.answers(asked));
        }
      }
    }
    // and once more: nothing changes, and the file that comes out is the one that went in
    expect(await there.import(gzip)).toMatchObject({ created: 0, updated: 0, unchanged: documents, vectors: 0 });
    expect(gunzipSync((await there.export()).gzip).toString()).toBe(gunzipSync(gzip).toString());
  });

  test("of another model is embedded anew", async () => {
    const [here, there] = [await open(), await open("another-model")];
    await here.upload({ content: text("zanzibar"), url: "https://a.example/" });
    await here.embed();
    const { gzip } = await here.export();
    expect(await there.import(gzip)).toMatchObject({ created: 1, vectors: 0, toEmbed: 1 });
    expect(await there.answers({ query: "zanzibar", mode: "vector" })).toEqual([]);
    expect(await there.embed()).toBe(1);
    expect(await there.answers({ query: "zanzibar", mode: "vector" })).toHaveLength(1);
  });

  test("that waits for its vectors is exported without them", async () => {
    const [here, there] = [await open(), await open()];
    await here.upload({ content: text("zanzibar") });
    const { gzip } = await here.export();
    expect(JSON.parse(gunzipSync(gzip).toString())).toMatchObject({ vectors: null });
    expect(await there.import(gzip)).toMatchObject({ created: 1, toEmbed: 1 });
  });

  test("comes in parts, which put together are one file, and only what is asked for", async () => {
    const here = await open();
    await here.upload(
      ...["a", "b", "c", "d", "e"].map((word) => ({ content: text(word), url: `https://${word}.example/` })),
    );
    const parts: Buffer[] = [];
    let cursor: string | undefined;
    do {
      const part = await here.export(cursor, { ...PLENTY, documents: 2 });
      parts.push(part.gzip);
      cursor = part.next ?? undefined;
    } while (cursor !== undefined);
    expect(parts).toHaveLength(3);
    const there = await open();
    expect(await there.import(Buffer.concat(parts))).toMatchObject({ created: 5, failed: [] });
    const one = await here.export(undefined, PLENTY, { domain: "c.example" });
    expect([one.documents, JSON.parse(gunzipSync(one.gzip).toString()).url]).toEqual([1, "https://c.example/"]);
    const none = await here.export(undefined, PLENTY, { domain: "nowhere.example" });
    expect([none.documents, none.next, gunzipSync(none.gzip).length]).toEqual([0, null, 0]);
  });
});

describe("lines", () => {
  async function line(change: (line: Record<string, never>) => unknown = (same) => same): Promise<string> {
    const here = await open();
    await here.upload({ content: `# Quay\n\n${text("zanzibar")}`, url: "https://a.example/" });
    await here.embed();
    const parsed = JSON.parse(gunzipSync((await here.export()).gzip).toString());
    return JSON.stringify(change(parsed));
  }

  test("that are broken are told, and leave the others alone", async () => {
    const good = JSON.parse(await line());
    const broken = (change: object): string => JSON.stringify({ ...good, url: "https://broken.example/", ...change });
    const [section] = good.sections;
    const [chunk] = good.chunks;
    const nested = `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
    const lines = [
      "no JSON",
      "",
      broken({ format: "another/1" }),
      broken({ url: "no url" }),
      broken({ content: "" }),
      broken({ content: "NUL \0" }),
      broken({ metadata: { deep: "\ud800" } }),
      broken({ metadata: 1 }).replace('"metadata":1', `"metadata":${nested}`),
      broken({ crawled_at: "0000-01-01T00:00:00Z" }),
      broken({ crawled_at: "yesterday" }),
      broken({ sections: [{ ...section, parent: 0 }] }),
      broken({
        sections: [
          { ...section, parent: 1 },
          { ...section, parent: 0 },
        ],
      }),
      broken({ sections: Array(5_001).fill(section) }),
      broken({ chunks: [{ ...chunk, end: 1_000_000 }] }),
      broken({ chunks: [{ ...chunk, section: 99 }] }),
      broken({ chunks: [chunk, chunk] }),
      broken({ vectors: { ...good.vectors, data: ["AAAA"] } }),
      broken({ vectors: { ...good.vectors, data: [Buffer.alloc(4 * good.vectors.dimension).toString("base64")] } }),
      broken({ vectors: { ...good.vectors, encoding: "text" } }),
      `${"x".repeat(1_000_001)}`,
      JSON.stringify(good),
    ];
    const there = await open();
    const imported = await there.import(`${lines.join("\n")}\n`);
    const failed = imported.failed.map(({ line: number }) => number);
    expect(failed).toEqual(lines.flatMap((each, at) => (each === "" || at === lines.length - 1 ? [] : [at + 1])));
    expect(new Set(imported.failed.map(({ code }) => code))).toEqual(new Set(["LINE_INVALID", "URL_INVALID"]));
    expect(imported).toMatchObject({ created: 1, vectors: 1 });
    expect((await there.documents()).map(({ url }) => url)).toEqual(["https://a.example/"]);
  });

  test("of a tree 5,000 sections deep are read back", async () => {
    const there = await open();
    const deep = await line(
      (same) =>
        ({
          ...(same as object),
          sections: Array.from({ length: 5_000 }, (_, at) => ({
            ...{ heading: `H${at}`, level: 6, start: 0, end: 1, parent: at === 0 ? null : at - 1 },
          })),
        }) as never,
    );
    expect(await there.import(deep)).toMatchObject({ created: 1, failed: [] });
    expect(gunzipSync((await there.export()).gzip).toString()).toContain("H4999");
  });

  test("go on where the time was up, and where a file ends in the middle", async () => {
    const [here, there] = [await open(), await open()];
    await here.upload(...["a", "b", "c"].map((word) => ({ content: text(word), url: `https://${word}.example/` })));
    const { gzip } = await here.export();
    expect(await there.import(gzip, { until: 0 })).toMatchObject({ created: 0, nextLine: 1 });
    expect(await there.import(gzip, { fromLine: 3 })).toMatchObject({ created: 1, nextLine: null });
    await expect(there.import(gzip.subarray(0, -20))).rejects.toMatchObject({ code: "UNREADABLE" });
    expect(await there.import(gzip)).toMatchObject({ failed: [], nextLine: null });
    expect(await there.documents()).toHaveLength(3);
  });

  test("that unpack to more than there is room for are refused", async () => {
    const there = await open();
    for (const filler of ["x", "\n", " "]) {
      const bomb = gzipSync(Buffer.alloc(60_000_000, filler));
      await expect(there.import(bomb), JSON.stringify(filler)).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    }
  });

  test("all go into the collection that is named, and nowhere else", async () => {
    const there = await open();
    const { id } = await createCollection(there.sql, { name: "Target", description: null });
    const bytes = await line();
    expect(await there.import(bytes, { collectionId: id })).toMatchObject({ created: 1 });
    const [found] = await listDocuments(there.sql, EVERYTHING, { limit: 5, after: undefined });
    expect(found?.collection_id).toBe(id);
    const missing = "00000000-0000-4000-8000-000000000000";
    expect((await there.import(bytes, { collectionId: missing })).failed).toEqual([
      expect.objectContaining({ line: 1, code: "NOT_FOUND" }),
    ]);
  });
});
