/**
 * Pages of the W3C's tests of the input byte stream (test/fixtures/field): the same bytes, and what their encoding is.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeText } from "../../../shared/capture/charset.ts";

const FIELD = join(import.meta.dirname, "../../fixtures/field/charset");

/** What the bytes C3 BD C3 A4 C3 A8 are in each encoding; the pages in UTF-16 spell out the first. */
const IN_LATIN_9 = "ÃœÃ€Ãš";
const IN_UNICODE = "ýäè";

test.each([
  ["HTTP-charset", "iso-8859-15", "ISO-8859-15", IN_LATIN_9],
  ["HTTP-vs-meta-charset", "iso-8859-15", "ISO-8859-15", IN_LATIN_9],
  ["HTTP-vs-meta-content", "iso-8859-15", "ISO-8859-15", IN_LATIN_9],
  ["HTTP-vs-UTF-8-BOM", "iso-8859-15", "UTF-8", IN_UNICODE],
  ["UTF-8-BOM-vs-meta-charset", undefined, "UTF-8", IN_UNICODE],
  ["UTF-8-BOM-vs-meta-content", undefined, "UTF-8", IN_UNICODE],
  ["meta-charset-attribute", undefined, "ISO-8859-15", IN_LATIN_9],
  ["meta-content-attribute", undefined, "ISO-8859-15", IN_LATIN_9],
  ["UTF-16BE-BOM", undefined, "UTF-16BE", IN_LATIN_9],
  ["UTF-16LE-BOM", undefined, "UTF-16LE", IN_LATIN_9],
  ["No-encoding-declaration", undefined, "UTF-8", IN_UNICODE],
])("%s with the charset %s in HTTP is %s", (name, label, charset, word) => {
  const decoded = decodeText(readFileSync(join(FIELD, `${name}.html`)), label, "html");
  expect(decoded.charset).toBe(charset);
  expect(/<div id='box' class='([^']+)'/.exec(decoded.text)?.[1]).toBe(word);
});
