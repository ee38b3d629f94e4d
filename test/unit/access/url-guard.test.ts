import { createServer } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createUrlGuard, UrlRefusedError } from "../../../shared/access/url-guard.ts";
import { loadConfig } from "../../../shared/platform/config.ts";

const guard = createUrlGuard({ allowHosts: [] });

function refusal(url: string, against = guard): string | undefined {
  try {
    against.inspect(url);
    return undefined;
  } catch (error) {
    if (error instanceof UrlRefusedError) return error.code;
    throw error;
  }
}

describe("a URL that is no plain http(s) URL", () => {
  it.each([
    "ftp://example.org/",
    "file:///etc/passwd",
    "gopher://example.org/",
    "javascript:alert(1)",
    "data:text/html,x",
    "/relative",
    "",
    "http://",
    "http://user@example.org/",
    "http://user:pass@example.org/",
    "http://:pass@example.org/",
    `http://example.org/${"a".repeat(2048)}`,
    `http://example.org/${"ü".repeat(500)}`,
    "http://1.2.3.4.5.6/",
    "http://256.256.256.256/",
    "http://exa mple.org/",
  ])("is refused as invalid: %.60s", (url) => {
    expect(refusal(url)).toBe("URL_INVALID");
  });
});

describe("a host that is not public", () => {
  it.each([
    "127.0.0.1",
    "127.1",
    "127.255.255.254",
    "0",
    "0.0.0.0",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "1%32%37.0.0.1",
    "①②⑦.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "192.0.0.8",
    "192.0.2.7",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.9",
    "192.88.99.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:8.8.8.8]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::808:808]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2001::1]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[2001:2::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
    "[5f00::1]",
    "[::ffff:0:7f00:1]",
    "[4000::1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "printer.local",
    "metadata",
    "metadata.google.internal",
    "metadata.google.internal.",
    "metadata.goog",
    "metadata.azure.com",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "168.63.129.16",
    "0xa83f8110",
    "199.36.153.8",
    "161.26.0.10",
    "166.9.20.1",
    "183.60.83.19",
    "185.12.64.1",
    "100.100.100.200",
    "[fd00:c1::a9fe:a9fe]",
    "[2600:2d00:2:2000::1]",
    "[2a01:4ff:ff00::add:1]",
    "db.internal",
    "router.home.arpa",
    "intranet",
    "ｌｏｃａｌｈｏｓｔ",
  ])("is blocked: %s", (host) => {
    expect(refusal(`http://${host}/`)).toBe("URL_BLOCKED");
  });

  it.each([
    "example.org",
    "example.org.",
    "8.8.8.8",
    "168.63.129.17",
    "199.36.153.12",
    "134744072",
    "[2606:4700::1111]",
    "mylocal.org",
    "bücher.example.de",
  ])("a public one passes: %s", (host) => {
    expect(refusal(`https://${host}:8443/a?b#c`)).toBeUndefined();
  });

  it("names the reason in the message", () => {
    expect(() => guard.inspect("http://10.0.0.1/")).toThrow(/10\.0\.0\.1.*private/);
  });
});

describe("every spelling of an IPv4 address is judged alike", () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const base = fc.constantFrom(8, 10, 16);
  const spell = (value: number, radix: number) =>
    radix === 10 ? String(value) : radix === 8 ? `0${value.toString(8)}` : `0x${value.toString(16)}`;

  it("decimal, octal, hex, short and mapped", () => {
    fc.assert(
      fc.property(octet, octet, octet, octet, fc.array(base, { minLength: 4, maxLength: 4 }), (a, b, c, d, bases) => {
        const plain = refusal(`http://${a}.${b}.${c}.${d}/`);
        const [w = 10, x = 10, y = 10, z = 10] = bases;
        const whole = ((a * 256 + b) * 256 + c) * 256 + d;
        const spellings = [
          `${spell(a, w)}.${spell(b, x)}.${spell(c, y)}.${spell(d, z)}`,
          `${spell(a, w)}.${spell(b, x)}.${spell(c * 256 + d, y)}`,
          `${spell(a, w)}.${spell((b * 256 + c) * 256 + d, x)}`,
          spell(whole, w),
        ];
        for (const each of spellings) expect(refusal(`http://${each}/`)).toBe(plain);
        expect(refusal(`http://[::ffff:${a}.${b}.${c}.${d}]/`)).toBe("URL_BLOCKED");
      }),
    );
  });

  it("no address of a private block passes", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
          fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
          fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
          fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
          fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
          fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
        ),
        (octets) => refusal(`http://${octets.join(".")}/`) === "URL_BLOCKED",
      ),
    );
  });

  it("no IPv6 address outside 2000::/3 passes", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const first = fc.oneof(fc.integer({ min: 0, max: 0x1fff }), fc.integer({ min: 0x4000, max: 0xffff }));
    fc.assert(
      fc.property(first, fc.array(group, { minLength: 7, maxLength: 7 }), (head, tail) => {
        const host = [head, ...tail].map((each) => each.toString(16)).join(":");
        return refusal(`http://[${host}]/`) === "URL_BLOCKED";
      }),
    );
  });
});

describe("ACCESS__ALLOW_HOSTS", () => {
  it("admits exactly what an entry names", () => {
    const open = createUrlGuard({ allowHosts: ["127.0.0.1:8080", "*.corp", "wiki", "[::1]:9000", "192.168.0.7"] });
    expect(refusal("http://127.0.0.1:8080/", open)).toBeUndefined();
    expect(refusal("http://2130706433:8080/", open)).toBeUndefined();
    expect(refusal("http://127.0.0.1:8081/", open)).toBe("URL_BLOCKED");
    expect(refusal("http://127.0.0.1/", open)).toBe("URL_BLOCKED");
    expect(refusal("https://a.b.corp/", open)).toBeUndefined();
    expect(refusal("https://corp/", open)).toBe("URL_BLOCKED");
    expect(refusal("https://xcorp/", open)).toBe("URL_BLOCKED");
    expect(refusal("http://wiki:1234/", open)).toBeUndefined();
    expect(refusal("http://wiki./", open)).toBeUndefined();
    expect(refusal("http://[0:0::1]:9000/", open)).toBeUndefined();
    expect(refusal("http://192.168.0.7:5/", open)).toBeUndefined();
    expect(refusal("http://192.168.0.8/", open)).toBe("URL_BLOCKED");
    expect(refusal("http://me:pw@wiki/", open)).toBe("URL_INVALID");
  });

  it.each(["*", "*.", "http://x", "a:0", "a:99999", "a b", "a/b", "10.0.0.0/8", "256.1.1.1", "[1:2]", "::1"])(
    "refuses the entry %j, at the start already",
    (entry) => {
      expect(() => createUrlGuard({ allowHosts: [entry] })).toThrow(/ACCESS__ALLOW_HOSTS/);
      expect(() => loadConfig({ ACCESS__ALLOW_HOSTS: `a.test, ${entry}` })).toThrow(`ACCESS__ALLOW_HOSTS: "${entry}"`);
    },
  );
});

describe("the dispatcher", () => {
  const answering =
    (...addresses: string[]): LookupFunction =>
    (_host, options, callback) => {
      const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      if (options.all) callback(null, found);
      else callback(null, found[0]?.address ?? "", found[0]?.family);
    };

  async function blockedBy(lookup: LookupFunction, url: string): Promise<unknown> {
    const client = createUrlGuard({ allowHosts: [], lookup }).dispatcher();
    try {
      await client.request({ origin: new URL(url).origin, path: "/", method: "GET" });
      return undefined;
    } catch (error) {
      return error;
    } finally {
      await client.close();
    }
  }

  it.each([
    ["one private address", ["127.0.0.1"]],
    ["a private address among public ones", ["93.184.216.34", "10.0.0.1"]],
    ["a mapped address", ["::ffff:127.0.0.1"]],
    ["a link-local address with a zone", ["fe80::1%eth0"]],
  ])("does not connect where a name has %s", async (_what, addresses) => {
    const error = await blockedBy(answering(...addresses), "http://innocent.example.org/");
    expect(error).toMatchObject({ name: "UrlRefusedError", code: "URL_BLOCKED" });
  });

  it("does not connect to a literal private address", async () => {
    expect(await blockedBy(answering("93.184.216.34"), "http://127.0.0.1:9/")).toMatchObject({ code: "URL_BLOCKED" });
    expect(await blockedBy(answering("93.184.216.34"), "http://[::1]:9/")).toMatchObject({ code: "URL_BLOCKED" });
  });

  it("asks for the addresses once and connects to what was answered", async () => {
    const server = createServer((_request, response) => response.end("here"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    let lookups = 0;
    const lookup: LookupFunction = (host, options, callback) => {
      lookups += 1;
      // a rebinding name: right the first time, elsewhere afterwards
      answering(lookups === 1 ? "127.0.0.1" : "10.9.9.9")(host, options, callback);
    };
    const client = createUrlGuard({ allowHosts: [`site.example.org:${port}`], lookup }).dispatcher();
    const { body } = await client.request({ origin: `http://site.example.org:${port}`, path: "/", method: "GET" });
    expect(await body.text()).toBe("here");
    expect(lookups).toBe(1);
    await client.close();
    server.close();
  });
});
