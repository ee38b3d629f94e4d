import { createHash } from "node:crypto";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { verifyFile } from "../../../shared/archive/files/verify-file.ts";
import { handleImportMessage } from "../../../shared/archive/import/handle-message.ts";
import { readComplaints, readImport } from "../../../shared/archive/import/imports.ts";
import { resumeImports } from "../../../shared/archive/import/recovery.ts";
import { type ImportMessage, importMessageSchema } from "../../../shared/archive/import/task.ts";
import { readPayload } from "../../../shared/archive/replay/payload.ts";
import { buildWacz } from "../../../shared/archive/wacz/build-wacz.ts";
import { capturesMessageSchema } from "../../../shared/capture/capture-batch.ts";
import { readWarcRecord } from "../../../shared/capture/warc-reader.ts";
import { ingestBatch } from "../../../shared/crawl/ingest/ingest-batch.ts";
import { createObjectWriters } from "../../../shared/platform/aws/multipart.ts";
import { createUploads } from "../../../shared/platform/aws/uploads.ts";
import { crawlSetup } from "../crawl/crawl-setup.ts";
import { http, record } from "./warc-records.ts";

const setup = await crawlSetup();
const { sql, aws } = setup;
const dependencies = {
  ...setup.dependencies,
  uploads: createUploads(aws.s3, aws.bucket),
  openWriter: createObjectWriters(aws.s3, aws.bucket),
};
afterAll(() => setup.close());
beforeEach(async () => {
  await sql`delete from jobs`;
  await sql`delete from warc_imports`;
  await sql`delete from documents`;
});

const HOUR = 3_600_000;
let serial = 0;

const page = (title: string): string =>
  `<html><title>${title}</title><main><p>${title}: a page about lighthouses and the sea around them.</p></main>`;

/** As S3 tells of it. */
const eventOf = (key: string, file: Buffer): ImportMessage => {
  const eTag = createHash("md5").update(file).digest("hex");
  const object = { key: encodeURIComponent(key).replaceAll("%2F", "/"), size: file.length, eTag };
  return importMessageSchema.parse({ Records: [{ s3: { object } }] });
};

async function upload(file: Buffer, key: string): Promise<ImportMessage> {
  await aws.s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: key, Body: file }));
  return eventOf(key, file);
}

/** Handles what is on the queues until nothing is left. */
async function drain(timeOfSlice: () => () => number = () => () => HOUR): Promise<void> {
  for (;;) {
    const imports = await aws.receive("imports");
    for (const message of imports) {
      await handleImportMessage(dependencies, importMessageSchema.parse(message), timeOfSlice());
    }
    const captures = await aws.receive("captures");
    for (const message of captures) await ingestBatch(dependencies, capturesMessageSchema.parse(message));
    if (imports.length + captures.length === 0) return;
  }
}

async function imported(file: Buffer, key = `incoming/${++serial}.warc`) {
  await handleImportMessage(dependencies, await upload(file, key), () => HOUR);
  await drain();
  const [row] = await sql<
    { id: string }[]
  >`select id from warc_imports where object_key = ${key} order by created_at desc`;
  const id = row?.id ?? "";
  const view = await readImport(sql, id);
  const complaints = (await readComplaints(sql, id, 100)).map(({ code, offset }) => ({ code, offset }));
  return { id, view, complaints, jobId: view?.jobId ?? "" };
}

interface CaptureRow {
  id: number;
  url: string;
  status: number;
  title: string | null;
  errorCode: string | null;
  revisitOf: number | null;
  key: string;
  offset: number;
  length: number;
  coding: "zstd" | "none" | undefined;
  inner: number | undefined;
}
const captures = (jobId: string) => sql<CaptureRow[]>`
  select id, url, status_code as status, title, error_code as "errorCode", revisit_of as "revisitOf", warc_key as key,
    warc_offset as offset, warc_length as length, warc_coding as coding, warc_inner as inner
  from captures where job_id = ${jobId} order by warc_offset, warc_inner nulls first`;
const documents = () => sql<{ title: string; url: string }[]>`select title, url from documents_active order by url`;

const records = [
  record("software: test", { type: "warcinfo", contentType: "application/warc-fields", url: "" }),
  record(http(page("one")), { url: "http://example.org/one" }),
  record(http("gone", "", "404 Not Found"), { url: "http://example.org/gone" }),
  record(http(Buffer.from([0x89, 0x50, 0x4e, 0x47]), "Content-Type: image/png\r\n"), {
    url: "http://example.org/i.png",
  }),
];

describe.each([
  ["plain", (parts: Buffer[]) => Buffer.concat(parts)],
  ["gzip", (parts: Buffer[]) => Buffer.concat(parts.map((part) => gzipSync(part)))],
  ["zstd", (parts: Buffer[]) => Buffer.concat(parts.map((part) => zstdCompressSync(part)))],
  ["gzip as a whole", (parts: Buffer[]) => gzipSync(Buffer.concat(parts))],
])("a WARC file (%s)", (name, write) => {
  it("becomes captures, which are read by their place, and documents", async () => {
    const { view, jobId, complaints } = await imported(write(records));
    expect(view).toMatchObject({
      status: "completed",
      error: null,
      records: { warcinfo: 1, response: 3 },
      captures: 3,
      openCaptures: 0,
      documents: 1,
    });
    expect(complaints.map(({ code }) => code)).toEqual(name === "gzip as a whole" ? ["MEMBER_SHARED"] : []);
    const rows = await captures(jobId);
    expect(rows).toMatchObject([
      { url: "http://example.org/one", status: 200, title: "one", errorCode: null },
      { url: "http://example.org/gone", status: 404, errorCode: "HTTP_404" },
      { url: "http://example.org/i.png", status: 200, errorCode: null },
    ]);
    const keys = await sql<{ key: string }[]>`select url_key as key from captures where job_id = ${jobId} order by id`;
    expect(keys.map(({ key }) => key)).toEqual(["org,example)/one", "org,example)/gone", "org,example)/i.png"]);
    const one = rows[0] as CaptureRow;
    const pointer = { ...one, coding: one.coding ?? undefined, inner: one.inner ?? undefined };
    expect((await readWarcRecord(dependencies.objects, pointer)).body.toString()).toBe(page("one"));
    expect(await documents()).toEqual([{ title: "one", url: "http://example.org/one" }]);
    const [job] =
      await sql`select status, discovered, crawled, failed, open_urls as open from jobs where id = ${jobId}`;
    expect(job).toEqual({ status: "completed", discovered: 3, crawled: 2, failed: 1, open: 0 });
  });

  it("is indexed in slices as in one", async () => {
    const many = Array.from({ length: 130 }, (_, index) =>
      record(http(page(`page ${index}`)), { url: `http://example.org/${index}` }),
    );
    const key = `incoming/sliced-${serial}.warc`;
    // each slice has time for one batch
    let asked = 0;
    await handleImportMessage(dependencies, await upload(write(many), key), () => (asked++ % 60 < 55 ? HOUR : 1000));
    await drain(() => () => (asked++ % 60 < 55 ? HOUR : 1000));
    const [row] = await sql`
      select i.status, i.captures, i.records, count(c.id)::int as stored, count(distinct c.url)::int as urls
      from warc_imports i join captures c on c.job_id = i.job_id where object_key = ${key} group by i.id`;
    expect(row).toEqual({ status: "completed", captures: 130, records: { response: 130 }, stored: 130, urls: 130 });
  });
});

it("undoes chunked framing and content codings", async () => {
  const body = Buffer.from(page("coded"));
  const chunked = (bytes: Buffer) => `${bytes.length.toString(16)}\r\n${bytes.toString("latin1")}\r\n0\r\n\r\n`;
  const coded = brotliCompressSync(body);
  const headers = (coding: string) =>
    `Content-Type: text/html\r\nContent-Encoding: ${coding}\r\nTransfer-Encoding: chunked\r\n`;
  const early = Buffer.from(`${(body.length + 10).toString(16)}\r\n${body}`);
  const { jobId } = await imported(
    Buffer.concat([
      record(http(Buffer.from(chunked(coded), "latin1"), headers("br")), { url: "http://example.org/br" }),
      record(http(body, headers("identity")), { url: "http://example.org/not-chunked" }),
      record(http(early, headers("identity")), { url: "http://example.org/ends-early" }),
    ]),
  );
  expect((await captures(jobId)).map(({ title }) => title)).toEqual(["coded", "coded", "coded"]);
  const rows = await sql`select truncated, payload_bytes as bytes from captures where job_id = ${jobId} order by id`;
  expect(rows).toEqual([
    { truncated: false, bytes: coded.length },
    { truncated: false, bytes: body.length },
    { truncated: true, bytes: body.length },
  ]);
});

it("the same object twice changes nothing, and another one under its key is refused", async () => {
  const key = "incoming/twice.warc";
  const first = await imported(Buffer.concat(records), key);
  const again = await imported(Buffer.concat(records), key);
  expect(again).toEqual(first);
  expect((await captures(first.jobId)).length).toBe(3);
  const other = await imported(Buffer.concat(records.slice(0, 2)), key);
  expect(other.view).toMatchObject({ status: "failed", error: expect.stringContaining("OBJECT_REPLACED") });
  expect(await readImport(sql, first.id)).toEqual(first.view);
});

it("the newest of several captures of a page is the document, but no newer one of the index gives way to it", async () => {
  const at = (date: string, title: string) => record(http(page(title)), { date, url: "http://example.org/page" });
  const dates = ["2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", "2023-01-01T00:00:00Z"] as const;
  const { jobId, view } = await imported(Buffer.concat(dates.map((date) => at(date, date))));
  expect((await captures(jobId)).length).toBe(3);
  expect(view).toMatchObject({ status: "completed" });
  expect((await documents()).map(({ title }) => title)).toEqual([dates[1]]);
  await imported(at(dates[0], "older"));
  expect((await documents()).map(({ title }) => title)).toEqual([dates[1]]);
  await imported(at("2025-06-01T00:00:00Z", "newer"));
  expect((await documents()).map(({ title }) => title)).toEqual(["newer"]);
});

describe("an ARC file", () => {
  it.each([
    ["plain", "arc", (bytes: Buffer) => bytes],
    ["of gzip members", "arc.gz", (bytes: Buffer) => gzipSync(bytes)],
  ])("%s is indexed as WARC files are", async (_, extension, compress) => {
    const line = (url: string, block: Buffer | string, date = "20140216050221") =>
      Buffer.concat([
        Buffer.from(`${url} 93.184.216.34 ${date} text/html ${Buffer.byteLength(block)}\n`),
        Buffer.from(block),
        Buffer.from("\n"),
      ]);
    const members = [
      line("filedesc://a.arc", "1 0 A writer\nURL IP-address Archive-date Content-type Archive-length\n"),
      line("http://example.org/arc", http(page("One"))),
      line("dns:example.org", "20140216050221\nexample.org. 1 IN A 93.184.216.34\n"),
      line("http://example.org/odd", http(page("Two"), "Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n")),
      line("http://example.org/when", http(page("Three")), "201402160502210000"),
      line(
        "http://example.org/gzip",
        http(gzipSync(page("Four")), "Content-Type: text/html\r\nContent-Encoding: gzip\r\n"),
      ),
    ];
    const key = `incoming/${++serial}.${extension}`;
    const { view, jobId, complaints } = await imported(Buffer.concat(members.map(compress)), key);
    expect(view).toMatchObject({ status: "completed", captures: 3, records: { warcinfo: 1, response: 5 } });
    expect(complaints.map(({ code }) => code)).toEqual(["DATE_INVALID"]);
    const found = await sql<{ id: number; url: string; title: string; at: Date }[]>`
      select id, url, title, fetched_at as at from captures where job_id = ${jobId} order by id`;
    expect(found.map(({ url, title }) => [url, title])).toEqual([
      ["http://example.org/arc", "One"],
      ["http://example.org/odd", "Two"],
      ["http://example.org/gzip", "Four"],
    ]);
    expect(found[0]?.at).toEqual(new Date("2014-02-16T05:02:21Z"));
    const bodies = await Promise.all(
      found.map(async ({ id }) => (await readPayload(dependencies, id))?.body.toString()),
    );
    expect(bodies).toEqual([page("One"), page("Two"), page("Four")]);
    expect(await verifyFile(dependencies, await known(key), "digests")).toMatchObject({ faults: [], records: 6 });
    const build = buildWacz(dependencies, { jobId, created: new Date(0), proceed: () => {} }, async () => {});
    await expect(build).rejects.toMatchObject({ code: "EXPORT_UNSUPPORTED" });
  });

  const known = async (key: string) => {
    const { etag = "", bytes = 0 } = (await dependencies.uploads.head(key)) ?? {};
    return { key, etag, bytes, sha256: null };
  };
});

describe("revisits", () => {
  const url = "http://example.org/page";
  const revisit = (fields: Record<string, string>, date = "2026-02-01T00:00:00Z") =>
    record(http("", ""), {
      type: "revisit",
      url,
      date,
      fields: { "WARC-Profile": "identical-payload-digest", ...fields },
    });

  it.each([
    ["the id of its record", { "WARC-Refers-To": "<urn:test:original>" }],
    ["URL and date", { "WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": "2026-01-01T00:00:00Z" }],
    ["its payload digest", { "WARC-Payload-Digest": "sha1:ABC" }],
  ])("are resolved to the original by %s, wherever that stands in the file", async (_, fields) => {
    const options = { url, id: "urn:test:original", date: "2026-01-01T00:00:00Z" };
    const original = record(http(page("original")), { ...options, fields: { "WARC-Payload-Digest": "sha1:ABC" } });
    for (const file of [
      [original, revisit(fields)],
      [revisit(fields), original],
    ]) {
      const { jobId, view } = await imported(Buffer.concat(file));
      const rows = await captures(jobId);
      const originalId = rows.find(({ title }) => title === "original")?.id;
      expect(rows.find(({ title }) => title === null)?.revisitOf).toBe(originalId);
      expect(view).toMatchObject({ danglingRevisits: 0, records: { response: 1, revisit: 1 } });
      await sql`delete from jobs`;
    }
  });

  it.each([
    ["the id of its record", { "WARC-Refers-To": "<urn:test:moved>" }],
    ["URL and date", { "WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": "2026-01-01T00:00:00Z" }],
  ])("of what was no page are resolved by %s, in another file", async (_, fields) => {
    const options = { url, id: "urn:test:moved", date: "2026-01-01T00:00:00Z" };
    await imported(record(http("", "Location: /x\r\n", "301 Moved"), options));
    expect((await imported(revisit(fields))).view).toMatchObject({ danglingRevisits: 0 });
  });

  it("without an original are kept and counted, until one comes", async () => {
    const dangling = await imported(
      revisit({ "WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": "2026-01-01T00:00:00Z" }),
    );
    expect(dangling.view).toMatchObject({ status: "completed", captures: 1, danglingRevisits: 1 });
    await imported(record(http(page("original")), { url, date: "2026-01-01T00:00:00Z" }));
    expect(await readImport(sql, dangling.id)).toMatchObject({ danglingRevisits: 0 });
  });
});

it("a revisit with a date that no database takes holds up no import, that of others neither", async () => {
  const url = "http://example.org/odd-date";
  const fields = { "WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": "0000-01-01T00:00:00Z" };
  const odd = await imported(record(http("", ""), { type: "revisit", url, fields }));
  expect(odd.view).toMatchObject({ status: "completed", captures: 1, danglingRevisits: 1 });
  // as it was stored before such dates were refused
  await sql`update captures set refers_to = jsonb_set(refers_to, '{date}', '"0000-01-01T00:00:00.000Z"')`;
  const { view } = await imported(record(http(page("another")), { url }));
  expect(view).toMatchObject({ status: "completed", captures: 1 });
});

describe("what a file says of itself", () => {
  type Options = Parameters<typeof record>[1] & { block?: Buffer };
  const good = record(http(page("good")), { url: "http://example.org/good" });

  it.each<[string, Options, string]>([
    ["a URL with a password", { url: "http://user:secret@example.org/" }, "URL_UNUSABLE"],
    ["a URL of another scheme", { url: "file:///etc/passwd" }, "URL_UNUSABLE"],
    ["a URL with control characters", { url: "http://example.org/\u0001x" }, "URL_UNUSABLE"],
    ["a URL that is none", { url: "http://" }, "URL_UNUSABLE"],
    ["a URL of 10,000 characters", { url: `http://example.org/${"x".repeat(10_000)}` }, "URL_UNUSABLE"],
    ["no date", { date: "yesterday" }, "DATE_INVALID"],
    ["a date that is none", { date: "2026-13-45T00:00:00Z" }, "DATE_INVALID"],
    ["a date of the year 0", { date: "0000-01-01T00:00:00Z" }, "DATE_INVALID"],
    ["a date before the web", { date: "1989-12-31T23:59:59Z" }, "DATE_INVALID"],
    ["a day that its month has not", { date: "2024-02-30T00:00:00Z" }, "DATE_INVALID"],
    ["no type, and no HTTP in it", { block: Buffer.from("page"), fields: { "Content-Type": "" } }, "HTTP_INVALID"],
    ["a type of another kind", { block: Buffer.from("page"), contentType: "text/html" }, "HTTP_INVALID"],
    ["a status below those of HTTP", { block: http("x", "", "000 X") }, "HTTP_INVALID"],
    ["a date in the future", { date: "2999-01-01T00:00:00Z" }, "DATE_INVALID"],
  ])("with %s, a record is left out with a complaint, and the others are indexed", async (_, options, code) => {
    const bad = record(options.block ?? http(page("bad")), options);
    const { jobId, complaints, id } = await imported(Buffer.concat([bad, good]));
    expect((await captures(jobId)).map(({ title }) => title)).toEqual(["good"]);
    expect(complaints).toEqual([{ code, offset: 0 }]);
    expect(JSON.stringify(await readComplaints(sql, id, 1))).not.toContain("secret");
  });

  it.each(["Application/HTTP; msgtype=response", "text/html", ""])("an HTTP answer of type %j is one", async (type) => {
    const { jobId, complaints } = await imported(record(http(page("typed")), { contentType: type }));
    const [row] = await captures(jobId);
    expect([row?.title, complaints]).toEqual(["typed", []]);
    const payload = await readPayload(dependencies, row?.id as number);
    expect(payload?.body.toString()).toBe(page("typed"));
  });

  it("a chunked body that ends early is told, and indexed as far as it goes", async () => {
    const chunked = (body: string, end: string) =>
      http(`${body.length.toString(16)}\r\n${body}${end}`, "Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n");
    const file = [record(chunked(page("cut"), "\r\nff\r\nx")), record(chunked(page("whole"), "\r\n0\r\n\r\n"))];
    const { complaints, jobId } = await imported(Buffer.concat(file));
    expect((await captures(jobId)).map(({ title }) => title)).toEqual(["cut", "whole"]);
    expect(complaints).toEqual([{ code: "BODY_CUT", offset: 0 }]);
  });

  it("of a page of more than 10 MB digests are checked, chunked or not, and that it has no text is told", async () => {
    const body = page("long").repeat(110_000);
    const size = (text: string) => text.length.toString(16);
    const halves = [body.slice(0, 4_000_000), body.slice(4_000_000)];
    const framed = `${halves.map((half) => `${size(half)}\r\n${half}\r\n`).join("")}0\r\n\r\n`;
    const sha1 = (bytes: string) => `sha1:${createHash("sha1").update(bytes).digest("hex")}`;
    const headers = "Content-Type: text/html\r\n";
    const stating = (block: Buffer, digest: string, url: string) =>
      record(block, { url, fields: { "WARC-Payload-Digest": digest } });
    const chunked = http(framed, `${headers}Transfer-Encoding: chunked\r\n`);
    const file = [
      stating(http(body, headers), sha1(body), "http://example.org/1"),
      stating(chunked, sha1(body), "http://example.org/2"),
      stating(chunked, sha1(framed), "http://example.org/3"),
      stating(chunked, sha1("other"), "http://example.org/4"),
    ];
    const { complaints, jobId, view } = await imported(gzipSync(Buffer.concat(file), { level: 1 }));
    expect(complaints.map(({ code }) => code).sort()).toEqual([
      "DIGEST_MISMATCH",
      "MEMBER_SHARED",
      ...Array(4).fill("TEXT_LEFT_OUT"),
    ]);
    const rows = await sql`
      select distinct payload_digest as digest, payload_bytes as bytes, truncated from captures where job_id = ${jobId}`;
    const digest = `sha256:${createHash("sha256").update(body).digest("hex")}`;
    expect(rows).toEqual([{ digest, bytes: body.length, truncated: false }]);
    expect(view).toMatchObject({ captures: 4 });
  });

  it("a digest that does not match is told, and the record is indexed", async () => {
    const body = page("one");
    const sha1 = (bytes: Buffer | string) => `sha1:${createHash("sha1").update(bytes).digest("hex")}`;
    const fields = { "WARC-Payload-Digest": sha1(body), "WARC-Block-Digest": sha1(http(body)) };
    const wrong = { ...fields, "WARC-Payload-Digest": sha1("another") };
    const file = [record(http(body), { fields }), record(http(body), { fields: wrong })];
    const { complaints, view } = await imported(Buffer.concat(file));
    expect(view).toMatchObject({ captures: 2 });
    expect(complaints).toEqual([{ code: "DIGEST_MISMATCH", offset: file[0]?.length }]);
  });

  it("what answers a POST is no page", async () => {
    const asked = record("POST /x HTTP/1.1\r\n\r\n", {
      type: "request",
      contentType: "application/http; msgtype=request",
      fields: { "WARC-Concurrent-To": "<urn:test:answer>" },
    });
    const answer = record(http(page("answer")), { id: "urn:test:answer" });
    for (const file of [
      [asked, answer, good],
      [answer, asked, good],
    ]) {
      const { jobId, complaints } = await imported(Buffer.concat(file));
      expect((await captures(jobId)).map(({ title }) => title)).toEqual(["good"]);
      expect(complaints.map(({ code }) => code)).toEqual(["METHOD_NOT_GET"]);
      await sql`delete from jobs`;
    }
  });

  describe("an answer to a POST is none of its URL", () => {
    const asked = (id: string) =>
      record("POST /x HTTP/1.1\r\n\r\n", {
        type: "request",
        contentType: "application/http; msgtype=request",
        fields: { "WARC-Concurrent-To": `<urn:test:${id}>` },
      });
    const answer = record(http(page("answer")), { id: "urn:test:answer" });

    it("however many requests come before it", async () => {
      const many = Array.from({ length: 10_001 }, (_, index) => asked(`of-others-${index}`));
      const { view } = await imported(Buffer.concat([...many, asked("answer"), answer]));
      expect(view).toMatchObject({ records: { request: 10_002, response: 1 }, captures: 0 });
    });

    // a slice has time for so many questions whether there is any left: it ends behind each of the records once
    it.each([1, 2, 3, 4, 5])("where slices have time for %i records", async (questions) => {
      const inSlices = () => {
        let asked = 0;
        return () => (asked++ < questions ? HOUR : 1000);
      };
      const key = `incoming/posts-${questions}.warc`;
      const file = Buffer.concat([good, asked("answer"), answer, good]);
      await handleImportMessage(dependencies, await upload(file, key), inSlices());
      await drain(inSlices);
      const [row] = await sql`
        select records->>'request' as requests, captures, status from warc_imports where object_key = ${key}`;
      expect(row).toEqual({ requests: "1", captures: 2, status: "completed" });
    });
  });

  it("a cut file is indexed up to the cut", async () => {
    const file = Buffer.concat([good, record(http(page("cut")))]).subarray(0, good.length + 300);
    const { view, complaints } = await imported(file);
    expect(view).toMatchObject({ status: "completed", captures: 1 });
    expect(complaints).toEqual([{ code: "FILE_CUT", offset: good.length }]);
  });

  it("what is no WARC fails, and says what it is", async () => {
    const { view, jobId } = await imported(Buffer.from("PK\x03\x04 a WACZ"));
    expect(view).toMatchObject({ status: "failed", error: expect.stringMatching(/^NOT_A_WARC: .*ZIP/) });
    const [job] = await sql`select status, error, open_urls as open from jobs where id = ${jobId}`;
    expect(job).toMatchObject({ status: "failed", error: expect.stringContaining("NOT_A_WARC"), open: 0 });
  });
});

describe("what is lost on the way", () => {
  it("is sent again: a slice, and a batch", async () => {
    const file = Buffer.concat(records);
    await handleImportMessage(dependencies, await upload(file, "incoming/lost.warc"), () => HOUR);
    await aws.receive("captures");
    await sql`update warc_import_batches set sent_at = now() - interval '1 hour'`;
    await upload(file, "incoming/lost-2.warc");
    await sql`
      insert into warc_imports (id, job_id, object_key, etag, bytes, status, updated_at)
      select gen_random_uuid(), job_id, 'incoming/lost-2.warc', etag, bytes, 'running', now() - interval '1 hour'
      from warc_imports`;
    expect(await resumeImports(dependencies)).toBe(2);
    expect(await resumeImports(dependencies)).toBe(0);
    await sql`update jobs set open_urls = open_urls + 1, discovered = discovered + 1`;
    await drain();
    const rows = await sql`select status, captures from warc_imports order by object_key`;
    expect(rows).toEqual([
      { status: "completed", captures: 3 },
      { status: "completed", captures: 3 },
    ]);
    const [stored] = await sql`select count(*)::int as captures from captures`;
    expect(stored).toEqual({ captures: 6 });
  });

  it("a batch that arrives twice is stored once", async () => {
    await handleImportMessage(dependencies, await upload(Buffer.concat(records), "incoming/again.warc"), () => HOUR);
    const messages = await aws.receive("captures");
    for (const message of [...messages, ...messages])
      await ingestBatch(dependencies, capturesMessageSchema.parse(message));
    const [stored] = await sql`select count(*)::int as captures from captures`;
    expect(stored).toEqual({ captures: 3 });
  });

  it("a page that the database refuses is kept without its text, and the others with theirs", async () => {
    const nul = record(http(page("bad \0 bytes"), "Content-Type: text/html\r\nX-Odd: a\0b\r\n"), {
      url: "http://example.org/nul",
    });
    const { view } = await imported(Buffer.concat([...records, nul]));
    expect(view).toMatchObject({ status: "completed", captures: 4, openCaptures: 0 });
  });
});
