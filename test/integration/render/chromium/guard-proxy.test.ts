/** Who may use the way out of the browser: the page that is open, and none before it. */
import { once } from "node:events";
import { get, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createUrlGuard } from "../../../../shared/access/url-guard.ts";
import { type GuardProxy, type PageAccess, startGuardProxy } from "../../../../shared/render/chromium/guard-proxy.ts";
import { type Site, startSite } from "../../../sites/site.ts";

const BUDGET = { requests: 3, bytes: 10_000 };
let site: Site;
let proxy: GuardProxy;

beforeAll(async () => {
  site = await startSite({}, () => ({ body: "driftwood" }));
  proxy = await startGuardProxy(createUrlGuard({ allowHosts: [site.host] }));
});
afterAll(async () => {
  await proxy.close();
  await site.close();
});
beforeEach(() => {
  site.requests.length = 0;
});

/** @returns the status of the proxy's answer */
async function ask(path: string, page: PageAccess): Promise<number | undefined> {
  const headers = { "proxy-authorization": authorizationOf(page) };
  const asked = get({ port: proxy.port, host: "127.0.0.1", path: site.origin + path, headers, agent: false });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

test("what a closed page still sends is refused while the next page is open, and costs it nothing", async () => {
  const closed = proxy.startPage(BUDGET);
  expect(await ask("/closed", closed)).toBe(200);
  proxy.endPage();
  expect(await ask("/late", closed)).toBe(407);
  const open = proxy.startPage(BUDGET);
  for (let request = 0; request < BUDGET.requests; request += 1) {
    expect(await ask("/late", closed)).toBe(407);
    expect(await ask("/open", open)).toBe(200);
  }
  expect(site.paths()).toEqual(["/closed", "/open", "/open", "/open"]);
  expect(proxy.refusals).toEqual([]);
});

test("a page's budget is its own, and who has used it up is refused", async () => {
  const spent = proxy.startPage({ ...BUDGET, requests: 1 });
  expect([await ask("/1", spent), await ask("/2", spent)]).toEqual([200, 403]);
  expect(proxy.refusals).toEqual(["the page has used up its requests"]);
  const next = proxy.startPage({ ...BUDGET, requests: 1 });
  expect(await ask("/3", next)).toBe(200);
  expect(proxy.refusals).toEqual([]);
  expect(site.paths()).toEqual(["/1", "/3"]);
});

test("what a page asks for is refused where it may not leave", async () => {
  expect(await ask("/refused", proxy.startPage(BUDGET, { mayLeave: async () => false }))).toBe(403);
  expect(await ask("/sent", proxy.startPage(BUDGET, { mayLeave: async () => true }))).toBe(200);
  expect(site.paths()).toEqual(["/sent"]);
});

test("a page is refused the hosts alone that nothing may leave for, which are not even connected to", async () => {
  let connections = 0;
  await using other = await startSite({}, () => ({ body: "flotsam" }));
  const guard = createUrlGuard({ allowHosts: [site.host, other.host] });
  const both = await startGuardProxy({
    ...guard,
    connect(hostname, port) {
      connections += 1;
      return guard.connect(hostname, port);
    },
  });
  const page = both.startPage(BUDGET, { mayLeave: async (host) => host === site.host });
  const headers = { "proxy-authorization": authorizationOf(page) };
  const answers = [];
  for (const path of [`${other.origin}/`, `${site.origin}/`]) {
    const asked = get({ port: both.port, host: "127.0.0.1", path, headers, agent: false });
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    answers.push(answer.resume().statusCode);
  }
  const connecting = request({ port: both.port, host: "127.0.0.1", method: "CONNECT", path: other.host, headers });
  connecting.end();
  const [answer] = (await once(connecting, "connect")) as [IncomingMessage, Socket];
  expect([...answers, answer.statusCode]).toEqual([403, 200, 403]);
  expect([connections, other.requests]).toEqual([1, []]);
  await both.close();
});

test("a connection that is open already lets nothing more out where it may not leave", async () => {
  let mayLeave = true;
  const page = proxy.startPage(BUDGET, { mayLeave: async () => mayLeave });
  const headers = { "proxy-authorization": authorizationOf(page) };
  const connecting = request({ port: proxy.port, host: "127.0.0.1", method: "CONNECT", path: site.host, headers });
  connecting.end();
  const [, tunnel] = (await once(connecting, "connect")) as [IncomingMessage, Socket];
  const ask = (path: string) => tunnel.write(`GET ${path} HTTP/1.1\r\nHost: ${site.host}\r\n\r\n`);
  ask("/open");
  await once(tunnel, "data");
  mayLeave = false;
  ask("/late");
  tunnel.resume();
  await once(tunnel, "close");
  expect(site.paths()).toEqual(["/open"]);
});

test("nobody is let through before a page begins", async () => {
  await using other = await unusedProxy();
  const { port } = other.proxy;
  const guesses = [undefined, "", "Basic ", `Basic ${Buffer.from("strandline:").toString("base64")}`];
  for (const authorization of guesses) {
    const headers = authorization === undefined ? {} : { "proxy-authorization": authorization };
    const asked = get({ port, host: "127.0.0.1", path: `${site.origin}/`, headers, agent: false });
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(407);
  }
  expect(site.paths()).toEqual([]);
});

const authorizationOf = ({ user, password }: PageAccess): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

async function unusedProxy(): Promise<AsyncDisposable & { proxy: GuardProxy }> {
  const unused = await startGuardProxy(createUrlGuard({ allowHosts: [site.host] }));
  return { proxy: unused, [Symbol.asyncDispose]: () => unused.close() };
}
