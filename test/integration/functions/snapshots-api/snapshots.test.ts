import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StreamApi } from "../../../../functions/adapters/api/stream-api.ts";
import { indexSnapshots } from "../../../../shared/archive/search/index-snapshots.ts";
import { callApi, callStreamApi } from "../../../services/api.ts";
import { encodeAs } from "../../../sites/legacy-encoding.ts";
import { type ArchiveSetup, archiveSetup } from "../../archive/archive-setup.ts";
import { http, record } from "../../archive/warc-records.ts";

let setup: ArchiveSetup;
let api: StreamApi;
const REPLAY = "https://replay.test";
let jobId: number;

const HTML = "Content-Type: text/html\r\n";
const page = (title: string): string =>
  `<html lang=en><title>${title}</title><p>${title}, seen from the sea.</p></html>`;
const at = (date: string, title: string, url = "http://example.org/page") =>
  record(http(page(title)), { url, date: `${date}T10:00:00Z` });

beforeAll(async () => {
  setup = await archiveSetup({ ARCHIVE__REPLAY_URL: REPLAY, ARCHIVE__CORS_ORIGINS: "https://front.test" });
  ({ api } = await import("../../../../functions/snapshots-api/handler.ts"));
  jobId = await setup.importRecords([
    at("2026-01-01", "first"),
    at("2026-02-01", "second", "http://example.org/page?from=mail"),
    at("2026-03-01", "third"),
    record(http("gone", HTML, "404 Not Found"), { url: "http://example.org/page", date: "2026-04-01T00:00:00Z" }),
    record(http("{}", "Content-Type: application/json\r\n"), { url: "http://example.org/data" }),
    record(http(page("other")), { url: "http://other.example/" }),
  ]);
});
afterAll(() => setup.close());

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  callApi(api, { method, path, headers });
const raw = async (url: string, headers: Record<string, string> = {}, method = "GET") =>
  await get(`/api/snapshots/raw/${await setup.captureOf(url)}`, headers, method);

describe("what is told of the archive", () => {
  it("is its jobs and snapshots", async () => {
    const { status, body, headers } = await get("/api/health");
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: "ok", checks: { db: "ok", jobs: { indexed: 1 }, snapshots: { total: 5 } } },
    });
    expect(headers["cache-control"]).toBe("no-store");
  });

  it("is the archive jobs that failed before they crawled, too", async () => {
    await setup.sql`
      insert into sources (code, name, name_template, seeds, engine) values ('s', 'S', 's', '{http://s.test/}', 'zimit')`;
    await setup.sql`
      insert into archive_jobs (id, source_code, name, output_dir, engine, status, config)
      values (1001, 's', 's', 'archive-jobs/s/', 'zimit', 'failed', '{}')`;
    expect((await get("/api/health")).body.checks.jobs).toEqual({ indexed: 1, failed: 1 });
    await setup.sql`delete from archive_jobs where id = 1001`;
    await setup.sql`delete from sources where code = 's'`;
  });

  it("are its totals", async () => {
    const { body, headers } = await get("/api/stats");
    expect(body).toEqual({
      snapshotsTotal: 5,
      pagesTotal: 2,
      sourcesTotal: 2,
      latestCaptureDate: "2026-04-01",
      latestCaptureAgeDays: expect.any(Number),
    });
    expect(headers["cache-control"]).toBe("public, max-age=300");
  });
});

describe("a snapshot", () => {
  it("has the fields of the interface", async () => {
    const id = await setup.captureOf("http://example.org/page?from=mail");
    const { status, body } = await get(`/api/snapshot/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      title: "second",
      sourceCode: "example.org",
      sourceName: "example.org",
      language: "en",
      captureDate: "2026-02-01",
      captureTimestamp: "2026-02-01T10:00:00.000Z",
      jobId,
      originalUrl: "http://example.org/page?from=mail",
      snippet: expect.stringContaining("seen from the sea"),
      mimeType: "text/html",
      statusCode: 200,
      rawSnapshotUrl: `/api/snapshots/raw/${id}`,
      browseUrl: `${REPLAY}/20260201100000/http://example.org/page?from=mail`,
    });
  });

  it("has a snippet, too, where a newer one of its page is the document", async () => {
    await indexSnapshots(setup.dependencies, () => true);
    const { body } = await get(`/api/snapshots/${await setup.captureOf("http://example.org/page")}/timeline`);
    const first = await get(`/api/snapshot/${body.snapshots[0].snapshotId}`);
    expect([first.body.title, first.body.snippet]).toEqual(["first", expect.stringContaining("seen from the sea")]);
  });

  it("is told once: who has it already gets 304, and who asks for the head gets no body", async () => {
    const path = `/api/snapshot/${await setup.captureOf("http://example.org/page?from=mail")}`;
    const { headers } = await get(path);
    const again = await get(path, { "If-None-Match": `W/${headers["etag"]}` });
    expect([again.status, again.body]).toEqual([304, undefined]);
    expect((await get(path, { "If-None-Match": '"other"' })).status).toBe(200);
    const head = await callApi(api, { method: "HEAD", path });
    expect([head.status, head.body, head.headers["etag"]]).toEqual([200, undefined, headers["etag"]]);
  });

  it("is nothing else: a capture of another type, an unknown id, what is no id", async () => {
    for (const id of [await setup.captureOf("http://example.org/data"), 999_999, "x", "-1", "1.5", "1e99"]) {
      for (const path of [
        `snapshot/${id}`,
        `snapshots/raw/${id}`,
        `snapshots/${id}/timeline`,
        `snapshots/${id}/latest`,
      ]) {
        const { status, body } = await get(`/api/${path}`);
        expect([path, status, body.code]).toEqual([path, 404, "NOT_FOUND"]);
      }
    }
  });

  it("knows the others of its page, oldest first", async () => {
    const id = await setup.captureOf("http://example.org/page?from=mail");
    const { body } = await get(`/api/snapshots/${id}/timeline`);
    expect(body).toMatchObject({
      sourceCode: "example.org",
      normalizedUrlGroup: "http://example.org/page",
      snapshots: [
        { title: "first", statusCode: 200, captureDate: "2026-01-01", compareFromSnapshotId: null, jobId },
        { title: "second", snapshotId: id },
        { title: "third", compareFromSnapshotId: id, jobName: expect.stringMatching(/^import-\d{8}$/) },
        { statusCode: 404, browseUrl: `${REPLAY}/20260401000000/http://example.org/page` },
      ],
    });
    const { body: newest } = await get(`/api/snapshots/${id}/timeline?order=newest`);
    expect(newest).toEqual({ ...body, snapshots: body.snapshots.toReversed() });
    expect((await get(`/api/snapshots/${id}/timeline?order=latest`)).status).toBe(422);
  });

  it("knows the latest good one", async () => {
    const id = await setup.captureOf("http://example.org/page?from=mail");
    const { body } = await get(`/api/snapshots/${id}/latest`);
    expect(body).toEqual({
      found: true,
      snapshotId: expect.any(Number),
      captureTimestamp: "2026-03-01T10:00:00.000Z",
      mimeType: "text/html",
    });
    expect((await get(`/api/snapshots/${id}/latest?requireHtml=false`)).body).toEqual(body);
  });

  it("knows no latest good one where there is none", async () => {
    const url = "http://bad.example/";
    await setup.importRecords([record(http("gone", HTML, "404 Not Found"), { url })]);
    const { body } = await get(`/api/snapshots/${await setup.captureOf(url)}/latest`);
    expect(body).toEqual({ found: false, snapshotId: null, captureTimestamp: null, mimeType: null });
  });
});

describe("what the server sent", () => {
  it.each([
    ["utf-8", "На берегу пустынных волн"],
    ["utf-16le", "На берегу пустынных волн"],
    ["windows-1251", "На берегу пустынных волн"],
    ["koi8-r", "На берегу пустынных волн"],
    ["iso-8859-5", "На берегу пустынных волн"],
    ["ibm866", "На берегу пустынных волн"],
    ["windows-1252", "Über dem Fluß liegt “Nebel”"],
    ["iso-8859-2", "Żółta łódź płynie po rzece"],
    ["shift_jis", "国境の長いトンネルを抜けると"],
    ["euc-jp", "国境の長いトンネルを抜けると"],
    ["gb18030", "床前明月光疑是地上霜"],
    ["euc-kr", "나의 살던 고향은 꽃피는"],
  ])("comes byte for byte in %s, with the charset as captured", async (charset, words) => {
    const url = `http://charset.example/${charset}`;
    const text = `<html><title>${words}</title><p>${words}</p></html>`;
    const bytes = encodeAs(text, charset);
    await setup.importRecords([
      record(http(Buffer.from(bytes), `Content-Type: text/html; charset=${charset}\r\n`), { url }),
    ]);
    const path = `/api/snapshots/raw/${await setup.captureOf(url)}`;
    const { answer, bytes: sent } = await callStreamApi(api, { path });
    expect(answer.headers["content-type"]).toBe(`text/html; charset=${charset}`);
    expect(sent).toEqual(Buffer.from(bytes));
  });

  const text = `<p>${"word ".repeat(500)}</p>`;
  const chunked = (bytes: Buffer) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")]);

  it.each([
    ["gzip", gzipSync(text)],
    ["br", brotliCompressSync(text)],
    ["zstd", zstdCompressSync(text)],
    ["identity", Buffer.from(text)],
  ])("comes without its coding %s, chunked or not", async (coding, bytes) => {
    const coded = `${HTML}Content-Encoding: ${coding}\r\n`;
    const url = `http://coded.example/${coding}`;
    await setup.importRecords([
      record(http(bytes, coded), { url }),
      record(http(chunked(bytes), `${coded}Transfer-Encoding: chunked\r\n`), { url: `${url}/chunked` }),
    ]);
    expect((await raw(url)).body).toBe(text);
    expect((await raw(`${url}/chunked`)).body).toBe(text);
  });

  it("runs nothing on this origin, and is kept for good", async () => {
    const { headers } = await raw("http://other.example/");
    expect(headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none'/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["cache-control"]).toBe("public, max-age=31536000");
    expect((await raw("http://other.example/", { "If-None-Match": headers["etag"] ?? "" })).status).toBe(304);
  });

  it("comes in ranges, and beyond the body not at all", async () => {
    const whole = (await raw("http://other.example/")).body as string;
    const part = await raw("http://other.example/", { Range: "bytes=6-10" });
    expect([part.status, part.body, part.headers["content-range"]]).toEqual([
      206,
      whole.slice(6, 11),
      `bytes 6-10/${whole.length}`,
    ]);
    expect((await raw("http://other.example/", { Range: "bytes=-7" })).body).toBe("</html>");
    const beyond = await raw("http://other.example/", { Range: `bytes=${whole.length}-` });
    expect([beyond.status, beyond.body.code, beyond.headers["content-range"]]).toEqual([
      416,
      "RANGE_NOT_SATISFIABLE",
      `bytes */${whole.length}`,
    ]);
    for (const range of ["bytes=5-3", "lines=1-2", "bytes=0-1,3-4"]) {
      expect((await raw("http://other.example/", { Range: range })).status).toBe(200);
    }
  });

  it("is given whole to a Range with an If-Range that does not name it, as it was or at all", async () => {
    const { body: whole, headers } = await raw("http://other.example/");
    const etag = headers["etag"] ?? "";
    const ranged = (validator: string, range = "bytes=0-0") =>
      raw("http://other.example/", { Range: range, "If-Range": validator });
    expect([(await ranged(etag)).status, (await ranged(etag)).body]).toEqual([206, whole.slice(0, 1)]);
    for (const other of ['"snapshot-0"', `W/${etag}`, "Thu, 01 Jan 2026 00:00:00 GMT", "", "snapshot"]) {
      expect([(await ranged(other)).status, (await ranged(other)).body]).toEqual([200, whole]);
    }
    // what is beyond the end of one is none of another
    expect((await ranged('"snapshot-0"', `bytes=${whole.length}-`)).status).toBe(200);
  });

  it("has a head that is that of the whole, whatever its Range", async () => {
    const { body: whole } = await raw("http://other.example/");
    for (const range of ["bytes=0-0", "bytes=-1", `bytes=${whole.length}-`]) {
      const head = await raw("http://other.example/", { Range: range }, "HEAD");
      expect([range, head.status, head.headers["content-range"]]).toEqual([range, 200, undefined]);
      expect([head.headers["accept-ranges"], head.headers["content-length"]]).toEqual(["bytes", `${whole.length}`]);
    }
  });

  it("says where it is not whole", async () => {
    const url = "http://cut.example/";
    await setup.importRecords([record(http(page("cut")), { url, fields: { "WARC-Truncated": "length" } })]);
    expect((await raw(url)).headers["x-archive-truncated"]).toBe("true");
  });

  it("is that of the original, where the server had sent the same before", async () => {
    const url = "http://again.example/";
    const original = { "WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": "2026-01-01T00:00:00Z" };
    const revisit = { type: "revisit", fields: { "WARC-Profile": "identical-payload-digest", ...original } };
    await setup.importRecords([
      record(http(page("original")), { url, date: "2026-01-01T00:00:00Z" }),
      record(http("", HTML), { url, date: "2026-02-01T00:00:00Z", ...revisit }),
    ]);
    expect((await raw(url)).body).toBe(page("original"));
    const dangling = "http://dangling.example/";
    const nowhere = { ...revisit.fields, "WARC-Refers-To-Target-URI": "http://nowhere.example/" };
    await setup.importRecords([record(http("", HTML), { url: dangling, type: "revisit", fields: nowhere })]);
    const answer = await raw(dangling);
    expect([answer.status, answer.body.code]).toEqual([404, "ORIGINAL_MISSING"]);
  });
});

describe("a time and a URL", () => {
  const resolve = async (query: Record<string, string>) =>
    (await get(`/api/replay/resolve?${new URLSearchParams(query)}`)).body;
  const url = "http://example.org/page";

  it.each([
    ["20260102000000", "2026-01-01T10:00:00.000Z"],
    ["20260228", "2026-03-01T10:00:00.000Z"],
    ["2030", "2026-04-01T00:00:00.000Z"],
  ])("%s: the capture nearest to it is that of %s", async (timestamp, captureTimestamp) => {
    expect(await resolve({ url, timestamp, jobId: String(jobId) })).toEqual({
      found: true,
      snapshotId: expect.any(Number),
      captureTimestamp,
      resolvedUrl: url,
      browseUrl: `${REPLAY}/${captureTimestamp.replace(/\D/g, "").slice(0, 14)}/${url}`,
      mimeType: "text/html",
    });
  });

  it("are told with an id only where that is one of a snapshot", async () => {
    const data = await resolve({ url: "http://example.org/data" });
    expect(data).toMatchObject({ found: true, snapshotId: null, mimeType: "application/json" });
    expect(data.browseUrl).toContain("http://example.org/data");
    const page = "http://reused.example/";
    await setup.importRecords([record(http("<title>x</title>"), { url: page })]);
    const id = await setup.captureOf(page);
    const copied = `url, url_hash, final_url, final_url_hash, depth, status_code, headers, mime_type, fetch_time_ms, payload_bytes,
      payload_digest, truncated, not_modified, batch_key, warc_key, warc_offset, warc_length, warc_record_id, job_id`;
    await setup.sql`
      insert into captures (${setup.sql.unsafe(copied)}, batch_index, reused_from, fetched_at)
      select ${setup.sql.unsafe(copied)}, 1000, id, fetched_at + interval '1 day' from captures where id = ${id}`;
    const found = await resolve({ url: page, timestamp: "2030" });
    expect([found.snapshotId, found.captureTimestamp]).toEqual([id, "2026-01-03T03:04:05.000Z"]);
    expect((await get(`/api/snapshot/${found.snapshotId}`)).status).toBe(200);
  });

  it("may name nothing, or be wrong", async () => {
    const nothing = { found: false, snapshotId: null, captureTimestamp: null, resolvedUrl: null, browseUrl: null };
    expect(await resolve({ url: "http://example.org/never" })).toEqual({ ...nothing, mimeType: null });
    expect(await resolve({ url, jobId: "999999" })).toMatchObject(nothing);
    for (const wrong of [
      { url: "file:///etc/passwd" },
      { url, timestamp: "20261345" },
      { url, timestamp: "0000" },
      { url, timestamp: "20260230" },
      { url, jobId: "x" },
      { ur: url },
    ]) {
      expect(await resolve(wrong as Record<string, string>)).toMatchObject({ code: "VALIDATION_ERROR" });
    }
  });
});

describe("who may read", () => {
  it("are pages of the configured origins", async () => {
    const answer = await get("/api/stats", { Origin: "https://front.test" });
    expect(answer.headers["access-control-allow-origin"]).toBe("https://front.test");
    for (const origin of ["https://other.test", "null"]) {
      const { headers } = await get("/api/stats", { Origin: origin });
      expect(headers["access-control-allow-origin"]).toBeUndefined();
      expect(headers["vary"]).toContain("origin");
    }
  });
});
