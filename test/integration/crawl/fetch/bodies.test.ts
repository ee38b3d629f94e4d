import { randomBytes } from "node:crypto";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { WARCParser } from "warcio";
import { bytesThenClose, endless } from "../../../sites/misbehaviour.ts";
import { html, type Route, startSite } from "../../../sites/site.ts";
import { fetchHarness, fetchTask } from "./harness.ts";

const PAGE = `<!doctype html><html lang="en"><title>T</title><p>${"Text of the page, which is long enough. ".repeat(40)}</p>`;
const coded = (coding: string, body: Buffer): Route => html(body, { "Content-Encoding": coding });

function chunkedAs(transferEncoding: string, body: Buffer): Route {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: ${transferEncoding}\r\n\r\n`;
  const [size, end] = [`${body.length.toString(16)}\r\n`, "\r\n0\r\n\r\n"];
  return bytesThenClose(Buffer.concat([Buffer.from(head + size), body, Buffer.from(end)]));
}

describe("a body read back from the WARC", () => {
  const identity = Buffer.from(PAGE);
  const bodies: Record<string, [Route, Buffer]> = {
    "/identity": [html(identity), identity],
    "/gzip": [coded("gzip", gzipSync(identity)), gzipSync(identity)],
    "/deflate": [coded("deflate", deflateSync(identity)), deflateSync(identity)],
    "/raw-deflate": [coded("deflate", deflateRawSync(identity)), deflateRawSync(identity)],
    "/br": [coded("br", brotliCompressSync(identity)), brotliCompressSync(identity)],
    "/zstd": [coded("zstd", zstdCompressSync(identity)), zstdCompressSync(identity)],
    "/gzip-that-is-plain": [coded("gzip", identity), identity],
    "/chunked": [
      { headers: { "Content-Type": "text/html" }, chunks: [identity.subarray(0, 10), identity.subarray(10)] },
      identity,
    ],
    "/chunked-gzip": [
      { headers: { "Content-Type": "text/html", "Content-Encoding": "gzip" }, chunks: [gzipSync(identity)] },
      gzipSync(identity),
    ],
    "/transfer-gzip": [chunkedAs("gzip, chunked", gzipSync(identity)), identity],
    "/transfer-deflate": [chunkedAs("deflate,chunked", deflateSync(identity)), identity],
    "/transfer-gzip-in-two-lines": [chunkedAs("X-GZIP\r\nTransfer-Encoding: chunked", gzipSync(identity)), identity],
    "/transfer-gzip-of-gzip": [
      chunkedAs("gzip, chunked\r\nContent-Encoding: gzip", gzipSync(gzipSync(identity))),
      gzipSync(identity),
    ],
    "/transfer-gzip-said-twice": [chunkedAs("gzip, chunked\r\nContent-Encoding: gzip", gzipSync(identity)), identity],
    "/transfer-gzip-until-close": [
      bytesThenClose(
        Buffer.concat([
          Buffer.from("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: gzip\r\n\r\n"),
          gzipSync(identity),
        ]),
      ),
      identity,
    ],
    "/until-close": [bytesThenClose(`HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n${PAGE}`), identity],
  };

  it("is byte for byte what the server sent, and its text is extracted", async () => {
    await using site = await startSite(
      Object.fromEntries(Object.entries(bodies).map(([path, [route]]) => [path, route])),
    );
    const harness = await fetchHarness();
    const captures = await harness.fetch(fetchTask({ urls: Object.keys(bodies).map((path) => site.origin + path) }));
    for (const capture of captures) {
      const path = new URL(capture.url).pathname;
      const record = await harness.record(capture);
      const sent = bodies[path]?.[1] ?? Buffer.alloc(0);
      expect(record.body.equals(sent), path).toBe(true);
      expect(capture, path).toMatchObject({
        error: null,
        truncated: false,
        payloadBytes: sent.length,
        mimeType: "text/html",
      });
      expect(capture.extraction?.title, path).toBe("T");
      const names = record.httpHeaders.map(([name]) => name.toLowerCase());
      expect(names, path).not.toContain("transfer-encoding");
    }
  });

  it("has its headers in the order, case and bytes in which they came", async () => {
    const head =
      "X-First: 1\r\ncontent-TYPE: text/html\r\nX-Latin: caf\xe9\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nContent-Length: 2";
    await using site = await startSite({
      "/": bytesThenClose(Buffer.from(`HTTP/1.1 203 Quite  Odd\r\n${head}\r\n\r\nok`, "latin1")),
    });
    const harness = await fetchHarness();
    const [capture] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`] }));
    const record = capture && (await harness.record(capture));
    expect(record?.startLine).toMatch(/^HTTP\/1\.1 203 Quite/);
    expect(record?.httpHeaders.map(([name, value]) => `${name}: ${value}`).join("\r\n")).toBe(head);
    expect(capture?.headers.slice(0, 2)).toEqual([
      ["x-first", "1"],
      ["content-type", "text/html"],
    ]);
  });

  it.each([
    "HTTP/1.0 200 OK",
    "HTTP/1.1 203 Caf\xe9 \xa0 ferm\xc3\xa9",
    "HTTP/1.0 404 \xcf\xf0\xe8\xe2\xe5\xf2",
    "HTTP/1.1 200",
    "HTTP/1.1 200 ",
    "HTTP/1.1 203 Quite  Odd\t",
    "HTTP/1.1 200 X-Status-Line: 00",
  ])("has its status line byte for byte: %j", async (line) => {
    const answer = Buffer.from(`${line}\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok`, "latin1");
    await using site = await startSite({ "/": bytesThenClose(answer) });
    const harness = await fetchHarness();
    const [capture] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`] }));
    const record = capture && (await harness.record(capture));
    expect(record?.startLine).toBe(line);
    expect(record?.httpHeaders).toEqual([
      ["Content-Type", "text/html"],
      ["Content-Length", "2"],
    ]);
    expect(capture?.headers).toHaveLength(2);
  });

  it("stands in a file that warcio reads from end to end, robots.txt included", async () => {
    await using site = await startSite({
      "/robots.txt": { body: "User-agent: *\nDisallow: /no" },
      "/a": html(PAGE),
      "/b": html("x"),
    });
    const harness = await fetchHarness();
    const captures = await harness.fetch(fetchTask({ urls: [`${site.origin}/a`, `${site.origin}/b`] }));
    const key = captures[0]?.warc?.key ?? "";
    const file = (await harness.dependencies.objects.get(key)) ?? new Uint8Array();
    const seen: string[] = [];
    for await (const record of new WARCParser([file])) {
      await record.readFully(false);
      seen.push(
        `${record.warcType} ${record.warcTargetURI === null ? "" : new URL(record.warcTargetURI ?? "x:").pathname}`,
      );
    }
    expect(seen.filter((each) => each.startsWith("warcinfo"))).toHaveLength(1);
    for (const path of ["/robots.txt", "/a", "/b"]) {
      expect(seen).toContain(`request ${path}`);
      expect(seen).toContain(`response ${path}`);
    }
    expect(seen).toHaveLength(7);
  });
});

describe("an answer that keeps to HTTP in part only", () => {
  const words = "<title>T</title><p>The harbour is open from dawn to dusk.</p>";
  const [head, length] = ["HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", `Content-Length: ${words.length}`];
  const packed = gzipSync(words + Array.from({ length: 500 }, (_, index) => `<p>${Math.sin(index)}`).join(""));
  const routes: Record<string, Route> = {
    "/continue": bytesThenClose(`HTTP/1.1 100 Continue\r\n\r\n${head}${length}\r\n\r\n${words}`),
    "/folded": bytesThenClose(
      `HTTP/1.1 200 OK\r\nX-A: a\r\n\tb\r\nContent-Type: text/html;\r\n charset=utf-8\r\n${length}\r\n\r\n${words}`,
    ),
    "/two-lengths": bytesThenClose(`${head}${length}\r\n${length}\r\n\r\n${words}`),
    "/bare-lf": bytesThenClose(`HTTP/1.1 200 OK\nContent-Type: text/html\n${length}\n\n${words}`),
    "/junk-behind": coded("gzip", Buffer.concat([packed, Buffer.from("\r\n\r\n")])),
    "/cut": coded("gzip", packed.subarray(0, packed.length / 2)),
    "/wrong-checksum": coded("gzip", Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)])),
    "/transfer-cut": chunkedAs("gzip, chunked", packed.subarray(0, packed.length / 2)),
  };

  it("is a page of the archive all the same", async () => {
    await using site = await startSite(routes);
    const harness = await fetchHarness();
    const captures = await harness.fetch(fetchTask({ urls: Object.keys(routes).map((path) => site.origin + path) }));
    for (const capture of captures) {
      const path = new URL(capture.url).pathname;
      const record = await harness.record(capture);
      expect([path, capture.error, capture.truncated]).toEqual([path, null, /cut|wrong/.test(path)]);
      expect(capture.extraction?.text).toContain("The harbour is open from dawn to dusk.");
      expect(record.startLine).toBe("HTTP/1.1 200 OK");
      if (!/cut|junk|wrong/.test(path)) expect([path, record.body.toString()]).toEqual([path, words]);
    }
    const folded = captures[1] && (await harness.record(captures[1]));
    expect(folded?.httpHeaders.slice(0, 2)).toEqual([
      ["X-A", "a b"],
      ["Content-Type", "text/html; charset=utf-8"],
    ]);
    const twice = captures[2] && (await harness.record(captures[2]));
    expect(twice?.httpHeaders.map(([name]) => name)).toEqual([
      "Content-Type",
      "Content-Length",
      "X-Archive-Orig-Content-Length",
    ]);
    const junk = captures[4] && (await harness.record(captures[4]));
    expect(junk?.body.subarray(-4).toString()).toBe("\r\n\r\n");
  });

  it.each<[string, Buffer]>([
    [
      "with bytes behind its end",
      Buffer.concat([gzipSync("User-agent: *\nDisallow: /private\n"), Buffer.from("\r\n")]),
    ],
    ["without its end", gzipSync("User-agent: *\nDisallow: /private").subarray(0, -8)],
    ["cut within an Allow", gzipSync("User-agent: *\nDisallow: /p\nAllow: /p").subarray(0, -8)],
  ])("is a robots.txt all the same: gzip %s", async (_how, body) => {
    await using site = await startSite({
      "/robots.txt": { headers: { "Content-Encoding": "gzip" }, body },
      "/ok": html(words),
      "/private": html(words),
    });
    const harness = await fetchHarness();
    const [ok, denied] = await harness.fetch(fetchTask({ urls: [`${site.origin}/ok`, `${site.origin}/private`] }));
    expect([ok?.error, denied?.error?.code]).toEqual([null, "ROBOTS_DENIED"]);
  });
});

describe("a body that is not what a page should be", () => {
  const nested = `<title>deep</title>${"<div>".repeat(10_000)}bottom`;
  const routes: Record<string, Route> = {
    "/empty": html(""),
    "/204": { status: 204 },
    "/204-with-length": bytesThenClose("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"),
    "/binary": html(Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), randomBytes(5000)])),
    "/noise": html(Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 89 + (at >> 4) * 57) % 256))),
    "/pdf": { headers: { "Content-Type": "application/pdf" }, body: "%PDF-1.7" },
    "/json": { headers: { "Content-Type": "application/json" }, body: "{}" },
    "/untyped": { body: PAGE },
    "/text": { headers: { "Content-Type": "text/plain" }, body: "plain words\nin two lines" },
    "/xml": { headers: { "Content-Type": "application/xml" }, body: "<book><title>news &amp; more</title></book>" },
    "/feed": { headers: { "Content-Type": "application/xml" }, body: "<feed><title>news &amp; more</title></feed>" },
    "/sitemap": html('<?xml version="1.0"?><urlset><url><loc>http://a.example/</loc></url></urlset>'),
    "/nested": html(nested),
    "/broken-gzip": coded("gzip", Buffer.concat([gzipSync(PAGE).subarray(0, 10), Buffer.alloc(50, 0xff)])),
    "/bad-checksum": coded("gzip", Buffer.concat([gzipSync(PAGE).subarray(0, -8), Buffer.alloc(8, 7)])),
    "/charset-lie": { headers: { "Content-Type": "text/html; charset=utf-16" }, body: PAGE },
    "/charset-unknown": { headers: { "Content-Type": "text/html; charset=klingon" }, body: "<title>é</title>" },
  };

  it("is a capture all the same", async () => {
    await using site = await startSite(routes);
    const harness = await fetchHarness();
    const captures = await harness.fetch(fetchTask({ urls: Object.keys(routes).map((path) => site.origin + path) }));
    const outcome = Object.fromEntries(
      captures.map(({ url, error, extraction }) => [new URL(url).pathname, error?.code ?? extraction?.title ?? null]),
    );
    expect(outcome).toEqual({
      "/empty": "EMPTY_BODY",
      "/204": "EMPTY_BODY",
      "/204-with-length": "EMPTY_BODY",
      "/binary": "UNSUPPORTED_TYPE",
      "/noise": "UNSUPPORTED_TYPE",
      "/pdf": "UNSUPPORTED_TYPE",
      "/json": "UNSUPPORTED_TYPE",
      "/untyped": "T",
      "/text": "plain words",
      "/xml": "news & more",
      "/feed": "UNSUPPORTED_TYPE",
      "/sitemap": "UNSUPPORTED_TYPE",
      "/nested": "deep",
      "/broken-gzip": "DECODE_FAILED",
      "/bad-checksum": "T",
      "/charset-lie": "T",
      "/charset-unknown": "é",
    });
    expect(captures.every(({ warc }) => warc !== null)).toBe(true);
    expect(captures.every(({ error }) => error === null || !error.retryable)).toBe(true);
  });

  it("is cut at the size limit, archived and extracted as far as it came", async () => {
    const piece = `<p>${"endless words ".repeat(50)}</p>`;
    await using site = await startSite({
      "/endless": endless(piece),
      "/large": html(`<title>large</title>${piece.repeat(3000)}`),
      "/bomb": coded("gzip", gzipSync(`<title>bomb</title>${piece.repeat(20_000)}`)),
    });
    const harness = await fetchHarness();
    const urls = ["/endless", "/large", "/bomb"].map((path) => site.origin + path);
    const [unending, large, bomb] = await harness.fetch(fetchTask({ urls, config: { max_page_size_mb: 1 } }));
    for (const capture of [unending, large]) {
      expect(capture).toMatchObject({ truncated: true, error: null, payloadBytes: 1024 * 1024 });
      const record = capture && (await harness.record(capture));
      expect(record?.warcHeaders.get("warc-truncated")).toBe("length");
      expect(record?.body).toHaveLength(1024 * 1024);
      expect(record?.httpHeaders.map(([name]) => name.toLowerCase())).not.toContain("content-length");
    }
    const kept = large && (await harness.record(large)).httpHeaders.find(([name]) => /^x-archive-orig-/i.test(name));
    expect(Number(kept?.[1])).toBeGreaterThan(1024 * 1024);
    expect(large?.extraction?.title).toBe("large");
    expect(bomb).toMatchObject({ truncated: true, error: null, extraction: { title: "bomb" } });
    const whole = bomb && (await harness.record(bomb));
    expect(whole?.warcHeaders.has("warc-truncated")).toBe(false);
  });

  it("is a part where the server answers 206 to a request for the whole", async () => {
    await using site = await startSite({
      "/": { status: 206, headers: { "Content-Type": "text/html", "Content-Range": "bytes 0-99/1000" }, body: PAGE },
    });
    const harness = await fetchHarness();
    const [capture] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`] }));
    expect(capture).toMatchObject({ status: 206, error: null, truncated: true, extraction: { title: "T" } });
  });
});
