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
