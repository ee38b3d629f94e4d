import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const extract = (body: string, title: string, head = ""): string =>
  extractPage(`<html><head><title>${title}</title>${head}</head><body>${body}</body></html>`, {
    url: "https://example.org/a/1",
  }).text;
const THINGS = "pan batter stove butter plate jam table spoon cup bowl knife fork jar can lid rack fire milk";
const TEXT = THINGS.split(" ")
  .map((topic) => `<p>The ${topic} is older than the house, and was brought over the river by an aunt, in a cart.</p>`)
  .join("");
const list = (points: readonly string[], name = "ul"): string =>
  `<${name}>${points.map((point) => `<li>${point}</li>`).join("")}</${name}>`;

describe("a list of quantities", () => {
  const INGREDIENTS = list(["200 g flour", "2 eggs", "100 ml milk", "½ tsp salt", "butter for the pan"]);
  const page = (before: string, after = "", around = "article"): string =>
    extract(`<main><${around}><h1>Pancakes</h1>${before}${TEXT}${after}</${around}></main>`, "Pancakes");

  it.each([
    ["in an aside", `<aside class="box"><h2>Ingredients</h2>${INGREDIENTS}</aside>`],
    ["in a box with a name of furniture", `<div class="recipe-sidebar"><h2>Ingredients</h2>${INGREDIENTS}</div>`],
    [
      "behind boxes to tick",
      `<aside><h2>Zutaten</h2>${INGREDIENTS.replaceAll("<li>", "<li><input type=checkbox>")}</aside>`,
    ],
    [
      "in Russian",
      `<aside>${list(["200 г flour", "2 яйца", "100 мл milk", "½ ч. л. соли", "butter for the pan"])}</aside>`,
    ],
    [
      "in Japanese",
      `<aside>${list(["200克 flour", "卵 2個", "100 ml milk", "塩 小さじ1", "butter for the pan"])}</aside>`,
    ],
    ["of links", INGREDIENTS.replace(/<li>(.*?)<\/li>/g, '<li><a href="/i">$1</a></li>')],
  ])("is content: %s", (_, box) => {
    const found = page(box);
    for (const part of ["200", "100", "butter for the pan", "The milk is older"]) expect(found).toContain(part);
  });

  it("is content in a column beside the text", () => {
    const side = `<div class="col-4 sidebar"><h2>Ingredients</h2>${INGREDIENTS}</div>`;
    const found = extract(`<main>${side}<div class="col-8"><h1>Pancakes</h1>${TEXT}</div></main>`, "Pancakes");
    expect(found).toContain("200 g flour\n2 eggs");
  });

  it("is content below the text, in lines of any kind", () => {
    const nutrients =
      "<div><div><span>Fat</span> <span>9 g</span></div><div><span>Energy</span> <span>250 kcal</span></div></div>";
    expect(page("", nutrients)).toMatch(/Fat 9 g\s+Energy 250 kcal$/);
  });

  it.each([
    [
      "of other pages",
      '<aside><h2>More</h2><ul><li><a href="/1">10 pans</a></li><li><a href="/2">7 g</a></li></ul></aside>',
    ],
    ["of the site", `<aside><h2>About</h2>${list(["120 readers", "30 posts", "4 writers"])}</aside>`],
    [
      "that a sidebar holds beside more",
      `<aside>${INGREDIENTS}<p>${"We write of what we cook, each week. ".repeat(9)}</p></aside>`,
    ],
  ])("is none where it is a list %s", (_, box) => expect(page(box)).not.toMatch(/10 pans|120 readers|each week/));
});

describe("facts below an article of some length", () => {
  const TABLE = "<table><tr><th>Weight</th><td>500 g</td></tr><tr><th>Origin</th><td>West pans</td></tr></table>";
  const page = (facts: string, head = ""): string =>
    extract(`<main><article><h1>The old pan</h1>${TEXT}</article>${facts}</main>`, "The old pan | Shop", head);

  it.each([
    ["a table", `<section><h2>Details</h2>${TABLE}</section>`, "West pans"],
    ["terms", "<div><h2>Details</h2><dl><dt>Origin</dt><dd>West</dd><dt>Weight</dt><dd>500 g</dd></dl></div>", "West"],
    ["hours", `<div><h3>Opening hours</h3>${list(["Mon–Fri 9–17", "Sat 10–14"])}</div>`, "Sat 10–14"],
    ["a price", "<div><h3>Tickets</h3><p>Adults 5 €</p></div>", "Adults 5 €"],
    ["how to call", '<div><h2>Contact</h2><p>Am Hafen 3</p><a href="tel:+491">01234 567</a></div>', "01234 567"],
  ])("are content: %s", (_, facts, fact) => {
    const found = page(facts);
    expect(found).toContain("The milk is older");
    expect(found).toContain(fact);
  });

  it.each([
    [
      "a report of its day has beside it",
      `<section><h2>Weather</h2>${TABLE}</section>`,
      '<meta property="og:type" content="article">',
    ],
    [
      "lead to other products",
      '<div><h3>Also</h3><div><h4><a href="/2">West pan</a></h4><span>9 €</span></div></div>',
      "",
    ],
    ["say who wrote it when", "<div><dl><dt>By</dt><dd>West</dd><dt>On</dt><dd>May 5, 2024</dd></dl></div>", ""],
  ])("are none that %s", (_, facts, head) => expect(page(facts, head)).not.toContain("West"));
});

describe("each entry of a live report is content", () => {
  const EVENTS = ["The storm reached the coast.", "The bridge is closed.", "Two boats were lost.", "All is well."];
  it.each([
    [
      "in boxes with times and headings",
      (text: string, at: number) =>
        `<div class="live-post"><time>1${at}:00</time><h3>Update ${at}</h3><p>${text}</p></div>`,
    ],
    [
      "with headings that lead to themselves",
      (text: string, at: number) => `<section><h2><a href="#post-${at}">Update ${at}</a></h2><p>${text}</p></section>`,
    ],
    [
      "in articles of their own",
      (text: string, at: number) => `<article><h2><a href="/live/${at}">Update ${at}</a></h2><p>${text}</p></article>`,
    ],
    ["in points", (text: string, at: number) => `<ul class="ticker"><li class="comment-item">${at}' ${text}</li></ul>`],
  ])("%s", (_, entry) => {
    const body = `<main><h1>Live: the storm</h1><div class="liveticker">${EVENTS.map(entry).join("")}</div></main>`;
    const found = extract(body, "Live: the storm");
    for (const text of EVENTS) expect(found).toContain(text);
  });
});
