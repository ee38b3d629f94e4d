import fc from "fast-check";
import { expect, test } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";
import { byteOffsets } from "../../../../shared/knowledge/documents/chunks.ts";
import { chunkLimits } from "../../../../shared/knowledge/documents/documents.ts";
import { whyNotIndexed } from "../../../../shared/knowledge/documents/not-indexed.ts";
import { rowsOf } from "../../../../shared/platform/database/rows.ts";

const sizes = { chunk_size: 512, chunk_overlap: 50, min_chunk_size: 50 };

test("chunks are no longer than the embedder reads, and overlap and minimum shrink with them", () => {
  expect(chunkLimits(sizes, null)).toEqual({ size: 512, overlap: 50, minimum: 50, most: 2_000 });
  expect(chunkLimits(sizes, 8192)).toEqual({ size: 512, overlap: 50, minimum: 50, most: 2_000 });
  expect(chunkLimits(sizes, 128)).toEqual({ size: 128, overlap: 12, minimum: 12, most: 2_000 });
});

test("an overlap as large as the chunk still moves on", () => {
  const { size, overlap } = chunkLimits({ chunk_size: 24, chunk_overlap: 2048, min_chunk_size: 2048 }, null);
  expect(overlap).toBeLessThan(size);
});

test("a page becomes searchable in the wanted languages, if it has text and does not object", () => {
  const page = extractPage('<html lang="fr"><p>Bonjour tout le monde', { url: "http://a.example/" });
  expect(whyNotIndexed(page, ["en"])).toBe("language");
  expect(whyNotIndexed(page, ["en", "fr"])).toBeNull();
  expect(whyNotIndexed(page, ["*"])).toBeNull();
  expect(whyNotIndexed({ ...page, language: "und" }, ["en"])).toBeNull();
  expect(whyNotIndexed({ ...page, text: " \n" }, ["*"])).toBe("no_text");
  expect(whyNotIndexed({ ...page, robots: { noindex: true, nofollow: false } }, ["*"])).toBe("noindex");
  expect(whyNotIndexed(null, ["*"])).toBe("type");
});

test("rows hold any text: what PostgreSQL cannot store is replaced, and no length changes", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ text: fc.string({ unit: "binary" }) })), fc.string(), (rows, key) => {
      const parsed: { text: string }[] = JSON.parse(rowsOf([...rows, { text: `${key}\0\ud800\\u0000` }]));
      for (const [at, row] of rows.entries()) {
        const text = parsed[at]?.text ?? "";
        expect(text).toHaveLength(row.text.length);
        expect(text.isWellFormed() && !text.includes("\0")).toBe(true);
      }
      expect(parsed.at(-1)?.text).toBe(`${key.toWellFormed().replaceAll("\0", "\uFFFD")}\uFFFD\uFFFD\\u0000`);
    }),
  );
});

test("characters are found in the UTF-8 form of their text", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (parts) => {
      const text = parts.join("").toWellFormed();
      const bytes = Buffer.from(text);
      // those of whole characters
      const offsets = Array.from({ length: text.length + 1 }, (_, at) => at).filter(
        (at) => !(/[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at))),
      );
      const byteOf = byteOffsets(text, offsets.toReversed());
      for (const at of offsets) expect(bytes.toString("utf8", 0, byteOf(at))).toBe(text.slice(0, at));
    }),
  );
});
