import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extractMainHtml } from "../../../../shared/extract/extract-page.ts";

const BASE = "https://example.org/dir/page";
const main = (inner: string) => extractMainHtml(`<body><main>${inner}</main></body>`, BASE);
const PROSE = "The tide brings what the river carried down, and leaves it along the strand. ".repeat(4).trim();

describe("the main content as HTML", () => {
  test("leaves out the furniture of the page", () => {
    const html = extractMainHtml(
      `<nav><a href="/">Home</a></nav><article><h1>Tide</h1><p>${PROSE}</p></article><footer>Imprint</footer>`,
      BASE,
    );
    expect(html).toBe(`<h1>Tide</h1>\n<p>${PROSE}</p>`);
  });

  test("keeps structure, and makes URLs absolute", () => {
    expect(
      main(
        `<h2 id=x class=y>Two</h2><p>${PROSE} <a href="../b?x=1&y=2" onclick="x()">li<b>nk</b></a></p><ul><li>one<li>two <em>2</em></ul><blockquote>Said so</blockquote><figure><img src="a.png" alt="A &quot;b&quot;" onerror=x></figure><p>${PROSE}</p>`,
      ).split("\n"),
    ).toEqual([
      "<h2>Two</h2>",
      `<p>${PROSE} <a href="https://example.org/b?x=1&amp;y=2">li<b>nk</b></a></p>`,
      "<ul>",
      "<li>one</li>",
      "<li>two <em>2</em></li>",
      "</ul>",
      "<blockquote><p>Said so</p></blockquote>",
      '<figure><img src="https://example.org/dir/a.png" alt="A &quot;b&quot;"></figure>',
      `<p>${PROSE}</p>`,
    ]);
  });

  test("a link around blocks stays around them", () => {
    expect(main(`<p>${PROSE}</p><a href="/x"><h3>Setup</h3><p>In three steps.</p></a><p>${PROSE} More.</p>`)).toContain(
      `</p>\n<a href="https://example.org/x">\n<h3>Setup</h3>\n<p>In three steps.</p>\n</a>\n<p>`,
    );
  });

  test("code stays as it stands, with its language", () => {
    const html = main(`<p>${PROSE}</p><pre><code class="language-ts">if (a &lt; b)\n  c();</code></pre>`);
    expect(html).toContain('<pre><code class="language-ts">if (a &lt; b)\n  c();</code></pre>');
  });

  test("tables of data stay tables; those that lay out the page go", () => {
    const table = "<table><tr><th colspan=2>Head<tr><td>a<td></table>";
    expect(main(`<p>${PROSE}</p>${table}`).replaceAll("\n", "")).toContain(
      '<tr><th colspan="2">Head</th></tr><tr><td>a</td><td></td></tr>',
    );
    const layout = main(`<table role=presentation><tr><td><p>${PROSE}</p></td></tr></table>`);
    expect(layout).toBe(`<p>${PROSE}</p>`);
  });

  test("boxes are unwrapped, and text that stood straight in them becomes a paragraph", () => {
    expect(main(`<div><div>${PROSE}<div>More of it.</div></div></div>`)).toBe(`<p>${PROSE}</p>\n<p>More of it.</p>`);
  });

  test("a link that leads nowhere safe is its text", () => {
    expect(main(`<p>${PROSE} <a href="javascript:alert(1)">click</a> <a>bare</a></p>`)).toBe(
      `<p>${PROSE} click bare</p>`,
    );
  });

  const SQUARE = "<msup><mi>x</mi><mn>2</mn></msup>";
  const TEX = '<annotation encoding="application/x-tex">x^2</annotation>';
  test.each([
    [
      "MathML",
      `<math onclick="x()"><mi href="javascript:x()">a</mi><mo stretchy=false>&lt;</mo><mn>1</mn></math>`,
      "<math><mi>a</mi><mo>&lt;</mo><mn>1</mn></math>",
    ],
    [
      "KaTeX",
      `<span class="katex-display"><span class="katex"><span class="katex-mathml"><math display="block"><semantics>${SQUARE}${TEX}</semantics></math></span><span class="katex-html" aria-hidden="true">x2</span></span></span>`,
      `<math display="block">${SQUARE}</math>`,
    ],
    [
      "Wikipedia",
      `<span><span style="display: none"><math alttext="x^2"><semantics>${SQUARE}${TEX}</semantics></math></span><img src="/x.svg" class="mwe-math-fallback-image-inline" alt="x^2"></span>`,
      `<math>${SQUARE}</math>`,
    ],
    [
      "MathJax 3",
      `<mjx-container><mjx-math aria-hidden="true">x2</mjx-math><mjx-assistive-mml><math>${SQUARE}</math></mjx-assistive-mml></mjx-container>`,
      `<math>${SQUARE}</math>`,
    ],
    [
      "MathJax 2",
      `<span class="MathJax_Preview">x2</span><span class="MathJax">x2</span><script type="math/tex">x^2 < y</script>`,
      "\\(x^2 &lt; y\\)",
    ],
    ["MathJax 2, of its own line", `<script type="math/tex; mode=display">x^2</script>`, "\\[x^2\\]"],
    [
      "HTML in a formula",
      `<math><mtext><b>if</b> <img src=x onerror=y><a href="/x">so</a></mtext></math>`,
      "<math><mtext>if so</mtext></math>",
    ],
  ])("a formula is there once, as MathML or TeX: %s", (_, html, expected) => {
    expect(main(`<p>${PROSE} ${html}, it says.</p>`)).toBe(`<p>${PROSE} ${expected}, it says.</p>`);
  });

  test("nothing that runs or is not closed comes out, whatever goes in", () => {
    const piece = fc.constantFrom(
      "<p>",
      "</p>",
      "<div>",
      "<b>",
      "</i>",
      "<script>alert(1)</script>",
      "<img src=x onerror=y>",
      "<a href='javascript:x'>",
      "<svg onload=x>",
      "<style>*{}</style>",
      "text &lt;script&gt; ",
      "<table>",
      "<td>",
      "<pre>",
      "<math><mtext onclick=x>",
      "<mi>x</math>",
      "<!--",
      "<iframe src=x>",
      '"',
      "'",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const html = main(pieces.join(""));
        expect(html).not.toMatch(/<(script|style|iframe|svg)|\son\w+=|javascript:/i);
        const open: string[] = [];
        for (const [, close, name] of html.matchAll(/<(\/?)([a-z0-9]+)/g)) {
          if (["br", "img", "hr"].includes(name ?? "")) continue;
          if (close === "") open.push(name ?? "");
          else expect(open.pop()).toBe(name);
        }
        expect(open).toEqual([]);
      }),
    );
  });

  test("a page nested without end is no problem", () => {
    expect(extractMainHtml(`${"<div><b>".repeat(50_000)}deep`, BASE)).toContain("deep");
  });
});
