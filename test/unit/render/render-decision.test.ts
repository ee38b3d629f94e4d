import { describe, expect, test } from "vitest";
import { renderReason } from "../../../shared/crawl/render-decision.ts";
import { extractPage } from "../../../shared/extract/extract-page.ts";

const SENTENCE =
  "The tide brings what the river carried down, and leaves it along the strand where people walk in the morning. ";
const article = (sentences: number): string =>
  `<article><h1>Along the strand</h1>${Array.from(
    { length: sentences / 3 },
    (_, at) => `<p>On day ${at} of the year: ${SENTENCE.repeat(3)}</p>`,
  ).join("")}</article>`;
const page = (body: string, head = ""): string =>
  `<!doctype html><html lang="en"><head><title>A page</title>${head}</head><body>${body}</body></html>`;
const bundle = `<script type="module" src="/assets/index-4f2a.js"></script>`;
const json = (chars: number): string => `{"data":"${"x1y2".repeat(chars / 4)}"}`;

const decide = (html: string): string | null =>
  renderReason("auto", html, extractPage(html, { url: "https://site.test/" }));

const HAVE_THEIR_TEXT: Record<string, string> = {
  "documentation rendered on the server": page(article(30), bundle),
  "a tiny page without scripts": page("<p>Moved to the library.</p>"),
  "a tiny page with an analytics script": page("<p>Nothing to see here.</p><script>count()</script>"),
  "a single sentence and a loader of fonts": page(`<h1>Contact</h1><p>Write to us.</p>`, bundle),
  "an article with 400 KB of inline scripts": page(`${article(12)}<script>const state = ${json(400_000)}</script>`),
  "Next.js with its text and hydration data": page(
    `<div id="__next"><main>${article(15)}</main></div><script id="__NEXT_DATA__" type="application/json">${json(60_000)}</script>`,
    bundle,
  ),
  "Nuxt with its text and hydration data": page(
    `<div id="__nuxt">${article(15)}</div><script>window.__NUXT__=${json(30_000)}</script>`,
    bundle,
  ),
  "Angular Universal with its text": page(`<app-root ng-version="17">${article(18)}</app-root>`, bundle),
  "an article whose noscript speaks of comments": page(
    `${article(12)}<noscript>Please enable JavaScript to view the comments.</noscript>`,
    bundle,
  ),
  "a short notice with an empty element of another id": page(`<div id="ad-slot"></div><p>${SENTENCE}</p>`, bundle),
  "a page of data for machines only": page(`<script type="application/ld+json">${json(50_000)}</script>`),
  "a noscript with a tracking pixel": page(
    `<p>${SENTENCE}</p><noscript><img src="https://count.test/1.gif"></noscript>`,
    bundle,
  ),
  "a plain redirect without scripts": page("", `<meta http-equiv="refresh" content="0; url=/next">`),
  "an empty root without any script": page(`<div id="root"></div>`),
  "an index of links": page(
    `<ul>${Array.from({ length: 80 }, (_, at) => `<li><a href="/p/${at}">Chapter ${at}: what the tide brought</a></li>`).join("")}</ul>`,
    bundle,
  ),
};

const NEED_A_BROWSER: Record<string, [html: string, reason: RegExp]> = {
  "create-react-app": [
    page(`<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>${bundle}`),
    /root is empty/,
  ],
  "Vite with Vue": [page(`<div id="app"></div>${bundle}`), /root is empty/],
  "an id without quotes, as minifiers write it": [page(`<div id=app></div>${bundle}`), /root is empty/],
  "a root with a class and a comment": [
    page(`<div class="x" id='root'><!-- here --> </div>${bundle}`),
    /root is empty/,
  ],
  "Next.js that renders in the browser": [
    page(`<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{}</script>`, bundle),
    /root is empty/,
  ],
  Angular: [page(`<app-root>Loading...</app-root><script src="main.js"></script>`), /root is empty/],
  "a root that says it loads": [
    page(`<div id="root"><div class="spinner"><span>Loading…</span></div></div>${bundle}`),
    /says that it loads/,
  ],
  "a cookie notice around an empty root": [
    page(`<div class="notice"><p>${SENTENCE.repeat(8)}</p></div><div id="root"></div>${bundle}`),
    /root is empty/,
  ],
  "a noscript in German": [
    page(`<div class="shell"></div><noscript>Bitte aktivieren Sie JavaScript.</noscript>${bundle}`),
    /noscript/,
  ],
  "a noscript that leads elsewhere": [
    page(
      `<div class="shell"></div>${bundle}`,
      `<noscript><meta http-equiv="refresh" content="0;url=/nojs"></noscript>`,
    ),
    /noscript/,
  ],
  "a script that sets the location": [page(`<script>window.location.href = "/next"</script>`), /replaces itself/],
  "a long page of markup and data with no text": [
    page(`<div class="grid"></div><script>boot(${json(60_000)})</script>`),
    /% of the page/,
  ],
};

describe("auto", () => {
  test.each(Object.entries(HAVE_THEIR_TEXT))("does not render %s", (_name, html) => {
    expect(decide(html)).toBeNull();
  });

  test.each(Object.entries(NEED_A_BROWSER))("renders %s, and says why", (_name, [html, reason]) => {
    expect(decide(html)).toMatch(reason);
    expect(decide(html)).toMatch(/\d+ characters of text/);
  });

  test("takes milliseconds for pages that are made to be slow", () => {
    const hostile = [
      "<div id=root".repeat(200_000),
      `<div id="root">${"<!-- ".repeat(200_000)}`,
      "<noscript>".repeat(200_000),
      `<meta ${" http-equiv=refresh".repeat(100_000)}`,
      `<script>${" ".repeat(1_000_000)}`,
      `<div id="root">${"<b>".repeat(300_000)}`,
      `<app-root>${"enable ".repeat(300_000)}`,
    ];
    for (const html of hostile) {
      const before = process.cpuUsage();
      renderReason("auto", `<script src=x></script>${html}`, { text: "" });
      const { user } = process.cpuUsage(before);
      expect(user / 1000, html.slice(0, 30)).toBeLessThan(250);
    }
  });
});

test("never and always do not look", () => {
  const shell = page(`<div id="root"></div>${bundle}`);
  expect(renderReason("never", shell, { text: "" })).toBeNull();
  expect(renderReason("always", page(article(30)), { text: "long enough".repeat(100) })).toBe("always");
});
