import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { type ArchiveSetup, archiveSetup } from "../archive-setup.ts";
import { http, record } from "../warc-records.ts";
import { type ReplayServer, startReplayServer } from "./replay-server.ts";

let setup: ArchiveSetup;
let server: ReplayServer;
const HTML = "Content-Type: text/html\r\n";
const site = "http://site.test";
const PART = (range: string) => `Content-Type: video/mp4\r\nContent-Range: bytes ${range}\r\n`;
/** Content-Types as servers send them, and what is given instead. */
const ODD_TYPES = {
  control: ["text/html; x=\x01", "text/html"],
  image: ["image/png\x01", "application/octet-stream"],
  charset: ['text/plain; charset="utf-8"; x=y', "text/plain; charset=utf-8"],
  broken: ["text/plain; charset=\xff\x02", "text/plain"],
} as const;

/** Headers of servers that would act in a browser. */
const IN_FORCE: readonly (readonly [name: string, value: string])[] = [
  ["clear-site-data", '"*"'],
  ["nel", '{"report_to":"d","max_age":99}'],
  ["report-to", '{"group":"d","max_age":99,"endpoints":[{"url":"https://out.test/"}]}'],
  ["reporting-endpoints", 'd="https://out.test/"'],
  ["content-security-policy-report-only", "default-src 'none'; report-uri https://out.test/"],
  ["www-authenticate", 'Basic realm="x"'],
  ["proxy-authenticate", 'Basic realm="x"'],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-embedder-policy", "require-corp"],
  ["cross-origin-resource-policy", "same-site"],
  ["strict-transport-security", "max-age=99"],
  ["access-control-allow-origin", "*"],
  ["speculation-rules", '"https://out.test/rules.json"'],
  ["link", "<https://out.test/>; rel=preload; as=style"],
  ["service-worker-allowed", "/"],
  ["x-frame-options", "DENY"],
  ["origin-agent-cluster", "?1"],
  ["alt-svc", 'h3=":443"'],
  ["accept-ch", "Sec-CH-UA"],
  ["content-location", "https://out.test/"],
  ["sourcemap", "https://out.test/map"],
  ["x-own", "1"],
].map(([name = "", value = ""]) => [name, value] as const);

beforeAll(async () => {
  setup = await archiveSetup();
  const at = (path: string, date: string, block: Buffer) => record(block, { url: `${site}${path}`, date });
  await setup.importRecords([
    at("/", "2026-01-01T00:00:00Z", http(`<a href=/old>x</a><a href=/never>y</a>`, HTML)),
    at("/", "2026-03-01T00:00:00Z", http("<p>newer", HTML)),
    at("/old", "2026-01-01T00:00:00Z", http("", "Location: /new?a=1#b\r\n", "301 Moved Permanently")),
    at("/gone", "2026-01-01T00:00:00Z", http("gone", HTML, "410 Gone")),
    at("/self", "2026-01-01T00:00:00Z", http("", `Location: ${site}/self\r\n`, "302 Found")),
    at("/self-once", "2026-01-02T00:00:00Z", http("", `Location: ${site}/self-once\r\n`, "302 Found")),
    at("/self-once", "2026-01-01T00:00:00Z", http("itself", HTML)),
    at(
      "/headers",
      "2026-01-01T00:00:00Z",
      http(
        "x",
        `${HTML}Set-Cookie: a=b\r\nSet-Cookie2: a=b\r\nRefresh: 5; url=/new\r\n${IN_FORCE.map(([name, value]) => `${name}: ${value}\r\n`).join("")}`,
      ),
    ),
    at(
      "/koi8",
      "2026-01-01T00:00:00Z",
      http(
        Buffer.from([0x3c, 0x70, 0x3e, 0xd7, 0xcf, 0xcc, 0xce, 0xc1]),
        "Content-Type: text/html; charset=koi8-r\r\n",
      ),
    ),
    at(
      "/page.xhtml",
      "2026-01-01T00:00:00Z",
      http(
        '<html xmlns="http://www.w3.org/1999/xhtml"><head/><body/></html>',
        "Content-Type: application/xhtml+xml\r\n",
      ),
    ),
    at("/movie", "2026-01-01T00:00:00Z", http("0123456789", "Content-Type: video/mp4\r\n")),
    ...Object.entries(ODD_TYPES).map(([path, [type]]) =>
      at(`/odd/${path}`, "2026-01-01T00:00:00Z", http("odd", `Content-Type: ${type}\r\n`, "404 Not Found")),
    ),
    at("/status/999", "2026-01-01T00:00:00Z", http("<p>denied", HTML, "999 Request denied")),
    at("/status/150", "2026-01-01T00:00:00Z", http("<p>what", HTML, "150 What")),
    record("bytes", {
      type: "resource",
      url: `${site}/named`,
      date: "2026-01-01T00:00:00Z",
      contentType: 'image/png; name="фото.png"',
    }),
    at("/feed", "2026-01-01T00:00:00Z", http('<feed href="/x"/>', "Content-Type: application/atom+xml\r\n")),
    at("/part", "2026-01-01T00:00:00Z", http("345", PART("3-5/10"), "206 Partial Content")),
    at("/whole", "2026-01-01T00:00:00Z", http("0123456789", PART("0-9/10"), "206 Partial Content")),
    at("/unknown", "2026-01-01T00:00:00Z", http("345", PART("3-9/10"), "206 Partial Content")),
    at("/same", "2026-01-01T00:00:00Z", http("", "Location: /new\r\n", "304 Not Modified")),
    at("/second", "2026-01-01T09:59:59.950Z", http("before", HTML)),
    at("/second", "2026-01-01T10:00:00.900Z", http("within", HTML)),
    record(http("", "Location: https://loop.test/\r\n", "301 Moved Permanently"), { url: "http://loop.test/" }),
    ...["/round/a", "/round/b", "/round/c", "/round/a"].flatMap((path, index, all) =>
      index === 3 ? [] : [at(path, "2026-01-02T00:00:00Z", http("", `Location: ${all[index + 1]}\r\n`, "302 Found"))],
    ),
    at("/to-round", "2026-01-02T00:00:00Z", http("", "Location: /round/a\r\n", "302 Found")),
    at("/out/a", "2026-01-02T00:00:00Z", http("", "Location: /out/b\r\n", "302 Found")),
    at("/out/b", "2026-01-02T00:00:00Z", http("", "Location: /out/a\r\n", "302 Found")),
    at("/out/b", "2026-01-01T00:00:00Z", http("a way out", HTML)),
    record(http("", "Location: http://pool.test/\r\n", "301 Moved Permanently"), { url: "https://pool.test/" }),
    at("/cut", "2026-01-01T00:00:00Z", http("cut", HTML)),
    record(http("<p>secure", HTML), { url: "https://secure.test/", date: "2026-01-01T00:00:00Z" }),
    record(http("", HTML), {
      url: `${site}/dangling`,
      type: "revisit",
      date: "2026-01-01T00:00:00Z",
      fields: { "WARC-Refers-To-Target-URI": "http://nowhere.test/", "WARC-Profile": "identical-payload-digest" },
    }),
  ]);
  const revisit = (path: string, date: string, profile: string, status: string, fields = {}) =>
    record(http("", HTML, status), {
      url: `${site}${path}`,
      type: "revisit",
      date,
      fields: { "WARC-Profile": `http://netpreserve.org/warc/1.1/revisit/${profile}`, ...fields },
    });
  const FIRST = { "WARC-Refers-To-Date": "2026-01-01T00:00:00Z" };
  await setup.importRecords([
    at("/unmodified", "2026-01-01T00:00:00Z", http("unmodified", HTML)),
    revisit("/unmodified", "2026-01-05T00:00:00Z", "server-not-modified", "304 Not Modified"),
    revisit("/unmodified", "2026-01-06T00:00:00Z", "server-not-modified", "304 Not Modified", {
      ...FIRST,
      "WARC-Refers-To-Target-URI": `${site}/unmodified`,
    }),
    at("/identical", "2026-01-01T00:00:00Z", http("identical", HTML)),
    revisit("/identical", "2026-01-05T00:00:00Z", "identical-payload-digest", "200 OK", {
      ...FIRST,
      "WARC-Refers-To-Target-URI": `${site}/identical`,
    }),
    at("/lost", "2026-01-01T00:00:00Z", http("what is left", HTML)),
    revisit("/lost", "2026-01-05T00:00:00Z", "identical-payload-digest", "200 OK", {
      ...FIRST,
      "WARC-Refers-To-Target-URI": "http://nowhere.test/",
    }),
    at("/compared", "2026-01-01T00:00:00Z", http("compared", HTML)),
    at("/compared", "2026-01-05T00:00:00Z", http("", "", "304 Not Modified")),
    ...["http://one.test/", "https://one.test/"].map((url, index, [, secure]) =>
      record(index === 0 ? http("", `Location: ${secure}\r\n`, "301 Moved Permanently") : http("one page", HTML), {
        url,
        date: "2026-01-01T00:00:00Z",
      }),
    ),
    record(http("", "Location: https://www.one.test/\r\n", "301 Moved Permanently"), {
      url: "https://one.test/at-home",
      date: "2026-01-01T00:00:00Z",
    }),
  ]);
  server = await startReplayServer();
});
afterAll(async () => {
  server?.destroy();
  server?.close();
  await setup?.close();
});

async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  const answer = await fetch(`${server.url}${path}`, { method, headers, redirect: "manual" });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

describe("a time and a URL", () => {
  it("are answered with the nearest capture, and when that was", async () => {
    const early = await get(`/20260115/${site}/`);
    expect([early.status, early.headers.get("memento-datetime")]).toEqual([200, "Thu, 01 Jan 2026 00:00:00 GMT"]);
    const at = (stamp: string) => `${server.url}/${stamp}/${site}/`;
    const [first, last] = [at("20260101000000"), at("20260301000000")];
    expect(early.headers.get("link")?.split(/, (?=<)/)).toEqual([
      `<${site}/>; rel="original"`,
      `<${server.url}/${site}/>; rel="timegate"`,
      `<${server.url}/timemap/link/${site}/>; rel="timemap"; type="application/link-format"`,
      `<${server.url}/timemap/json/${site}/>; rel="timemap"; type="application/json"`,
      `<${first}>; rel="first memento"; datetime="Thu, 01 Jan 2026 00:00:00 GMT"`,
      `<${last}>; rel="next last memento"; datetime="Sun, 01 Mar 2026 00:00:00 GMT"`,
    ]);
    expect((await get(`/20260228/${site}/`)).text).toContain("newer");
  });

  it("of a second are answered with the capture of that second", async () => {
    expect((await get(`/20260101100000mp_/${site}/second`)).text).toContain("within");
    expect((await get(`/20260101095959mp_/${site}/second`)).text).toContain("before");
    const gate = await get(`/${site}/second`, { "accept-datetime": "Thu, 01 Jan 2026 10:00:00 GMT" });
    expect(gate.headers.get("location")).toBe(`/20260101100000/${site}/second`);
  });

  it("without a time lead to what their list has, in another spelling, too", async () => {
    expect((await get(`/timemap/link/${site}/OLD`)).status).toBe(200);
    const gate = await get(`/${site}/OLD`);
    expect([gate.status, gate.headers.get("location")]).toEqual([302, `/20260101000000/${site}/old`]);
  });

  it("without a time lead to the newest, and of the other scheme to what there is", async () => {
    expect((await get(`/${site}/`)).headers.get("location")).toBe(`/20260301000000/${site}/`);
    expect((await get("/2026/http://secure.test/")).headers.get("location")).toBe(
      "/20260101000000/https://secure.test/",
    );
    expect((await get("/2026/https://secure.test/")).status).toBe(200);
  });

  it("are a memento, and the URL alone its TimeGate, as RFC 7089 has them", async () => {
    const gate = (datetime: string) => get(`/${site}/`, { "accept-datetime": datetime });
    const near = await gate("Thu, 15 Jan 2026 00:00:00 GMT");
    expect([near.status, near.headers.get("location")]).toEqual([302, `/20260101000000/${site}/`]);
    expect(near.headers.get("vary")).toContain("accept-datetime");
    expect(near.headers.get("link")).toContain('rel="timemap"');
    expect(near.headers.get("memento-datetime")).toBeNull();
    expect((await gate("yesterday")).status).toBe(400);
    const moved = await get(`/2026/${site}/old`);
    expect(moved.headers.get("memento-datetime")).toBe("Thu, 01 Jan 2026 00:00:00 GMT");
    expect(moved.headers.get("link")).toContain(`<${server.url}/20260101000000/${site}/old>; rel="first last memento"`);
  });

  it("are listed, all of a URL, in both forms", async () => {
    const link = await get(`/timemap/link/${site}/`);
    expect(link.headers.get("content-type")).toBe("application/link-format");
    expect(link.text.match(/rel="[a-z ]*memento"/g)).toEqual(['rel="first memento"', 'rel="last memento"']);
    const json = JSON.parse((await get(`/timemap/json/${site}/`)).text) as { mementos: { list: { uri: string }[] } };
    expect(json.mementos.list.map(({ uri }) => uri)).toEqual(
      ["20260101000000", "20260301000000"].map((stamp) => `${server.url}/${stamp}/${site}/`),
    );
    expect((await get(`/timemap/link/${site}/never`)).status).toBe(404);
  });

  it("that are in no archive are answered 404, whatever is asked, without a way out", async () => {
    for (const path of [
      `/2026/${site}/never`,
      "/",
      "/x",
      "/2026/file:///etc/passwd",
      `/0000/${site}/`,
      `/20260230/${site}/`,
      `/2026/${site}/"><script>alert(1)</script>`,
    ]) {
      const { status, text, headers } = await get(path);
      expect([path, status]).toEqual([path, 404]);
      expect(text).toContain("Not archived");
      expect(text).not.toMatch(/<script|href="http/);
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    }
    expect((await get(`/2026/${site}/`, {}, "POST")).status).toBe(404);
    expect((await get(`/2026/${site}/dangling`)).status).toBe(404);
  });
});

describe("what a server answered", () => {
  it("keeps its status, and its redirects lead to the archive", async () => {
    expect((await get(`/2026/${site}/gone`)).status).toBe(410);
    const moved = await get(`/20260101000000im_/${site}/old`);
    expect([moved.status, moved.headers.get("location")]).toEqual([301, `/20260101000000im_/${site}/new?a=1#b`]);
  });

  it("is skipped where it redirects to itself", async () => {
    expect((await get(`/2026/${site}/self`)).text).toContain("redirects to itself");
    expect((await get(`/20260102/${site}/self-once`)).text).toContain("itself");
  });

  it("acts on no browser: its headers stand under other names, its cookies nowhere", async () => {
    const { headers } = await get(`/2026/${site}/headers`);
    for (const [name, value] of IN_FORCE) expect([name, headers.get(`x-archive-orig-${name}`)]).toEqual([name, value]);
    expect(headers.get("refresh")).toBe(`5; url=/2026mp_/${site}/new`);
    const given = [...headers.keys()].filter((name) => !name.startsWith("x-archive-orig-"));
    // the one that Memento has, and nothing of what the server linked
    expect(IN_FORCE.map(([name]) => name).filter((name) => given.includes(name))).toEqual(["link"]);
    expect(headers.get("link")).not.toContain("out.test");
    for (const name of ["set-cookie", "set-cookie2"]) {
      expect([headers.get(name), headers.get(`x-archive-orig-${name}`)]).toEqual([null, null]);
    }
    expect(headers.get("content-security-policy")).toMatch(/^sandbox (?!.*allow-same-origin)/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("comes as it was sent where that is asked for, and else in UTF-8, as which it is declared", async () => {
    const { headers, text } = await get(`/2026/${site}/koi8`);
    expect([headers.get("content-type"), text]).toEqual(["text/html; charset=utf-8", expect.stringContaining("волна")]);
    const sent = await fetch(`${server.url}/2026id_/${site}/koi8`);
    expect(sent.headers.get("content-type")).toBe("text/html; charset=koi8-r");
    expect([...new Uint8Array(await sent.arrayBuffer())]).toEqual([0x3c, 0x70, 0x3e, 0xd7, 0xcf, 0xcc, 0xce, 0xc1]);
    expect((await get(`/2026/${site}/page.xhtml`)).headers.get("content-type")).toBe(
      "application/xhtml+xml; charset=utf-8",
    );
  });

  it.each(Object.entries(ODD_TYPES))("has a Content-Type that HTTP can carry: %s", async (path, [, given]) => {
    const { status, headers, text } = await get(`/2026id_/${site}/odd/${path}`);
    expect([status, headers.get("content-type"), text]).toEqual([404, given, "odd"]);
    expect((await get(`/2026im_/${site}/odd/${path}`)).status).toBe(404);
  });

  it("as a file of its own has a type without what HTTP cannot carry", async () => {
    const { status, headers, text } = await get(`/2026im_/${site}/named`);
    expect([status, headers.get("content-type"), text]).toEqual([200, "image/png", "bytes"]);
  });

  it("with a status that no client knows is a fault of the server's", async () => {
    expect((await get(`/2026mp_/${site}/status/999`)).status).toBe(502);
    expect((await get(`/2026mp_/${site}/status/150`)).status).toBe(502);
  });

  it("that was a part of its body is that part, and one that was all of it the whole", async () => {
    const part = await get(`/2026im_/${site}/part`);
    expect([part.status, part.text, part.headers.get("content-range")]).toEqual([206, "345", "bytes 3-5/10"]);
    const whole = await get(`/2026im_/${site}/whole`);
    expect([whole.status, whole.text, whole.headers.get("content-range")]).toEqual([200, "0123456789", null]);
    const ranged = await get(`/2026im_/${site}/whole`, { range: "bytes=2-3" });
    expect([ranged.status, ranged.text, ranged.headers.get("content-range")]).toEqual([206, "23", "bytes 2-3/10"]);
    expect((await get(`/2026im_/${site}/unknown`)).status).toBe(200);
  });

  it.each([
    ["/unmodified", "20260105", "unmodified", "Tue, 06 Jan 2026 00:00:00 GMT"],
    ["/unmodified", "20260106", "unmodified", "Tue, 06 Jan 2026 00:00:00 GMT"],
    ["/identical", "20260105", "identical", "Mon, 05 Jan 2026 00:00:00 GMT"],
    ["/lost", "20260105", "what is left", "Thu, 01 Jan 2026 00:00:00 GMT"],
    ["/compared", "20260105", "compared", "Thu, 01 Jan 2026 00:00:00 GMT"],
  ])(
    "is that which it repeats, and where nothing has it, the nearest that is whole: %s at %s",
    async (path, time, text, at) => {
      for (const modifier of ["", "id_"]) {
        const { status, text: body, headers } = await get(`/${time}${modifier}/${site}${path}`);
        expect([status, body, headers.get("memento-datetime")]).toEqual([200, expect.stringContaining(text), at]);
      }
    },
  );

  it("that leads from one scheme of a page to the other is a redirect to it", async () => {
    const moved = await get("/2026/http://one.test/");
    expect([moved.status, moved.headers.get("location")]).toEqual([301, "/20260101000000/https://one.test/"]);
    expect(await get("/20260101000000/https://one.test/")).toMatchObject({
      status: 200,
      text: expect.stringContaining("one page"),
    });
    const home = await get("/2026/https://one.test/at-home");
    expect([home.status, home.headers.get("location")]).toEqual([301, "/20260101000000/https://www.one.test/"]);
  });

  it("to somebody who had the page already is no answer", async () => {
    expect((await get(`/2026mp_/${site}/same`)).status).toBe(404);
  });

  it("leads nowhere where it only led from one scheme to the other", async () => {
    for (const path of ["/2026/https://loop.test/", "/2026/http://pool.test/"]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    expect((await get("/2026/http://loop.test/")).headers.get("location")).toBe("/20260102030405/https://loop.test/");
  });

  it("leads nowhere where it only leads round, and out where there is a way", async () => {
    for (const path of ["/round/a", "/round/b", "/round/c", "/to-round"]) {
      const { status, text } = await get(`/2026/${site}${path}`);
      expect([path, status, text.includes("in a circle")]).toEqual([path, 404, true]);
    }
    const out = await get(`/2026/${site}/out/a`);
    expect([out.status, out.headers.get("location")]).toEqual([302, `/20260102000000/${site}/out/b`]);
    expect((await get(`/20260102000000/${site}/out/b`)).text).toContain("a way out");
  });

  it("comes in ranges, and beyond its end not at all", async () => {
    const part = await get(`/2026im_/${site}/movie`, { range: "bytes=2-4" });
    expect([part.status, part.text, part.headers.get("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
    const beyond = await get(`/2026im_/${site}/movie`, { range: "bytes=10-" });
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, "bytes */10"]);
    const head = await get(`/2026im_/${site}/movie`, {}, "HEAD");
    expect([head.status, head.text]).toEqual([200, ""]);
    const ofHead = await get(`/2026im_/${site}/movie`, { range: "bytes=2-4" }, "HEAD");
    expect([ofHead.status, ofHead.headers.get("content-range")]).toEqual([200, null]);
    // nothing that is replayed has a validator, so that none can be the same
    for (const validator of ['"a"', "Thu, 01 Jan 2026 00:00:00 GMT"]) {
      const whole = await get(`/2026im_/${site}/movie`, { range: "bytes=2-4", "if-range": validator });
      expect([whole.status, whole.text, whole.headers.get("content-range")]).toEqual([200, "0123456789", null]);
    }
  });

  it("has links to the archive, which are marked where that has nothing", async () => {
    const { text } = await get(`/20260101000000/${site}/`);
    expect(text).toContain(`<a href="/20260101000000mp_/${site}/old">`);
    expect(text).toContain(`<a href="/20260101000000mp_/${site}/never" data-archive-missing="">`);
  });
});

describe("who asks", () => {
  it("from a window is given a page of ours around it, from a frame of that the page itself", async () => {
    const window = await get(`/2026/${site}/gone`, { "sec-fetch-dest": "document" });
    expect([window.status, window.text]).toEqual([410, expect.stringContaining(`src="/2026mp_/${site}/gone"`)]);
    expect(window.headers.get("content-security-policy")).toMatch(/^default-src 'none'; frame-src 'self'/);
    expect((await get(`/2026mp_/${site}/gone`, { "sec-fetch-dest": "iframe" })).text).toContain("gone");
  });

  it("from a window is given such a page around whatever runs scripts, and what else it is runs none", async () => {
    const window = { "sec-fetch-dest": "document" };
    for (const path of ["/page.xhtml", "/feed"]) {
      const { text } = await get(`/2026/${site}${path}`, window);
      expect(text).toContain(`src="/2026mp_/${site}${path}"`);
    }
    expect((await get(`/2026mp_/${site}/feed`)).text).toContain(`href="/2026im_/${site}/x"`);
    const policyOf = async (path: string, headers = {}) =>
      (await get(path, headers)).headers.get("content-security-policy") ?? "";
    for (const path of [`/2026id_/${site}/`, `/2026id_/${site}/page.xhtml`, `/2026/${site}/movie`]) {
      expect(await policyOf(path, window)).toMatch(/^sandbox (?!.*allow-scripts)/);
      expect(await policyOf(path, { "sec-fetch-dest": "iframe" })).toMatch(/^sandbox allow-scripts/);
    }
  });

  it("is a replayed page, or no page at all", async () => {
    const path = `/20260101000000/${site}/`;
    const [, token = ""] = /data-token="([^"]+)"/.exec((await get(path)).text) ?? [];
    const page = await get(`${path}?archive-token=${token}`, { origin: "null" });
    expect([page.status, page.headers.get("access-control-allow-origin")]).toEqual([200, "null"]);
    expect((await get(path, { origin: "null", "sec-fetch-dest": "font" })).status).toBe(200);
    expect((await get(`${path}?archive-token=guessed`, { origin: "null" })).status).toBe(403);
    for (const headers of [
      { origin: "null" },
      { origin: "null", referer: "https://evil.test/" },
      { origin: "null", "sec-fetch-dest": "empty" },
      { origin: "https://evil.test" },
      { origin: "http://localhost:3000" },
    ]) {
      const refused = await get(path, headers);
      expect([headers, refused.status]).toEqual([headers, 403]);
      expect(refused.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("needs a key where the archive is closed", async () => {
    const { replayFunction } = await import("../../../../functions/replay/dependencies.ts");
    const { config } = replayFunction();
    Object.assign(config, { archivePublic: false });
    try {
      const refused = await get(`/2026/${site}/`);
      expect([refused.status, JSON.parse(refused.text).code]).toEqual([401, "AUTH_REQUIRED"]);
      const { key } = await createApiKey(setup.sql, {
        name: "r",
        scopes: ["read"],
        rateLimitRpm: 100,
        expiresAt: null,
      });
      const admitted = await get(`/2026/${site}/`, { authorization: `Bearer ${key}` });
      expect([admitted.status, admitted.headers.get("cache-control")]).toEqual([200, "private, max-age=300"]);
    } finally {
      Object.assign(config, { archivePublic: true });
    }
  });
});
