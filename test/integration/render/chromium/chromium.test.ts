/** What a page looks like through the browser, and what the browser does when pages misbehave. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Chromium } from "../../../../shared/render/chromium/browser.ts";
import { createChromiumRenderer } from "../../../../shared/render/chromium/renderer.ts";
import type { RenderedPage, Renderer, RenderOptions } from "../../../../shared/render/renderer.ts";
import { type Site, startSite } from "../../../sites/site.ts";
import { documentOf, testChromium } from "./browser.ts";

const script = (body: string) => ({ headers: { "content-type": "text/javascript" }, body });
let site: Site;
/** Of pages that end while they ask: what they sent last may come after the next page has begun. */
let restless: Site;
let chromium: Chromium;
let renderer: Renderer;

beforeAll(async () => {
  site = await startSite({
    "/app.js": script(`fetch("/api").then((answer) => answer.json()).then(({ text }) => {
      document.querySelector("#root").innerHTML = "<main><h1>From the API</h1><p>" + text + "</p></main>" })`),
    "/api": { headers: { "content-type": "application/json" }, body: JSON.stringify({ text: "driftwood and shells" }) },
    "/late": { headers: { "content-type": "application/json" }, body: "{}", delayMs: 1500 },
    "/login": { status: 401, headers: { "www-authenticate": 'Basic realm="site"' }, body: "no" },
    "/style.css": { headers: { "content-type": "text/css" }, body: "p { color: green }" },
  });
  restless = await startSite({ "/api": { body: "{}" } });
  chromium = testChromium([site.host, restless.host]);
  renderer = createChromiumRenderer(chromium);
});
afterAll(async () => {
  await chromium.close();
  await restless.close();
  await site.close();
});
beforeEach(() => {
  site.requests.length = 0;
});

const render = (
  html: string,
  options: Partial<RenderOptions> = {},
  headers: [string, string][] = [],
): Promise<RenderedPage> =>
  renderer.render(documentOf(`${site.origin}/page`, html, headers), { timeoutMs: 15_000, headers: {}, ...options });

describe("what is done in a page before it is taken", () => {
  const FORM = `<!doctype html><meta name="viewport" content="width=device-width"><body style="height:9000px">
    <button id="more">More</button><input id="name"><p id="out"></p><div id="end"></div><script>
    const out = document.querySelector("#out");
    more.onclick = (event) => setTimeout(() => { out.textContent += " clicked:" + event.isTrusted }, 300);
    document.querySelector("#name").oninput = (event) => { out.title = event.target.value };
    addEventListener("scroll", () => { document.querySelector("#end").textContent = "scrolled:" + (scrollY > 5000) });
    </script>`;

  test("is done in its order, as a reader would", async () => {
    const { html, shortcoming } = await render(FORM, {
      actions: [
        { type: "click", selector: "#more" },
        { type: "wait_for", selector: "#out:not(:empty)" },
        { type: "type", selector: "#name", text: "Ada" },
        { type: "scroll" },
        { type: "wait", milliseconds: 50 },
      ],
    });
    expect(shortcoming).toBeNull();
    expect(html).toContain('<p id="out" title="Ada"> clicked:true</p><div id="end">scrolled:true</div>');
  });

  test("ends with the first action that fails, and the page is as it was by then", async () => {
    const { html, shortcoming } = await render(FORM, {
      timeoutMs: 4_000,
      actions: [
        { type: "click", selector: "#more" },
        { type: "click", selector: "#none" },
        { type: "type", selector: "#name", text: "never" },
      ],
    });
    expect(shortcoming).toMatchObject({ code: "ACTION_FAILED", retryable: false });
    expect(shortcoming?.message).toBe("actions[1] (click): nothing that matches was shown in time");
    expect(html).toContain('<p id="out"> clicked:true</p>');
  });

  test("leads to no other document, and to nothing that is not public", async () => {
    const { navigations, html } = await render(
      `<a id="away" href="${site.origin}/elsewhere">away</a><button onclick="fetch('http://127.0.0.1:9/')
        .catch(() => { document.title = 'refused' })">ask</button>`,
      {
        actions: [
          { type: "click", selector: "#away" },
          { type: "click", selector: "button" },
        ],
      },
    );
    expect(navigations).toEqual([`${site.origin}/elsewhere`]);
    expect(html).toContain("<title>refused</title>");
    expect(site.paths()).toEqual([]);
  });
});

test("a window is as large as it is asked for, and a phone's has a touch screen", async () => {
  const html = `<!doctype html><meta name="viewport" content="width=device-width"><body><script>
    document.body.textContent = [innerWidth, innerHeight, matchMedia("(pointer: coarse)").matches].join(" ")</script>`;
  expect((await render(html, { window: { width: 700, height: 500, mobile: false } })).html).toContain("700 500 false");
  expect((await render(html, { window: { width: 390, height: 844, mobile: true } })).html).toContain("390 844 true");
});

test("cookies go to the hosts that they name, and to no other", async () => {
  const { hostname } = new URL(site.origin);
  const cookies = [
    { host: hostname, name: "session", value: "abc" },
    { host: "other.example", name: "other", value: "x" },
  ];
  const { html } = await render(`${APP}<p id=c></p><script>c.textContent = document.cookie</script>`, { cookies });
  expect(html).toContain('<p id="c">session=abc</p>');
  expect(site.requests.map(({ headers }) => headers.cookie)).toEqual(["session=abc", "session=abc"]);
});

const APP = `<!doctype html><div id="root"></div><script src="/app.js"></script>`;

describe("a page", () => {
  test("is what its scripts made of it, and the site is not asked for the document", async () => {
    const { html, shortcoming } = await render(APP);
    expect(html).toContain("<h1>From the API</h1><p>driftwood and shells</p>");
    expect(html).toMatch(/^<!DOCTYPE html>/);
    expect(shortcoming).toBeNull();
    expect(site.paths()).toEqual(["/app.js", "/api"]);
  });

  test("keeps its own encoding, status and headers, and nothing of how the body was sent", async () => {
    const { html } = await render(
      `<meta charset="iso-8859-1"><p id="p">Überfahrt — 漢字</p><script>
         document.body.append(document.cookie, document.characterSet, document.referrer)</script>`,
      {},
      [
        ["content-encoding", "gzip"],
        ["content-length", "3"],
        ["content-disposition", "attachment"],
        ["set-cookie", "a=1"],
        ["set-cookie", "b=2"],
      ],
    );
    expect(html).toContain("Überfahrt — 漢字");
    expect(html).toContain("a=1; b=2UTF-8");
  });

  test("is identified as the crawler; the job's headers go to its own host", async () => {
    await render(APP, { headers: { "X-Token": "secret" } });
    expect(site.requests.map(({ headers }) => [headers["user-agent"], headers["x-token"]])).toEqual([
      ["strandline/test", "secret"],
      ["strandline/test", "secret"],
    ]);
    // what the site sees holds nothing of the proxy on the way
    expect(JSON.stringify(site.requests.map(({ rawHeaders }) => rawHeaders))).not.toMatch(/proxy/i);
  });

  test("loads no images, fonts, media and frames, which cannot change its text", async () => {
    await render(`<img src="/a.png"><video src="/b.mp4"></video><iframe src="/c.html"></iframe>
      <link rel="stylesheet" href="/style.css"><style>@font-face{font-family:x;src:url(/d.woff)} p{font-family:x}</style><p>x`);
    expect(site.paths()).toEqual(["/style.css"]);
  });

  test("shows what lies in open shadow roots, nested ones too", async () => {
    const { html } = await render(`<x-card></x-card><script>
      customElements.define("x-inner", class extends HTMLElement {
        constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = "<b>inner text</b>" } });
      customElements.define("x-card", class extends HTMLElement {
        constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = "<style>b{}</style><p>outer text</p><x-inner></x-inner>" } });
    </script>`);
    expect(html).toMatch(/<x-card><div><p>outer text<\/p><x-inner><div><b>inner text<\/b><\/div><\/x-inner><\/div>/);
  });

  test("that asks for a password gets none", async () => {
    const { html } = await render(`<p id="p"></p><script>
      fetch("/login").then((a) => { document.querySelector("#p").textContent = "got " + a.status },
        () => { document.querySelector("#p").textContent = "got nothing" })</script>`);
    expect(html).toMatch(/got (401|nothing)/);
    expect(site.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test("that opens dialogs, and asks before it is left, is not held up", async () => {
    const { html } = await render(`<p id="p"></p><script>
      onbeforeunload = () => "stay"; alert("a"); const sure = confirm("b"); const name = prompt("c");
      document.querySelector("#p").textContent = JSON.stringify([sure, name])</script>`);
    expect(html).toContain("[false,null]");
  });
});

test("a page of which nothing may leave any more has nothing from the site", async () => {
  const { html } = await render(`<p>driftwood</p>${APP}`, { mayLeave: async () => false });
  expect(html).toContain(`<div id="root"></div>`);
  expect(site.paths()).toEqual([]);
});

describe("waiting", () => {
  test("until requests are answered", async () => {
    const { html } = await render(`<p id="p">early</p><script>
      fetch("/late").then(() => { document.querySelector("#p").textContent = "late" })</script>`);
    expect(html).toContain(">late<");
  });

  test.each(["", "<p>Loading …</p>"])("for its first text, where it has become quiet with %j", async (first) => {
    const { html, shortcoming } = await render(
      `<div id="root">${first}</div><script>setTimeout(() => { root.innerHTML = "<p>at last</p>" }, 1500)</script>`,
    );
    expect(html).toContain("<p>at last</p>");
    expect(shortcoming).toBeNull();
  });

  test("for a selector that appears after the page has become quiet", async () => {
    const { html, shortcoming } = await render(
      `<script>setTimeout(() => { document.body.innerHTML = "<p class='done'>there</p>" }, 1500)</script>`,
      { waitFor: "p.done" },
    );
    expect(html).toContain("there");
    expect(shortcoming).toBeNull();
  });

  test("for a selector that never appears says so, and takes what is there", async () => {
    const { html, shortcoming } = await render("<p>here</p>", { waitFor: "#never", timeoutMs: 5000 });
    expect(html).toContain("here");
    expect(shortcoming).toMatchObject({ code: "WAIT_FOR_TIMEOUT", message: expect.stringContaining("#never") });
  });

  test("for what is no selector says so at once", async () => {
    const { shortcoming } = await render("<p>here</p>", { waitFor: "p[[" });
    expect(shortcoming).toMatchObject({ code: "WAIT_FOR_INVALID" });
  });

  test("ends for a page that asks again and again", async () => {
    const again = `<p>here</p><script>setInterval(() => fetch("/api"), 50)</script>`;
    const document = documentOf(`${restless.origin}/page`, again);
    const { html } = await renderer.render(document, { timeoutMs: 15_000, headers: {} });
    expect(html).toContain("here");
    // its budget of requests, and not one more
    expect(restless.requests.length).toBeLessThanOrEqual(150);
  });
});

describe("a page that wants to be another one", () => {
  test.each([
    ["by script", `<p>here</p><script>setTimeout(() => { location.href = "/other" }, 100)</script>`],
    ["by a meta element", `<meta http-equiv="refresh" content="0; url=/other"><p>here</p>`],
    [
      "by a form",
      `<form action="/other" method="post"></form><script>onload = () => document.forms[0].submit()</script>`,
    ],
  ])("%s is not followed, and tells where to", async (_how, html) => {
    const { navigations } = await render(html);
    expect(navigations).toEqual([`${site.origin}/other`]);
    expect(site.paths()).toEqual([]);
  });

  test("by its history stays, since that asks for nothing", async () => {
    const { html, navigations } = await render(
      `<p>here</p><script>history.pushState({}, "", "/pushed"); location.hash = "x"</script>`,
    );
    expect(html).toContain("here");
    expect(navigations).toEqual([]);
  });
});

describe("contexts", () => {
  test("share no cookie, storage, cache or worker", async () => {
    const look = `<p id="p"></p><script>
      document.querySelector("#p").textContent = "found:" + document.cookie + (localStorage.getItem("k") ?? "");
      document.cookie = "kept=1"; localStorage.setItem("k", "kept")</script>`;
    expect((await render(look)).html).toContain("found:<");
    expect((await render(look)).html).toContain("found:<");
  });
});

describe("a browser", () => {
  test("is kept from page to page", async () => {
    await render("<p>one");
    const { pid } = chromium;
    await render("<p>two");
    expect(chromium.pid).toBe(pid);
  });

  test("that hangs in a page is killed, with its processes, and the next page has another", async () => {
    await render("<p>one");
    const pid = chromium.pid ?? 0;
    const hang = render(`<p>here</p><script>setTimeout(() => { for (;;); }, 50)</script>`, { timeoutMs: 2500 });
    await expect(hang).rejects.toMatchObject({ code: "RENDER_TIMEOUT" });
    // killed as one, but each of them takes its time to go
    await expect.poll(() => processGroup(pid)).toEqual([]);
    expect((await render("<p>two")).html).toContain("two");
    expect(chromium.pid).not.toBe(pid);
  });

  test("that takes longer to start than its page may take is kept for the page's next try", async () => {
    await using slow = { chromium: testChromium([]), [Symbol.asyncDispose]: () => slow.chromium.close() };
    const document = documentOf("https://site.test/", "<p>x");
    const { render } = createChromiumRenderer(slow.chromium);
    const first = render(document, { timeoutMs: 1, headers: {} });
    await expect(first).rejects.toMatchObject({ code: "RENDERER_UNAVAILABLE", retryable: true });
    const { pid } = slow.chromium;
    await render(document, { timeoutMs: 60_000, headers: {} });
    expect([pid, slow.chromium.pid]).toEqual([expect.any(Number), pid]);
  });

  test("that dies in a page is a fault that may pass", async () => {
    await render("<p>one");
    const dying = render(`<p>x</p><script>setInterval(() => fetch("/api"), 50)</script>`);
    await expect.poll(() => site.requests.length).toBeGreaterThan(0);
    process.kill(chromium.pid ?? 0, "SIGKILL");
    await expect(dying).rejects.toMatchObject({ code: "RENDER_CRASHED", retryable: true });
    expect((await render("<p>two")).html).toContain("two");
  });

  test("whose page takes all memory loses that page only", async () => {
    const eat = render(`<script>const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()))</script>`);
    await expect(eat).rejects.toMatchObject({ code: expect.stringMatching(/RENDER_(CRASHED|TIMEOUT)/) });
    expect((await render("<p>two")).html).toContain("two");
  });

  test("is stopped at once when nobody waits any more", async () => {
    const controller = new AbortController();
    const waiting = render(APP, { waitFor: "#never", signal: controller.signal });
    await expect.poll(() => site.requests.length).toBeGreaterThan(0);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "RENDER_STOPPED" });
  });

  test("is replaced after so many pages, and leaves no process and no folder", async () => {
    const short = testChromium([], { pagesPerBrowser: 2 });
    const brief = createChromiumRenderer(short);
    const pids: (number | undefined)[] = [];
    for (let page = 0; page < 3; page += 1) {
      await brief.render(documentOf("https://site.test/", "<p>x"), { timeoutMs: 15_000, headers: {} });
      pids.push(short.pid);
    }
    expect(pids[1]).toBe(pids[0]);
    expect(pids[2]).not.toBe(pids[0]);
    await short.close();
    for (const pid of pids) await expect.poll(() => processGroup(pid ?? 0)).toEqual([]);
    const profiles = join(tmpdir(), `strandline-chromium-profiles-${process.getuid?.() ?? 0}`);
    const own = existsSync(profiles) ? readdirSync(profiles).filter((name) => name.startsWith(`${process.pid}-`)) : [];
    // that of the browser which the other tests share
    expect(own.length).toBeLessThanOrEqual(1);
  });

  test("that is not there is a clear error", async () => {
    const none = createChromiumRenderer(testChromium([], { executable: "/nowhere/chromium" }));
    const rendering = none.render(documentOf("https://site.test/", "<p>x"), { timeoutMs: 30_000, headers: {} });
    await expect(rendering).rejects.toMatchObject({ code: "RENDERER_UNAVAILABLE", retryable: false });
  });
});

/** Ids of the processes of a group that still run, from /proc; zombies do not. */
function processGroup(group: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(pgrp) === group && state !== "Z" ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
