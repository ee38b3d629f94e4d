/** What is read of PDFs, and what becomes of those that are made to exhaust whoever reads them. */
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { pdfAsHtml } from "../../../../shared/render/pdf/pdf-page.ts";
import { readPdf } from "../../../../shared/render/pdf/read-pdf.ts";
import { pdfFile, pdfOf } from "../../../services/pdf-file.ts";

const LIMITS = { timeoutMs: 30_000 };
const PAGES = [
  ["The tide brings driftwood and leaves it along the", "strand. So it goes."],
  [],
  ["Shells (and let-", "ters) <b>."],
];

test("the text of each page has its number", async () => {
  const { title, pages, shortcoming } = await readPdf(pdfFile(PAGES, { title: "Tides" }), LIMITS);
  expect({ title, shortcoming }).toEqual({ title: "Tides", shortcoming: null });
  expect([...pages]).toEqual([
    [1, "The tide brings driftwood and leaves it along the\nstrand. So it goes."],
    [2, ""],
    [3, "Shells (and let-\nters) <b>."],
  ]);
});

test("as a page, each is a section, and lines are paragraphs again", () => {
  const pages = new Map(PAGES.map((lines, index) => [index + 1, lines.join("\n")]));
  expect(pdfAsHtml({ title: "A & B", pages })).toBe(
    "<!doctype html><html><head><title>A &amp; B</title></head><body>\n" +
      "<section><h2>Page 1</h2>\n<p>The tide brings driftwood and leaves it along the strand. So it goes.</p></section>\n" +
      "<section><h2>Page 3</h2>\n<p>Shells (and letters) &lt;b&gt;.</p></section>\n</body></html>",
  );
});

describe("a file that cannot be read as a whole says why", () => {
  /** One page whose content is `bytes` of spaces, deflated. */
  const bomb = (bytes: number): Buffer => {
    const packed = deflateSync(Buffer.alloc(bytes, " ")).toString("latin1");
    const stream = `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n${packed}\nendstream`;
    const page = "<< /Type /Page /Parent 3 0 R /MediaBox [0 0 9 9] /Contents 1 0 R >>";
    const tree = "<< /Type /Pages /Kids [2 0 R] /Count 1 >>";
    return pdfOf([stream, page, tree, "<< /Type /Catalog /Pages 3 0 R >>"], "/Root 4 0 R");
  };

  test.each([
    ["is none", Buffer.from("%PDF-1.7 and nothing else"), "RENDER_FAILED"],
    ["holds no text", pdfFile([[]]), "RENDER_EMPTY"],
    ["unpacks to more than there is room for", bomb(1_500_000_000), /RENDER_TOO_LARGE|RENDER_FAILED/],
  ])("%s", async (_what, bytes, code) => {
    const before = process.memoryUsage.rss();
    const error = await readPdf(bytes, LIMITS).catch((each) => each);
    expect(error.code).toMatch(code);
    expect(process.memoryUsage.rss() - before).toBeLessThan(2_500_000_000);
  });

  test("has more pages than are read", async () => {
    const { pages, shortcoming } = await readPdf(pdfFile([["One."], ["Two."], ["Three."]]), { ...LIMITS, maxPages: 2 });
    expect(shortcoming).toMatchObject({ code: "RENDER_TOO_LARGE" });
    expect([...pages.values()]).toEqual(["One.", "Two."]);
  });

  test("takes too long", async () => {
    await expect(readPdf(pdfFile(PAGES), { timeoutMs: 1 })).rejects.toMatchObject({ code: "RENDER_TIMEOUT" });
  });
});
