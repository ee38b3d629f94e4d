import fc from "fast-check";
import { expect, test } from "vitest";
import { type Capture, captureSchema } from "../../../../shared/capture/capture.ts";
import type { Extraction } from "../../../../shared/extract/extraction.ts";
import { ANALYSIS, chunkVectors, keywordText } from "../../../../shared/knowledge/analysis/keyword-vectors.ts";
import { documentOf, insertDocuments } from "../../../../shared/knowledge/documents/documents.ts";
import { sha256, uuidv7 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/index.ts";

const LIMITS = { size: 24, overlap: 8, minimum: 4 };

function captured(url: string, text: string): Capture & { extraction: Extraction } {
  const half = Math.floor(text.length / 2);
  const extraction = {
    title: "A title",
    language: "en",
    canonicalUrl: null,
    metadata: { author: null, description: null, keywords: [], ogImage: null, publishDate: null },
    links: [],
    text,
    markdown: text,
    sections: [
      { heading: null, level: 0, start: 0, end: half, parent: null },
      { heading: "Second", level: 2, start: half, end: text.length, parent: 0 },
    ],
    blocks: [{ kind: "prose" as const, start: 0, end: text.length }],
    robots: { noindex: false, nofollow: false },
  };
  const capture = captureSchema.parse({
    url,
    urlHash: sha256(url).toString("hex"),
    finalUrl: url,
    redirects: [],
    depth: 0,
    status: 200,
    headers: [],
    mimeType: "text/html",
    charset: "UTF-8",
    fetchedAt: "2026-01-01T00:00:00.000Z",
    fetchTimeMs: 1,
    payloadBytes: 1,
    payloadDigest: null,
    truncated: false,
    notModified: false,
    revisitOf: null,
    rendered: null,
    warc: null,
    extraction,
    error: null,
  });
  return { ...capture, extraction };
}

const word = fc.oneof(
  fc.constantFrom(
    "tide",
    "naïve",
    "日本",
    "\u{1F30A}",
    "\u{1F469}\u200d\u{1F680}",
    "\0",
    "\ud800",
    "\udc00",
    "e\u0301",
  ),
  fc.string({ unit: "binary", minLength: 1, maxLength: 6 }),
);
const texts = fc.array(
  fc.array(word, { minLength: 1, maxLength: 120 }).map((words) => `Begin ${words.join(" ")} end`),
  { minLength: 1, maxLength: 5 },
);

test("chunks are the stretches of their document's text that their offsets name, whatever the text holds", async () => {
  await using database = await testDatabase();
  await fc.assert(
    fc.asyncProperty(texts, async (contents) => {
      const generationId = uuidv7();
      await database.sql.begin(async (tx) => {
        // without the job and the captures that the documents belong to
        await tx`set local session_replication_role = replica`;
        const documents = contents.map((text, at) => {
          const url = `https://a.example/${at}`;
          const urlHash = sha256(url).toString("hex");
          const page = { capture: captured(url, text), captureId: at, url, urlHash, parentUrl: null };
          return documentOf(page, LIMITS);
        });
        const target = { jobId: uuidv7(), generationId, collectionId: null, tags: [], wantsVectors: false };
        const written = await insertDocuments(tx, target, documents);
        expect(written).toMatchObject({ documents: contents.length });
      });
      const rows = await database.sql<
        Record<
          "stored" | "content" | "hash" | "fts" | "title" | "header" | "url" | "start_char" | "end_char" | "analysis",
          string
        >[]
      >`
        select d.url, d.content as stored, c.content, c.start_char, c.end_char, encode(c.content_hash, 'hex') as hash,
          c.fts::text as fts, d.title, c.section_header as header, c.analysis
        from chunks c join documents d on d.id = c.document_id where d.generation_id = ${generationId}`;
      expect(rows.length).toBeGreaterThanOrEqual(contents.length);
      for (const row of rows) {
        const sent = contents[Number(new URL(row.url).pathname.slice(1))] ?? "";
        expect(row.stored).toBe(sent.toWellFormed().replaceAll("\0", "\uFFFD"));
        expect(row.content).toBe(row.stored.slice(Number(row.start_char), Number(row.end_char)));
        expect(row.hash).toBe(sha256(row.content).toString("hex"));
        const words = { text: keywordText(row.title, row.header, row.content), language: "en" };
        const [wanted = ""] = await chunkVectors(database.sql, [words]);
        expect(await database.sql`select ${wanted}::tsvector::text as fts`).toEqual([{ fts: row.fts }]);
        expect(row.analysis).toBe(ANALYSIS);
      }
    }),
    { numRuns: 40 },
  );
});
