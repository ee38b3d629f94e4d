import { Tokenizer } from "htmlparser2";
import { expect, test } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";
import type { Extraction } from "../../../../shared/extract/extraction.ts";
import { hasten } from "../../../../shared/extract/parse/hasten.ts";
import { parsePage } from "../../../../shared/extract/parse/parse-page.ts";

const extract = (html: string): Extraction => extractPage(html, { url: "https://example.org/a" });

test.each([
  ["a named one, and one without its semicolon", "Fish &amp; chips &copy 2024", "Fish & chips © 2024"],
  ["numbers, and what no character has", "&#65;&#x42; &#xD800;&#0;&#x110000;", "AB \ufffd\ufffd\ufffd"],
  ["the longest name that fits", "&notit; &notin; &ngE;", "¬it; ∉ ≧̸"],
  ["what is none", "R&D & &nosuch; &#; &", "R&D & &nosuch; &#; &"],
  ["one right behind another", "&&amp;&lt;b&gt;", "&&<b>"],
  ["one that a tag cuts in two", "a &am<i>p; b</i>", "a &amp; b"],
  ["CDATA, which has none", "<![CDATA[x &amp; y]]> z", "x &amp; y z"],
  ["<xmp>, which has none", "<xmp>x &amp; y</xmp>", "x &amp; y"],
  ["<plaintext>, which has none", "<plaintext>x &amp; <b>", "x &amp; <b>"],
])("text is read with its character references: %s", (_, html, text) => {
  expect(extract(html).text).toBe(text);
});

test("a value of an attribute keeps what only looks like a reference", () => {
  const { links } = extract(`<a href="/x?a=1&copy=2&amp;b=3">A</a> <a href='y&lt'>B</a> <a href=z?q&amp;r>C</a>`);
  expect(links).toEqual([
    "https://example.org/x?a=1&copy=2&b=3",
    "https://example.org/y%3C",
    "https://example.org/z?q&r",
  ]);
});

test("the title is that of the first <title> alone", () => {
  const page = extract("<title>Fish &amp; chips</title><body><p>Text.</p><title>Bread &amp; butter &amp; jam</title>");
  expect(page.title).toBe("Fish & chips");
});

test.each(["<p>Text &amp", "<a href='x &amp;", "<script>var a", "<!-- never ends", "<title>T &amp; t", "<p"])(
  "a page that breaks off is read up to there: %j",
  (html) => {
    expect(() => extract(html)).not.toThrow();
  },
);

test("attributes with the names of an object's own members are attributes", () => {
  const { body } = parsePage("<body Constructor=1 constructor=2 __proto__=3 CLASS=a class=b>");
  expect(body?.attribs).toEqual({ constructor: "1", class: "a" });
});

test("the tokenizer finds the next character by the means that it is given", () => {
  const looked: number[] = [];
  const callbacks = Object.fromEntries(
    ["onattribdata", "onattribentity", "onattribend", "onattribname", "oncdata", "onclosetag", "oncomment"]
      .concat(["ondeclaration", "onend", "onopentagend", "onopentagname", "onprocessinginstruction"])
      .concat(["onselfclosingtag", "ontext", "ontextentity"])
      .map((name) => [name, () => {}]),
  ) as unknown as ConstructorParameters<typeof Tokenizer>[1];
  const tokenizer = hasten(new Tokenizer({ decodeEntities: false }, callbacks)) as unknown as {
    fastForwardTo(code: number): boolean;
    write(html: string): void;
  };
  const { fastForwardTo } = tokenizer;
  tokenizer.fastForwardTo = function (code) {
    looked.push(code);
    return fastForwardTo.call(this, code);
  };
  tokenizer.write(`<p class="a">text</p><script>1 < 2</script>`);
  expect(looked.map((code) => String.fromCharCode(code))).toEqual(['"', "<", "<", "<"]);
});
