import { expect, test } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";
import type { Extraction } from "../../../../shared/extract/extraction.ts";

const extract = (html: string): Extraction => extractPage(html, { url: "https://example.org/a" });

const FIRST = "The lighthouse was built in 1840, of granite from the island, and it has stood the sea ever since.";
const SECOND = "The lamp was lit with oil at first, and since 1911 with gas, which two keepers carried up the stairs.";
const BOTH = `${FIRST}\n\n${SECOND}`;

test.each([
  ["</body> in mid-page", `<html><body><div><p>${FIRST}</p></body><p>${SECOND}</p></div></body></html>`],
  ["</body></html> before the text", `<html><head></head><body></body></html><p>${FIRST}</p><p>${SECOND}</p>`],
  ["</html> in an open box", `<body><div><p>${FIRST}</html><p>${SECOND}`],
  ["a head that is never closed", `<html><head><title>T</title><div><p>${FIRST}</p><p>${SECOND}</p></div>`],
  ["a head that text ends", `<html><head><title>T</title>${FIRST}<p>${SECOND}</p>`],
  ["content before the body tag", `<html><head></head><p>${FIRST}</p><body><p>${SECOND}</p></body></html>`],
  ["a second head", `<html><head></head><body><p>${FIRST}</p><head><meta name=a><p>${SECOND}</p></body>`],
  [
    "a document within a document",
    `<html><body><div><p>${FIRST}</p><html><head><title>I</title></head><body><p>${SECOND}</p></body></html></div>`,
  ],
  ["an unclosed <svg> before a paragraph", `<body><svg viewBox="0 0 1 1"><path d="M0"><p>${FIRST}</p><p>${SECOND}</p>`],
  [
    "an unclosed <svg> in a closed box",
    `<body><div><svg><g><path d="M0"></div><section>${FIRST}</section><p>${SECOND}`,
  ],
  [
    "a shadow root",
    `<body><p>${FIRST}</p><x-y><template shadowrootmode="OPEN"><style>p{}</style><p>${SECOND}</p></template></x-y>`,
  ],
  [
    "shadow roots within each other",
    `<body><x-y><template shadowrootmode=open><div><p>${FIRST}</p><x-z><template shadowrootmode="closed">
      <p>${SECOND}</p><template><p>Not shown</p></template></template></x-z></div></template></x-y>`,
  ],
  ["an unclosed <video> in a closed box", `<body><div><video src=v><p>No video</div><p>${FIRST}</p><p>${SECOND}</p>`],
])("all text is read of a page with %s", (_, html) => {
  expect(extract(html).text).toBe(BOTH);
});

const ROWS = "<tr><th>Lamp</th><td>gas</td></tr><tr><th>Height</th><td>31 m</td></tr>";
const TABLE = "Lamp | gas\nHeight | 31 m";
test.each([
  ["text straight in it", `<table>${FIRST}${ROWS}</table><p>${SECOND}</p>`, `${FIRST}\n\n${TABLE}\n\n${SECOND}`],
  ["text in a body", `<table><tbody>${FIRST}${ROWS}</table><p>${SECOND}</p>`, `${FIRST}\n\n${TABLE}\n\n${SECOND}`],
  ["text in a row", `<table><tr>${FIRST}</tr>${ROWS}</table><p>${SECOND}</p>`, `${FIRST}\n\n${TABLE}\n\n${SECOND}`],
  ["text behind its rows", `<table>${ROWS}${FIRST}</table><p>${SECOND}</p>`, `${FIRST}\n\n${TABLE}\n\n${SECOND}`],
  ["text with a sign amid", `<table> <!-- --> a < b, ${FIRST}${ROWS}</table>`, `a < b, ${FIRST}\n\n${TABLE}`],
  ["paragraphs", `<table><p>${FIRST}<p>${SECOND}</p>${ROWS}</table>`, `${BOTH}\n\n${TABLE}`],
  ["open boxes", `<table><div><section><p>${FIRST}${ROWS}</table><p>${SECOND}`, `${FIRST}\n\n${TABLE}\n\n${SECOND}`],
  ["no end", `<div><table>${ROWS}<p>${FIRST}</p></div><p>${SECOND}</p>`, `${BOTH}\n\n${TABLE}`],
  [
    "no end, amid a cell",
    `<div><table>${ROWS}<tr><td>Lens</div><td>1m<tr><td>Keepers<td>2`,
    "Lamp | gas\nHeight | 31 m\nLens | 1m\nKeepers | 2",
  ],
  ["cells without a row", `<table><td>Lens<td>1 m${ROWS}</table><p>${FIRST}`, `Lens | 1 m\n${TABLE}\n\n${FIRST}`],
  ["a form amid the rows", `<table><form action=x>${ROWS}</form></table><p>${FIRST}`, `${TABLE}\n\n${FIRST}`],
  [
    "columns and a caption without end",
    `<table><caption>Tower<colgroup><col><col>${ROWS}</table><p>${FIRST}`,
    `Tower\n${TABLE}\n\n${FIRST}`,
  ],
  [
    "a table straight in it",
    `<table><tr><td>Lens<td>1 m<tr><table>${ROWS}</table><p>${FIRST}`,
    `Lens | 1 m\n\n${TABLE}\n\n${FIRST}`,
  ],
  [
    "a table in a cell",
    `<table><tr><td>Lens<table>${ROWS}</table><td>1 m</table><p>${FIRST}`,
    `Lens\n\n${TABLE}\n\n1 m\n\n${FIRST}`,
  ],
])("what stands in a table beside its cells is shown before it: %s", (_, html, expected) => {
  expect(extract(`<body><main>${html}</main></body>`).text).toBe(expected);
});

test("HTML within an SVG picture, and what stands beside it in a closed player, is no text of the page", () => {
  const picture =
    "<svg><foreignObject><p>Label of a chart</p></foreignObject><title>Chart</title><text>1 m</text></svg>";
  const player = "<div><video><div>Your browser cannot play this.</div><p>Sorry</video></div>";
  expect(extract(`<body><div><p>${FIRST}</p>${picture}${player}<p>${SECOND}</p></div>`).text).toBe(BOTH);
});

test("what stands in a head stays metadata, however the head ends", () => {
  const noscript = '<noscript><img src="/pixel.gif"></noscript>';
  const head = `<title>Lighthouse</title>${noscript}<meta name=description content="Of a tower"><base href="/x/">`;
  const page = extract(`<html lang=en><head>${head}<p>${FIRST} <a href=y>More</a></p><p>${SECOND}</p>`);
  expect(page).toMatchObject({ title: "Lighthouse", language: "en", links: ["https://example.org/x/y"] });
  expect(page.metadata.description).toBe("Of a tower");
});

test("a language that is declared after stray text counts", () => {
  expect(extract(`\ufeff x<html lang="is"><body><p>${FIRST}</p><p>${SECOND}</p>`).language).toBe("is");
});
