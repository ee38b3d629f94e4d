import { createHash, generateKeyPairSync } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { buildWacz } from "../../../shared/archive/wacz/build-wacz.ts";
import { signHash } from "../../../shared/archive/wacz/signature.ts";
import { readWarcRecord } from "../../../shared/capture/warc-reader.ts";
import { archiveSetup } from "./archive-setup.ts";
import { http, record } from "./warc-records.ts";
import { type ZipPart, zipEntries, zipFile } from "./zip-file.ts";

const setup = await archiveSetup();
const { sql, dependencies } = setup;
afterAll(() => setup.close());
beforeEach(async () => {
  await sql`delete from jobs`;
  await sql`delete from warc_imports`;
  await sql`delete from documents`;
});

const page = (title: string) => `<title>${title}</title><main><p>${title}: of lighthouses and the sea around them.`;
const warcOf = (...names: string[]): Buffer =>
  Buffer.concat(
    names.map((name) => gzipSync(record(http(name === "" ? "" : page(name)), { url: `http://example.org/${name}` }))),
  );
const sha256 = (bytes: Buffer | string) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

interface Made {
  /** In place of what lists the others. */
  datapackage?: Buffer | string;
  signature?: object;
  folder?: string;
}

/** A WACZ file of the files; its package lists them, and is signed where asked for. */
function waczParts(files: readonly ZipPart[], { datapackage, signature, folder = "" }: Made = {}): ZipPart[] {
  const resources = files.map(({ name, bytes }) => ({
    path: name,
    hash: sha256(Buffer.from(bytes)),
    bytes: bytes.length,
  }));
  const listed = datapackage ?? JSON.stringify({ profile: "data-package", resources });
  const digest = JSON.stringify({ path: "datapackage.json", hash: sha256(listed), signedData: signature });
  return [
    ...files,
    { name: "datapackage.json", bytes: listed, deflated: true },
    { name: "datapackage-digest.json", bytes: digest },
  ].map((part) => ({ ...part, name: `${folder}${part.name}` }));
}

const INDEX: ZipPart = { name: "indexes/index.cdxj", bytes: "org,example)/ 2026 {}\n" };
const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");

const captures = (jobId: string | null) => sql<
  { url: string; title: string | null; key: string; offset: number; length: number }[]
>`select url, title, warc_key as key, warc_offset as "offset", warc_length as length
  from captures where job_id = ${jobId} order by id`;
const titles = async (jobId: string | null) => (await captures(jobId)).map(({ title }) => title);

describe.each([
  ["stored", {}, {}],
  ["deflated", { deflated: true }, {}],
  ["of ZIP64", {}, { large: true }],
  ["with a comment", {}, { comment: "PK\x05\x06 as somebody had it" }],
])("a WACZ file (%s)", (name, packing, options) => {
  it("becomes the captures of its WARC files, which are read by their place", async () => {
    const files = [
      { name: "archive/one.warc.gz", bytes: warcOf("one", "two"), ...packing },
      {
        name: "archive/deep/er/two.warc",
        bytes: record(http(page("three")), { url: "http://example.org/three" }),
        ...packing,
      },
    ];
    const { view, complaints, key } = await setup.importFile(zipFile(waczParts([...files, INDEX]), options), "a.wacz");
    expect(complaints).toEqual([]);
    expect(view).toMatchObject({ status: "completed", captures: 3, documents: 3, records: { response: 3 } });
    expect(view).toMatchObject({ signature: { outcome: "unsigned" }, indexedBytes: view.bytes });
    const rows = await captures(view.jobId);
    for (const { title, ...pointer } of rows) {
      const coding = title === "three" ? { coding: "none" as const } : {};
      const read = await readWarcRecord(dependencies.objects, { ...pointer, ...coding });
      expect(read.body.toString()).toBe(page(title ?? ""));
    }
    expect(rows.map(({ key: each }) => each === key)).toEqual(rows.map(() => name !== "deflated"));
  });
});

it("is indexed in slices as in one", async () => {
  const names = (from: number) => Array.from({ length: 70 }, (_, index) => `page-${from + index}`);
  const files = [0, 70, 140].map((from) => ({ name: `archive/${from}.warc.gz`, bytes: warcOf(...names(from)) }));
  const listed = { url: "http://example.org/", ts: "2026-01-02T03:04:00Z", title: "Listed" };
  files.push({ name: "archive/last.warc.gz", bytes: warcOf("") });
  const pages = {
    name: "pages/pages.jsonl",
    bytes: lines({ format: "json-pages-1.0" }, { ...listed, text: "The text." }),
  };
  // each slice has time for one batch
  let asked = 0;
  const remainingMs = () => (asked++ % 60 < 55 ? 3_600_000 : 1000);
  const file = zipFile(waczParts([...files, pages, INDEX]));
  const { view, complaints } = await setup.importFile(file, "sliced.wacz", remainingMs);
  expect({ view, complaints }).toMatchObject({ view: { status: "completed", captures: 211 }, complaints: [] });
  const [stored] = await sql`select count(*)::int as captures, count(distinct url)::int as urls from captures`;
  expect(stored).toEqual({ captures: 211, urls: 211 });
  expect((await titles(view.jobId)).at(-1)).toBe("Listed");
});

describe("what a WACZ file says of itself", () => {
  const warc: ZipPart = { name: "archive/one.warc.gz", bytes: warcOf("one") };
  const other: ZipPart = { name: "archive/two.warc.gz", bytes: warcOf("two") };
  const whole = waczParts([warc, other, INDEX]);
  const without = (name: string) => whole.filter((part) => part.name !== name);
  const changed = (name: string, change: Partial<ZipPart>) =>
    whole.map((part) => (part.name === name ? { ...part, ...change } : part));
  const bomb = Buffer.alloc(80 * 1024 * 1024);

  it.each<[string, ZipPart[], string[], string[]]>([
    [
      "a file of wrong hash",
      changed("archive/one.warc.gz", { bytes: warcOf("six") }),
      ["HASH_MISMATCH"],
      ["six", "two"],
    ],
    [
      "a hash of MD5",
      waczParts([warc, INDEX], {
        datapackage: JSON.stringify({
          resources: [{ path: "archive/one.warc.gz", hash: createHash("md5").update(warc.bytes).digest("hex") }],
        }),
      }),
      [],
      ["one"],
    ],
    [
      "another package than its digest says",
      changed("datapackage-digest.json", { bytes: '{"hash":"sha256:00"}' }),
      ["HASH_MISMATCH"],
      ["one", "two"],
    ],
    ["no package", without("datapackage.json"), ["PACKAGE_MISSING"], ["one", "two"]],
    ["a package that is no JSON", waczParts([warc, INDEX], { datapackage: "{" }), ["PACKAGE_INVALID"], ["one"]],
    ["a package without resources", waczParts([warc, INDEX], { datapackage: "[]" }), ["PACKAGE_INVALID"], ["one"]],
    ["no index", waczParts([warc]), ["INDEX_MISSING"], ["one"]],
    ["a file that is missing", without("archive/two.warc.gz"), ["RESOURCE_MISSING"], ["one"]],
    [
      "a file that is not listed",
      [...whole, { name: "archive/new.warc.gz", bytes: warcOf("new") }],
      ["RESOURCE_UNLISTED"],
      ["one", "two", "new"],
    ],
    ["all in a folder", waczParts([warc, INDEX], { folder: "my site/" }), [], ["one"]],
    ["what macOS adds", [...whole, { name: "__MACOSX/archive/._one.warc.gz", bytes: "x" }], [], ["one", "two"]],
    [
      "a way out of its folder",
      [...whole, { name: "archive/../../../etc/x.warc.gz", bytes: warcOf("x") }],
      ["ENTRY_NAME_UNSAFE"],
      ["one", "two"],
    ],
    [
      "a way out with backslashes",
      [...whole, { name: "archive\\..\\x.warc.gz", bytes: warcOf("x") }],
      ["ENTRY_NAME_UNSAFE"],
      ["one", "two"],
    ],
    [
      "an absolute path",
      [...whole, { name: "/etc/x.warc.gz", bytes: warcOf("x") }],
      ["ENTRY_NAME_UNSAFE"],
      ["one", "two"],
    ],
    ["a drive", [...whole, { name: "C:\\x.warc.gz", bytes: warcOf("x") }], ["ENTRY_NAME_UNSAFE"], ["one", "two"]],
    [
      "control characters",
      [...whole, { name: "archive/x\0.warc.gz", bytes: warcOf("x") }],
      ["ENTRY_NAME_UNSAFE"],
      ["one", "two"],
    ],
    ["two files of one name", [...whole, { ...warc, bytes: warcOf("twin") }], ["ENTRY_TWICE"], ["one", "two"]],
    [
      "files that share their bytes",
      [...whole, { ...warc, name: "archive/again.warc.gz", claims: { headerOffset: 0 } }],
      ["ENTRY_OVERLAPS"],
      ["one", "two"],
    ],
    [
      "another name in the local header",
      changed("archive/one.warc.gz", { localName: "archive/uno.warc.gz" }),
      ["ENTRY_DAMAGED"],
      ["two"],
    ],
    [
      "an encrypted file",
      changed("archive/one.warc.gz", { claims: { flags: 0x0801 } }),
      ["ENTRY_UNSUPPORTED", "RESOURCE_MISSING"],
      ["two"],
    ],
    [
      "a file of another compression",
      changed("archive/one.warc.gz", { claims: { method: 14 } }),
      ["ENTRY_UNSUPPORTED", "RESOURCE_MISSING"],
      ["two"],
    ],
    [
      "a checksum that is none",
      changed("archive/one.warc.gz", { claims: { crc: 1 } }),
      ["HASH_MISMATCH"],
      ["one", "two"],
    ],
    [
      "a deflated file of a wrong checksum",
      changed("archive/one.warc.gz", { deflated: true, claims: { crc: 1 } }),
      ["ENTRY_DAMAGED"],
      ["two"],
    ],
    [
      "a deflated file that is larger than it says",
      changed("archive/one.warc.gz", { deflated: true, claims: { bytes: 9 } }),
      ["ENTRY_DAMAGED"],
      ["two"],
    ],
    [
      "a bomb",
      [...whole, { name: "archive/bomb.warc", bytes: bomb, deflated: true }],
      ["RESOURCE_UNLISTED", "ENTRY_DAMAGED"],
      ["one", "two"],
    ],
    [
      "a bomb that lies about its size",
      [...whole, { name: "archive/bomb.warc", bytes: bomb, deflated: true, claims: { bytes: 1000 } }],
      ["RESOURCE_UNLISTED", "ENTRY_DAMAGED"],
      ["one", "two"],
    ],
    [
      "a bomb for a list of pages",
      waczParts([warc, INDEX, { name: "pages/pages.jsonl", bytes: bomb, deflated: true }]),
      ["HASH_MISMATCH", "PAGES_LEFT_OUT"],
      ["one"],
    ],
    ["a bomb for a package", waczParts([warc, INDEX], { datapackage: bomb }), ["PACKAGE_INVALID"], ["one"]],
    [
      "a WACZ file within",
      waczParts([warc, INDEX, { name: "archive/in.wacz", bytes: zipFile(whole) }]),
      ["NESTED_WACZ"],
      ["one"],
    ],
    [
      "a file that is no WARC",
      waczParts([warc, INDEX, { name: "archive/x.warc.gz", bytes: "hello" }]),
      ["NOT_A_RECORD", "NOT_A_WARC"],
      ["one"],
    ],
  ])("%s: it is told, and the rest is indexed", async (_, parts, codes, found) => {
    const { view, complaints } = await setup.importFile(zipFile(parts), "odd.wacz");
    expect(complaints.map(({ code }) => code)).toEqual(codes);
    expect(view).toMatchObject({ status: "completed", complaints: codes.length });
    expect(await titles(view.jobId)).toEqual(found);
  });

  it("a file without its directory is read as far as its records can be found", async () => {
    const file = zipFile(whole);
    const { view, complaints } = await setup.importFile(file.subarray(0, file.length - 30), "cut.wacz");
    expect(complaints[0]).toMatchObject({ code: "ZIP_DAMAGED", message: expect.stringContaining("cut") });
    expect(view.status).toBe("completed");
    expect(await titles(view.jobId)).toEqual(["one", "two"]);
  });

  it("a record is told by its place in the file, and by that in its WARC file", async () => {
    const bad = gzipSync(record(http(page("bad")), { url: "ftp://example.org/" }));
    const files = [warc, { name: "archive/bad.warc.gz", bytes: Buffer.concat([warcOf("three"), bad]) }, INDEX];
    const file = zipFile(waczParts(files));
    const { complaints } = await setup.importFile(file, "bad.wacz");
    expect(complaints).toMatchObject([{ code: "URL_UNUSABLE", offset: file.indexOf(bad), url: "ftp://example.org/" }]);
    expect(complaints[0]?.message).toMatch(/^"archive\/bad\.warc\.gz" at \d+: /);
  });

  it.each([
    ["nothing in it", zipFile([]), "NO_WARC_IN_WACZ"],
    ["no WARC file in it", zipFile(waczParts([INDEX])), "NO_WARC_IN_WACZ"],
    ["the start of one", Buffer.from("PK\x03\x04 a WACZ"), "NOT_A_WARC"],
  ])("with %s, it fails, and says so", async (_, file, code) => {
    const { view } = await setup.importFile(file, "empty.wacz");
    expect(view).toMatchObject({ status: "failed", error: expect.stringContaining(code) });
  });
});

describe("the signature of a WACZ file", () => {
  const warc: ZipPart = { name: "archive/one.warc.gz", bytes: warcOf("one") };
  const listed = JSON.stringify({
    resources: [warc, INDEX].map(({ name, bytes }) => ({ path: name, hash: sha256(Buffer.from(bytes)) })),
  });
  const pem = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export({ type: "pkcs8", format: "pem" });
  const signed = signHash(pem as string, sha256(listed), { created: new Date(0), software: "test" });
  const made = (signature: object, more: Partial<ZipPart> = {}, extra: ZipPart[] = []) =>
    zipFile([...waczParts([{ ...warc, ...more }, INDEX], { datapackage: listed, signature }), ...extra]);
  const unlisted = { name: "archive/new.warc.gz", bytes: warcOf("new") };

  it.each([
    ["right", made(signed), "valid", null],
    ["of another package", made({ ...signed, hash: sha256("x") }), "invalid", /is not what was signed/],
    [
      "of another key",
      made({ ...signed, publicKey: `${signed.publicKey?.slice(0, -8)}AAAAAAAA` }),
      "invalid",
      /not one by/,
    ],
    ["that is none", made({ ...signed, signature: "" }), "invalid", /not one by/],
    ["without a key", made({ ...signed, publicKey: undefined }), "invalid", /neither/],
    ["of a certificate that is none", made({ ...signed, domain: "a.org", domainCert: "x" }), "invalid", /certificate/],
    ["of files with one byte changed", made(signed, { bytes: warcOf("onf") }), "invalid", /one\.warc\.gz/],
    ["of fewer files than there are", made(signed, {}, [unlisted]), "invalid", /new\.warc\.gz/],
  ])("%s is told", async (_, file, outcome, reason) => {
    const { view } = await setup.importFile(file, "signed.wacz");
    expect(view.signature).toMatchObject({ outcome, created: "1970-01-01T00:00:00.000Z" });
    if (reason === null) expect(view.signature).toMatchObject({ reason, signer: signed.publicKey });
    else expect(view.signature?.reason).toMatch(reason);
  });
});

it("pages whose text is not in the archive have that of the file's list", async () => {
  const shell = record(http('<div id="app"></div>'), { url: "http://example.org/app#top" });
  const untitled = record(http("<p>Of the sea, which has no title here."), { url: "http://example.org/untitled" });
  const own = record(http(page("own")), { url: "http://example.org/own" });
  const older = record(http("<b></b>"), { url: "http://example.org/older", date: "2020-01-01T00:00:00Z" });
  const missing = record(http("", "", "404 Not Found"), { url: "http://example.org/missing" });
  const ts = "2026-01-02T03:04:00Z";
  const listed = (path: string, more: object = {}) => ({
    url: `http://example.org/${path}`,
    ts,
    title: `Title of ${path}`,
    text: `Text of ${path}, as a browser had it.`,
    ...more,
  });
  const pages = lines(
    { format: "json-pages-1.0", id: "pages", title: "All Pages" },
    listed("app", { ts: "2026-01-01T23:00:00Z", title: "Earlier" }),
    listed("app"),
    listed("untitled"),
    listed("own"),
    listed("older"),
    listed("missing"),
  );
  const file = zipFile(
    waczParts([
      { name: "archive/a.warc", bytes: Buffer.concat([shell, untitled, own, older, missing]) },
      { name: "pages/extraPages.jsonl", bytes: `${pages}no page\n`, deflated: true },
      INDEX,
    ]),
  );
  const { view, complaints } = await setup.importFile(file, "pages.wacz");
  expect(complaints).toMatchObject([{ code: "PAGES_LEFT_OUT", message: expect.stringContaining("1 lines") }]);
  expect(await titles(view.jobId)).toEqual(["Title of app", "Title of untitled", "own", null, null]);
  const texts = await sql<{ url: string; content: string }[]>`
    select url, title, markdown as content from documents_active order by url`;
  expect(texts).toEqual([
    expect.objectContaining({ url: "http://example.org/app", content: "Text of app, as a browser had it." }),
    expect.objectContaining({ url: "http://example.org/own", content: expect.stringContaining("own: of lighthouses") }),
    expect.objectContaining({ url: "http://example.org/untitled", content: expect.stringContaining("Of the sea") }),
  ]);
});

it("what was imported from a WACZ file leaves as one again", async () => {
  const request = gzipSync(record("GET / HTTP/1.1\r\nCookie: secret\r\n\r\n", { type: "request" }));
  const [pages, deflated] = [warcOf("one", "two"), warcOf("three")];
  const warcs = [
    { name: "archive/one.warc.gz", bytes: Buffer.concat([request, pages]) },
    { name: "archive/deflated.warc.gz", bytes: deflated, deflated: true },
  ];
  const { view, complaints } = await setup.importFile(zipFile(waczParts([...warcs, INDEX])), "site.wacz");
  expect(complaints).toEqual([]);
  const chunks: Uint8Array[] = [];
  const sources = { ...dependencies, sql };
  const options = { jobId: view.jobId ?? "", created: new Date(), proceed: () => undefined };
  const contents = await buildWacz(sources, options, async (bytes) => void chunks.push(Buffer.from(bytes)));
  expect(contents).toMatchObject({ records: 3, pages: 3 });
  const entries = zipEntries(Buffer.concat(chunks));
  expect(entries.get("archive/site.warc.gz")).toEqual(pages);
  expect(entries.get("archive/1-deflated.warc.gz")).toEqual(deflated);
});

it("what answers a POST does not leave as a page of its URL, whether its request stands before or behind it", async () => {
  const pages = warcOf("one");
  const asked = (id: string) =>
    gzipSync(
      record("POST /one HTTP/1.1\r\n\r\n", { type: "request", fields: { "WARC-Concurrent-To": `<urn:test:${id}>` } }),
    );
  const answer = (id: string) =>
    gzipSync(record(http("an answer"), { id: `urn:test:${id}`, url: "http://example.org/one" }));
  const all = [asked("first"), answer("first"), pages, answer("second"), asked("second")];
  const { view } = await setup.importFile(Buffer.concat(all), "posts.warc.gz");
  const chunks: Uint8Array[] = [];
  const options = { jobId: view.jobId ?? "", created: new Date(), proceed: () => undefined };
  const contents = await buildWacz(
    { ...dependencies, sql },
    options,
    async (bytes) => void chunks.push(Buffer.from(bytes)),
  );
  expect(contents).toMatchObject({ records: 1, pages: 1 });
  expect(zipEntries(Buffer.concat(chunks)).get("archive/posts.warc.gz")).toEqual(pages);
});
