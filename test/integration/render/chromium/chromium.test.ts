/** What a page looks like through the browser, and what the browser does when pages misbehave. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Chromium } from "../../../../shared/render/chromium/browser.ts";
import { createChromiumRenderer } from "../../../../shared/render/chromium/renderer.ts";
import type { RenderError, RenderedPage, Renderer, RenderOptions } from "../../../../shared/render/renderer.ts";
import { slowness } from "../../../services/slowness.ts";
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
  const { hostname, host } = new URL(site.origin);
  const cookies = [
    { host: hostname, name: "session", value: "abc" },
    { host, name: "ported", value: "1" },
    { host: `${hostname}:1`, name: "foreign", value: "1" },
    { host: "other.example:81", name: "other", value: "x" },
    { host: "other.example", name: "other", value: "x" },
  ];
  const { html } = await render(`${APP}<p id=c></p><script>c.textContent = document.cookie</script>`, { cookies });
  expect(html).toContain('<p id="c">session=abc; ported=1</p>');
  expect(site.requests.map(({ headers }) => headers.cookie)).toEqual([
    "session=abc; ported=1",
    "session=abc; ported=1",
  ]);
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

describe("what a page opens beside itself asks nothing of the site", () => {
  const clicked = { actions: [{ type: "click", selector: "#go" }] } as const;
  const rules = (path: string) => `{"prefetch": [{"urls": ["${path}"], "eagerness": "immediate"}]}`;
  test.each<[string, string, Partial<RenderOptions>?]>([
    ["a window", `<script>window.open("/other")</script>`],
    ["a window without an opener", `<script>window.open("/other", "_blank", "noopener")</script>`],
    ["a window that is led on", `<script>const w = open(); setTimeout(() => { w.location = "/other" }, 50)</script>`],
    [
      "a frame in a window",
      `<script>open().document.write('<iframe src="/other"></iframe><img src="/other">')</script>`,
    ],
    ["a window of a frame", `<iframe srcdoc="<script>top.open('/other')</script>"></iframe>`],
    ["a link that a script clicks", `<a id="go" target="_blank" href="/other">x</a><script>go.click()</script>`],
    [
      "a link that keeps its opener",
      `<a id="go" target="w" rel="opener" href="/other">x</a><script>go.click()</script>`,
    ],
    ["a form", `<form id="f" target="_blank" method="post" action="/other"></form><script>f.submit()</script>`],
    ["a window by a click", `<button id="go" onclick="window.open('/other')">x</button>`, clicked],
    ["a link by a click", `<a id="go" target="_blank" href="/other">x</a>`, clicked],
    ["a form by a click", `<form target="_blank" action="/other"><button id="go">x</button></form>`, clicked],
    ["frames", `<iframe src="/other"></iframe><object data="/other" type="text/html"></object><embed src="/other">`],
    ["what it may need next", `<link rel="prefetch" href="/other"><link rel="prefetch" as="document" href="/other">`],
    ["documents by its rules", `<script type="speculationrules">${rules("/other")}</script>`],
    [
      "documents by rules of a script",
      `<div id="rules"></div><script>const s = document.createElement("script"); s.type = "speculationrules";
        s.textContent = '${rules("/other")}'; document.querySelector("#rules").append(s)</script>`,
    ],
  ])("%s", async (_what, html, options) => {
    const wait = { type: "wait", milliseconds: 300 } as const;
    const rendered = await render(`<p>here</p>${html}`, { actions: [...(options?.actions ?? []), wait] });
    expect(rendered).toMatchObject({ navigations: [], shortcoming: null, html: expect.stringContaining("here") });
    expect(site.paths()).toEqual([]);
  });

  test("workers ask for scripts and data, and lead to no other document", async () => {
    site.route({
      "/worker.js": script(`fetch("/api"); try { open("/other") } catch {}`),
      "/service.js": script(`onactivate = (event) => event.waitUntil((async () => {
        await clients.claim();
        for (const client of await clients.matchAll({ includeUncontrolled: true })) {
          await client.navigate("/other").catch(() => undefined);
        }
        await clients.openWindow("/other").catch(() => undefined);
        await fetch("/api");
      })())`),
    });
    const { html, navigations } = await render(`<p>here</p><script>
      new Worker("/worker.js"); new SharedWorker("/worker.js"); navigator.serviceWorker.register("/service.js")</script>`);
    expect(html).toContain("here");
    expect(navigations.filter((url) => url !== `${site.origin}/other`)).toEqual([]);
    expect(new Set(site.paths())).toEqual(new Set(["/worker.js", "/service.js", "/api"]));
  });

  test("a worker's requests are waited for like the page's, and end like them", async () => {
    site.route({ "/worker.js": script(`fetch("/late").then(() => postMessage("from the worker"))`) });
    const since = Date.now();
    const { html } = await render(`<p id="p">here</p><script>
      new Worker("/worker.js").onmessage = ({ data }) => { p.textContent = data }</script>`);
    expect(html).toContain("from the worker");
    expect(Date.now() - since).toBeLessThan(5_000 * slowness());
  });

  test("requests of all workers count as the page's", async () => {
    const ask = script(`for (let i = 0; i < 200; i += 1) fetch("/api?" + i)`);
    restless.route({ "/shared.js": ask, "/api": { body: "{}" } });
    const document = documentOf(
      `${restless.origin}/page`,
      `<p>here</p><script>new SharedWorker("/shared.js")</script>`,
    );
    restless.requests.length = 0;
    const { html } = await renderer.render(document, {
      timeoutMs: 15_000,
      headers: {},
      actions: [{ type: "wait", milliseconds: 1500 }],
    });
    expect(html).toContain("here");
    expect(restless.requests.length).toBeGreaterThan(100);
    expect(restless.requests.length).toBeLessThanOrEqual(150);
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
    const profiles = join(tmpdir(), `strandline-profiles-${process.getuid?.() ?? 0}`);
    const own = existsSync(profiles) ? readdirSync(profiles).filter((name) => name.startsWith(`${process.pid}-`)) : [];
    // that of the browser which the other tests share
    expect(own.length).toBeLessThanOrEqual(1);
  });

  /** A program that is started in place of a browser. */
  const inPlaceOf = (body: string): string => {
    const folder = mkdtempSync(join(tmpdir(), "strandline-test-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "browser"), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return join(folder, "browser");
  };
  const failureOf = async (executable: string): Promise<RenderError> => {
    const broken = createChromiumRenderer(testChromium([], { executable }));
    const rendering = broken.render(documentOf("https://site.test/", "<p>x"), { timeoutMs: 30_000, headers: {} });
    return (await rendering.catch((error: unknown) => error)) as RenderError;
  };

  test.each([
    ["ends at once", "echo 'libnss3.so is missing' >&2; exit 127", /exit code 127: libnss3.so is missing$/],
    [
      "ends once it is spoken to",
      "echo 'no room for a socket' >&2; head -c 1 <&3 >&2; exit 21",
      /code 21: no room for/,
    ],
    ["is killed", "echo 'short of memory' >&2; kill -9 $$", /SIGKILL: short of memory$/],
    ["closes its pipe and stays", "echo 'lost my way' >&2; exec 3<&- 4>&-; sleep 60", /last words: lost my way$/],
    [
      "speaks another language",
      "echo 'usage: browser' >&2; printf 'hello\\0' >&4; sleep 60",
      /SIGKILL: usage: browser$/,
    ],
    ["ends without a word", "exit 3", /did not start: it ended with exit code 3$/],
  ])("that %s when it is started leaves its last words", async (_what, body, words) => {
    const error = await failureOf(inPlaceOf(body));
    expect(error).toMatchObject({ code: "RENDERER_UNAVAILABLE", message: expect.stringMatching(words) });
  });

  test("that is no program is a clear error, and leaves no folder", async () => {
    const folder = mkdtempSync("/tmp/strandline-test-");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    writeFileSync(join(folder, "text"), "no program", { mode: 0o644 });
    expect(await failureOf(join(folder, "text"))).toMatchObject({
      code: "RENDERER_UNAVAILABLE",
      message: expect.stringContaining("EACCES"),
    });
    expect(readdirSync(folder, { recursive: true }).filter((name) => /^.*profiles.*\/\d/.test(String(name)))).toEqual(
      [],
    );
  });

  test.each(["a-folder-with-a-long-name".repeat(8), "ü".repeat(40)])(
    "has a profile whose sockets have short names wherever temporary files go (%s)",
    async (name) => {
      const long = join(mkdtempSync("/tmp/strandline-test-"), name);
      mkdirSync(long, { recursive: true });
      onTestFinished(() => rmSync(join(long, ".."), { recursive: true }));
      const executable = inPlaceOf(`echo "$TMPDIR" "$@" >&2; exit 1`);
      vi.stubEnv("TMPDIR", long);
      onTestFinished(() => void vi.unstubAllEnvs());
      const { message } = await failureOf(executable);
      const [, own = "", profile] = /exit code 1: (\S+) .*--user-data-dir=(\S+)/.exec(message) ?? [];
      expect([own, own.length > 10]).toEqual([profile, true]);
      expect(Buffer.byteLength(`${own}/org.chromium.Chromium.scoped_dir.AbCdEf/SingletonSocket`)).toBeLessThan(108);
      expect(existsSync(own)).toBe(false);
    },
  );

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
