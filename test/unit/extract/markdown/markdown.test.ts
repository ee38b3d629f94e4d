import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const markdown = (body: string): string =>
  extractPage(`<html lang="en"><body><main>${body}</main></body></html>`, { url: "https://example.org/docs/" })
    .markdown;

/** What begins a block, or turns the line before into one (CommonMark 0.31 4.1 to 4.7, 5.1, 5.2; GFM 4.10). */
const BLOCK_STARTS = [
  /^(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/,
  /^#{1,6}(?: |$)/,
  /^(?:`{3,}[^`]*|~{3,}.*)$/,
  /^<(?:[a-z/!?])/i,
  /^>/,
  /^(?:[-+*]|\d{1,9}[.)])(?: |$)/,
];
const ON_FIRST = /^\[(?:\\.|[^[\]\\])+\]:/;
const ON_OTHERS = [/^(?:=+|-+) *$/, /^\|?(?: *:?-+:? *\|)* *:?-+:? *\|? *$/];
const startsBlock = (line: string, isFirst: boolean): boolean =>
  [...BLOCK_STARTS, ...(isFirst ? [ON_FIRST] : ON_OTHERS)].some((start) => start.test(line.trim()));

describe("Markdown", () => {
  it("keeps headings, and drops the permalinks beside them", () => {
    expect(
      markdown(`<h1>Guide</h1><h2>Set <em>up</em><a class="headerlink" href="#set-up">¶</a></h2><p>Text.</p>`),
    ).toBe("# Guide\n\n## Set *up*\n\nText.");
  });

  it("nests lists, keeps numbers and indents what belongs to an item", () => {
    expect(
      markdown(
        `<ul><li>one<ul><li>deep<ol start="3"><li>three</li><li><p>four</p><p>more</p></li></ol></li></ul></li><li>two</li></ul>`,
      ),
    ).toBe("- one\n  - deep\n    3. three\n    4. four\n\n       more\n- two");
  });

  it.each([
    ["<ol><li>Two</li><ol><li>Inner</li></ol><li>Three</li></ol>", "1. Two\n   1. Inner\n2. Three"],
    ["<ol><li>One</li><ul><li>Inner</li></ul></ol>", "1. One\n   - Inner"],
    ['<ol start="10"><li>Ten</li><ul><li>Inner</li></ul></ol>', "10. Ten\n    - Inner"],
    ["<ul><li>One</li><ol><li>Inner</li></ol></ul>", "- One\n  1. Inner"],
  ])("nests a list that stands straight in a list below the item before it: %s", (html, expected) => {
    expect(markdown(html)).toBe(expected);
  });

  it.each([
    ['<a href="/x"><h3>Setup</h3></a>', "### [Setup](https://example.org/x)"],
    ['<p><a href="/x"><h3>Setup</h3></a></p>', "### [Setup](https://example.org/x)"],
    ['<p>See <a href="/x"><div>Setup</div></a> first.</p>', "See\n\n[Setup](https://example.org/x)\n\nfirst."],
    [
      '<p><b><a href="/x">The <h4>Setup</h4></a></b></p>',
      "**[The](https://example.org/x)**\n\n#### [Setup](https://example.org/x)",
    ],
    // never closed: what follows is no link
    [
      '<p><a href="/x">Old<div>Setup</div><a href="/y">New</a>',
      "[Old](https://example.org/x)\n\nSetup\n\n[New](https://example.org/y)",
    ],
    ['<a href="/x"><h3>Setup</h3><p>In three steps.</p></a>', "### [Setup](https://example.org/x)\n\nIn three steps."],
    ['<a href="/x"><div>Tides [1]<br>of the year</div></a>', "[Tides \\[1\\]  \nof the year](https://example.org/x)"],
    [
      '<a href="/x"><figure><img src="/p.png" alt="A boat"></figure></a>',
      "[![A boat](https://example.org/p.png)](https://example.org/x)",
    ],
    ['<a href="/x"><ul><li>One</li><li>Two</li></ul></a>', "- [One](https://example.org/x)\n- Two"],
    ["<a><p>Nowhere</p></a>", "Nowhere"],
  ])("keeps a link around blocks: %s", (html, expected) => {
    expect(markdown(`<p>Before.</p>${html}`)).toBe(`Before.\n\n${expected}`);
  });

  it.each([
    ["in<b>li</b>ne and un<em>believ</em>able", "in**li**ne and un*believ*able"],
    ["x<s>y</s>z and (<b>a)</b>b", "x~~y~~z and (**a)** b"],
  ])("keeps a word one word where a part of it is marked: %s", (html, expected) => {
    expect(markdown(`<p>${html}</p>`)).toBe(expected);
  });

  it.each([
    "=",
    "==",
    "--",
    "-",
    "***",
    "* a",
    "+ b",
    "1. c",
    "> d",
    "# e",
    "~~~",
    "--- | ---",
    "| - | - |",
    ":-|-:",
    "= f",
    "a = b",
  ])("keeps a line of text a line of text: %s", (line) => {
    for (const html of [`<p>Forty<br>${line}<br>two</p>`, `<p>${line}</p>`, `<ul><li>Forty<br>${line}</li></ul>`]) {
      expect(markdown(html).replaceAll("\\", "")).toContain(line);
      const starts = markdown(html)
        .split("\n")
        .map((each) => each.replace(/^- /, "").trim());
      const begins = /^(?:=+|-{1,}|\*{3}|[*+-] .*|\d+[.)] .*|[>#] .*|~~~|[|:-][|:\s-]*)$/;
      expect(starts.filter((each) => begins.test(each))).toEqual([]);
    }
  });

  it("starts no block with a line of text, whatever the line is", () => {
    const token = fc.constantFrom(
      ..."- + * _ = ~ ` # > | : [ ] ( ) ! < & \\ 1 12 . a word x ^ [a]: [x] --- ___ *** ~~~ :- 1) div".split(" "),
      " ",
      " ",
    );
    const line = fc.array(token, { minLength: 1, maxLength: 7 }).map((tokens) => tokens.join("").trim());
    const marked = fc.tuple(line, fc.constantFrom("", "b", "span", "i", "s"), line).map(([before, name, inner]) => {
      const [start, end] = [before, inner].map((text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;"));
      return name === "" ? `${start}${end}` : `${start}<${name}>${end}</${name}>`;
    });
    fc.assert(
      fc.property(fc.array(marked, { minLength: 1, maxLength: 3 }), (lines) => {
        const written = markdown(`<p>${lines.join("<br>")}</p>`).split("\n");
        expect(written.filter((each, index) => startsBlock(each, index === 0))).toEqual([]);
      }),
      { numRuns: 2000, seed: 1 },
    );
  });

  it.each([
    ["_ _ _", "\\_ _ _"],
    ["* * *", "\\* * \\*"],
    ["- - -", "\\- - -"],
    ["+", "\\+"],
    ["1) a", "1\\) a"],
    ["[<b>note</b>]: of a keeper", "\\[**note**]: of a keeper"],
    ["[^1]: of a keeper", "\\[^1]: of a keeper"],
    ["Harbour<br>:-:", "Harbour  \n\\:-:"],
    ["_ a", "_ a"],
    ["[1] a: b", "[1] a: b"],
    [":-) and -: a", ":-) and -: a"],
  ])("escapes the start of a line that is %s", (html, expected) => {
    expect(markdown(`<p>${html}</p>`)).toBe(expected);
  });

  it.each([
    ["<li>[x] done</li>", "- \\[x] done"],
    ["<li>[ ] to do</li>", "- \\[ ] to do"],
    ["<li>[x]y</li>", "- [x]y"],
  ])("keeps brackets that stand at the start of a list item: %s", (html, expected) => {
    expect(markdown(`<p>Forty.</p><ul>${html}</ul>`)).toBe(`Forty.\n\n${expected}`);
  });

  it.each([
    ['Stop!<a href="/x">here</a>', "Stop\\![here](https://example.org/x)"],
    ["a&lt;<span>div&gt;</span>b", "a\\<div>b"],
    ["C:\\<b>dir</b>", "C:\\\\**dir**"],
    ["a &amp;<span>amp;</span> b", "a \\&amp; b"],
  ])("escapes what goes on in the next element: %s", (html, expected) => {
    expect(markdown(`<p>${html}</p>`)).toBe(expected);
  });

  it("expands row and column spans and merges header rows", () => {
    const table = `<table><thead><tr><th rowspan="2">Name</th><th colspan="2">2024</th></tr><tr><th>Q1</th><th>Q2</th></tr></thead>
      <tbody><tr><td rowspan="2">a|b</td><td>1</td><td>2<br>3</td></tr><tr><td>4</td><td>5</td></tr></tbody></table>`;
    expect(markdown(table)).toBe(
      "| Name | 2024 Q1 | 2024 Q2 |\n| --- | --- | --- |\n| a\\|b | 1 | 2<br>3 |\n| a\\|b | 4 | 5 |",
    );
  });

  it("renders a layout table as what it lays out", () => {
    expect(markdown(`<table role="presentation"><tr><td><p>Left.</p></td><td><p>Right.</p></td></tr></table>`)).toBe(
      "Left.\n\nRight.",
    );
  });

  it.each([
    [`<pre><code class="language-ts">a</code></pre>`, "ts"],
    [`<pre><code class="hljs lang-rust">a</code></pre>`, "rust"],
    [`<div class="highlight highlight-source-python"><pre>a</pre></div>`, "python"],
    [`<pre data-lang="go">a</pre>`, "go"],
    [`<pre>a</pre>`, ""],
  ])("names the language of %s", (html, language) => {
    expect(markdown(html)).toBe(`\`\`\`${language}\na\n\`\`\``);
  });

  it("keeps white space in code and fences it with more backticks than it holds", () => {
    expect(markdown("<pre>if a:\n    ```\n\n  b &lt; c\n</pre>")).toBe("````\nif a:\n    ```\n\n  b < c\n````");
  });

  it("writes inline code that holds backticks", () => {
    expect(markdown("<p>Use <code>a`b</code> and <code>`</code>.</p>")).toBe("Use ``a`b`` and `` ` ``.");
  });

  it("makes links absolute, and keeps the text of what is no web link", () => {
    expect(
      markdown(`<p>See <a href="../x_(y)">this</a>, <a href="javascript:x()">that</a>, <a href="#s">here</a>.</p>`),
    ).toBe("See [this](<https://example.org/x_(y)>), that, [here](https://example.org/docs/#s).");
  });

  it("finds the real file of an image and drops inline data and pixels", () => {
    const data = "data:image/gif;base64,R0lGOD";
    expect(markdown(`<p>a <img src="${data}" data-src="/a.png" alt="A [b]"> b</p>`)).toBe(
      "a ![A \\[b\\]](https://example.org/a.png) b",
    );
    expect(markdown(`<p>a <img src="${data}" srcset="/s.png 300w, /l.png 900w, /m.png 600w"> b</p>`)).toBe(
      "a ![](https://example.org/l.png) b",
    );
    expect(markdown(`<p>a <img src="${data}"> <img width="1" height="1" src="/pixel"> b</p>`)).toBe("a b");
  });

  it("escapes only what Markdown would misread", () => {
    expect(markdown("<p>snake_case, 2 * 3 * 4, [1], a < b, AT&amp;T, C:\\dir, (x)</p>")).toBe(
      "snake_case, 2 * 3 * 4, [1], a < b, AT&T, C:\\dir, (x)",
    );
    expect(markdown("<p>*stars* _under_ `tick` &lt;b&gt; &amp;amp; [a](b)</p>")).toBe(
      "\\*stars\\* \\_under\\_ \\`tick\\` \\<b> \\&amp; \\[a](b)",
    );
    expect(markdown("<p># no heading</p><p>- no list</p><p>12. no list</p><p>&gt; no quote</p><p>---</p>")).toBe(
      "\\# no heading\n\n\\- no list\n\n12\\. no list\n\n\\> no quote\n\n\\---",
    );
  });

  it("keeps white space out of emphasis, and emphasis away from words", () => {
    expect(markdown("<p>a<b> bold </b>c, <b>Note:</b>text, <i></i><em><b>both</b></em></p>")).toBe(
      "a **bold** c, **Note**:text, ***both***",
    );
  });

  it.each([
    ["wo<b>rd.</b>next", "wo**rd**.next"],
    ["x<em>, y</em>z", "x, *y*z"],
    ["a<b>(b)</b> c", "a(**b)** c"],
    ["<b><i>Both!</i></b>now", "***Both***!now"],
    ['<b>see <a href="/x">this</a></b>now', "**see [this](https://example.org/x)** now"],
    ["<b><code>x</code></b>now", "**`x`** now"],
  ])("moves punctuation out of emphasis that a word follows or precedes: %s", (html, expected) => {
    expect(markdown(`<p>${html}</p>`)).toBe(expected);
  });

  it("writes quotes, rules, line breaks and definitions", () => {
    expect(
      markdown(
        "<blockquote><p>One.</p><p>Two.</p></blockquote><hr><p>a<br>b</p><dl><dt>Term</dt><dd>Meaning.</dd></dl>",
      ),
    ).toBe("> One.\n>\n> Two.\n\n---\n\na  \nb\n\nTerm\n: Meaning.");
  });
});
