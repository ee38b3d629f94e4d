import { expect, it } from "vitest";
import { extractMainHtml, extractPage } from "../../../../shared/extract/extract-page.ts";

const CONTEXT = { url: "https://example.org/" };
const read = (body: string) => extractPage(`<html lang="en"><body><main>${body}</main></body></html>`, CONTEXT);

it.each([
  ["10<sup>3</sup> nodes", "10³ nodes"],
  ["10<sup>−12</sup>, 10<sup><i>-3</i></sup>", "10⁻¹², 10⁻³"],
  ["3<sup>1</sup>/<sub>2</sub> inches, <sup>3</sup>&frasl;<sub>4</sub>", "3¹/₂ inches, ³⁄₄"],
  ["in 1987<sup>2</sup> and Troy<sup>1,2</sup>", "in 1987² and Troy¹,²"],
  ["Ca<sup>2+</sup>, <sup>14</sup>C, H<sub>2</sub>O", "Ca²⁺, ¹⁴C, H2O"],
  [
    "x<sup>n</sup>, x<sup>2n</sup>, 2<sup>k</sup>, 2<sup>k+1</sup>, e<sup>-x/2</sup>",
    "xⁿ, x²ⁿ, 2^k, 2^(k+1), e^(-x/2)",
  ],
  [
    "19<sup>th</sup>, M<sup>me</sup>, XIX<sup>e</sup>, N<sup>o</sup> 5, Acme<sup>TM</sup>",
    "19th, Mme, XIXe, No 5, AcmeTM",
  ],
  ["log<sub>10</sub>5, x<sub>i</sub>, CO<sub>2</sub> 5", "log₁₀5, xi, CO2 5"],
  ["10<sub>2</sub>, a note<sup>[1]</sup>", "10₂, a note[1]"],
  ["word<sup>a</sup> and 10<sup>2.5</sup>", "word^a and 10^2.5"],
])("raised and lowered characters do not run into what stands before them: %s", (html, text) => {
  expect(read(`<p>${html}</p>`)).toMatchObject({ text, markdown: text.replaceAll("[1]", "[1]") });
});

it("a link stays on a raised mark, and a cell of a table keeps its power", () => {
  expect(read(`<p>in 1987<sup><a href="#fn">2</a></sup> after.`).markdown).toBe(
    "in 1987[²](https://example.org/#fn) after.",
  );
  expect(read("<table><tr><th>a</th><th>b</th></tr><tr><td>k</td><td>10<sup>3</sup></td></tr></table>").text).toBe(
    "a | b\nk | 10³",
  );
});

it.each([
  ["<ruby>漁港<rt>ぎょこう</rt></ruby>では", "漁港(ぎょこう)では"],
  ["<ruby>漁港<rp>（</rp><rt>ぎょこう</rt><rp>）</rp></ruby>では", "漁港（ぎょこう）では"],
  ["<ruby>漁<rt>ぎょ</rt>港<rt>こう</rt></ruby>では", "漁港では"],
  ["<ruby><rb>漢</rb><rb>字</rb><rp>(</rp><rt>かん</rt><rt>じ</rt><rp>)</rp></ruby>", "漢字"],
])("readings do not run into their word: %s", (html, text) => {
  expect(read(`<p>${html}</p>`)).toMatchObject({ text, markdown: text });
});

it.each([
  ["", "E = mc2"],
  ['<span class="katex-mathml"></span>', "E = mc2"],
  ['<span class="katex-mathml"><math><mi>E</mi></math></span>', "E"],
])("a formula that is only drawn stands there once: beside %j", (beside, formula) => {
  const drawn = '<span class="base"><span class="mord">E</span> = <span class="mord">mc<span>2</span></span></span>';
  const katex = `<span class="katex">${beside}<span class="katex-html" aria-hidden="true">${drawn}</span></span>`;
  expect(read(`<p>So ${katex} holds.</p>`).text).toBe(`So ${formula} holds.`);
});

const mathml = "<mi>v</mi><mo>=</mo><mfrac><mi>d</mi><mi>t</mi></mfrac>";
const annotated = (tex: string): string =>
  `<math><semantics><mrow>${mathml}</mrow><annotation encoding="application/x-tex">${tex}</annotation></semantics></math>`;

it.each([
  [
    "KaTeX",
    `<span class="katex"><span class="katex-mathml">${annotated("v = \\frac{d}{t_1}")}</span><span class="katex-html"
      aria-hidden="true"><span>v=td</span></span></span>`,
    "v = \\frac{d}{t_1}",
  ],
  [
    "Wikipedia",
    `<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;">${annotated(
      "{\\displaystyle v=d/t}",
    )}</span><img src="/m.svg" class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle v=d/t}"></span>`,
    "v=d/t",
  ],
  [
    "a picture beside it that is not hidden",
    `<span><span style="display:none">${annotated("v=d/t")}</span><img src="/m.svg" alt="v=d/t"></span>`,
    "v=d/t",
  ],
  ["LaTeXML", `<math alttext="v=\\frac{d}{t}">${mathml}</math>`, "v=\\frac{d}{t}"],
])("a formula stands there once, as TeX: %s", (_who, html, tex) => {
  const { text, markdown } = read(`<p>The drift is ${html} for all boats.</p>`);
  expect([text, markdown]).toEqual([`The drift is ${tex} for all boats.`, `The drift is $${tex}$ for all boats.`]);
});

it.each([
  [mathml, "v = d/t"],
  ["<msup><mi>r</mi><mn>2</mn></msup>", "r^2"],
  ["<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a + b)/2"],
  ["<msqrt><mi>x</mi><mo>&#x2062;</mo><mi>y</mi></msqrt><mo>+</mo><msub><mi>x</mi><mn>1</mn></msub>", "√xy + x_1"],
  [
    "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
    "∑_(i = 1)^ni",
  ],
])("a formula without TeX is written in one line: %s", (html, text) => {
  expect(read(`<p>It is <math>${html}</math>.</p>`).text).toBe(`It is ${text}.`);
});

it.each([
  [
    "Pygments",
    `<div class="highlight"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre><span
     class="normal">1</span>\n<span class="normal">2</span></pre></div></td><td class="code"><div><pre>a()\nb()</pre></div></td></tr></table></div>`,
  ],
  [
    "Rouge",
    `<pre class="highlight"><code><table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1
2
</pre></td><td class="rouge-code"><pre>a()\nb()\n</pre></td></tr></tbody></table></code></pre>`,
  ],
  [
    "Hexo",
    `<figure class="highlight js"><table><tr><td class="gutter"><pre><span class="line">1</span><br><span>2</span></pre></td>
     <td class="code"><pre><span class="line">a()</span><br><span class="line">b()</span></pre></td></tr></table></figure>`,
  ],
  ["Sphinx", `<pre><span class="linenos">1</span>a()\n<span class="linenos">2</span>b()</pre>`],
  [
    "Chroma",
    `<pre class="chroma"><code><span class="line"><span class="ln">1</span><span>a()\n</span></span><span class="line"><span
     class="ln">2</span><span>b()</span></span></code></pre>`,
  ],
  [
    "a row for each line",
    `<table class="highlight"><tr><td class="blob-num" data-line-number="1">1</td><td class="blob-code">a()</td></tr>
     <tr><td class="blob-num" data-line-number="2">2</td><td class="blob-code">b()</td></tr></table>`,
  ],
  [
    "Doxygen",
    `<div class="fragment"><div class="line"><a id="l00001" name="l00001"></a><span class="lineno">    1</span>a()</div>
<div class="line"><a id="l00002" name="l00002"></a><span class="lineno"><a class="line" href="b.html">    2</a></span>b()</div>
<div class="ttc" id="ab"><div class="ttname">b</div><div class="ttdeci">void b()</div></div></div>`,
  ],
  [
    "Doxygen, with a hard space and a fold",
    `<div class="fragment"><div class="line"><a name="l00001"></a><span class="lineno">    1</span>&#160;a()</div><div
     class="foldopen" id="foldopen00002">\n<div class="line"><a name="l00002"></a><span class="lineno">    2</span>&#160;b()</div></div></div>`,
  ],
  [
    "Doxygen, as text",
    `<div class="fragment"><pre class="fragment"><a name="l00001"></a>00001 a()\n<a name="l00002"></a><a class="code" href="b.html">00002</a> b()</pre></div>`,
  ],
  ["Doxygen, without numbers", `<div class="fragment"><div class="line">a()</div>\n<div class="line">b()</div></div>`],
])("line numbers beside code are no code: %s", (_who, html) => {
  expect(read(`<h1>Code</h1>${html}`)).toMatchObject({
    text: "Code\n\na()\nb()",
    markdown: "# Code\n\n```\na()\nb()\n```",
  });
  expect(extractMainHtml(`<main><h1>Code</h1>${html}</main>`, CONTEXT.url)).toContain(
    "<pre><code>a()\nb()</code></pre>",
  );
});

it("empty lines of code in boxes stay, and so does its indentation", () => {
  const line = (number: number, code: string) =>
    `<div class="line"><a name="l0000${number}"></a><span class="lineno"> ${number}</span>&#160;${code}</div>`;
  const html = `<div class="fragment">${line(1, "a() {")}${line(2, "")}${line(3, "  b()")}${line(4, "}")}</div>`;
  expect(read(html).markdown).toBe("```\na() {\n\n  b()\n}\n```");
  expect(read("<pre><div>a</div>\n<div></div>\n<div>b</div></pre>").text).toBe("a\n\nb");
});

it("boxes and marks that are named as those of code, but hold none, stay", () => {
  const [one, two] = ["The lamp burns all night, and the keeper watches it.", "00002 is the number of the lamp."];
  expect(read(`<div class="fragment"><p>${one}</p><div class="line">${two}</div></div>`).text).toBe(`${one}\n\n${two}`);
  expect(read(`<p>${one}</p><p><a name="l00002"></a>${two}</p>`).text).toBe(`${one}\n\n${two}`);
});

it("numbers that are no gutter of code stay", () => {
  const text = "The line-number is 5 of 9.";
  expect(read(`<p>The line-number is <b class="line-number">5</b> of <b data-line-number="9">9</b>.</p>`).text).toBe(
    text,
  );
  expect(read(`<pre><span class="ln">let x = 5</span></pre>`).text).toBe("let x = 5");
});

it("characters that no one sees are no spaces, but where they part the words of a script without spaces", () => {
  const page = read(
    "<h1>light\u200Bhouse</h1><p>10\u2060km, foo\uFEFFbar, Ge\u00ADsamt, สวัสดี\u200Bครับ.</p><p><code>npm\u200B-run</code></p><pre>get\u200BName\u2060()</pre>",
  );
  expect(page.text).toBe("lighthouse\n\n10km, foobar, Gesamt, สวัสดี ครับ.\n\nnpm-run\n\ngetName()");
  expect(page.markdown).toContain("`npm-run`\n\n```\ngetName()\n```");
  expect(page.sections[0]?.heading).toBe("lighthouse");
});

it.each([
  ["as it stands", `<script type="math/tex">x^2 < y</script>`, "$x^2 < y$"],
  ["of its own line", `<script type="math/tex; mode=display">\\sum_i x_i</script>`, "$$\\sum_i x_i$$"],
  [
    "already drawn",
    `<span class="MathJax_Preview">x2</span><span class="MathJax"><span>x</span><span>2</span></span><script type="math/tex">x^2</script>`,
    "$x^2$",
  ],
])("a formula in a script for MathJax is TeX, once: %s", (_, html, expected) => {
  expect(read(`<p>It is ${html} here.</p>`).markdown).toBe(`It is ${expected} here.`);
});
