import { createHash, randomUUID } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { GetObjectCommand, ListMultipartUploadsCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  createExport,
  deleteExport,
  type ExporterDependencies,
  readExport,
  resumeExports,
  runExport,
} from "../../../shared/archive/wacz/exports.ts";
import { type Selection, selectionSchema } from "../../../shared/archive/wacz/selection.ts";
import { exportTaskSchema } from "../../../shared/archive/wacz/task.ts";
import { ZipWriter } from "../../../shared/archive/wacz/zip-writer.ts";
import { isSignatureOf } from "../../../shared/archive/wacz-file/signed-data.ts";
import { createListedObjects } from "../../../shared/platform/aws/listed-objects.ts";
import { createObjectWriters } from "../../../shared/platform/aws/multipart.ts";
import { createUploads } from "../../../shared/platform/aws/uploads.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { crawlSetup } from "../crawl/crawl-setup.ts";
import { insertTestCaptures, type TestCapture } from "../functions/cdx-api/captured.ts";
import { zipEntries } from "./zip-file.ts";

const setup = await crawlSetup();
const { sql, aws } = setup;
const dependencies: ExporterDependencies & typeof setup.dependencies = {
  ...setup.dependencies,
  uploads: createUploads(aws.s3, aws.bucket),
  openWriter: createObjectWriters(aws.s3, aws.bucket),
};
afterAll(() => setup.close());
beforeEach(async () => {
  await sql`delete from jobs`;
});
const HOUR = 3_600_000;

function record(type: string, url: string, block: string, more: Record<string, string> = {}): Buffer {
  const fields = {
    "WARC-Type": type,
    "WARC-Record-ID": `<urn:uuid:${randomUUID()}>`,
    "WARC-Date": "2026-01-02T03:04:05.678Z",
    ...(url && { "WARC-Target-URI": url }),
    "Content-Type": type === "warcinfo" ? "application/warc-fields" : `application/http; msgtype=${type}`,
    ...more,
    "Content-Length": String(Buffer.byteLength(block)),
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return gzipSync(`WARC/1.1\r\n${head.join("")}\r\n${block}\r\n\r\n`);
}
const http = (body: string, status = "200 OK", headers = "Content-Type: text/html; charset=utf-8\r\n") =>
  `HTTP/1.1 ${status}\r\n${headers}\r\n${body}`;

interface Segment {
  key: string;
  records: Buffer[];
}

/** Puts the segment, and rows for some of its records. */
async function stored(jobId: string, { key, records }: Segment, captures: (TestCapture & { at: number })[]) {
  await aws.s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: key, Body: Buffer.concat(records) }));
  const ids = await insertTestCaptures(sql, captures, jobId);
  for (const [index, { at }] of captures.entries()) {
    const offset = records.slice(0, at).reduce((sum, { length }) => sum + length, 0);
    const length = records[at]?.length as number;
    await sql`
      update captures set warc_key = ${key}, warc_offset = ${offset}, warc_length = ${length} where id = ${ids[index] as number}`;
  }
  return ids;
}

async function exported(of: string | Selection) {
  const what = typeof of === "string" ? { jobId: of } : { selection: of };
  const { id } = await createExport(dependencies, { ...what, apiKeyId: null });
  for (const message of await aws.receive("exports")) {
    await runExport(dependencies, exportTaskSchema.parse(message).exportId, () => HOUR);
  }
  return (await readExport(sql, id)) as NonNullable<Awaited<ReturnType<typeof readExport>>>;
}

async function downloaded(key: string): Promise<Buffer> {
  const { Body } = await aws.s3.send(new GetObjectCommand({ Bucket: aws.bucket, Key: key }));
  return Buffer.from((await Body?.transformToByteArray()) as Uint8Array);
}

const PAGE = "https://example.org/page?b=2&a=1";

/** A job of a redirect, a page and its revisit. */
async function crawled() {
  const jobId = uuidv7();
  const records = [
    record("warcinfo", "", "software: test\r\n"),
    record("request", "https://example.org/", "GET / HTTP/1.1\r\nAuthorization: Bearer secret\r\n\r\n"),
    record("response", "https://example.org/", http("", "302 Found", "Location: /page\r\n")),
    record("response", PAGE, http("<title>One</title>"), { "WARC-Payload-Digest": "sha256:11" }),
    record("revisit", PAGE, http("", "200 OK"), { "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/x" }),
  ];
  const key = `warcs/2026/01/02/${jobId}/task-1-1.warc.gz`;
  await stored(jobId, { key, records }, [{ url: PAGE, time: "2026-01-02T03:04:05.678Z", at: 3 }]);
  return { jobId, records, key };
}

describe("the WACZ file of a job", () => {
  it("holds its records byte for byte, but for requests, and an index by which each of them is read", async () => {
    const { jobId, records } = await crawled();
    const view = await exported(jobId);
    expect(view).toMatchObject({ status: "completed", error: null, records: 3, pages: 1 });
    const file = await downloaded(view.key);
    expect([file.length, createHash("sha256").update(file).digest("hex")]).toEqual([view.bytes, view.sha256]);
    const entries = zipEntries(file);
    expect([...entries.keys()]).toEqual([
      "archive/task-1-1.warc.gz",
      "indexes/index.cdxj",
      "pages/pages.jsonl",
      "datapackage.json",
      "datapackage-digest.json",
    ]);
    const warc = entries.get("archive/task-1-1.warc.gz") as Buffer;
    expect(warc).toEqual(Buffer.concat(records.filter((_, index) => index !== 1)));
    expect(gunzipSync(warc).toString()).not.toContain("secret");
    const lines = entries.get("indexes/index.cdxj")?.toString().trim().split("\n") ?? [];
    const read = lines.map((line) => {
      const [, key, timestamp, json = ""] = /^(\S+) (\d{14}) (.*)$/.exec(line) ?? [];
      const { offset, length, filename, ...rest } = JSON.parse(json) as Record<string, string>;
      const member = warc.subarray(Number(offset), Number(offset) + Number(length));
      const target = /WARC-Target-URI: (\S+)/.exec(gunzipSync(member).toString())?.[1];
      return { key, timestamp, filename, target, ...rest };
    });
    const place = { timestamp: "20260102030405", filename: "task-1-1.warc.gz" };
    expect(read).toEqual([
      { key: "org,example)/", ...place, url: "https://example.org/", target: "https://example.org/", status: "302" },
      expect.objectContaining({
        key: "org,example)/page?a=1&b=2",
        target: PAGE,
        mime: "text/html",
        digest: "sha256:11",
      }),
      expect.objectContaining({ key: "org,example)/page?a=1&b=2", target: PAGE, mime: "warc/revisit" }),
    ]);
  });

  it("lists its pages, names the hash of each file, and is signed by the key of the deployment", async () => {
    const [first, second] = [await crawled(), await crawled()];
    const files = [await exported(first.jobId), await exported(second.jobId)].map(async ({ key }) =>
      zipEntries(await downloaded(key)),
    );
    const [entries, others] = (await Promise.all(files)) as [Map<string, Buffer>, Map<string, Buffer>];
    const text = (name: string, of = entries) => of.get(name)?.toString() ?? "";
    const [head, ...pages] = text("pages/pages.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(head).toEqual({ format: "json-pages-1.0", id: "pages", title: "All Pages", hasText: true });
    expect(pages).toEqual([expect.objectContaining({ url: PAGE, ts: "2026-01-02T03:04:05.678Z" })]);
    const { resources, ...about } = JSON.parse(text("datapackage.json")) as {
      resources: { path: string; hash: string; bytes: number }[];
    };
    expect(about).toMatchObject({ profile: "data-package", wacz_version: "1.1.1", mainPageUrl: PAGE });
    expect(resources.map(({ path, hash, bytes }) => ({ path, hash, bytes }))).toEqual(
      ["archive/task-1-1.warc.gz", "indexes/index.cdxj", "pages/pages.jsonl"].map((path) => {
        const bytes = entries.get(path) as Buffer;
        return { path, hash: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes: bytes.length };
      }),
    );
    const digest = JSON.parse(text("datapackage-digest.json"));
    const hashOf = (bytes: string) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    expect(digest).toMatchObject({ path: "datapackage.json", hash: hashOf(text("datapackage.json")) });
    expect(digest.signedData.hash).toBe(digest.hash);
    expect(isSignatureOf(digest.signedData)).toBe(true);
    const changed = text("datapackage.json").replace("wacz_version", "wacz_versiom");
    expect(isSignatureOf({ ...digest.signedData, hash: hashOf(changed) })).toBe(false);
    // as players verify it
    const algorithm = { name: "ECDSA", namedCurve: "P-384", hash: "SHA-256" };
    const key = await crypto.subtle.importKey(
      "spki",
      Buffer.from(digest.signedData.publicKey, "base64"),
      algorithm,
      true,
      ["verify"],
    );
    const signature = Buffer.from(digest.signedData.signature, "base64");
    expect(await crypto.subtle.verify(algorithm, key, signature, Buffer.from(digest.hash))).toBe(true);
    expect(JSON.parse(text("datapackage-digest.json", others)).signedData.publicKey).toBe(digest.signedData.publicKey);
  });

  it("has of another job's file nothing but what the crawl cache took from it", async () => {
    const { key, records, jobId: other } = await crawled();
    const [original] = await sql<{ id: number; offset: number }[]>`
      select id, warc_offset as "offset" from captures where job_id = ${other}`;
    const jobId = uuidv7();
    const [reused] = await insertTestCaptures(
      sql,
      [{ url: PAGE, time: "2026-01-02T03:04:05.678Z", reusedFrom: original?.id as number }],
      jobId,
    );
    await sql`update captures set warc_key = ${key}, warc_offset = ${original?.offset as number} where id = ${reused as number}`;
    const view = await exported(jobId);
    const entries = zipEntries(await downloaded(view.key));
    expect(entries.get("archive/task-1-1.warc.gz")).toEqual(
      Buffer.concat([records[0] as Buffer, records[3] as Buffer]),
    );
    expect(entries.get("indexes/index.cdxj")?.toString().trim().split("\n")).toHaveLength(1);
  });

  it("has the fields of ZIP64 where an entry may be of more than 4 GB", async () => {
    const chunks: Uint8Array[] = [];
    const zip = new ZipWriter(async (chunk) => void chunks.push(chunk), new Date());
    await zip.add("large", [Buffer.from("one"), Buffer.from("two")], 2 ** 33);
    await zip.add("small", [Buffer.from("three")]);
    await expect(zip.add("too large", [Buffer.from("four")], 3)).rejects.toThrow(RangeError);
    await zip.end();
    const file = Buffer.concat(chunks);
    expect(file.readUInt32LE(18)).toBe(0xffff_ffff);
    const entries = zipEntries(file);
    expect([entries.get("large")?.toString(), entries.get("small")?.toString()]).toEqual(["onetwo", "three"]);
  });

  it("ends with a reason where there is nothing to export, or a file has gone", async () => {
    const jobId = uuidv7();
    await insertTestCaptures(sql, [], jobId);
    await sql`insert into jobs (id, kind, status, generation_id, settings) values (${jobId}, 'pages', 'completed', ${uuidv7()}, '{}')
      on conflict do nothing`;
    expect(await exported(jobId)).toMatchObject({ status: "failed", error: expect.stringContaining("EXPORT_EMPTY") });
    await insertTestCaptures(sql, [{ url: PAGE, time: "2026-01-02T03:04:05Z" }], jobId);
    expect(await exported(jobId)).toMatchObject({ status: "failed", error: expect.stringContaining("WARC_MISSING") });
    const { Uploads = [] } = await aws.s3.send(new ListMultipartUploadsCommand({ Bucket: aws.bucket }));
    expect(Uploads).toEqual([]);
  });

  it("is taken although its message cannot be sent, which the sweep makes good", async () => {
    const { jobId } = await crawled();
    const broken = { ...dependencies.queues, send: () => Promise.reject(new Error("the queue is away")) };
    const { id, status } = await createExport({ ...dependencies, queues: broken }, { jobId, apiKeyId: null });
    expect(status).toBe("pending");
    await sql`update exports set updated_at = now() - interval '2 minutes'`;
    expect(await resumeExports(dependencies)).toBe(1);
    expect(await aws.receive("exports")).toEqual([{ exportId: id }]);
  });

  it("is begun again where a function had no time left, given up at last, and asked for again where its message is lost", async () => {
    const { jobId } = await crawled();
    const { id } = await createExport(dependencies, { jobId, apiKeyId: null });
    await aws.receive("exports");
    const late = () => runExport(dependencies, id, () => 0);
    await expect(late()).rejects.toThrow("time is over");
    expect(await resumeExports(dependencies)).toBe(0);
    await sql`update exports set updated_at = now() - interval '2 minutes'`;
    expect(await resumeExports(dependencies)).toBe(1);
    expect(await aws.receive("exports")).toEqual([{ exportId: id }]);
    await expect(late()).rejects.toThrow("time is over");
    await expect(late()).rejects.toThrow("time is over");
    await late();
    expect(await readExport(sql, id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("EXPORT_STOPS"),
    });
  });
});

describe("an export that is deleted", () => {
  const objects = createListedObjects(aws.s3, aws.bucket);
  const keys = async (): Promise<string[]> => (await objects.list("exports/", "")).map(({ key }) => key);

  it("goes with its file and leaves the others, and is not there a second time", async () => {
    const { jobId } = await crawled();
    const [one, other] = [await exported(jobId), await exported(jobId)];
    await deleteExport({ sql, objects }, one.id);
    expect(await readExport(sql, one.id)).toBeUndefined();
    expect(await readExport(sql, other.id)).toEqual(other);
    expect(await keys()).toContain(other.key);
    expect(await keys()).not.toContain(one.key);
    await expect(deleteExport({ sql, objects }, one.id)).rejects.toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  it("is one that has ended: not while it waits or is written, but where it failed", async () => {
    const { jobId } = await crawled();
    const { id } = await createExport(dependencies, { jobId, apiKeyId: null });
    const refused = { status: 409, code: "CONFLICT" };
    await expect(deleteExport({ sql, objects }, id)).rejects.toMatchObject(refused);
    await sql`update exports set status = 'running', lease_until = now() + interval '1 hour' where id = ${id}`;
    await expect(deleteExport({ sql, objects }, id)).rejects.toMatchObject(refused);
    expect(await readExport(sql, id)).toMatchObject({ status: "running" });
    await sql`update exports set status = 'failed', error = 'GONE', completed_at = now() where id = ${id}`;
    await deleteExport({ sql, objects }, id);
    expect(await readExport(sql, id)).toBeUndefined();
  });

  it("stays where its file cannot be deleted, to be deleted again", async () => {
    const { jobId } = await crawled();
    const { id } = await exported(jobId);
    const broken = { remove: () => Promise.reject(new Error("the bucket is away")) };
    await expect(deleteExport({ sql, objects: broken }, id)).rejects.toThrow("the bucket is away");
    expect(await readExport(sql, id)).toMatchObject({ status: "completed" });
  });
});

describe("the WACZ file of what the index finds", () => {
  const at = (url: string, title: string, type = "response", more: Record<string, string> = {}) =>
    record(type, url, http(type === "revisit" ? "" : `<title>${title}</title>`), more);
  const URLS = ["https://example.org/a", "https://example.org/b", "https://sub.example.org/c", "https://other.test/d"];

  /** Each URL in a file of its own job, and a revisit of the first in another. */
  async function archived() {
    const ids: number[] = [];
    for (const [index, url] of URLS.entries()) {
      const jobId = uuidv7();
      const records = [record("warcinfo", "", "software: test\r\n"), at(url, url), at(`${url}/below`, "below")];
      const times = [`2026-0${index + 1}-01T00:00:00Z`, `2026-0${index + 1}-02T00:00:00Z`];
      const captures = [url, `${url}/below`].map((each, which) => ({
        url: each,
        time: times[which] as string,
        at: which + 1,
      }));
      ids.push(
        ...(await stored(jobId, { key: `warcs/2026/01/0${index + 1}/${jobId}/t-${index}.warc.gz`, records }, captures)),
      );
    }
    const jobId = uuidv7();
    const [again] = await stored(
      jobId,
      { key: `warcs/2026/09/01/${jobId}/again.warc.gz`, records: [at(URLS[0] as string, "", "revisit")] },
      [{ url: URLS[0] as string, time: "2026-09-01T00:00:00Z", at: 0, revisitOf: ids[0] as number }],
    );
    return { ids, again };
  }

  it.each<[string, Selection, string[], number]>([
    ["one URL, with what its revisits repeat", { url: "https://example.org/a", from: "202609" }, ["/a", "/a"], 1],
    ["one URL at all times", { url: "example.org/a" }, ["/a", "/a"], 2],
    ["all below a path", { url: "https://example.org/a*" }, ["/a", "/a", "/a/below"], 3],
    ["a host", { url: "example.org", matchType: "host" }, ["/a", "/a", "/a/below", "/b", "/b/below"], 5],
    [
      "a domain, in a time",
      { url: "*.example.org", from: "2026", to: "202603" },
      ["/a", "/a/below", "/b", "/b/below", "/c", "/c/below"],
      6,
    ],
    [
      "what a filter admits",
      { url: "example.org", matchType: "domain", filter: ["~original:.*below$"] },
      ["/a/below", "/b/below", "/c/below"],
      3,
    ],
  ])("holds %s", async (_, selection, paths, pages) => {
    await archived();
    const view = await exported(selection);
    expect(view).toMatchObject({
      status: "completed",
      error: null,
      jobId: null,
      selection,
      records: paths.length,
      pages,
    });
    const entries = zipEntries(await downloaded(view.key));
    const lines = entries.get("indexes/index.cdxj")?.toString().trim().split("\n") ?? [];
    const read = lines.map((line) => {
      const { url, offset, length, filename } = JSON.parse(line.slice(line.indexOf("{"))) as Record<string, string>;
      const member = entries.get(`archive/${filename}`)?.subarray(Number(offset), Number(offset) + Number(length));
      expect(gunzipSync(member as Buffer).toString()).toContain(`WARC-Target-URI: ${url}\r\n`);
      return new URL(url as string).pathname;
    });
    expect(read.toSorted()).toEqual(paths);
  });

  it("is none where nothing is found", async () => {
    await archived();
    const view = await exported({ url: "https://nothing.test/" });
    expect(view).toMatchObject({ status: "failed", error: expect.stringContaining("EXPORT_EMPTY") });
  });

  it.each([
    ["a URL without a host", { url: "" }, "url"],
    ["a time that is none", { url: "example.org", from: "2026-01" }, "from"],
    ["a month that is none", { url: "example.org", to: "202613" }, "to"],
    ["a filter that is none", { url: "example.org", filter: ["x"] }, "filter"],
    ["a field that is none", { url: "example.org", filter: ["=x:y"] }, "filter"],
    ["an expression that is none", { url: "example.org", filter: ["~url:("] }, "filter"],
    ["another field", { url: "example.org", limit: 1 }, ""],
  ])("is refused for %s", (_, selection, field) => {
    const issues = selectionSchema.safeParse(selection).error?.issues ?? [];
    expect(issues.map(({ path }) => path[0] ?? "")).toContain(field);
  });
});
