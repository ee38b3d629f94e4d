import { describe, expect, test } from "vitest";
import { renderReason } from "../../../../shared/crawl/fetch/render-decision.ts";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

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
  "React with its text, a page of one sentence, and the plea of its template": page(
    `<noscript>You need to enable JavaScript to run this app.</noscript>
     <div id="root"><main><h1>Contact</h1><p>Call 555 1234. We are open from nine to five.</p></main></div>${bundle}`,
  ),
  "Angular Universal with a short page beside its outlet": page(
    `<app-root ng-version="17"><router-outlet></router-outlet><app-about><h1>About</h1><p>${SENTENCE}</p></app-about></app-root>${bundle}`,
  ),
  "a component with its text in a shadow root": page(
    `<my-app><template shadowrootmode="open"><style>p{}</style>${article(6)}</template></my-app>${bundle}`,
  ),
  "a short page that works best with scripts": page(
    `<noscript>This site works best with JavaScript enabled.</noscript><h1>Imprint</h1><p>${SENTENCE.repeat(2)}</p>`,
    bundle,
  ),
  "a short page whose noscript asks, though nothing waits to be filled": page(
    `<noscript>Please enable JavaScript.</noscript><h1>Imprint</h1><p>${SENTENCE.repeat(2)}</p>`,
    bundle,
  ),
  "a short page with 60 KB of styles in it": page(
    `<h1>Imprint</h1><p>${SENTENCE}</p>`,
    `${bundle}<style>${".a{color:red}".repeat(5_000)}</style>`,
  ),
  "a short page with a large drawing": page(
    `<svg>${`<path d="M0 0L1 1"/>`.repeat(3_000)}</svg><h1>Imprint</h1><p>${SENTENCE}</p>${bundle}`,
  ),
  "an AMP page": page(
    `<article><h1>Tides</h1><p>${SENTENCE}</p></article>`,
    `<script async src="https://cdn.ampproject.org/v0.js"></script><style amp-custom>${".a{color:red}".repeat(3_000)}</style>
     <noscript><style amp-boilerplate>body{visibility:visible}</style></noscript>`,
  ),
  "the App Router of Next.js with its text and the data of its components": page(
    `<main><h1>Docs</h1><p>${SENTENCE.repeat(3)}</p></main><script>self.__next_f.push([1,${JSON.stringify(json(60_000))}])</script>`,
  ),
  "a text about templates": page(`<p>Write {{ name }} where the name goes. ${SENTENCE.repeat(3)}</p>${bundle}`),
  "an empty element for messages beside a short text": page(`<div id="messages"></div><p>${SENTENCE}</p>${bundle}`),
  "a place for dialogues beside the text": page(`<p>${SENTENCE}</p><div id="modal-root"></div>${bundle}`),
  "a script that compares its location": page(
    `<p>${SENTENCE}</p><script>location === top.location || leave()</script>`,
  ),
  "a page that is loaded anew every five minutes": page(
    `<p>${SENTENCE}</p>${bundle}`,
    `<meta http-equiv="refresh" content="300; url=/news">`,
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
  Angular: [page(`<app-root>Loading...</app-root><script src="main.js"></script>`), /says that it loads/],
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
  "a root that holds no more than a spinner": [
    page(
      `<div id="root"><div class="loader"><svg><title>Please stand by</title><circle r="3"/></svg></div></div>${bundle}`,
    ),
    /root is empty/,
  ],
  "a root by another name": [page(`<header>Acme</header><div id="react-app"></div>${bundle}`), /root is empty/],
  "an element of the application's own": [page(`<shop-app></shop-app>${bundle}`), /root is empty/],
  "Angular that shows a picture until it has loaded": [
    page(`<app-root><div class="splash"><img src="logo.svg"></div></app-root>${bundle}`),
    /root is empty/,
  ],
  "scripts alone, as Flutter has it": [page(`<script src="flutter_bootstrap.js" async></script>`), /holds no text/],
  "elements without a name that say nothing": [page(`<div class="outer"><div></div></div>${bundle}`), /holds no text/],
  "a body that says it loads": [page(`<p class="wait">Please wait …</p>${bundle}`), /only says that it loads/],
  "a heading above what a script of the page fills": [
    page(
      `<h1>Catalogue</h1><div id="out"></div><script>fetch("/data.json").then((answer) => answer.json())
       .then(({ text }) => { document.getElementById("out").textContent = text; });</script>`,
    ),
    /fills the empty element #out/,
  ],
  "an empty place for the content below a menu": [
    page(`<nav><a href="/">Home</a><a href="/shop">Shop</a></nav><div id="content"></div>${bundle}`),
    /place of the content is empty/,
  ],
  "an empty main element": [
    page(`<header>Acme</header><main></main><footer>© Acme</footer>${bundle}`),
    /place of the content/,
  ],
  "Vue that reads its template from the page": [
    page(`<div id="app"><h1>{{ title }}</h1><ul><li v-for="each in all">{{ each.name }}</li></ul></div>${bundle}`),
    /root is empty/,
  ],
  "AngularJS with labels": [
    page(`<div ng-controller="Order"><h2>Order {{ id }}</h2><p>Total: {{ total | currency }}</p></div>${bundle}`),
    /placeholders/,
  ],
  "a noscript in Japanese": [
    page(`<h1>店</h1><div class="shell"></div><noscript>JavaScriptを有効にしてください。</noscript>${bundle}`),
    /noscript/,
  ],
  "a meta element that leads on at once": [
    page(`<p>One moment, you are being led on.</p>${bundle}`, `<meta http-equiv="Refresh" content="0;URL='/next'">`),
    /replaces itself/,
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
      expect(user / 1000, html.slice(0, 30)).toBeLessThan(1000);
    }
  });
});

test("never and always do not look", () => {
  const shell = page(`<div id="root"></div>${bundle}`);
  expect(renderReason("never", shell, { text: "" })).toBeNull();
  expect(renderReason("always", page(article(30)), { text: "long enough".repeat(100) })).toBe("always");
});
