import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const text = (body: string): string =>
  extractPage(`<html lang="en"><head><title>T</title></head><body>${body}</body></html>`, {
    url: "https://example.org/a",
  }).text;
const prose = (topic: string): string =>
  `The ${topic} is open to everybody, and it is looked after by the keeper. Ask there first.`;
const p = (topic: string): string => `<p>${prose(topic)}</p>`;
const box = (names: string): string => `<div class="${names}">${p(`${names} one`)}${p(`${names} two`)}</div>`;
const MENU = `<nav><a href="/">Home</a> <a href="/map">Map</a></nav>`;
const NOTICE = `<div class="cookie-notice"><p>We use cookies, as others do. Please agree.</p><button>Agree</button> <a href="/c">Cookies</a></div>`;

describe("names that together take nearly all prose of a page are not believed", () => {
  it.each([
    ["topics beside words of furniture", ["cookie-recipes", "popup-restaurant", "caption-contest", "consent-law"]],
    ["plain words of furniture", ["footer", "sidebar", "comments"]],
    ["both", ["cookie-recipes", "sidebar"]],
    ["words for advertising and sign-up", ["newsletter", "advert", "related-posts", "promo"]],
  ])("%s", (_, names) => {
    const found = text(`${MENU}${NOTICE}<h1>Harbour</h1><p>The harbour has much to see.</p>${names.map(box).join("")}`);
    for (const name of names) {
      expect(found).toContain(prose(`${name} one`));
      expect(found).toContain(prose(`${name} two`));
    }
    expect(found).not.toMatch(/Map|cookies, as/);
  });

  it("with one paragraph each, as the whole page", () => {
    const boxes = ["footer", "sidebar", "comments"].map((name) => `<div class="${name}">${p(name)}</div>`);
    const found = text(`<h1>Harbour</h1>${boxes.join("")}`);
    for (const name of ["footer", "sidebar", "comments"]) expect(found).toContain(prose(name));
  });

  it("but a word of furniture is where topics are enough", () => {
    const found = text(
      `<h1>Harbour</h1><p>The harbour has much to see.</p>${["cookie-recipes", "popup-restaurant", "consent-law"].map(box).join("")}<div class="footer">${p("company")}</div>`,
    );
    expect(found).toContain(prose("popup-restaurant two"));
    expect(found).not.toContain("company");
  });

  it("but comments are below a text of some length", () => {
    const comments = Array.from({ length: 20 }, (_, index) => `<div class="comment-box">${p(`reply ${index}`)}</div>`);
    const found = text(`<article><h1>Harbour</h1>${["lamp", "quay", "pier", "boat"].map(p).join("")}</article>
      <div class="comments">${comments.join("")}</div>`);
    expect(found).toContain(prose("boat"));
    expect(found).not.toContain("reply");
  });
});

describe("elements that hold no content hold it where there is hardly any elsewhere", () => {
  const TEXT = ["lamp", "quay", "pier", "boat", "rope"];
  it.each([
    ["nav", (inner: string) => `<main><h1>Harbour</h1><nav>${inner}</nav></main>`],
    ["an open dialog", (inner: string) => `<dialog open><h1>Harbour</h1>${inner}</dialog>`],
    ["role=navigation", (inner: string) => `<h1>Harbour</h1><div role="navigation">${inner}</div>`],
    ["role=dialog", (inner: string) => `<h1>Harbour</h1><div role="dialog">${inner}</div>`],
    ["footer", (inner: string) => `<h1>Harbour</h1><footer>${inner}</footer>`],
  ])("%s", (_, page) => {
    const found = text(`${MENU}${page(TEXT.map(p).join(""))}`);
    for (const topic of TEXT) expect(found).toContain(prose(topic));
    expect(found).not.toContain("Map");
  });

  it("a notice and a menu stay out beside a short text", () => {
    const found = text(
      `${MENU}<dialog open>${p("cookie")}${p("partner")}<button>Agree</button></dialog><h1>Harbour</h1><p>It is closed.</p>`,
    );
    expect(found).toContain("It is closed.");
    expect(found).not.toMatch(/cookie|Map/);
  });
});

describe("hidden text that is short", () => {
  it("is the page where a script has still to make it", () => {
    const found = text(
      `<noscript><h1>Harbour</h1><p>It opens at six. It closes at nine. Boats are let. Ask the keeper for a key.</p></noscript><div id="root"></div>`,
    );
    expect(found).toBe("Harbour\n\nIt opens at six. It closes at nine. Boats are let. Ask the keeper for a key.");
  });

  it("is none where it only warns that scripts are needed", () => {
    expect(
      text(
        `<noscript><h1>Sorry</h1><p>This page needs JavaScript. Please enable it.</p></noscript><div id="root"></div>`,
      ),
    ).toBe("");
  });

  it("is the answer to the question above it", () => {
    const found = text(
      `<main><h1>Harbour</h1>${p("lamp")}${p("quay")}<h3><button>How to get there?</button></h3><div hidden><p>By boat.</p></div>
       <h3><button>And back?</button></h3><div hidden><p>On foot.</p></div></main>`,
    );
    expect(found).toContain("How to get there?\n\nBy boat.\n\nAnd back?\n\nOn foot.");
  });
});

it("a linked heading stays that prose of its own follows", () => {
  const found = text(
    `<main><h1>Harbour</h1>${p("lamp")}${p("quay")}<h2><a href="https://other.example/x">External heading</a></h2><p>So it is.</p>${p("pier")}${p("boat")}</main>`,
  );
  expect(found).toContain(`External heading\n\nSo it is.\n\n${prose("pier")}`);
});

describe("captions", () => {
  const H1 = "<h1>The harbour in ten pictures</h1>";
  const LEAD = "<p>Our photographer walked around the harbour, for a day.</p>";
  const TOPICS = ["pier", "quay", "lamp", "boat", "crane", "museum"];
  const SIDE = `<div class="side">${["weather", "ferry", "market", "school"].map(p).join("")}</div>`;
  const IMG = '<img src="/a.jpg">';
  it.each([
    [
      "in tables",
      (said: string) => `<table class="tplCaption"><tr><td>${IMG}</td></tr><tr><td><p>${said}</p></td></tr></table>`,
    ],
    ["in boxes", (said: string) => `<div class="slide">${IMG}<div class="slide-caption"><p>${said}</p></div></div>`],
    ["in figures", (said: string) => `<figure>${IMG}<figcaption>${said}</figcaption></figure>`],
  ])("are the text of a story in pictures: %s", (_, picture) => {
    const pictures = TOPICS.map((topic) => picture(prose(topic))).join("");
    const story = text(`<div><div>${H1}${LEAD}${pictures}</div>${SIDE}</div>`);
    for (const topic of TOPICS) expect(story).toContain(prose(topic));
    const report = text(`<div><div>${H1}${LEAD}${TOPICS.map(p).join("")}${picture(prose("shown"))}</div>${SIDE}</div>`);
    expect(report).toContain(prose("museum"));
    expect(report).not.toContain(prose("shown"));
  });
});

describe("prose is kept, whatever stands around it", () => {
  const NAMES = [
    ..."content post entry widget menu share social promo header caption credit byline tags teaser paywall".split(" "),
    ..."card text lead block tab-pane disclaimer note legal recommended popular meta toolbar signup related".split(" "),
  ];
  const SENTENCES = ["The quay is old, and @ knows its age.", "In winter it froze, and @ crossed it."];
  const around = (inner: string): fc.Arbitrary<string> =>
    fc.oneof(
      fc.constantFrom(...NAMES).map((name) => `<div class="${name}">${inner}</div>`),
      fc.constantFrom(...NAMES).map((name) => `<section id="${name}">${inner}</section>`),
      fc
        .constantFrom("article", "form", "header", "fieldset", "center", "ul")
        .map((tag) => `<${tag}>${inner}</${tag}>`),
      fc.constant(`<table><tr><td>${inner}</td></tr></table>`),
    );
  const paragraph = fc
    .tuple(fc.constantFrom("p", "div", "li", "blockquote", "dd", "small"), fc.integer({ min: 1, max: 4 }))
    .map(([tag, count]) => `<${tag}>${[...SENTENCES, ...SENTENCES].slice(0, count).join(" ")}</${tag}>`);
  const part = (depth: number): fc.Arbitrary<string> =>
    fc
      .array(depth === 0 ? paragraph : fc.oneof(paragraph, part(depth - 1)), { minLength: 2, maxLength: 5 })
      .chain((parts) => around(parts.join("<h2>A part</h2>")));

  it("three tenths of it at least", () => {
    fc.assert(
      fc.property(part(3), (body) => {
        let count = 0;
        const numbered = body.replace(/@/g, () => `x${count++}x`);
        const found = text(
          `${MENU}<h1>The harbour of the island</h1>${numbered}<footer><a href="/i">Imprint</a></footer>`,
        );
        const kept = Array.from({ length: count }, (_, at) => found.includes(`x${at}x`)).filter(Boolean).length;
        expect(kept).toBeGreaterThanOrEqual(count * 0.3);
      }),
      { numRuns: 150, seed: 1 },
    );
  });
});
