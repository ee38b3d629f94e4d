/** A rendered page leaves through the proxy of its job, with whatever it asks for, or not at all. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ProxyServer } from "../../../../shared/access/proxy-server.ts";
import { createUrlGuard } from "../../../../shared/access/url-guard.ts";
import type { Capture } from "../../../../shared/capture/capture.ts";
import { createEgress } from "../../../../shared/crawl/proxies/egress.ts";
import { createProxyStates } from "../../../../shared/crawl/proxies/store.ts";
import { systemClock } from "../../../../shared/platform/clock.ts";
import type { Chromium } from "../../../../shared/render/chromium/browser.ts";
import { createChromiumRenderer } from "../../../../shared/render/chromium/renderer.ts";
import { startProxy } from "../../../services/proxy-server.ts";
import { type Site, startSite } from "../../../sites/site.ts";
import { type InternalService, internalService, testChromium } from "../../render/chromium/browser.ts";
import { fetchTask } from "../fetch/harness.ts";
import { domOf, fakeRenderer, type RenderHarness, renderHarness } from "./render-harness.ts";

const SECRET = "s3cret-of-the-proxy";
let site: Site;
let socket: InternalService;
let chromium: Chromium;
let harness: RenderHarness;

beforeAll(async () => {
  socket = await internalService();
  site = await startSite({
    "/page": {
      headers: { "content-type": "text/html" },
      body: `<!doctype html><div id="root">empty</div><script src="/app.js"></script>`,
    },
    "/app.js": {
      headers: { "content-type": "text/javascript" },
      body: `const socket = new WebSocket("ws://127.0.0.1:${socket.port}/");
        const ended = new Promise((resolve) => { socket.onerror = socket.onclose = resolve });
        const say = async () => { const answer = await fetch("/api"); await ended;
          document.querySelector("#root").textContent = await answer.text() };
        say();`,
    },
    "/api": { body: "driftwood and shells" },
  });
  chromium = testChromium(["127.0.0.1"]);
  harness = await renderHarness(createChromiumRenderer(chromium));
});
afterAll(async () => {
  await chromium.close();
  await site.close();
  await socket[Symbol.asyncDispose]();
});
beforeEach(() => {
  socket.visits.length = 0;
});

async function share(servers: ProxyServer[], active = true, id: string = randomUUID()): Promise<string> {
  const { dynamo, stateTable } = harness.fetch.aws;
  const states = createProxyStates(dynamo, stateTable);
  await states.share(id, { servers, rotation: "round_robin", active });
  // as in another container: nothing of what held before is kept
  const guard = createUrlGuard({ allowHosts: ["127.0.0.1"] });
  harness.dependencies.egress = createEgress({
    direct: guard.dispatcher(),
    through: (server) => guard.proxyDispatcher(server),
    proxies: createProxyStates(dynamo, stateTable),
    clock: systemClock,
  });
  return id;
}

/**
 * Fetches the page, then has it rendered.
 * @param before what happens in between
 */
async function render(proxy_id: string, before?: () => unknown): Promise<Capture> {
  const config = { proxy_id, render: "always", respect_robots_txt: false } as const;
  await harness.fetch.deliver(fetchTask({ urls: [`${site.origin}/page`], config }));
  await before?.();
  site.requests.length = 0;
  for (const task of await harness.tasks()) await harness.render(task, 3);
  const [capture] = await harness.fetch.captures();
  return capture ?? expect.fail("no capture");
}

test.each(["http", "socks5"] as const)("all that a page asks for leaves through the %s proxy", async (kind) => {
  await using proxy = await startProxy({ kind, credentials: { username: "u", password: SECRET } });
  const id = await share([{ url: proxy.url, username: "u", password: SECRET }]);
  const capture = await render(id, () => {
    proxy.targets.length = 0;
  });
  expect(capture.rendered).toMatchObject({ renderer: "chromium", error: null });
  expect(capture.extraction?.text).toContain("driftwood and shells");
  expect(site.paths()).toEqual(["/app.js", "/api"]);
  // one connection for each request: none came another way
  const own = [`127.0.0.1:${new URL(site.origin).port}`, `127.0.0.1:${socket.port}`];
  expect(proxy.targets.filter((target) => target === own[0])).toHaveLength(site.requests.length);
  expect(proxy.targets.filter((target) => target === own[1])).toHaveLength(socket.visits.length);
  expect(socket.visits).not.toEqual([]);
  expect(
    JSON.stringify([capture, site.requests.map(({ rawHeaders }) => rawHeaders), harness.fetch.logged]),
  ).not.toMatch(new RegExp(`${SECRET}|${Buffer.from(`u:${SECRET}`).toString("base64")}|proxy-auth`, "i"));
});

test("no request leaves where the proxy is down, refuses the password, or is switched off", async () => {
  await using proxy = await startProxy({ kind: "http", credentials: { username: "u", password: SECRET } });
  const servers = [{ url: proxy.url, username: "u", password: SECRET }];
  const id = await share(servers);
  const changes: [string, () => unknown][] = [
    ["is switched off", () => share(servers, false, id)],
    ["does not take the user name", () => share([{ url: proxy.url, username: "u", password: "other" }], true, id)],
    ["", () => proxy.misbehave("closes")],
    ["ECONNREFUSED", () => proxy.close()],
  ];
  for (const [why, change] of changes) {
    await share(servers, true, id);
    proxy.misbehave(undefined);
    const capture = await render(id, change);
    expect(capture.rendered?.error).toMatchObject({
      code: "PROXY_UNAVAILABLE",
      message: expect.stringContaining(why),
    });
    expect(capture.rendered?.renderer).toBeNull();
    expect(site.paths()).toEqual([]);
    expect(socket.visits).toEqual([]);
    expect(JSON.stringify([capture, harness.fetch.logged])).not.toContain(SECRET);
  }
});

test("a page whose proxy server fails is loaded anew, as a whole, over the next one; the next page avoids it", async () => {
  await using broken = await startProxy({ kind: "http" });
  await using working = await startProxy({ kind: "socks5" });
  const id = await share([{ url: broken.url }, { url: working.url }]);
  // the task of fetch takes the first turn, and the page the second: another task puts the broken server in its way
  const { dynamo, stateTable } = harness.fetch.aws;
  const breaks = async () => {
    await createProxyStates(dynamo, stateTable).takeRotation(id, [{ url: broken.url }, { url: working.url }]);
    broken.misbehave("closes");
    working.targets.length = 0;
  };
  const capture = await render(id, breaks);
  expect(capture.rendered?.error).toBeNull();
  expect(capture.extraction?.text).toContain("driftwood and shells");
  const port = new URL(site.origin).port;
  expect(working.targets.filter((target) => target === `127.0.0.1:${port}`)).toHaveLength(site.requests.length);
  const before = broken.connections();
  const next = await render(id);
  expect(next.rendered?.error).toBeNull();
  expect(broken.connections()).toBe(before);
});

test("the URL guard holds behind a proxy: a page reaches nothing private", async () => {
  await using proxy = await startProxy({ kind: "http" });
  const shut = testChromium([site.host, new URL(proxy.url).host]);
  try {
    const url = `${site.origin}/page`;
    const inside = `<script>fetch("http://127.0.0.1:${socket.port}/"); fetch("http://localhost:${socket.port}/");
      new WebSocket("ws://127.0.0.1:${socket.port}/"); fetch("http://169.254.169.254/"); fetch("/api")</script>text`;
    const document = { url, status: 200, headers: [], mimeType: "text/html", text: inside };
    const options = { timeoutMs: 15_000, headers: {}, through: { url: proxy.url } };
    await createChromiumRenderer(shut).render(document, options);
    expect(new Set(proxy.targets)).toEqual(new Set([site.host]));
    expect(socket.visits).toEqual([]);
    expect(shut.refusals.join()).toContain("169.254.169.254");
  } finally {
    await shut.close();
  }
});

test("a renderer of its own way out is not asked where the job has a proxy", async () => {
  await using proxy = await startProxy({ kind: "http" });
  let asked = 0;
  const elsewhere = fakeRenderer(async () => {
    asked += 1;
    return domOf("<p>text");
  }, true);
  const before = harness.dependencies.renderer;
  harness.dependencies.renderer = elsewhere;
  const capture = await render(await share([{ url: proxy.url }]));
  harness.dependencies.renderer = before;
  expect(capture.rendered?.error).toMatchObject({ code: "PROXY_UNAVAILABLE", retryable: false });
  expect(asked).toBe(0);
});
