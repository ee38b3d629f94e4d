import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createListParser } from "../../../../shared/crawl/discovery/list-parser.ts";
import { MAX_LIST_BYTES, readList } from "../../../../shared/crawl/discovery/list-reader.ts";
import { decoded } from "../../../../shared/crawl/discovery/list-text.ts";
import type { ListEntry } from "../../../../shared/crawl/discovery/parsed-list.ts";
import { unpacked } from "../../../../shared/crawl/discovery/unpack.ts";
import { entry, readBytes, urlset } from "./lists.ts";

const urlsOf = ({ pages }: { pages: { url: string | null }[] }) => pages.map(({ url }) => url);

test("a truncated sitemap gives its whole entries and says that it is cut", async () => {
  const whole = urlset(entry("https://a.example/1"), entry("https://a.example/2"));
  for (const end of ["https://a.example/2", "https://a.exa", "<url><loc>https://a.example/2</loc>", "<url>"]) {
    const read = await readBytes(whole.slice(0, whole.lastIndexOf(end) + end.length));
    expect(urlsOf(read)).toEqual(["https://a.example/1"]);
    expect(read.cut?.code).toBe("TRUNCATED");
  }
});

test("a truncated gzip file gives what comes before its end", async () => {
  const entries = Array.from({ length: 5_000 }, (_, index) => entry(`https://a.example/${index}/${Math.sin(index)}`));
  const packed = gzipSync(urlset(...entries));
  const read = await readBytes(packed.subarray(0, packed.length / 2));
  expect(read.cut?.code).toBe("TRUNCATED");
  expect(read.pages.length).toBeGreaterThan(1_000);
  expect(read.pages.length).toBeLessThan(5_000);
  expect(urlsOf(read)).toEqual(entries.slice(0, read.pages.length).map((text) => /<loc>(.*)<\/loc>/.exec(text)?.[1]));
});

test("an answer that the server cut off does not give a last line that may be half a URL", async () => {
  const read = await readBytes("https://a.example/1\nhttps://a.exam", [], "disconnect");
  expect(urlsOf(read)).toEqual(["https://a.example/1"]);
  expect(read.cut?.code).toBe("TRUNCATED");
});

test("damaged gzip is a fault, after what could be unpacked", async () => {
  const packed = gzipSync(urlset(entry("https://a.example/1")));
  packed.fill(0xff, 20, 40);
  expect((await readBytes(packed)).cut?.code).toBe("DECODE_FAILED");
  expect((await readBytes(Buffer.from([0x1f, 0x8b, 0, 0]))).cut?.code).toBe("DECODE_FAILED");
});

test.each<[string, (packed: Buffer) => Buffer, string | undefined]>([
  ["a wrong checksum", (packed) => Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)]), "TRUNCATED"],
  ["no checksum", (packed) => packed.subarray(0, -8), "TRUNCATED"],
  ["half a checksum", (packed) => packed.subarray(0, -5), "TRUNCATED"],
  ["other bytes behind it", (packed) => Buffer.concat([packed, Buffer.from("<!-- 3 ms -->")]), undefined],
  ["zeros behind it", (packed) => Buffer.concat([packed, Buffer.alloc(512)]), undefined],
  ["an empty member behind it", (packed) => Buffer.concat([packed, gzipSync("")]), undefined],
])("a small gzip file gives all that it holds: with %s", async (_what, mended, code) => {
  const list = urlset(entry("https://a.example/1"), entry("https://a.example/2"));
  for (const text of [list, "https://a.example/1\nhttps://a.example/2\n"]) {
    const half = text.length / 2;
    const members = Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]);
    for (const packed of [gzipSync(text), members, gzipSync(members)]) {
      const read = await readBytes(mended(packed));
      expect(urlsOf(read)).toEqual(["https://a.example/1", "https://a.example/2"]);
      // a list that says where it ends is whole
      expect(read.cut?.code).toBe(text === list ? undefined : code);
    }
  }
});

test("a gzip bomb is unpacked up to the limit, in little memory", async () => {
  const bomb = gzipSync(Buffer.alloc(400 * 1024 * 1024, " "), { level: 1 });
  const packed = gzipSync(bomb);
  global.gc?.();
  const before = process.memoryUsage().rss;
  const read = await readBytes(packed);
  expect(read.cut?.code).toBe("TOO_LARGE");
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
});

test("a sitemap of 50,000 URLs takes little memory and time", async () => {
  const entries = Array.from({ length: 50_000 }, (_, index) =>
    entry(`https://a.example/section/article-${index}`, "2024-05-01"),
  );
  const packed = gzipSync(urlset(...entries));
  entries.length = 0;
  global.gc?.();
  const before = process.memoryUsage().rss;
  const started = process.cpuUsage();
  let seen = 0;
  const response = { status: 200, startLine: "HTTP/1.1 200 OK", headers: [], body: packed, truncated: null };
  const read = await readList(response, { page: () => void seen++, sitemap: () => undefined });
  const { user, system } = process.cpuUsage(started);
  expect(read).toMatchObject({ kind: "sitemap", cut: null });
  expect(seen).toBe(50_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  expect((user + system) / 1000).toBeLessThan(20_000);
});

test("what is packed more often than anybody packs it is not unpacked", async () => {
  const matryoshka = [1, 2, 3, 4].reduce((bytes) => gzipSync(bytes), Buffer.from(urlset(entry("https://a.example/"))));
  expect((await readBytes(matryoshka)).cut?.code).toBe("DECODE_FAILED");
  const codings = (await readBytes(urlset(), [["content-encoding", "br, br, br, br"]])).cut;
  expect(codings?.code).toBe("DECODE_FAILED");
});

test("entities that a document declares are never expanded", async () => {
  const lol = `<!DOCTYPE urlset [<!ENTITY a "https://evil.example/"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
    <!ENTITY x SYSTEM "file:///etc/passwd">]>`;
  const read = await readBytes(
    `<?xml version="1.0"?>${lol}${urlset(entry("https://a.example/&b;&x;")).replace(/<\?xml.*\?>/, "")}`,
  );
  expect(urlsOf(read)).toEqual(["https://a.example/&b;&x;"]);
});

test.each([
  ["elements without end within each other", "<a>".repeat(1_000_000)],
  ["a comment without end", `<!--${"-".repeat(10_000_000)}`],
  ["a CDATA section without end", `<urlset><url><loc><![CDATA[${"]".repeat(10_000_000)}`],
  ["an attribute without end", `<urlset a="${"x".repeat(10_000_000)}`],
  ["a tag name without end", `<${"x".repeat(10_000_000)}`],
  ["a URL without end", `<urlset><url><loc>https://a.example/${"x".repeat(10_000_000)}</loc></url></urlset>`],
  ["a line without end", `https://a.example/${"x".repeat(10_000_000)}`],
  ["attributes without number", `<urlset ${Array.from({ length: 300_000 }, (_, n) => `a${n}="1"`).join(" ")}>`],
  ["entities without number", `<urlset><url><loc>${"&amp;".repeat(2_000_000)}</loc></url></urlset>`],
  ["closing tags without number", `<urlset>${"</a>".repeat(2_000_000)}</urlset>`],
])("%s take little time", async (_name, text) => {
  const started = process.cpuUsage();
  const read = await readBytes(text);
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1000).toBeLessThan(20_000);
  expect(read.pages.every(({ url }) => (url?.length ?? 0) < 200_000)).toBe(true);
});

test("a list that is larger than allowed is read up to the limit", async () => {
  const filler = Buffer.alloc(MAX_LIST_BYTES, " ");
  const read = await readBytes(
    gzipSync(Buffer.concat([Buffer.from(`<urlset>${entry("https://a.example/1")}`), filler]), { level: 1 }),
  );
  expect(read.cut?.code).toBe("TOO_LARGE");
  expect(urlsOf(read)).toEqual(["https://a.example/1"]);
});

const DOCUMENTS = [
  urlset(
    entry("https://a.example/&amp;é&#x1F600;", "2024-01-01"),
    entry("<![CDATA[https://a.example/]]]]><![CDATA[>2]]>"),
    "<!-- x --><url/>",
  ),
  '<rss><channel><item><title>Ünï &lt; "code"</title><guid isPermaLink="true">https://a.example/g</guid></item></channel></rss>',
  "https://a.example/1\r\nhttps://a.example/é\n\nhttps://a.example/3",
  `<?xml version="1.0"?><!-- ]> --><!DOCTYPE urlset PUBLIC '-//x//">' "y.dtd" [
    <!ENTITY x "<urlset><url><loc>https://a.example/no</loc></url></urlset>]>"><!ELEMENT urlset (url)*><?pi ]> ?><!-- ' ]> -->
  ]><urlset><url><loc>https://a.example/1</loc></url><url><loc>https://a.example/&x;</loc></url></urlset>`,
].flatMap((text) => [Buffer.from(text), Buffer.from(`\uFEFF${text}`, "utf16le"), gzipSync(text)]);

async function readPieces(pieces: readonly Uint8Array[]): Promise<unknown> {
  const found: ListEntry[] = [];
  const parser = createListParser({ page: (page) => found.push(page), sitemap: (page) => found.push(page) });
  const source = async function* () {
    yield* pieces;
  };
  for await (const text of decoded(unpacked(source(), undefined, MAX_LIST_BYTES), undefined)) parser.write(text);
  return { found, end: parser.end(false) };
}

test("what a document type declares is neither expanded nor taken for the document", async () => {
  const laughs = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join("");
  for (const subset of [
    `<!ENTITY x "<urlset><url><loc>https://evil.example/</loc></url></urlset>">`,
    `<!ENTITY x ']><urlset><url><loc>https://evil.example/</loc></url></urlset>'>`,
    `<!ENTITY % p SYSTEM "https://evil.example/x.dtd"> %p; <!ENTITY x SYSTEM "file:///etc/passwd">`,
    `<!ENTITY l0 "lol">${laughs}<!ENTITY x "&l9;">`,
    "<!-- <urlset> ]> --><?php echo '<urlset>' ?><!ENTITY x 'y'>",
  ]) {
    const list = `<!DOCTYPE urlset [${subset}]><urlset><url><loc>https://a.example/&x;</loc></url></urlset>`;
    const { kind, pages, complete } = await readBytes(list);
    expect([kind, complete, pages.map(({ url }) => url)], subset).toEqual(["sitemap", true, ["https://a.example/&x;"]]);
  }
});

test("a declaration without end costs little, and is no list", async () => {
  for (const piece of ["<!ENTITY x '", "[", "<!--", "<?"]) {
    const before = process.cpuUsage();
    const { kind } = await readBytes(`<!DOCTYPE urlset [${piece.repeat(200_000)}`);
    expect([kind, process.cpuUsage(before).user / 1000 < 2_000], piece).toEqual(["unknown", true]);
  }
});

test("a list means the same wherever it is cut into pieces", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...DOCUMENTS), fc.array(fc.nat(1_000), { maxLength: 12 }), async (bytes, cuts) => {
      const at = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
      const pieces = [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length));
      expect(await readPieces(pieces)).toEqual(await readPieces([bytes]));
    }),
    { numRuns: 300 },
  );
  for (const bytes of DOCUMENTS) {
    expect(await readPieces([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(await readPieces([bytes]));
  }
});

test("no bytes make the reader fail", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          fc.uint8Array({ maxLength: 40 }),
          fc
            .constantFrom(
              "<urlset>",
              "<url>",
              "<loc>",
              "</loc>",
              "</url>",
              "<![CDATA[",
              "]]>",
              "&",
              "&#x",
              "<!--",
              "<?xml ",
              "\u0000",
              "<item>",
              "<rss><channel>",
            )
            .map((text) => Buffer.from(text)),
        ),
      ),
      fc.constantFrom("", "gzip", "br", "deflate", "zstd"),
      async (pieces, coding) => {
        await readBytes(Buffer.concat(pieces), coding === "" ? [] : [["content-encoding", coding]]);
      },
    ),
    { numRuns: 300 },
  );
});
