import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkText } from "../../../../shared/extract/chunks/chunk.ts";
import { extractPage, extractPlainText } from "../../../../shared/extract/extract-page.ts";
import type { Chunk, Extraction } from "../../../../shared/extract/extraction.ts";

const url = "https://example.org/";
const fromHtml = (body: string): Extraction =>
  extractPage(`<html lang="en"><body><main>${body}</main></body></html>`, { url });
const sentence = (word: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `The ${word} number ${index} stands in a sentence of its own.`).join(" ");
const limits = { size: 128, overlap: 20, minimum: 30 };

function expectSound(extraction: Extraction, chunks: readonly Chunk[], size: number): void {
  let covered = 0;
  let lastStart = -1;
  for (const [index, chunk] of chunks.entries()) {
    expect(chunk.index).toBe(index);
    expect(extraction.text.slice(chunk.startChar, chunk.endChar)).toBe(chunk.content);
    expect(chunk.content.isWellFormed()).toBe(true);
    expect(chunk.startChar).toBeGreaterThan(lastStart);
    expect(chunk.endChar).toBeGreaterThan(covered);
    // Nothing but white space is left out between two chunks.
    expect(extraction.text.slice(covered, Math.max(covered, chunk.startChar)).trim()).toBe("");
    expect(chunk.tokenCount).toBeLessThanOrEqual(size);
    lastStart = chunk.startChar;
    covered = chunk.endChar;
  }
  expect(extraction.text.slice(covered).trim()).toBe("");
}

describe("chunks", () => {
  it("are exact, bounded, complete and in order for any text and any limits", () => {
    const fragment = fc.oneof(
      fc.constantFrom(
        "word",
        "a sentence ends here. ",
        "\n\n",
        "\n",
        "汉字没有空格。",
        "😀",
        "x".repeat(300),
        "1234567",
        "{ code(); }",
      ),
      fc.string({ unit: "grapheme", maxLength: 20 }),
    );
    fc.assert(
      fc.property(
        fc.array(fragment, { maxLength: 60 }),
        fc.integer({ min: 24, max: 200 }),
        fc.nat(60),
        fc.nat(60),
        (parts, size, overlap, minimum) => {
          const extraction = extractPlainText(parts.join(" "));
          expectSound(extraction, chunkText(extraction, { size, overlap, minimum }), size);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("of nothing are none, and of little are one", () => {
    expect(chunkText(extractPlainText(" \n "), limits)).toEqual([]);
    expect(chunkText(extractPlainText("Short."), limits)).toEqual([
      {
        index: 0,
        content: "Short.",
        startChar: 0,
        endChar: 6,
        tokenCount: 3,
        contentType: "prose",
        sectionHeader: null,
        section: 0,
      },
    ]);
  });

  it("end where a section ends, and name the heading they stand under", () => {
    const extraction = fromHtml(
      `<h1>Guide</h1><p>${sentence("apple", 8)}</p><h2>Pears</h2><p>${sentence("pear", 8)}</p>`,
    );
    const chunks = chunkText(extraction, limits);
    expect(chunks.map(({ sectionHeader }) => sectionHeader)).toEqual(["Guide", "Pears"]);
    expect(chunks[1]?.content.startsWith("Pears\n\nThe pear number 0")).toBe(true);
    expect(chunks[1]?.section).toBe(1);
  });

  it("hold several small sections rather than one each", () => {
    const sections = Array.from({ length: 6 }, (_, index) => `<h2>Part ${index}</h2><p>${sentence("fig", 1)}</p>`);
    expect(chunkText(fromHtml(sections.join("")), limits).length).toBeLessThanOrEqual(2);
  });

  it("repeat whole sentences of the chunk before where a section had to be cut", () => {
    const chunks = chunkText(fromHtml(`<p>${sentence("plum", 40)}</p>`), limits);
    expect(chunks.length).toBeGreaterThan(2);
    for (const [index, chunk] of chunks.slice(1).entries()) {
      expect(chunk.startChar).toBeLessThan(chunks[index]?.endChar ?? 0);
      expect(chunk.content.startsWith("The plum")).toBe(true);
      expect(chunk.content.endsWith("its own.")).toBe(true);
    }
  });

  it("do not repeat anything without overlap", () => {
    const chunks = chunkText(fromHtml(`<p>${sentence("plum", 40)}</p>`), { ...limits, overlap: 0 });
    for (const [index, chunk] of chunks.slice(1).entries())
      expect(chunk.startChar).toBeGreaterThanOrEqual(chunks[index]?.endChar ?? 0);
  });

  it("keep a code block whole when it fits, with its indentation", () => {
    const code = Array.from({ length: 12 }, (_, line) => `    call(${line}); // step`).join("\n");
    const extraction = fromHtml(`<p>${sentence("plum", 5)}</p><pre>${code}</pre><p>${sentence("plum", 9)}</p>`);
    const chunks = chunkText(extraction, limits);
    expect(chunks.filter(({ content }) => content.includes("call("))).toHaveLength(1);
    expect(chunks.find(({ content }) => content.includes("call("))?.content).toContain(code.trimEnd());
  });

  it("cut a code block that is too long at its lines, and call it code", () => {
    const code = Array.from({ length: 80 }, (_, line) => `  call(${line}, "argument");`).join("\n");
    const chunks = chunkText(fromHtml(`<pre>${code}</pre>`), limits);
    expect(chunks.length).toBeGreaterThan(3);
    for (const { content, contentType } of chunks) {
      expect(contentType).toBe("code");
      expect(content).toMatch(/^ {2}call\(\d+, "argument"\);[\s\S]*"argument"\);$/);
    }
  });

  it("cut tables between rows", () => {
    const rows = Array.from(
      { length: 60 },
      (_, row) => `<tr><td>Row ${row}</td><td>has a value of ${row * 7}</td></tr>`,
    ).join("");
    const chunks = chunkText(fromHtml(`<table><tr><th>Name</th><th>Value</th></tr>${rows}</table>`), limits);
    expect(chunks.length).toBeGreaterThan(3);
    for (const { content, contentType } of chunks) {
      expect(contentType).toBe("table");
      for (const line of content.split("\n")) expect(line).toMatch(/^(?:Name \| Value|Row \d+ \| has a value of \d+)$/);
    }
  });

  it("leave no tiny rest at the end", () => {
    for (let count = 6; count < 40; count++) {
      const chunks = chunkText(fromHtml(`<p>${sentence("plum", count)}</p>`), limits);
      if (chunks.length > 1) expect(chunks.at(-1)?.tokenCount).toBeGreaterThanOrEqual(limits.minimum);
    }
  });

  it("bound a text without spaces, between code points", () => {
    for (const text of ["汉字".repeat(3000), "QUJDREVG".repeat(2000), "😀👍🏽".repeat(1000)]) {
      const extraction = extractPlainText(text);
      const chunks = chunkText(extraction, limits);
      expect(chunks.length).toBeGreaterThan(5);
      expectSound(extraction, chunks, limits.size);
    }
  });

  it("are not cut within what a reader sees as one character", () => {
    const seen = new Intl.Segmenter("und", { granularity: "grapheme" });
    for (const emoji of ["👩‍👩‍👧", "👍🏽", "🇩🇪", "❤️"]) {
      const text = emoji.repeat(120);
      const whole = new Set([...seen.segment(text)].map(({ index }) => index));
      const chunks = chunkText(extractPlainText(text), { size: 64, overlap: 0, minimum: 10 });
      expect(chunks.length).toBeGreaterThan(1);
      for (const { startChar } of chunks) expect(whole.has(startChar), `${emoji} at ${startChar}`).toBe(true);
    }
  });

  it("are cut between words where a script has no spaces", () => {
    const text = "ภาษาไทยเป็นภาษาที่ใช้กันมากในประเทศไทยและประเทศใกล้เคียงมีผู้พูดประมาณหกสิบล้านคนทั่วโลก".repeat(6);
    const words = new Intl.Segmenter("th", { granularity: "word" }).segment(text);
    const starts = new Set([...words].map(({ index }) => index));
    const chunks = chunkText(extractPlainText(text), { size: 64, overlap: 0, minimum: 10 });
    expect(chunks.length).toBeGreaterThan(2);
    for (const { startChar } of chunks) expect(starts.has(startChar)).toBe(true);
  });

  it("refuse limits that no text could meet", () => {
    expect(() => chunkText(extractPlainText("x"), { size: 0, overlap: 0, minimum: 0 })).toThrow(RangeError);
    expect(() => chunkText(extractPlainText("x"), { size: Number.NaN, overlap: 0, minimum: 0 })).toThrow(RangeError);
    expect(() => chunkText(extractPlainText("x"), { size: 10, overlap: -1, minimum: 0 })).toThrow(RangeError);
  });
});
