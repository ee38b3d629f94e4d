/**
 * What both renderers hold: of each kind of page the text is right or the error is, and the site's own log shows
 * nothing that robots.txt forbids but where docs/guide/rendering.md says so. Crawl4AI's client meets a stand-in with a
 * browser, or the server that CRAWL4AI__URL and CRAWL4AI__TOKEN name.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createChromiumRenderer } from "../../../shared/render/chromium/renderer.ts";
import { createCrawl4AiRenderer } from "../../../shared/render/crawl4ai.ts";
import { RenderError, type RenderErrorCode, type Renderer } from "../../../shared/render/renderer.ts";
import { crawl4AiBrowser } from "../../services/crawl4ai-browser.ts";
import { CRAWL4AI_TOKEN } from "../../services/crawl4ai-server.ts";
import { html, type Site, startSite } from "../../sites/site.ts";
import { documentOf, testChromium } from "./chromium/browser.ts";

interface Page {
  /** The page's HTML; `ROOT` is an empty element whose text it may fill. */
  html: string;
  /** In its DOM. */
  text?: string[];
  /** Where it wants to go instead. */
  leadsTo?: string;
  code?: RenderErrorCode;
  waitFor?: string;
  timeoutMs?: number;
  /** What is different with Crawl4AI, as the guide says. */
  crawl4ai?: Pick<Page, "text" | "code"> & { asks?: string[] };
}

const show = (text: string): string => `document.querySelector("main").textContent = ${JSON.stringify(text)}`;
const scripted = (body: string): string => `<!doctype html><title>Page</title><main></main><script>${body}</script>`;
const ASKED = `fetch(API).then((answer) => answer.text()).then((text) => { ${show("x").replace('"x"', "text")} })`;

const PAGES: Record<string, Page> = {
  "fills itself after 1.5 s": {
    html: scripted(`setTimeout(() => { ${show("by a timer")} }, 1500)`),
    text: ["by a timer"],
  },
  "says that it loads for 2 s": {
    html: scripted(`${show("Loading …")}; setTimeout(() => { ${show("loaded text")} }, 2000)`),
    text: ["loaded text"],
  },
  "asks an API of 300 ms": { html: scripted(ASKED.replace("API", `"/api/quick"`)), text: ["from the quick API"] },
  "asks an API of 3 s": { html: scripted(ASKED.replace("API", `"/api/slow"`)), text: ["from the slow API"] },
  "goes by its history": {
    html: scripted(`history.pushState({}, "", "/pushed/here"); setTimeout(() => { ${show("a view")} }, 200)`),
    text: ["a view"],
  },
  "goes to a fragment": { html: scripted(`location.hash = "part"; ${show("a part")}`), text: ["a part"] },
  "is replaced by a meta element": {
    html: `<meta http-equiv="refresh" content="0; url=/private/next"><p>before</p>`,
    leadsTo: "/private/next",
    crawl4ai: { asks: ["/private/next"] },
  },
  "leaves by script": {
    html: scripted(`location.href = "/private/next"`),
    leadsTo: "/private/next",
    crawl4ai: { asks: ["/private/next"] },
  },
  "leaves by a form": {
    html: `<form method="post" action="/private/next"></form><script>document.forms[0].submit()</script>`,
    leadsTo: "/private/next",
    crawl4ai: { asks: ["/private/next"] },
  },
  "leaves while it is waited for": {
    html: scripted(`setTimeout(() => { location.href = "/private/next" }, 1500)`),
    leadsTo: "/private/next",
    crawl4ai: { asks: ["/private/next"] },
  },
  "opens windows": {
    html: `<main>opener's text</main><a target="_blank" href="/private/link">x</a><script>
      open("/private/window"); document.querySelector("a").click()</script>`,
    text: ["opener's text"],
    crawl4ai: { asks: ["/private/window", "/private/link"] },
  },
  "has frames": {
    html: `<main>framing text</main><iframe src="/private/frame"></iframe>`,
    text: ["framing text"],
    crawl4ai: { asks: ["/private/frame"] },
  },
  "has pictures, films and fonts": {
    html: `<style>@font-face { font-family: f; src: url(/private/f.woff2) } main { font-family: f }</style><main>pictured
      text</main><img src="/private/a.png"><video src="/private/b.mp4"></video>`,
    text: ["pictured"],
  },
  "offers a download by script": {
    html: `<main>text beside it</main><a download href="/private/file">x</a><script>document.querySelector("a").click()</script>`,
    text: ["text beside it"],
    crawl4ai: { asks: ["/private/file"] },
  },
  "keeps its text in shadow roots": {
    html: `<x-card></x-card><script>customElements.define("x-card", class extends HTMLElement {
      constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = "<p>text in the shadow</p>" } })</script>`,
    text: ["text in the shadow"],
  },
  "never ends when it is scrolled": {
    html: scripted(`let n = 0; const more = () => { for (let i = 0; i < 40; i += 1) {
      document.querySelector("main").append(Object.assign(document.createElement("p"), { textContent: "item " + n++ })) } };
      more(); addEventListener("scroll", more); new IntersectionObserver(more).observe(document.querySelector("script"))`),
    text: ["item 0", "item 39"],
  },
  "has a DOM over 20 MB": {
    html: scripted(`${show("what is seen")}; const rest = document.createElement("div"); rest.hidden = true;
      rest.textContent = "words ".repeat(3600000); document.body.append(rest)`),
    code: "RENDER_TOO_LARGE",
    timeoutMs: 60_000,
  },
  "opens dialogs": {
    html: scripted(
      `alert("a"); const sure = confirm("b"); onbeforeunload = () => "stay"; ${show("after the dialogs")}`,
    ),
    text: ["after the dialogs"],
  },
  "is filled by a worker": {
    html: scripted(
      `new Worker("/worker.js").onmessage = ({ data }) => { document.querySelector("main").textContent = data }`,
    ),
    text: ["from a worker"],
  },
  "is written in other scripts": {
    html: scripted(show("日本語の本文 — النص العربي — ქართული")),
    text: ["日本語の本文 — النص العربي — ქართული"],
  },
  "says nothing": { html: scripted(""), text: [] },
  "holds what is waited for": {
    html: scripted(
      `${show("first")}; setTimeout(() => { document.body.insertAdjacentHTML("beforeend", "<b id=b>second</b>") }, 1500)`,
    ),
    waitFor: "#b",
    text: ["first", "second"],
  },
  "never holds what is waited for": {
    html: scripted(show("all there is")),
    waitFor: "#never",
    timeoutMs: 9_000,
    text: ["all there is"],
    code: "WAIT_FOR_TIMEOUT",
  },
  "is waited for by no selector": {
    html: scripted(show("all there is")),
    waitFor: "p[[",
    text: ["all there is"],
    code: "WAIT_FOR_INVALID",
  },
  "never stops asking": {
    html: scripted(`${show("text meanwhile")}; setInterval(() => fetch("/api/quick"), 100)`),
    timeoutMs: 12_000,
    text: ["text meanwhile"],
    crawl4ai: { text: [], code: "RENDER_TIMEOUT" },
  },
};

let site: Site;
let chromium: ReturnType<typeof testChromium>;
let standIn: Awaited<ReturnType<typeof crawl4AiBrowser>> | undefined;
const renderers = {} as Record<Renderer["name"], Renderer>;

beforeAll(async () => {
  const plain = { headers: { "content-type": "text/plain" } };
  site = await startSite({
    "/api/quick": { ...plain, body: "from the quick API", delayMs: 300 },
    "/api/slow": { ...plain, body: "from the slow API", delayMs: 3000 },
    "/worker.js": { headers: { "content-type": "text/javascript" }, body: `postMessage("from a worker")` },
    "/private/next": { headers: { "content-type": "text/html" }, body: "<p>another page</p>" },
    "/private/file": { headers: { "content-type": "application/zip" }, body: "PK" },
  });
  chromium = testChromium([site.host]);
  renderers.chromium = createChromiumRenderer(chromium);
  const { CRAWL4AI__URL: server = "", CRAWL4AI__TOKEN: token = "" } = process.env;
  if (server === "") standIn = await crawl4AiBrowser();
  renderers.crawl4ai = createCrawl4AiRenderer({
    url: standIn?.url ?? server,
    token: standIn === undefined ? token : CRAWL4AI_TOKEN,
    timeoutMs: 60_000,
    userAgent: "strandline/test",
  });
});
afterAll(async () => {
  await standIn?.[Symbol.asyncDispose]();
  await chromium.close();
  await site.close();
});
beforeEach(() => {
  site.requests.length = 0;
});

/** What became of it: the DOM, where else it leads, and a code. */
async function outcomeOf(renderer: Renderer, { html: source, waitFor, timeoutMs = 20_000 }: Page) {
  const body = source.replace(/^(?!<!doctype)/i, "<!doctype html>");
  site.route({ "/page": { headers: { "content-type": "text/html; charset=utf-8" }, body } });
  const document = documentOf(`${site.origin}/page`, body);
  try {
    const {
      html: dom,
      navigations,
      shortcoming,
    } = await renderer.render(document, { waitFor, timeoutMs, headers: {} });
    return { dom: dom ?? "", navigations, code: shortcoming?.code };
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    return { dom: "", navigations: [], code: error.code };
  }
}

describe.each(["chromium", "crawl4ai"] as const)("%s: a page that", (name) => {
  test.each(Object.entries(PAGES))("%s", async (_what, page) => {
    const { asks = [], ...different } = name === "crawl4ai" ? (page.crawl4ai ?? {}) : {};
    const { text = [], code, leadsTo } = { ...page, ...different };
    const { dom, navigations, code: found } = await outcomeOf(renderers[name], page);
    expect(found).toBe(code);
    for (const each of text) expect(dom).toContain(each);
    expect(dom).not.toContain("another page");
    expect(dom).not.toContain("data-strandline");
    if (leadsTo !== undefined) expect(navigations).toEqual([`${site.origin}${leadsTo}`]);
    const forbidden = site.paths().filter((path) => path.startsWith("/private/"));
    expect(forbidden.filter((path) => !asks.includes(path))).toEqual([]);
    expect(site.paths().filter((path) => path === "/page")).toHaveLength(renderers[name].asksAgain ? 1 : 0);
  });
});

test.each(["chromium", "crawl4ai"] as const)("%s: what a page leaves behind is seen by no other job", async (name) => {
  const kept = "document.cookie + localStorage.getItem('kept')";
  const leaves = scripted(`document.cookie = "kept=1"; localStorage.setItem("kept", "1"); ${show("left something")}`);
  const looks = scripted(`document.querySelector("main").textContent = "there is " + ${kept}`);
  site.route({ "/leaves": html(leaves), "/looks": html(looks) });
  const pageOf = async (path: string, body: string, jobId: string) => {
    const document = documentOf(`${site.origin}${path}`, body);
    return await renderers[name].render(document, { timeoutMs: 20_000, headers: {}, jobId });
  };
  expect((await pageOf("/leaves", leaves, "one")).html).toContain("left something");
  const other = (await pageOf("/looks", looks, "another")).html;
  // Crawl4AI has set a cookie of its own
  expect(other).toMatch(/there is (cookiesEnabled=true)?null/);
});

test.each([
  [429, true],
  [503, true],
  [404, false],
])("a %i to Crawl4AI's own request is not the page", async (status, retryable) => {
  site.route({ "/gone": { status, headers: { "content-type": "text/html" }, body: "<p>an error page</p>" } });
  const document = documentOf(`${site.origin}/gone`, "<p>as fetched</p>");
  const rendering = renderers.crawl4ai.render(document, { timeoutMs: 20_000, headers: {} });
  await expect(rendering).rejects.toMatchObject({ code: "RENDER_FAILED", retryable });
});
