import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "cheerio/slim";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Page, PageElement } from "../../../../shared/extract/parse/page-tree.ts";
import { parsePage } from "../../../../shared/extract/parse/parse-page.ts";

const SITE = join(import.meta.dirname, "../../../../demo/site");

/** What the parser notes while it builds the tree, by the selector that finds the same in the finished tree. */
const NOTED: Record<string, (page: Page) => (PageElement | null)[]> = {
  meta: ({ metas }) => metas,
  link: ({ linkTags }) => linkTags,
  time: ({ times }) => times,
  "a[href], area[href]": ({ anchors }) => anchors,
  "[itemprop*=author i], [itemprop*=byline i], [itemprop*=datepublished i], [rel*=author i], [rel*=byline i], \
[rel*=datepublished i], [class*=author i], [class*=byline i], [class*=datepublished i]": ({ marked }) => marked,
};
const FIRST: Record<string, (page: Page) => PageElement | null> = {
  html: ({ html }) => html,
  body: ({ body }) => body,
  h1: ({ h1 }) => h1,
};

/** The tree as the parser built it, queried by another library: nothing is parsed a second time. */
function expectNotedAsSelected(page: Page): void {
  const $ = load(page.root);
  for (const [selector, noted] of Object.entries(NOTED)) {
    expect([selector, noted(page)]).toEqual([selector, $(selector).not("html, body").toArray()]);
  }
  for (const [selector, noted] of Object.entries(FIRST)) expect(noted(page)).toBe($(selector).get(0) ?? null);
}

test("what the parser notes of the demonstration's pages is what selectors find in their trees", async () => {
  let pages = 0;
  for await (const file of glob("**/*.html", { cwd: SITE })) {
    expectNotedAsSelected(parsePage(await readFile(join(SITE, file), "utf8")));
    pages += 1;
  }
  expect(pages).toBeGreaterThanOrEqual(40);
});

const PIECES = [
  ...["<html lang=en>", "<head>", "</head>", "<body class=author>", "</body>", "<h1>", "</h1>", "<p>", "</p>", "text"],
  ...["<meta name=a content=b>", "<link rel=author href=/a>", "<time datetime=2024-05-01>", "</time>", "<a href=/x>"],
  ...[
    "<a>",
    "</a>",
    "<area href=/y>",
    '<span itemprop="datePublished">',
    "</span>",
    "<div class='x Byline'>",
    "</div>",
  ],
  ...["<table>", "<td>", "</table>", "<svg><a href=/z></svg>", "<template><meta></template>", "<!--", "-->", "<li>"],
];

test("so it is in any soup of tags", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }), (pieces) =>
      expectNotedAsSelected(parsePage(pieces.join(""))),
    ),
  );
});
