import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractPage, extractPlainText } from "../../../../shared/extract/extract-page.ts";
import type { Extraction } from "../../../../shared/extract/extraction.ts";

const url = "https://example.org/news/1";
const extract = (body: string): Extraction =>
  extractPage(`<html lang="en"><head><title>T</title></head><body>${body}</body></html>`, { url });
const paragraph = (topic: string): string =>
  `<p>The ${topic} was opened on Tuesday, after years of planning, and drew a crowd that nobody had expected. It will stay open until the end of the season, the organisers said.</p>`;

const FURNITURE = `
  <header class="site-header"><nav><ul><li><a href="/">Home</a></li><li><a href="/about">About us</a></li></ul></nav></header>
  <div id="cookie-banner"><p>We use cookies to improve your experience, and to show you ads. Please accept them, or leave.</p></div>`;
const AFTER = `
  <div class="share-bar"><a href="https://x.example/share">Share this story</a></div>
  <section class="related-articles"><h2>Related</h2><ul><li><a href="/a">A story about something else entirely</a></li><li><a href="/b">Another story that you may want</a></li></ul></section>
  <div id="comments"><h3>Comments</h3><p>I went there, and I did not like it at all. The queue was long, and the coffee was cold.</p></div>
  <aside><p>Sign up for our newsletter, and never miss a story again. It is free, and it comes weekly.</p></aside>
  <footer><p>Copyright Example Media. All rights reserved, everywhere, and for ever.</p></footer>`;

function expectSound({ text, sections, blocks }: Extraction): void {
  let end = 0;
  for (const [index, section] of sections.entries()) {
    expect(section.start).toBe(end);
    expect(section.end).toBeGreaterThan(section.start);
    if (section.heading !== null) expect(text.slice(section.start).startsWith(section.heading)).toBe(true);
    expect(section.level === 0).toBe(section.heading === null);
    if (section.parent !== null) {
      expect(section.parent).toBeLessThan(index);
      expect(sections[section.parent]?.level).toBeLessThan(section.level);
    }
    end = section.end;
  }
  expect(end).toBe(text.length);
  let covered = 0;
  for (const block of blocks) {
    expect(text.slice(covered, block.start).trim()).toBe("");
    expect(block.end).toBeGreaterThan(block.start);
    covered = block.end;
  }
  expect(covered).toBe(text.length);
  expect(text).toBe(text.trimEnd());
}

describe("main content", () => {
  it("is the article, without navigation, consent, sharing, related stories, comments, asides and footer", () => {
    const { text } = extract(
      `${FURNITURE}<div class="page"><article><h1>Festival opens</h1>${paragraph("festival")}${paragraph("market")}${paragraph("museum")}</article>${AFTER}</div>`,
    );
    expect(text).toContain("The festival was opened");
    expect(text).toContain("The museum was opened");
    for (const other of [
      "Home",
      "cookies",
      "Share this",
      "something else",
      "coffee was cold",
      "newsletter",
      "Copyright",
    ]) {
      expect(text).not.toContain(other);
    }
  });

  it("keeps an article whose wrapper is named after what it also holds", () => {
    const { text } = extract(
      `<div class="layout has-sidebar share-enabled">${paragraph("festival")}${paragraph("market")}${paragraph("museum")}</div>`,
    );
    expect(text).toContain("The market was opened");
  });

  it("keeps the headline that stands before the content's box in the same main part, and no site title", () => {
    const prose = `${paragraph("festival")}${paragraph("market")}${paragraph("museum")}`;
    const { sections } = extract(
      `<main><div><h1>Guide</h1></div><div class="content">${prose}<h2>More</h2>${paragraph("park")}</div></main>`,
    );
    expect(sections.map(({ heading, parent }) => [heading, parent])).toEqual([
      ["Guide", null],
      ["More", 0],
    ]);
    expect(extract(`<h1>Example Site</h1><div><div class="content">${prose}</div></div>`).text).not.toContain(
      "Example Site",
    );
  });

  it("joins an article that is split over several boxes", () => {
    const box = (topic: string): string =>
      `<div class="c1"><div class="c2">${paragraph(topic)}</div></div><div class="ad">Buy now</div>`;
    const { text } = extract(`${FURNITURE}<div>${box("festival")}${box("market")}${box("museum")}</div>${AFTER}`);
    for (const topic of ["festival", "market", "museum"]) expect(text).toContain(`The ${topic} was opened`);
    expect(text).not.toContain("Buy now");
  });

  it("keeps the first part of a text that a wall cuts in two, however many links it holds", () => {
    const box = (inner: string): string => `<div class="column text">${inner}</div>`;
    const linked = `<p>The <a href="/f">festival on the quay of the town by the sea</a>, was opened on Tuesday, and it drew a crowd that nobody had expected, as the organisers said in the evening, when all was over.</p>`;
    const rest = ["market", "museum", "lamp", "pier"].map((topic) => box(paragraph(topic))).join("");
    const { text } = extract(`<article>${box(linked)}<div class="wall">${rest}</div></article>`);
    expect(text).toMatch(/^The festival on the quay/);
    expect(text).toContain("The pier was opened");
  });

  it("ends with the only article of the page", () => {
    const paragraphs = ["festival", "market", "museum", "lamp", "pier", "boat", "yard", "mast", "rope"]
      .map(paragraph)
      .join("");
    const after = `<section class="capping"><p>You can read this paper on one device at a time, and another one of yours is reading it. Please sign in there.</p></section>`;
    const { text } = extract(`<div><article>${paragraphs}</article>${after}</div>`);
    expect(text).toContain("The rope was opened");
    expect(text).not.toContain("one device");
  });

  it("goes on after an article that another one follows", () => {
    const paragraphs = ["festival", "market", "museum", "lamp", "pier", "boat", "yard", "mast", "rope"]
      .map(paragraph)
      .join("");
    const { text } = extract(`<div><article>${paragraphs}</article><article>${paragraph("dock")}</article></div>`);
    expect(text).toContain("The dock was opened");
  });

  it("leaves out forms that are there to be filled in, and none that stands around a page", () => {
    const paragraphs = ["festival", "market", "museum"].map(paragraph).join("");
    const fields = `<p>Write to us, and tell us what you think of it, please.</p><label>Your name</label><input type="text"><label>What you have seen</label><textarea></textarea>`;
    const within = extract(`<div>${paragraphs}<form>${fields}</form>${paragraph("pier")}</div>`).text;
    expect(within).toContain("The pier was opened");
    expect(within).not.toMatch(/Write to us|Your name|What you have seen/);
    expect(extract(`<form><input type="text" name="q">${paragraphs}</form>`).text).toContain("The museum was opened");
    const buttons = `<form>${paragraph("pier")}<input type="hidden" name="id"><input type="submit" value="Buy"></form>`;
    expect(extract(`<div>${paragraphs}${buttons}</div>`).text).toContain("The pier was opened");
  });

  it("drops teasers of other stories below the article", () => {
    const teaser = (n: number): string =>
      `<div class="card"><h3><a href="/s${n}">Story number ${n} has a long title</a></h3><p>A short summary of story ${n}, which is elsewhere.</p></div>`;
    const { text } = extract(
      `<div>${paragraph("festival")}${paragraph("market")}${paragraph("museum")}<div class="more">${[1, 2, 3, 4].map(teaser).join("")}</div></div>`,
    );
    expect(text).toContain("The museum was opened");
    expect(text).not.toContain("short summary");
  });

  it("keeps a page of nothing but teasers", () => {
    const teaser = (n: number): string =>
      `<div><h3><a href="/s${n}">Story number ${n} has a long title</a></h3><p>A short summary of story ${n}, which is elsewhere.</p></div>`;
    const { text } = extract(`${FURNITURE}<div>${[1, 2, 3, 4].map(teaser).join("")}</div>`);
    expect(text).toContain("short summary of story 3");
  });

  it("is a page's teasers where it says little else", () => {
    const teaser = (n: number): string =>
      `<div class="col"><h2><a href="/s${n}">Story number ${n} has a long title</a></h2><p>A summary of story ${n}, which is elsewhere, and which was written by the people who went there on Tuesday morning.</p></div>`;
    const { text } = extract(
      `${FURNITURE}<div><p>A full line of stories for over forty years, from the harbour and from the town behind it, told by those who saw them.</p><p>Ask us for more of them, on weekdays, at the office on the quay.</p></div>
       <div class="row">${[1, 2, 3, 4].map(teaser).join("")}</div>`,
    );
    for (const n of [1, 4]) expect(text).toContain(`A summary of story ${n}`);
    expect(text).not.toContain("About us");
  });

  it("is the main part where there is hardly any prose", () => {
    const facts = "<dl><dt>Phone</dt><dd>+47 55 12 34 56</dd><dt>Address</dt><dd>12 Quay Street, Bergen</dd></dl>";
    const { text } = extract(
      `<table><tr><td><a href="/">Home</a></td><td>Sign in</td></tr></table><main><h1>Contact</h1>${facts}</main>
       <div><p>Harbour office, a house of the town, open to all</p></div>`,
    );
    expect(text).toContain("Contact\n\nPhone\n+47 55 12 34 56");
    expect(text).not.toMatch(/Sign in|Home|open to all/);
  });

  it("is not empty for documentation: headings, code, lists and tables stay", () => {
    const { text } =
      extract(`${FURNITURE}<main><h1>install</h1><p>Install the package.</p><pre>npm install thing</pre><h2>Options</h2>
      <table><tr><th>Name</th><th>Default</th></tr><tr><td>size</td><td>512</td></tr></table><ul><li>fast</li><li>small</li></ul></main>`);
    for (const part of [
      "install",
      "Install the package.",
      "npm install thing",
      "Options",
      "size | 512",
      "fast",
      "small",
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("About us");
  });

  it("is not empty for a short page, a table, a list of links or a bare text", () => {
    expect(extract("<p>OK").text).toBe("OK");
    expect(extract("Just text.").text).toBe("Just text.");
    expect(extract("<table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></table>").text).toBe(
      "a | 1\nb | 2",
    );
    expect(extract(`<ul><li><a href="/a">First page</a></li><li><a href="/b">Second page</a></li></ul>`).text).toBe(
      "First page\nSecond page",
    );
  });

  it("keeps every post of a forum thread", () => {
    const post = (n: number): string =>
      `<div class="post" id="post-${n}"><div class="post-body"><p>This is answer ${n}, and it says that the thing works if you turn it off, wait, and turn it on again.</p></div></div>`;
    const { text } = extract(`${FURNITURE}<div class="thread">${[1, 2, 3, 4, 5].map(post).join("")}</div>`);
    for (const n of [1, 2, 3, 4, 5]) expect(text).toContain(`This is answer ${n}`);
  });

  describe("answers that are named comments", () => {
    const answers = [
      "Try to clean the valve first, it often helps.",
      "It was the belt, which costs little.",
      "Thanks, it runs",
    ];
    const first = ["festival", "market", "museum", "park"].map(paragraph).join("");
    const comments = (name = "comment"): string =>
      answers.map((answer) => `<div class="post ${name}"><b>Ada</b><time>5 May</time><p>${answer}</p></div>`).join("");
    const form = "<form><textarea></textarea><button>Send</button></form>";

    it.each([
      [
        "named so around its headline",
        `<div class="forum"><h1>Engine</h1><div class="post">${first}</div><div class="replies">${comments()}</div>${form}</div>`,
      ],
      [
        "named so as a whole",
        `<body class="single-topic"><div><h1>Engine</h1><div class="post">${first}</div>${comments()}</div>`,
      ],
      [
        "of that type",
        `<h1>Engine</h1><div itemscope itemtype="https://schema.org/DiscussionForumPosting"><div class="post">${first}</div>${comments()}</div>`,
      ],
      [
        "that its data call a question",
        `<script type="application/ld+json">{"@type":"QAPage"}</script><div><h1>Engine</h1><div class="post">${first}</div><div id="comments">${comments()}</div></div>`,
      ],
      [
        "that a forum's software made",
        `<meta name="generator" content="Discourse 3.1"><div><h1>Engine</h1><div class="post">${first}</div><div>${comments("reply comment")}</div></div>`,
      ],
    ])("are content of a thread %s", (_, html) => {
      const { text } = extract(`${FURNITURE}${html}`);
      expect(text).toContain("The park was opened");
      for (const answer of answers) expect(text).toContain(answer);
    });

    it.each([
      [
        "an article",
        `<article><h1>Engine</h1>${first}</article><div id="comments" class="comments">${comments()}${form}</div>`,
      ],
      [
        "an article on a forum",
        `<div class="roman-forum-history"><h1>The forum</h1>${first}</div><div id="comments">${comments()}${form}</div>`,
      ],
      [
        "an article with threaded comments",
        `<article><h1>Engine</h1>${first}</article><ol class="comment-list">${comments("comment thread-even depth-1")}</ol>`,
      ],
    ])("are none of %s", (_, html) => {
      const { text } = extract(`${FURNITURE}<div>${html}</div>`);
      expect(text).toContain("The park was opened");
      for (const answer of answers) expect(text).not.toContain(answer);
    });
  });

  it("leaves out what is hidden, and scripts, styles and forms", () => {
    const { text } =
      extract(`<main><p>Seen.</p><p hidden>h1</p><p style="display: none">h2</p><p aria-hidden="true">h3</p>
      <script>s1</script><style>s2</style><noscript>s3</noscript><template>s4</template><svg><text>s5</text></svg><select><option>s6</select></main>`);
    expect(text).toBe("Seen.");
  });
});

describe("clean text", () => {
  it("separates blocks and collapses white space", () => {
    expect(
      extract(
        "<main><h1> A\n b </h1><p>One&nbsp;two.<br>Three.</p><div>Four <b>five</b>six</div><ul><li>x<li>y</ul></main>",
      ).text,
    ).toBe("A b\n\nOne two.\nThree.\n\nFour fivesix\n\nx\ny");
  });

  it("keeps preformatted text as it stands", () => {
    expect(extract("<main><pre>\n  a\n\n\tb  c\n</pre></main>").text).toBe("  a\n\n\tb  c");
  });

  it("nests sections by heading level", () => {
    const { sections } = extract("<main><p>Intro.</p><h1>A</h1><h3>B</h3><h2>C</h2><p>c</p><h1>D</h1></main>");
    expect(sections.map(({ heading, level, parent }) => [heading, level, parent])).toEqual([
      [null, 0, null],
      ["A", 1, null],
      ["B", 3, 1],
      ["C", 2, 1],
      ["D", 1, null],
    ]);
  });

  it("names the kind of every block", () => {
    const { text, blocks } = extract(
      "<main><p>Prose.</p><ul><li>item<pre>code</pre></li><li>last</li></ul><table><tr><th>h</th></tr><tr><td>t</td></tr></table></main>",
    );
    expect(blocks.map(({ kind, start, end }) => [kind, text.slice(start, end)])).toEqual([
      ["prose", "Prose."],
      ["list", "item"],
      ["code", "code"],
      ["list", "last"],
      ["table", "h\nt"],
    ]);
  });

  it("has sections and blocks that cover the text exactly, whatever the markup", () => {
    const names = [
      "p",
      "div",
      "h1",
      "h2",
      "h4",
      "ul",
      "ol",
      "li",
      "pre",
      "table",
      "tr",
      "td",
      "th",
      "b",
      "a",
      "blockquote",
      "br",
      "dl",
      "dt",
      "dd",
      "section",
      "article",
      "caption",
    ];
    const token = fc.oneof(
      fc.constantFrom(...names).map((name) => `<${name}>`),
      fc.constantFrom(...names).map((name) => `</${name}>`),
      fc.constantFrom("word", " ", "\n", "A sentence, with a comma.", "&nbsp;", "&lt;", "é", "😀", "<", "&"),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 80 }), (tokens) => {
        const extraction = extractPage(tokens.join(""), { url });
        expectSound(extraction);
        expect(extraction.text).not.toContain("\0");
      }),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => expectSound(extractPlainText(text))));
  });
});

describe("tables of data keep each cell under its heading", () => {
  it.each([
    ["a heading that is also the label of a button", "<th>Open<th>Close<th>Volume", "<td>1.10<td>1.15<td>900"],
    ["a cell that is named like a time of day", "<th>Open<th>At<th>Volume", "<td>1.10<td class=timestamp>9:30<td>900"],
    ["cells of links", "<th>Open<th>Print<th>Volume", "<td>1.10<td><a href=/a>Ada</a><td>900"],
  ])("%s", (_, heads, cells) => {
    const rows = Array.from({ length: 4 }, () => `<tr>${cells}</tr>`).join("");
    const { markdown, text } = extract(
      `<main><h1>Shares</h1>${paragraph("market")}${paragraph("exchange")}<table><tr>${heads}</tr>${rows}</table></main>`,
    );
    const lines = markdown.split("\n").filter((line) => line.startsWith("|"));
    expect(new Set(lines.map((line) => line.split("|").length))).toEqual(new Set([5]));
    for (const word of `${heads}${cells}`
      .replace(/<[^>]*>/g, " ")
      .trim()
      .split(/\s+/))
      expect(text).toContain(word);
  });
});

it("takes the mark of a place for no link, though it is not closed", () => {
  const { text } = extract(
    `<div><a name="top"><h1>Festival</h1>${paragraph("stage")}${paragraph("camp")}</div>
     <div><p>Published by the office of the festival, Mill Lane 4, Strand. All rights are kept, as ever.</p></div>`,
  );
  expect(text).toContain("The stage was opened");
  expect(text).toContain("The camp was opened");
});

it("keeps the address to write to, which leads to no page", () => {
  const { text } = extract(
    `<article><h1>Library</h1>${paragraph("library")}<p><a href="mailto:desk@library.example">desk@library.example</a></p>
     ${paragraph("archive")}<p><a href="tel:+49301234">+49 30 1234</a></p>${paragraph("cellar")}</article>`,
  );
  expect(text).toContain("desk@library.example");
  expect(text).toContain("+49 30 1234");
});
