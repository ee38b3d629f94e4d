import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, LookupFunction } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Agent } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { parseProxyUrl, proxyUrl } from "../../../shared/access/proxy-server.ts";
import { createUrlGuard } from "../../../shared/access/url-guard.ts";
import { TEST_CERTIFICATE } from "../../services/certificate.ts";
import { type ProxyMisbehaviour, startProxy } from "../../services/proxy-server.ts";

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listening(server: Server | ReturnType<typeof createTlsServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const site = () =>
  listening(createServer((request, response) => response.end(`${request.headers.host} ${request.url}`)));

async function get(client: Agent, url: string): Promise<string> {
  closing.push(() => client.destroy());
  const { body } = await client.request({ origin: new URL(url).origin, path: new URL(url).pathname, method: "GET" });
  return await body.text();
}

const code = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => "it worked",
    (error: { code?: string }) => error.code,
  );

/** A name for this machine that is not public. */
const lookup: LookupFunction = (hostname, options, callback) => {
  const address = hostname.startsWith("private") ? "10.0.0.1" : "127.0.0.1";
  if (options.all) callback(null, [{ address, family: 4 }]);
  else callback(null, address, 4);
};
const guardFor = (...allowHosts: string[]) => createUrlGuard({ allowHosts, lookup });

describe.each(["http", "socks5"] as const)("through a proxy that speaks %s", (kind) => {
  it("a page arrives, asked for by the address that was checked and the name that was meant", async () => {
    await using proxy = await startProxy({ kind });
    const port = await site();
    const client = guardFor(`127.0.0.1:${proxy.port}`, "site.example").proxyDispatcher({ url: proxy.url });
    expect(await get(client, `http://site.example:${port}/a`)).toBe(`site.example:${port} /a`);
    expect(await get(client, `http://site.example:${port}/b`)).toBe(`site.example:${port} /b`);
    expect([...new Set(proxy.targets)]).toEqual([`127.0.0.1:${port}`]);
  });

  it("user name and password are given, and refusals are told apart", async () => {
    const credentials = { username: "crawler", password: "pässword" };
    await using proxy = await startProxy({ kind, credentials });
    const guard = guardFor("127.0.0.1");
    const url = `http://127.0.0.1:${await site()}/`;
    expect(await get(guard.proxyDispatcher({ url: proxy.url, ...credentials }), url)).toContain("/");
    const wrong = { url: proxy.url, username: "crawler", password: "no" };
    const refusal = await get(guard.proxyDispatcher(wrong), url).catch((error: Error) => error);
    expect(refusal).toMatchObject({ code: "PROXY_AUTH_FAILED", message: expect.stringContaining("does not take") });
    const nobody = await get(guard.proxyDispatcher({ url: proxy.url }), url).catch((error: Error) => error);
    expect(nobody).toMatchObject({ code: "PROXY_AUTH_FAILED", message: expect.stringContaining("wants a user name") });
  });

  it.each([
    ["silent", "PROXY_TIMEOUT"],
    ["garbage", "PROXY_PROTOCOL_ERROR"],
    ["endless", "PROXY_PROTOCOL_ERROR"],
    ["closes-mid-handshake", "PROXY_PROTOCOL_ERROR"],
    ["talks-too-much", "TARGET_UNREACHABLE"],
    ["unreachable", "TARGET_UNREACHABLE"],
    ["denies", "PROXY_DENIED"],
  ] satisfies [ProxyMisbehaviour, string][])("one that is %s is named as such: %s", async (misbehaviour, expected) => {
    await using proxy = await startProxy({ kind, misbehaviour });
    // the one that says nothing is not waited for; the others have time to say it
    const limits = misbehaviour === "silent" ? { connectTimeoutMs: 500 } : {};
    const client = guardFor("127.0.0.1").proxyDispatcher({ url: proxy.url }, limits);
    expect(await code(get(client, `http://127.0.0.1:${await site()}/`))).toBe(expected);
  });

  it("one that hangs up at once, or is not there, is named as such", async () => {
    const proxy = await startProxy({ kind, misbehaviour: "closes" });
    const guard = guardFor("127.0.0.1");
    const url = `http://127.0.0.1:${await site()}/`;
    expect(await code(get(guard.proxyDispatcher({ url: proxy.url }), url))).toMatch(
      /^PROXY_(PROTOCOL_ERROR|CONNECT_FAILED)$/,
    );
    await proxy.close();
    expect(await code(get(guard.proxyDispatcher({ url: proxy.url }), url))).toBe("PROXY_CONNECT_FAILED");
  });

  it("the guard holds for the target, and for the proxy itself", async () => {
    await using proxy = await startProxy({ kind });
    const client = guardFor(`127.0.0.1:${proxy.port}`).proxyDispatcher({ url: proxy.url });
    expect(await code(get(client, "http://private.example/"))).toBe("URL_BLOCKED");
    expect(await code(get(client, "http://169.254.169.254/"))).toBe("URL_BLOCKED");
    expect(proxy.connections()).toBe(0);
    const strict = guardFor("site.example").proxyDispatcher({ url: proxy.url });
    expect(await code(get(strict, "http://site.example:81/"))).toBe("PROXY_BLOCKED");
    const named = guardFor("site.example").proxyDispatcher({ url: `${kind}://private.example:1080` });
    expect(await code(get(named, "http://site.example:81/"))).toBe("PROXY_BLOCKED");
    expect(proxy.connections()).toBe(0);
  });
});

describe.each(["http", "https", "socks5", "socks5h"])("a %s proxy whose address is not public", (kind) => {
  it.each([
    ...["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "10.1", "192.168.1.1", "100.64.0.1"],
    ...["169.254.169.254", "168.63.129.16", "100.100.100.200", "224.0.0.1", "255.255.255.255", "①②⑦.0.0.1"],
    ...["127。0。0。1", "%31%32%37.0.0.1", "localhost", "LOCALHOST.", "foo.localhost", "metadata.google.internal"],
    ...["[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[fe80::1]", "[fd00::1]"],
    ...["[2002:7f00:1::]", "[::127.0.0.1]", "private.example"],
  ])("is not gone through, however it is written: %s", async (host) => {
    const client = guardFor("site.example").proxyDispatcher({ url: `${kind}://${host}:3128` });
    expect(await code(get(client, "http://site.example:81/"))).toMatch(/^PROXY_(?:BLOCKED|PROTOCOL_ERROR)$/);
  });
});

describe("with TLS", () => {
  const secureSite = () =>
    listening(createTlsServer(TEST_CERTIFICATE, (request, response) => response.end(request.headers.host)));
  const trusted = getCACertificates("default");
  afterEach(() => setDefaultCACertificates(trusted));

  it("to the site, the certificate must be that of the name, and whoever answers on the way is not taken for it", async () => {
    await using proxy = await startProxy({ kind: "http" });
    const port = await secureSite();
    const client = guardFor("127.0.0.1", "*.example").proxyDispatcher({ url: proxy.url });
    expect(await code(get(client, `https://site.example:${port}/`))).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
    setDefaultCACertificates([TEST_CERTIFICATE.cert]);
    expect(await get(client, `https://site.example:${port}/`)).toBe(`site.example:${port}`);
    expect(await code(get(client, `https://other.example:${port}/`))).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${port}`]));
  });

  it("to the proxy, its certificate is checked, and pages arrive through it, over TLS within TLS too", async () => {
    await using proxy = await startProxy({ kind: "http", tls: TEST_CERTIFICATE });
    const guard = guardFor("127.0.0.1", "site.example");
    const url = `http://127.0.0.1:${await site()}/`;
    expect(proxy.url).toMatch(/^https:/);
    expect(await code(get(guard.proxyDispatcher({ url: proxy.url }), url))).toBe("PROXY_CONNECT_FAILED");
    setDefaultCACertificates([TEST_CERTIFICATE.cert]);
    const client = guard.proxyDispatcher({ url: proxy.url });
    expect(await get(client, url)).toContain(" /");
    const port = await secureSite();
    expect(await get(client, `https://site.example:${port}/`)).toBe(`site.example:${port}`);
  });
});

describe("the URL of a proxy", () => {
  it.each([
    ["http://proxy.example:3128", "http://proxy.example:3128"],
    ["HTTPS://Proxy.Example:443/", "https://proxy.example:443"],
    ["socks5://10.0.0.1:1080", "socks5://10.0.0.1:1080"],
    ["socks5h://[2001:DB8::1]:1080", "socks5h://[2001:db8::1]:1080"],
    ["http://0x7f.1:80", "http://127.0.0.1:80"],
  ])("%s is %s", (text, expected) => {
    const parsed = parseProxyUrl(text);
    expect(parsed && proxyUrl(parsed)).toBe(expected);
  });

  it.each([
    "proxy.example:3128",
    "http://proxy.example",
    "http://user:secret@proxy.example:3128",
    "ftp://proxy.example:21",
    "socks4://proxy.example:1080",
    "http://proxy.example:0",
    "http://proxy.example:70000",
    "http://proxy.example:80/path",
    "http://a b:80",
    "",
  ])("%j is none", (text) => expect(parseProxyUrl(text)).toBeUndefined());
});
