/** Files of strangers on their way into the archive: names, sizes and contents that are not what they seem. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Api } from "../../../../functions/adapters/api/api.ts";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { handleImportMessage } from "../../../../shared/archive/import/handle-message.ts";
import { importMessageSchema } from "../../../../shared/archive/import/task.ts";
import { readPayload } from "../../../../shared/archive/replay/payload.ts";
import { callApi } from "../../../services/api.ts";
import { type ArchiveSetup, archiveSetup } from "../../archive/archive-setup.ts";
import { http, record } from "../../archive/warc-records.ts";

let setup: ArchiveSetup;
let api: Api;
let key: string;
beforeAll(async () => {
  setup = await archiveSetup();
  ({ api } = await import("../../../../functions/archive-api/handler.ts"));
  ({ key } = await createApiKey(setup.sql, {
    name: "uploads",
    scopes: ["admin"],
    rateLimitRpm: 100_000,
    expiresAt: null,
  }));
});
afterAll(() => setup.close());
beforeEach(async () => {
  await setup.sql`delete from jobs`;
  await setup.sql`delete from warc_imports`;
});

const post = (json: unknown) => callApi(api, { path: "/api/admin/warcs", json, key });
const show = async (id: string) => (await callApi(api, { path: `/api/admin/warcs/${id}`, key })).body;
const sha256 = (file: Buffer) => createHash("sha256").update(file).digest("hex");
const announced = (file: Buffer, more: object = {}) => ({
  ...{ filename: "file.warc", bytes: file.length, sha256: sha256(file) },
  ...more,
});
const imports = async () => (await setup.sql`select 1 from warc_imports`).length;
const jobs = async () => (await setup.sql`select 1 from jobs`).length;
async function objects(): Promise<string[]> {
  const { Contents = [] } = await setup.aws.s3.send(new ListObjectsV2Command({ Bucket: setup.aws.bucket }));
  return Contents.map(({ Key = "" }) => Key);
}

const page = (title: string): Buffer =>
  record(http(`<html><title>${title}</title><main><p>${title}: a page about lighthouses.</p></main>`), {
    url: `http://example.org/${title}`,
  });

interface Announced {
  id: string;
  key: string;
  uploadUrl: string;
  headers: Record<string, string>;
}

/** Sends a file as the answer says, and tells the indexer of it as S3 does. */
async function send({ key: objectKey, uploadUrl, headers }: Announced, file: Buffer): Promise<void> {
  const { status } = await fetch(uploadUrl, { method: "PUT", headers, body: new Uint8Array(file) });
  expect(status).toBe(200);
  await tell(objectKey, file);
}
async function tell(objectKey: string, file: Buffer): Promise<void> {
  const eTag = createHash("md5").update(file).digest("hex");
  const object = { key: encodeURIComponent(objectKey).replaceAll("%2F", "/"), size: file.length, eTag };
  const message = importMessageSchema.parse({ Records: [{ s3: { object } }] });
  await handleImportMessage(setup.dependencies, message, () => 3_600_000);
}

describe("a name", () => {
  const LONG = `${"a".repeat(251)}.warc`;
  it.each([
    ...["../../etc/passwd", "../a.warc", "..\\a.warc", "a/b.warc", "/etc/a.warc", "C:\\a.warc", "%2e%2e%2fa.warc"],
    ...["\u0000.warc", "a\u0000.warc.gz", "a.warc\u0000", "a.warc\n", "a\r\nX-A: b.warc", "a\tb.warc"],
    ...["", ".warc", "warc", "a", "a.exe", "a.warc.exe", "a.warc/", "a.WARC", "a.zip", LONG],
    ...["fünf.warc", "\u202ewarc.exe.warc", "a\u200b.warc", "\ud800.warc", "😀.warc", "<script>.warc", "a;b.warc"],
  ])("that is none of a file of the archive is refused, and nothing is noted: %j", async (filename) => {
    const answer = await post(announced(Buffer.from("a"), { filename }));
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.body.error.length).toBeLessThan(2_000);
    expect(await imports()).toBe(0);
  });

  it.each(["..warc", "...warc.gz", ". .warc", "a (1)+@.wacz", `${"a".repeat(250)}.warc`])(
    "is a part of a key of its own, whatever it looks like: %j",
    async (filename) => {
      const { status, body } = await post(announced(Buffer.from("a"), { filename }));
      expect([status, body.key]).toEqual([202, `incoming/${body.id}/${filename}`]);
      expect(decodeURIComponent(new URL(body.uploadUrl).pathname).endsWith(body.key)).toBe(true);
    },
  );

  it("that differs from another by case alone, or not at all, is that of another file", async () => {
    const names = ["tide.warc", "Tide.warc", "TIDE.warc", "tide.warc"];
    const files = names.map((_, index) => page(`case-${index}`));
    for (const [index, filename] of names.entries()) {
      const file = files[index] as Buffer;
      const { body } = await post(announced(file, { filename }));
      await send(body as Announced, file);
    }
    const rows = await setup.sql<{ key: string; captures: number; status: string }[]>`
      select object_key as key, captures, status from warc_imports order by created_at`;
    expect(rows.map(({ key: each }) => each.split("/").at(-1))).toEqual(names);
    expect(new Set(rows.map(({ key: each }) => each)).size).toBe(names.length);
    expect(rows.every(({ captures }) => captures === 1)).toBe(true);
  });
});

describe("a key", () => {
  it.each([
    ...["", "incoming", "incoming/", "/incoming/a.warc", "INCOMING/a.warc", "exports/a.wacz", "../incoming/a.warc"],
    ...["incoming/../secret.warc", "incoming/a/../../secret.warc", "incoming/./a.warc", "incoming/a/..", "incoming/."],
    ...["incoming/\u0000", "incoming/a\ud800.warc", `incoming/${"a".repeat(1_024)}`, `incoming/${"é".repeat(512)}`],
  ])("outside of where uploads lie, or that none can have, is refused: %j", async (objectKey) => {
    const Body = page("secret");
    await setup.aws.s3.send(new PutObjectCommand({ Bucket: setup.aws.bucket, Key: "secret.warc", Body }));
    const answer = await post({ key: objectKey });
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect([await imports(), await jobs()]).toEqual([0, 0]);
  });

  it.each(["incoming/a..b/...warc", "incoming/%2e%2e/secret.warc", "incoming/..\\secret.warc", "incoming//a.warc"])(
    "is taken as it is: %j",
    async (objectKey) => {
      expect(await post({ key: objectKey })).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
      expect([await imports(), await jobs()]).toEqual([0, 0]);
    },
  );

  it.each(["fünf 日本 😀.warc", "a b+c%20d&e=f?.warc", "%2e%2e%2fa.warc", "‮.warc", `${"a".repeat(900)}.warc`])(
    "that somebody has put into the bucket is archived from there: %j",
    async (name) => {
      const objectKey = `incoming/${name}`;
      const file = page("named");
      await setup.aws.s3.send(new PutObjectCommand({ Bucket: setup.aws.bucket, Key: objectKey, Body: file }));
      await tell(objectKey, file);
      const { body } = await post({ key: objectKey });
      expect(await show(body.id)).toMatchObject({ key: objectKey, captures: 1, error: null, complaints: [] });
    },
  );
});

describe("a size", () => {
  it.each([0, -1, 1.5, 2 ** 53, 1e300, 5 * 1024 ** 3 + 1, "10", null, true, [10]])(
    "that no file has is refused: %j",
    async (bytes) => {
      const answer = await post(announced(Buffer.from("a"), { bytes }));
      expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(await imports()).toBe(0);
    },
  );

  it.each([-1, 1, 1_000_000, 4 * 1024 ** 3])("that is %i bytes beside the file's ends its import", async (by) => {
    const file = page("sized");
    const { body } = await post(announced(file, { bytes: file.length + by }));
    await send(body as Announced, file);
    expect(await show(body.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(new RegExp(`^SIZE_MISMATCH: ${file.length + by} bytes .* ${file.length} were`)),
      ...{ jobId: null, captures: 0 },
    });
    expect(await jobs()).toBe(0);
    // nothing of it is in the way of the same file, told rightly
    const again = await post(announced(file));
    await send(again.body as Announced, file);
    expect(await show(again.body.id)).toMatchObject({ captures: 1, error: null });
  });

  it("and a digest let one file in, under its own key alone", async () => {
    const file = page("mine");
    const { body } = await post(announced(file));
    const { uploadUrl, headers, id } = body as Announced;
    const put = async (url: string, bytes: Buffer, more: Record<string, string> = headers) =>
      (await fetch(url, { method: "PUT", headers: more, body: new Uint8Array(bytes) })).status;
    const before = await objects();
    const other = page("another");
    expect(await put(uploadUrl, other)).toBe(400);
    expect(await put(uploadUrl, file.subarray(1))).toBe(400);
    expect(await put(uploadUrl, Buffer.alloc(0))).toBe(400);
    const ofOther = { "x-amz-checksum-sha256": createHash("sha256").update(other).digest("base64") };
    expect(await put(uploadUrl, other, ofOther)).toBe(403);
    expect(await put(uploadUrl.replace(id, "0193b5c0-6f3e-7a52-9c1f-3d0e6f2b8a11"), file)).toBe(403);
    expect(await put(uploadUrl.replace("file.warc", "..%2F..%2Ffile.warc"), file)).toBe(403);
    expect(await objects()).toEqual(before);
    expect(await show(id)).toMatchObject({ status: "announced", jobId: null });
  });
});

describe("a file", () => {
  const LENGTH = (length: string | number) => ({ fields: { "Content-Length": String(length) } });
  const gz = (bytes: Buffer) => gzipSync(bytes);
  const before = page("before");
  const behind = page("behind");
  const MB = 1024 * 1024;

  /** Its import; and the captures of it, each of which can be read. */
  async function archived(file: Buffer, name: string) {
    const known = await objects();
    const { view, complaints, key: objectKey } = await setup.importFile(file, name);
    const rows = await setup.sql<{ id: number; url: string }[]>`
      select id, url from captures where job_id = ${view.jobId} order by warc_offset, warc_inner nulls first`;
    for (const { id } of rows) expect(await readPayload(setup.dependencies, id)).toBeDefined();
    const made = (await objects()).filter((each) => !known.includes(each) && each !== objectKey);
    expect(made.filter((each) => !each.includes(`/${view.jobId}/`))).toEqual([]);
    const [job] = await setup.sql`select status, open_urls as open from jobs where id = ${view.jobId}`;
    expect(job).toEqual({ status: view.status, open: 0 });
    return { view, codes: complaints.map(({ code }) => code), urls: rows.map(({ url }) => url.split("/").at(-1)) };
  }

  it.each(["8589934592", "4294967296", "1000000"])(
    "whose record claims %s bytes is archived up to there",
    async (length) => {
      const { view, codes, urls } = await archived(
        Buffer.concat([before, record("short", { url: "http://example.org/claims", ...LENGTH(length) })]),
        "claims.warc",
      );
      expect([view.status, urls]).toEqual(["completed", ["before"]]);
      expect(codes).not.toEqual([]);
    },
  );

  it.each(["-1", "9007199254740992", "99999999999999999999", "1e3", "0x10", "1.5", "NaN", ""])(
    "with a record of Content-Length %j is archived without that one",
    async (length) => {
      const bad = record("short", { url: "http://example.org/bad", ...LENGTH(length) });
      const { view, codes, urls } = await archived(Buffer.concat([before, bad, behind]), "lengths.warc");
      expect([view.status, urls]).toEqual(["completed", ["before", "behind"]]);
      expect(codes).not.toEqual([]);
    },
  );

  it("with a record of no bytes is archived without a page of it", async () => {
    const none = record("", { url: "http://example.org/none" });
    const { view, urls } = await archived(Buffer.concat([before, none, behind]), "none.warc");
    expect([view.status, urls.filter((url) => url !== "none")]).toEqual(["completed", ["before", "behind"]]);
  });

  it.each([1, 20, 0.5, 0.9])("whose last member is cut after %d of it is archived up to there", async (part) => {
    const last = gz(behind);
    const cut = last.subarray(0, part < 1 ? Math.floor(part * last.length) : part);
    const { view, codes, urls } = await archived(Buffer.concat([gz(before), cut]), "cut.warc.gz");
    expect([view.status, urls]).toEqual(["completed", ["before"]]);
    expect(codes).not.toEqual([]);
  });

  it("with a member that is cut is archived without that one", async () => {
    const middle = gz(page("middle"));
    const file = Buffer.concat([gz(before), middle.subarray(0, middle.length >> 1), gz(behind)]);
    const { view, codes, urls } = await archived(file, "holed.warc.gz");
    expect([view.status, urls]).toEqual(["completed", ["before", "behind"]]);
    expect(codes).not.toEqual([]);
  });

  it("that is a bomb, as a member or as the coding of a page, is archived with what is around it", async () => {
    const zeros = Buffer.alloc(96 * MB);
    const ofMember = gz(record(http(zeros), { url: "http://example.org/member" }));
    const coded = http(gz(zeros), "Content-Type: text/html\r\nContent-Encoding: gzip\r\n");
    const ofCoding = gz(record(coded, { url: "http://example.org/coding" }));
    const file = Buffer.concat([gz(before), ofMember, ofCoding, gz(behind)]);
    expect(file.length).toBeLessThan(MB);
    const { view, urls } = await archived(file, "bomb.warc.gz");
    expect([view.status, urls]).toEqual(["completed", ["before", "member", "coding", "behind"]]);
    const [row] = await setup.sql`select max(length(content)) as longest from documents where job_id = ${view.jobId}`;
    expect(Number(row?.["longest"])).toBeLessThan(10 * MB);
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["NUL", Buffer.alloc(100_000)],
    ["a gzip member of nothing", gz(Buffer.alloc(0))],
    ["a gzip head", gz(before).subarray(0, 10)],
    ["an executable", Buffer.concat([Buffer.from("\x7fELF\x02\x01"), Buffer.alloc(1000, 7)])],
    ["a ZIP file's end", Buffer.concat([Buffer.from("PK\x05\x06"), Buffer.alloc(18, 0xff)])],
  ])("of %s is none, which its import says", async (_, bytes) => {
    const { view, urls } = await archived(bytes, "hostile.warc.gz");
    expect([view.status, view.captures, urls]).toEqual(["failed", 0, []]);
    expect(view.error).toMatch(/^[A-Z_]+: ./);
  });

  it("whose URLs lead elsewhere is archived under them as texts, and below its own job", async () => {
    const urls = ["file:///etc/passwd", "http://example.org/../../etc/passwd", "http://[::1/", "../a", "a\u0000b"];
    const records = urls.map((url) => record(http("<p>A page about lighthouses.</p>"), { url }));
    const { view } = await archived(Buffer.concat([before, ...records, behind]), "urls.warc");
    expect(view.status).toBe("completed");
    const kept = await setup.sql<{ url: string }[]>`select url from captures where job_id = ${view.jobId}`;
    expect(kept.every(({ url }) => /^https?:\/\/[^/]/.test(url))).toBe(true);
  });
});
