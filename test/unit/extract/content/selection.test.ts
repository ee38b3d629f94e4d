import { describe, expect, it } from "vitest";
import { checkSelector } from "../../../../shared/extract/content/selectors.ts";
import { extractMainHtml, extractPage } from "../../../../shared/extract/extract-page.ts";

const url = "https://example.org/shop/1";
const prose = (topic: string) =>
  `<p>The ${topic} is made of oak, by hand, and lasts for many years if it is oiled once in a while, we think.</p>`;
const PAGE = `<html lang="en"><head><title>Chair</title></head><body>
  <nav class="top"><a href="/">Home</a> <a href="/all">All chairs</a></nav>
  <main><article><h1>A chair</h1>${prose("chair")}${prose("seat")}
    <div class="promo"><p>Buy two chairs now, get the third one for free, and tell all of your friends about it.</p></div>
    ${prose("back")}</article>
  <aside class="facts"><span class="price">€ 120</span><span class="stock">3 left</span>
    <ul><li class="size">90 cm</li><li class="size">45 cm</li></ul></aside></main>
  <div hidden><p>Nobody sees this.</p></div>
  <footer><p>All rights reserved.</p></footer></body></html>`;

const select = (selection: { include?: string[]; exclude?: string[]; mainOnly?: boolean }, html = PAGE) =>
  extractPage(html, { url, selection: { include: [], exclude: [], mainOnly: true, ...selection } });

describe("selected content", () => {
  it("is what the selectors keep, whole and in the order of the page", () => {
    const { text, markdown } = select({ include: [".facts .price, .facts .stock", "li.size"] });
    expect(text).toBe("€ 120\n\n3 left\n\n90 cm\n\n45 cm");
    expect(markdown).toBe("€ 120\n\n3 left\n- 90 cm\n- 45 cm");
  });

  it("holds an element once, though another that is kept holds it too", () => {
    expect(select({ include: ["li", "ul", "aside li"] }).text).toBe("90 cm\n45 cm");
  });

  it("is kept where a page would leave it out: navigation, and what is hidden", () => {
    expect(select({ include: ["nav", "[hidden]"] }).text).toBe("Home All chairs\n\nNobody sees this.");
  });

  it("leaves out what is dropped, before the main content is looked for", () => {
    const { text } = select({ exclude: [".promo", "h1"] });
    expect(text).toContain("The back is made of oak");
    expect(text).not.toContain("Buy two");
    expect(text).not.toContain("A chair");
  });

  it("leaves out what is dropped within what is kept; selectors see the page as it was", () => {
    expect(select({ include: ["aside"], exclude: [".price", ".price + .stock", "li:first-child"] }).text).toBe("45 cm");
    expect(select({ include: [".size"], exclude: ["aside"] }).text).toBe("");
    expect(select({ include: ["main"], exclude: ["body"] }).text).toBe("");
    expect(select({ exclude: ["html"] }).text).toBe("");
  });

  it("counts what is not shown, as browsers do, and shows none of it", () => {
    const html = `<title>T</title><body><script>a()</script><div><p>Menu</p></div><style>b{}</style><div><p>Text</p>
      <video><a href="/v">No video</a></video><template><p>Later</p></template></div></body>`;
    const page = select({ include: ["body > div:nth-child(4)"] }, html);
    expect(page.markdown).toBe("Text");
    expect(page.links).toEqual(select({}, html).links);
    expect(select({ include: ["script, style, video, template, title"] }, html).text).toBe("");
    expect(select({ exclude: ["body > :nth-child(2)"], mainOnly: false }, html).text).toBe("Text");
    expect(extractMainHtml(html, url, { include: ["body > :nth-child(4)"], exclude: [], mainOnly: true })).toBe(
      "<p>Text</p>",
    );
  });

  it("is nothing where nothing matches", () => {
    expect(select({ include: [".none"] })).toMatchObject({ text: "", markdown: "", sections: [], blocks: [] });
  });

  it("is all that the page shows, where the main content alone is not enough", () => {
    const { text } = select({ mainOnly: false });
    for (const part of ["Home", "A chair", "Buy two", "3 left", "All rights reserved."]) expect(text).toContain(part);
    expect(text).not.toContain("Nobody sees");
    expect(text).not.toContain("Chair\n");
  });

  it("leaves title, links and metadata as the page has them", () => {
    const { title, links } = select({ include: [".price"], exclude: ["nav"] });
    expect([title, links]).toEqual(["Chair", ["https://example.org/", "https://example.org/all"]]);
  });

  it("finds what a browser's own copy of a selector names, with the parts of a table that are only implied", () => {
    const html = "<body><table id=t><tr><th>A<td>1<tr><th>B<td>2</table>";
    expect(select({ include: ["#t > tbody > tr:nth-child(2) > td"] }, html).text).toBe("2");
    expect(select({ include: ["body > table > tbody > tr:first-child td"] }, "<table><tr><td>1</table>").text).toBe(
      "1",
    );
  });

  it("is the same as HTML", () => {
    const selection = { include: [".facts"], exclude: [".stock"], mainOnly: true };
    expect(extractMainHtml(PAGE, url, selection)).toBe("<p>€ 120</p>\n<ul>\n<li>90 cm</li>\n<li>45 cm</li>\n</ul>");
  });

  it("ends with an error where a page makes a selector take for ever", () => {
    const html = `<body>${"<p>x".repeat(10_000)}`;
    expect(() => select({ include: ["p:nth-last-of-type(3) ~ p"] }, html)).toThrow(/selectors take too long/);
  });
});

describe("a selector", () => {
  it.each([
    "p",
    ".a > b + c ~ d",
    "a[href^='http' i]",
    ":is(h1, h2):not(.x)",
    "li:nth-child(2n+1)",
    "div:has(> img)",
    "li:nth-child(2 of .x)",
  ])("%s is one", (selector) => expect(checkSelector(selector)).toBeNull());

  it.each([
    "p:",
    "p[",
    "a >",
    "> a",
    "p::before",
    "p:hover",
    "p:contains('x')",
    "p:first",
    "a || b",
    "svg|a",
    "",
    ":nth-child(x)",
    "a,",
    ":not(a >)",
    ":is(> a)",
    "li:nth-child(2 of a:hover)",
  ])("%s is none", (selector) => expect(checkSelector(selector)).toMatch(/\w/));
});
