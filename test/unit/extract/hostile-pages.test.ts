import { describe, expect, it } from "vitest";
import { chunkText } from "../../../shared/extract/chunks/chunk.ts";
import { extractPage, extractPlainText } from "../../../shared/extract/extract-page.ts";
import { PageElement } from "../../../shared/extract/parse/page-tree.ts";
import { MAX_DEPTH, parsePage } from "../../../shared/extract/parse/parse-page.ts";

const url = "https://example.org/";
const limits = { size: 128, overlap: 20, minimum: 30 };

/** CPU milliseconds of this process, so that a busy machine does not count. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const HOSTILE: Record<string, (size: number) => string> = {
  "divs nested without end": (size) => `${"<div>".repeat(size)}<p>Deep text.</p>`,
  "divs nested and closed": (size) =>
    `${"<div>".repeat(size)}<p>Deep text.</p>${"</div>".repeat(size)}<p>Deep text.</p>`,
  "inline elements nested without end": (size) => `${"<b><i>".repeat(size)}Deep text.`,
  "lists nested without end": (size) => "<ul><li>Deep text.".repeat(size),
  "quotes nested without end": (size) => "<blockquote>Deep text.".repeat(size),
  "end tags without start tags": (size) => `<div><p>Deep text.${"</span></b>".repeat(size)}`,
  "inline runs in one paragraph": (size) => `<p>Deep text. ${"<b>x</b> ".repeat(size)}`,
  "a tag that never ends": (size) => `<p>Deep text.</p><a ${"b=c ".repeat(size)}`,
  "a comment that never ends": (size) => `<p>Deep text.</p><!--${"x".repeat(size)}`,
  "unbalanced brackets": (size) => `<p>Deep text. ${"[".repeat(size)}</p>`,
  "backticks in code": (size) => `<p>Deep text. <code>${"`".repeat(size)}</code></p>`,
  "spans over the whole table": (size) =>
    `<p>Deep text.</p><table>${'<tr><th rowspan="65534" colspan="1000">cell</th></tr>'.repeat(size / 20)}</table>`,
  "figures in figures": (size) => `<p>Deep text.</p>${"<figure><figcaption>x".repeat(size)}`,
  "a million-item JSON-LD": (size) => `<p>Deep text.</p><script type="application/ld+json">${"[".repeat(size)}`,
};

describe("a hostile page", () => {
  it.each(Object.entries(HOSTILE))("of %s is read, in time that grows with its size only", (_, page) => {
    const run = (size: number): void => {
      const extraction = extractPage(page(size), { url });
      expect(extraction.text).toContain("Deep text.");
      expect(extraction.markdown).toContain("Deep text.");
      chunkText(extraction, limits);
    };
    run(500);
    const small = cpuMs(() => run(5_000));
    const large = cpuMs(() => run(40_000));
    // Eight times the page; quadratic work would take sixty-four times as long.
    expect(large).toBeLessThan(Math.max(400, small * 30));
  });

  it.each(["汉", "é", "😀", "𝒜", "\u0301", "x", "—", "٣"])(
    "of one run of %j is cut into chunks, in time that grows with its size only",
    (character) => {
      const run = (size: number): void => {
        const chunks = chunkText(extractPlainText(character.repeat(size)), limits);
        expect(chunks.at(-1)?.endChar).toBe(size * character.length);
      };
      run(1000);
      const small = cpuMs(() => run(100_000));
      const large = cpuMs(() => run(2_000_000));
      expect(large).toBeLessThan(Math.max(2000, small * 60));
    },
  );

  it("has a tree of bounded depth", () => {
    let deepest = 0;
    const visit = (node: PageElement, depth: number): void => {
      deepest = Math.max(deepest, depth);
      for (const child of node.children) if (child instanceof PageElement) visit(child, depth + 1);
    };
    for (const child of parsePage("<div>".repeat(20_000)).root.children)
      if (child instanceof PageElement) visit(child, 1);
    expect(deepest).toBeLessThanOrEqual(MAX_DEPTH + 1);
  });

  it("keeps the rest of the document when a script in an SVG closes itself", () => {
    expect(extractPage(`<svg><script/><title/></svg><p>After.</p>`, { url }).text).toBe("After.");
  });

  it("yields text that PostgreSQL and JSON can hold", () => {
    const { text, markdown, title } = extractPage("<title>a\0b</title><p>c\0d \ud800 e</p>", { url });
    for (const value of [text, markdown, title ?? ""]) {
      expect(value).not.toContain("\0");
      expect(value.isWellFormed()).toBe(true);
    }
    expect(extractPlainText("a\0b").text).toBe("a\ufffdb");
  });

  it("of nothing yields an empty extraction", () => {
    for (const html of ["", " ", "<", "<!doctype html>", "<html></html>", "<body hidden></body>", "\0"]) {
      const extraction = extractPage(html, { url });
      expect(extraction.links).toEqual([]);
      expect(chunkText(extraction, limits).length).toBeLessThanOrEqual(1);
    }
  });

  it("with a megabyte in one attribute keeps its text and drops the data", () => {
    const { text, markdown } = extractPage(
      `<p>Before. <img src="data:image/png;base64,${"A".repeat(1_000_000)}">After.</p>`,
      { url },
    );
    expect(text).toBe("Before. After.");
    expect(markdown).toBe("Before. After.");
  });
});
