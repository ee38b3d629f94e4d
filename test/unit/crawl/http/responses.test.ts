/** The small judgements that a response goes through. */
import {
  brotliCompressSync,
  constants,
  crc32,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { decodeContent } from "../../../../shared/crawl/http/content-coding.ts";
import { parseMediaType, textKindOf } from "../../../../shared/crawl/http/media-type.ts";
import { readPageContent } from "../../../../shared/crawl/http/read-page.ts";
import { redirectTarget } from "../../../../shared/crawl/http/redirects.ts";
import { isXhtml, listOfPages, xmlText } from "../../../../shared/crawl/http/xml-text.ts";
import { retryAfterMs } from "../../../../shared/platform/retry-after.ts";

describe("content coding", () => {
  const CODERS: [string, (bytes: Uint8Array) => Buffer][] = [
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["GZIP", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["gzip, br", (bytes) => brotliCompressSync(gzipSync(bytes))],
    ["identity", (bytes) => Buffer.from(bytes)],
    ["utf-8", (bytes) => Buffer.from(bytes)],
  ];

  it.each(CODERS)("is undone: %s", async (coding, encode) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 500 }), async (bytes) => {
        const decoded = await decodeContent(encode(bytes), coding, 1000, false);
        expect(decoded).toEqual({ bytes: Buffer.from(bytes), truncated: false });
      }),
      { numRuns: 25 },
    );
  });

  it.each(CODERS.slice(0, 8))("is bounded: %s", async (coding, encode) => {
    const bomb = encode(Buffer.alloc(4_000_000, "a"));
    const decoded = await decodeContent(bomb, coding, 10_000, false);
    expect(decoded).toEqual({ bytes: Buffer.alloc(10_000, "a"), truncated: true });
  });

  it.each(CODERS.slice(0, 7))("gives what can be had of a cut body: %s", async (coding, encode) => {
    const text = Buffer.from(Array.from({ length: 60_000 }, (_, index) => `line ${index}\n`).join(""));
    const whole = encode(text);
    const decoded = await decodeContent(whole.subarray(0, whole.length - 5000), coding, 10_000_000, true);
    if ("failed" in decoded) throw new Error(decoded.failed);
    expect(decoded.truncated).toBe(true);
    expect(decoded.bytes.length).toBeGreaterThan(1000);
    expect(text.subarray(0, decoded.bytes.length).equals(decoded.bytes)).toBe(true);
  });

  const TEXT = Buffer.from(Array.from({ length: 3000 }, (_, index) => `line ${index} ${Math.sin(index)}\n`).join(""));
  const BROTLI = brotliCompressSync(TEXT, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  it.each<[string, Buffer]>([
    ["line ends", Buffer.from("\r\n\r\n")],
    ["a comment", Buffer.from("<!-- served in 3 ms -->")],
    ["zeros", Buffer.alloc(16)],
    ["what begins like another member", Buffer.from([0x1f, 0x8b, 8, 0xe0, 1, 2, 3, 4, 5, 6, 7, 8, 9])],
    ["what begins nearly so", Buffer.from([0x1f, 0x8b, 0x55, 1, 2, 3, 4, 5, 6, 7, 8, 9])],
  ])("takes no offence at %s behind its end", async (_what, behind) => {
    const named = Buffer.from([0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3, 2, 0, 1, 2, ...Buffer.from("a\0b\0")]);
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(crc32(named));
    const member = Buffer.concat([named, sum.subarray(0, 2), gzipSync(TEXT).subarray(10)]);
    for (const [coding, whole, text] of [
      ["gzip", gzipSync(TEXT), TEXT],
      ["gzip", Buffer.concat([member, gzipSync("more")]), Buffer.concat([TEXT, Buffer.from("more")])],
      ["deflate", deflateSync(TEXT), TEXT],
      ["br", BROTLI, TEXT],
      ["zstd", zstdCompressSync(TEXT), TEXT],
    ] as const) {
      const decoded = await decodeContent(Buffer.concat([whole, behind]), coding, 1_000_000, false);
      expect([coding, "bytes" in decoded && decoded.bytes.equals(text)]).toEqual([coding, true]);
    }
    const bounded = await decodeContent(Buffer.concat([gzipSync(TEXT), behind]), "gzip", 1000, false);
    expect(bounded).toEqual({ bytes: TEXT.subarray(0, 1000), truncated: true });
  });

  it.each<[string, Buffer, number]>([
    ["gzip", gzipSync(TEXT).subarray(0, 20_000), 40_000],
    ["gzip", gzipSync(TEXT).subarray(0, -8), TEXT.length],
    ["gzip", gzipSync(TEXT).subarray(0, -3), TEXT.length],
    ["deflate", deflateSync(TEXT).subarray(0, -4), TEXT.length],
    ["br", BROTLI.subarray(0, BROTLI.length / 2), 30_000],
  ])("that ends before its end gives what there is, marked as cut: %s", async (coding, body, least) => {
    const decoded = await decodeContent(body, coding, 1_000_000, false);
    if ("failed" in decoded) throw new Error(decoded.failed);
    expect(decoded.truncated).toBe(true);
    expect(decoded.bytes.length).toBeGreaterThanOrEqual(least);
    expect(TEXT.subarray(0, decoded.bytes.length).equals(decoded.bytes)).toBe(true);
  });

  it.each<[string, number, string]>([
    ["gzip", -8, "its checksum"],
    ["gzip", -1, "its length"],
    ["deflate", -1, "its checksum"],
  ])("that does not pass its own check is taken as it is, marked as cut: %s, %i", async (coding, at) => {
    for (const text of [TEXT, Buffer.from("<p>harbour")]) {
      const packed = (coding === "gzip" ? gzipSync : deflateSync)(text);
      const last = packed.length + at;
      packed[last] = (packed[last] ?? 0) ^ 1;
      for (const bytes of [packed, Buffer.concat([packed, Buffer.from("\r\n")])]) {
        expect(await decodeContent(bytes, coding, 1_000_000, false)).toEqual({ bytes: text, truncated: true });
      }
      if (coding !== "gzip") continue;
      const second = Buffer.concat([gzipSync("first "), packed, gzipSync("third")]);
      const both = { bytes: Buffer.concat([Buffer.from("first "), text]), truncated: true };
      expect(await decodeContent(second, coding, 1_000_000, false)).toEqual(both);
    }
  });

  it.each([1, 2, 3, 10, 11])("of which %i bytes came is empty, not text", async (length) => {
    const start = gzipSync(TEXT).subarray(0, length);
    expect(await decodeContent(start, "gzip", 1000, false)).toEqual({ bytes: Buffer.alloc(0), truncated: true });
    const response = { status: 200, startLine: "HTTP/1.1 200 OK", body: start, truncated: null };
    const headers: [string, string][] = [
      ["Content-Type", "text/html"],
      ["Content-Encoding", "gzip"],
    ];
    const page = await readPageContent({ ...response, headers }, "http://example.org/", 1000);
    expect(page).toMatchObject({ truncated: true, extraction: null, error: { code: "EMPTY_BODY" } });
    expect(page.error?.message).toContain("ends before anything of it can be decoded");
  });

  it.each<[string, (text: Buffer) => Buffer]>([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["br", (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } })],
  ])("that is cut at any byte gives all that came before: %s", async (coding, encode) => {
    const text = Buffer.from("User-agent: *\nDisallow: /private/\nDisallow: /søk?q=\nCrawl-delay: 2\n".repeat(3));
    const whole = encode(text);
    const least = coding === "br" ? 60 : text.length - 30;
    let longest = 0;
    for (let length = 1; length < whole.length; length++) {
      const decoded = await decodeContent(whole.subarray(0, length), coding, 1000, false);
      if ("failed" in decoded) throw new Error(`${length}: ${decoded.failed}`);
      expect([length, decoded.truncated]).toEqual([length, true]);
      expect(decoded.bytes.length).toBeGreaterThanOrEqual(longest);
      expect(text.subarray(0, decoded.bytes.length).equals(decoded.bytes)).toBe(true);
      longest = decoded.bytes.length;
    }
    expect(longest).toBeGreaterThan(least);
  });

  it("that is a lie is passed over where the bytes show it, else named", async () => {
    const plain = Buffer.from("<p>not compressed at all</p>");
    expect(await decodeContent(plain, "gzip", 1000, false)).toEqual({ bytes: plain, truncated: false });
    expect(await decodeContent(plain, "zstd", 1000, false)).toEqual({ bytes: plain, truncated: false });
    expect(await decodeContent(plain, "br", 1000, false)).toMatchObject({ failed: expect.stringContaining("br") });
    const broken = gzipSync(plain);
    broken.fill(0xff, 10, 20);
    expect(await decodeContent(broken, "gzip", 1000, false)).toMatchObject({ failed: expect.stringContaining("gzip") });
    expect(await decodeContent(plain, "br,br,br,br", 1000, false)).toHaveProperty("failed");
  });
});

describe("the type of a body", () => {
  it.each([
    ["text/html; charset=utf-8", "text/html", "utf-8"],
    ['TEXT/HTML;Charset="ISO-8859-1"', "text/html", "ISO-8859-1"],
    ["text/html; charset='utf-8'", "text/html", "utf-8"],
    ["text/html;charset = koi8-r ;x=y", "text/html", "koi8-r"],
    ["text/html", "text/html", undefined],
    ["", null, undefined],
    ["nonsense", null, undefined],
    [undefined, null, undefined],
  ])("is parsed from %j", (header, essence, charset) => {
    expect(parseMediaType(header)).toEqual({ essence, charset });
  });

  it.each([
    ["text/html", "<p>x", "html"],
    ["text/plain", "x", "plain"],
    ["application/xhtml+xml", "<html/>", "xml"],
    ["text/xml", "<a/>", "xml"],
    ["application/json", "{}", undefined],
    ["image/png", "<p>x", undefined],
    [null, " <!-- hi --> <!DOCTYPE html><p>", "html"],
    [null, "<?xml version='1.0'?><a/>", "xml"],
    [null, "just words", "plain"],
    [null, "\xef\xbb\xbf<!doctype html><p>x", "html"],
    [null, "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00", "html"],
    ["text/html", "%PDF-1.7", undefined],
    ["text/html", "\x89PNG\r\n\x1a\n", undefined],
    ["text/plain", "PK\x03\x04", undefined],
    ["text/html", "a\x00\x01\x02\x03\x04\x05\x06\x07b", undefined],
    ["text/html", "\x00".repeat(2000), undefined],
    ["text/html", "<\x00p\x00>\x00x\x00", "html"],
  ])("%j with %j is read as %j", (essence, body, kind) => {
    expect(textKindOf(essence, Buffer.from(body, "latin1")).kind).toBe(kind);
  });
});

describe("UTF-16 that Content-Type names, and no mark", () => {
  const language = {
    ja: `<p>${"この漁港では灯台が毎晩船のために光ります嵐の夜でも光は消えません".repeat(60)}</p>`,
    ru: `<p>${"Гавань открыта с утра до вечера. ".repeat(50)}</p>`,
    ar: `<p>${"الميناء مفتوح من الصباح إلى المساء. ".repeat(50)}</p>`,
    en: "<p>The harbour is open from dawn to dusk.</p>",
  };
  const response = (body: Buffer, charset: string) => ({
    status: 200,
    startLine: "HTTP/1.1 200 OK",
    headers: [["Content-Type", `text/html; charset=${charset}`]] as [string, string][],
    body,
    truncated: null,
  });

  it.each(Object.entries(language))("is read in whatever order its bytes stand: %s", async (_code, html) => {
    const little = Buffer.from(html, "utf16le");
    const big = Buffer.from(little).swap16();
    for (const [body, charset] of [
      [little, "utf-16le"],
      [big, "utf-16be"],
      [little, "utf-16"],
      [big, "utf-16"],
    ] as const) {
      const page = await readPageContent(response(body, charset), "http://example.org/", 1_000_000);
      expect([charset, page.error, page.extraction?.text]).toEqual([charset, null, html.slice(3, -4).trim()]);
    }
  });

  it("is still no licence for what is no text", async () => {
    const noise = Buffer.from(Array.from({ length: 2000 }, (_, at) => (at * at * 31) % 251));
    const page = await readPageContent(response(noise, "utf-16"), "http://example.org/", 1_000_000);
    expect(page.error?.code).toBe("UNSUPPORTED_TYPE");
  });
});

describe("a Refresh header", () => {
  const read = (value: string, body = "<p>A page.") =>
    readPageContent(
      {
        status: 200,
        startLine: "HTTP/1.1 200 OK",
        headers: [
          ["Content-Type", "text/html"],
          ["Refresh", value],
        ],
        body: Buffer.from(body),
        truncated: null,
      },
      "http://example.org/a/b",
      1000,
      { anchors: true },
    );

  it.each([
    ["0; url=/next", "http://example.org/next"],
    ["5;URL='next'", "http://example.org/a/next"],
    ["0,http://other.example/", "http://other.example/"],
    ["0; url=/caf\xe9", "http://example.org/caf%E9"],
  ])("leads on, as the element does: %s", async (value, target) => {
    const { error, extraction } = await read(value, '<p>A page.<a href="/x">x</a>');
    expect([error, extraction?.links, extraction?.anchors]).toEqual([
      null,
      [target, "http://example.org/x"],
      ["", "x"],
    ]);
  });

  it("leads on where there is no body, and that is no fault", async () => {
    expect(await read("0; url=/next", "")).toMatchObject({
      error: null,
      extraction: { text: "", links: ["http://example.org/next"] },
    });
  });

  it.each(["5", "soon", "0; url=javascript:alert(1)", ""])("leads nowhere: %j", async (value) => {
    expect((await read(value)).extraction?.links).toEqual([]);
    expect((await read(value, "")).error?.code).toBe("EMPTY_BODY");
  });
});

describe("Retry-After", () => {
  const now = Date.UTC(2026, 0, 1);
  it.each([
    ["120", 120_000],
    [" 5 ", 5000],
    ["0", 0],
    ["99999999", 900_000],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["Thursday, 01-Jan-26 00:00:30 GMT", 30_000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["-5", undefined],
    ["1.5", 1500],
    ["soon", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%j means %j ms", (value, expected) => {
    expect(retryAfterMs(value, now)).toBe(expected);
  });
});

describe("Retry-After with a date", () => {
  const now = Date.UTC(2026, 0, 1);
  const zone = process.env["TZ"];
  afterEach(() => {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });

  it("is in GMT in the form of asctime too, wherever it is read", () => {
    process.env["TZ"] = "Asia/Tokyo";
    expect(retryAfterMs("Thu Jan  1 00:00:30 2026", now)).toBe(30_000);
  });

  it.each([
    ["ten minutes behind", "Wed, 31 Dec 2025 23:50:00 GMT", "Wed, 31 Dec 2025 23:50:30 GMT", 30_000],
    ["ten minutes ahead", "Thu, 01 Jan 2026 00:10:00 GMT", "Thu, 01 Jan 2026 00:10:30 GMT", 30_000],
    ["never set", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["told in no date", "now", "Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
  ])("goes by the server's own clock where that is %s", (_how, date, value, expected) => {
    expect(retryAfterMs(value, now, date)).toBe(expected);
  });
});

describe("a redirect's target", () => {
  const from = new URL("http://example.org/a/b?c");
  const location = (value: string) => redirectTarget(from, [["LOCATION", value]]);

  it.each([
    ["/x", "http://example.org/x"],
    ["x?y#z", "http://example.org/a/x?y"],
    ["//other.example/", "http://other.example/"],
    ["https://example.org:443/", "https://example.org/"],
    [" /trimmed ", "http://example.org/trimmed"],
    ["?q", "http://example.org/a/b?q"],
  ])("%j is %s", (value, expected) => {
    expect(location(value)).toHaveProperty("href", expected);
  });

  it("may be sent as bytes beyond ASCII, which go back as they came", () => {
    expect(location(Buffer.from("/café").toString("latin1"))).toHaveProperty("pathname", "/caf%C3%A9");
    expect(location("/caf\xe9?q=gr\xf6\xdfe")).toHaveProperty("href", "http://example.org/caf%E9?q=gr%F6%DFe");
    expect(location(Buffer.from("http://müller.example/").toString("latin1"))).toHaveProperty(
      "href",
      "http://xn--mller-kva.example/",
    );
  });

  it.each(["", "  ", "http://", "http://[::1", "javascript:alert(1)", "data:,x", "ftp://example.org/", "mailto:a@b.c"])(
    "%j is none",
    (value) => {
      expect(location(value)).toMatchObject({ code: "INVALID_REDIRECT", retryable: false });
    },
  );

  it("missing is a fault", () => {
    expect(redirectTarget(from, [])).toMatchObject({ code: "INVALID_REDIRECT" });
  });
});

describe("XML", () => {
  it("gives its text without tags, comments and instructions", () => {
    const xml = `<?xml version="1.0"?><rss><!-- <no> --><title>A &amp; B</title><d><![CDATA[raw <b>]]></d></rss>`;
    expect(xmlText(xml)).toBe("A & B\nraw <b>");
  });

  it("is read in linear time, whatever is unclosed", () => {
    const started = process.cpuUsage();
    for (const piece of ["<!--", "<![CDATA[", "<?", "<a ", " ", "&", "<"]) xmlText(piece.repeat(300_000));
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(2000);
  });

  it("is XHTML where its root says so", () => {
    expect(isXhtml('<?xml version="1.0"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">')).toBe(true);
    expect(isXhtml("<h:html xmlns:h='x'>")).toBe(true);
    expect(isXhtml("<rss><html>")).toBe(false);
  });

  it.each([
    ['<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>', "a sitemap"],
    ['\ufeff<?xml version="1.0"?><?xml-stylesheet href="s.xsl"?><!-- made by x --><sitemapindex>', "a sitemap index"],
    ['<rss version="2.0"><channel>', "an RSS feed"],
    ['<a:feed xmlns:a="http://www.w3.org/2005/Atom">', "an Atom feed"],
    ["<rdf:RDF xmlns:rdf='x'>", "an RDF feed"],
    ["<feedback>", undefined],
    ["<constructor>", undefined],
    ["<!doctype html><html><p>&lt;rss> or <rss>", undefined],
    ["words about <rss>".repeat(10), undefined],
    ["", undefined],
  ])("whose root makes it a list of pages is known as such: %j", (xml, what) => {
    expect(listOfPages(xml)).toBe(what);
  });
});
