/** What a crawl of an awkward site wrote, as readers find it that nobody here wrote, and as replay gives it back. */
import { createHash } from "node:crypto";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { WARCParser } from "warcio";
import { computeChanges } from "../../../shared/archive/changes/compute-changes.ts";
import { replay } from "../../../shared/archive/replay/replay.ts";
import { indexSnapshots } from "../../../shared/archive/search/index-snapshots.ts";
import { buildWacz } from "../../../shared/archive/wacz/build-wacz.ts";
import { crawlConfigSchema } from "../../../shared/crawl/settings/crawl-config.ts";
import { createUploads } from "../../../shared/platform/aws/uploads.ts";
import { CHARSETS, charsetPage } from "../../sites/charset-pages.ts";
import { bytesThenClose } from "../../sites/misbehaviour.ts";
import { html, type Route, redirect, type Site, startSite } from "../../sites/site.ts";
import { newSiteJob } from "../crawl/crawl-setup.ts";
import { realCrawl } from "../crawl/real-crawl.ts";
import { waczFaults } from "./wacz-faults.ts";
import { zipEntries } from "./zip-file.ts";

const page = (title: string, more = "") =>
  Buffer.from(
    `<!doctype html><title>${title}</title><main><p>${title} of the sea, ${"and so on. ".repeat(40)}</p>${more}`,
  );
const coded = (coding: string, body: Buffer): Route => html(body, { "Content-Encoding": coding });
const TWIN = page("A twin");

/** Path → the answer, and the body that a reader of it has in the end. */
const PAGES: Record<string, [Route, Buffer]> = {
  "/identity": [html(page("identity")), page("identity")],
  "/gzip": [coded("gzip", gzipSync(page("gzip"))), page("gzip")],
  "/deflate": [coded("deflate", deflateSync(page("deflate"))), page("deflate")],
  "/br": [coded("br", brotliCompressSync(page("br"))), page("br")],
  "/zstd": [coded("zstd", zstdCompressSync(page("zstd"))), page("zstd")],
  "/twice": [coded("gzip, br", brotliCompressSync(gzipSync(page("twice")))), page("twice")],
  "/plain-as-gzip": [coded("gzip", page("plain as gzip")), page("plain as gzip")],
  "/chunked": [
    { headers: { "Content-Type": "text/html" }, chunks: [page("chunked").subarray(0, 7), page("chunked").subarray(7)] },
    page("chunked"),
  ],
  "/chunked-gzip": [
    { headers: { "Content-Type": "text/html", "Content-Encoding": "gzip" }, chunks: [gzipSync(page("chunked gzip"))] },
    page("chunked gzip"),
  ],
  "/until-close": [
    bytesThenClose(
      Buffer.concat([Buffer.from("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"), page("until close")]),
    ),
    page("until close"),
  ],
  "/empty": [{ headers: { "Content-Type": "text/html" } }, Buffer.alloc(0)],
  "/no-content": [{ status: 204 }, Buffer.alloc(0)],
  "/gone": [{ status: 410, headers: { "Content-Type": "text/html" }, body: page("gone") }, page("gone")],
  "/odd%20status": [
    bytesThenClose("HTTP/1.1 203 Caf\xe9\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok"),
    Buffer.from("ok"),
  ],
  "/twin-1": [html(TWIN), TWIN],
  "/twin-2": [html(TWIN), TWIN],
  "/nofollow": [
    html(page("nofollow", '<meta name="robots" content="nofollow"><a href="/identity">x</a>')),
    page("nofollow", '<meta name="robots" content="nofollow"><a href="/identity">x</a>'),
  ],
  "/canadien": [
    html(page("En français : la mer et le sable", '<a href="/identity">x</a>'), { "Content-Language": "fr" }),
    page("En français : la mer et le sable", '<a href="/identity">x</a>'),
  ],
  "/q?b=2&a=1&a=0": [html(page("query")), page("query")],
  "/%D1%84%C3%A9?x=%26": [html(page("encoded")), page("encoded")],
  ...Object.fromEntries(
    CHARSETS.map((label): [string, [Route, Buffer]] => {
      const answer = charsetPage(`/charset/${label}`);
      return [`/charset/${label}`, [answer as Route, Buffer.from(answer?.body as Uint8Array)]];
    }),
  ),
};
const REDIRECTS = { "/moved": redirect("/identity", 301), "/there": redirect("/moved"), "/loop": redirect("/loop") };
const links = [...Object.keys(PAGES), ...Object.keys(REDIRECTS)].map(
  (path) => `<a href="${path.replaceAll("&", "&amp;")}">x</a>`,
);

const ALWAYS = () => true;
/** Says something else each time. */
let visits = 0;

let site: Site;
let crawl: Awaited<ReturnType<typeof realCrawl>>;
const jobs: string[] = [];
const files = new Map<string, Buffer>();

beforeAll(async () => {
  const answers = Object.entries(PAGES).map(([path, [route]]) => [path, route] as const);
  site = await startSite({
    "/": html(page("The index", `${links.join(" ")}<a href="/unchanged">x</a><a href="/news">x</a>`)),
    "/unchanged": (request) =>
      request.headers["if-none-match"] === '"1"'
        ? { status: 304, headers: { ETag: '"1"' } }
        : html(page("unchanged"), { ETag: '"1"' }),
    "/news": () => html(page("news", `<h2>Today</h2><p>The tide is ${++visits} metres high at the old pier.</p>`)),
    ...REDIRECTS,
    ...Object.fromEntries(answers),
  });
  crawl = await realCrawl();
  const config = crawlConfigSchema.parse({ rate_limit_rps: 1000, languages: ["en", "fr"] });
  for (const _ of [1, 2]) {
    const [job] = await crawl.run(newSiteJob(`${site.origin}/`, { maxDepth: 2, config }));
    jobs.push(job?.job_id as string);
  }
  const rows = await crawl.sql<
    { key: string }[]
  >`select distinct warc_key as key from captures where warc_key is not null`;
  for (const { key } of rows) files.set(key, Buffer.from((await crawl.dependencies.objects.get(key)) as Uint8Array));
});
afterAll(async () => {
  await site?.close();
  await crawl?.close();
});

const sameBytes = (one: Uint8Array | string, other: Uint8Array) => Buffer.from(one as Uint8Array).equals(other);

it("reads as WARC files by warcio.js: each record is whole, and its digests are those of its bytes", async () => {
  const counts = new Map<string, number>();
  const wrong: string[] = [];
  for (const file of files.values()) {
    // once for what the record holds, once for what the answer in it does
    for (const [name, parseHttp] of [
      ["WARC-Block-Digest", false],
      ["WARC-Payload-Digest", true],
    ] as const) {
      for await (const record of new WARCParser([file], { parseHttp })) {
        const { warcType, warcTargetURI } = record;
        const payload = Buffer.from(await record.readFully(false));
        const stated = record.warcHeader(name);
        if (parseHttp) counts.set(warcType ?? "", (counts.get(warcType ?? "") ?? 0) + 1);
        if (parseHttp && warcType === "revisit") continue;
        const found = `sha256:${createHash("sha256").update(payload).digest("hex")}`;
        if (stated !== null && stated !== undefined && stated !== found) wrong.push(`${name} of ${warcTargetURI}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(counts.get("request")).toBe((counts.get("response") ?? 0) + (counts.get("revisit") ?? 0));
  expect(counts.get("revisit")).toBeGreaterThan(20);
});

it("is replayed byte for byte, of both crawls", async () => {
  const archive = { sql: crawl.sql, objects: crawl.dependencies.objects };
  const times = await crawl.sql<{ url: string; time: Date }[]>`
    select final_url as url, fetched_at as time from captures where warc_key is not null order by id`;
  const wrong: string[] = [];
  for (const [path, [, body]] of Object.entries(PAGES)) {
    const { href } = new URL(path, site.origin);
    const captures = times.filter(({ url }) => url === href);
    if (captures.length < 2) wrong.push(`${path}: ${captures.length} captures`);
    for (const { time } of captures) {
      const timestamp = time.toISOString().replace(/\D/g, "").slice(0, 14);
      const answer = await replay(archive, {
        method: "GET",
        path: `/${timestamp}id_/${href}`,
        origin: "http://replay.test",
        header: () => undefined,
      });
      if (!sameBytes(answer.body, body)) wrong.push(`${path}: ${answer.status}`);
    }
  }
  expect(wrong).toEqual([]);
});

async function exported(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const uploads = createUploads(crawl.aws.s3, crawl.aws.bucket);
  const sources = { sql: crawl.sql, objects: crawl.dependencies.objects, uploads };
  const options = { jobId: jobs[0] as string, created: new Date(), proceed: () => undefined };
  await buildWacz(sources, options, async (bytes) => void chunks.push(Buffer.from(bytes)));
  return Buffer.concat(chunks);
}

it("leaves as a WACZ file whose index finds each record", async () => {
  const entries = zipEntries(await exported());
  const lines = entries.get("indexes/index.cdxj")?.toString().trim().split("\n") ?? [];
  expect(lines.length).toBeGreaterThan(Object.keys(PAGES).length);
  for (const line of lines) {
    const { url, filename, offset, length } = JSON.parse(line.slice(line.indexOf("{"))) as Record<string, string>;
    const file = entries.get(`archive/${filename}`) as Buffer;
    const bytes = file.subarray(Number(offset), Number(offset) + Number(length));
    const parser = new WARCParser([bytes]);
    const record = await parser.parse();
    expect(record?.warcTargetURI).toBe(url);
  }
});

it("leaves as a WACZ file that is valid and signed, and neither after one byte of any entry has changed", async () => {
  const file = await exported();
  expect(await waczFaults(file)).toEqual([]);
  const unnoticed: string[] = [];
  for (const [name, bytes] of zipEntries(file)) {
    const at = bytes.byteOffset - file.byteOffset;
    // of what is signed by nobody but by itself: the values that the signature is made of
    const places = name.endsWith("-digest.json")
      ? ["signature", "publicKey", "hash"].map((field) => bytes.lastIndexOf(`"${field}"`) + field.length + 30)
      : [0, Math.floor(bytes.length / 2), bytes.length - 1];
    for (const place of places) {
      const changed = Buffer.from(file);
      changed.writeUInt8(changed.readUInt8(at + place) ^ 1, at + place);
      if ((await waczFaults(changed)).length === 0) unnoticed.push(`${name}: byte ${place}`);
    }
  }
  expect(unnoticed).toEqual([]);
});

/** Objects that are read from the bucket, by their keys. */
function readsOf({ s3 }: { s3: S3Client }): string[] {
  const keys: string[] = [];
  const name = "reads";
  s3.middlewareStack.add(
    (next) => async (args) => {
      const { method, path } = args.request as { method: string; path: string };
      if (method === "GET") keys.push(path);
      return await next(args);
    },
    { step: "finalizeRequest", name },
  );
  onTestFinished(() => void s3.middlewareStack.remove(name));
  return keys;
}

/** Whatever the index holds of snapshots and links. */
const indexRows = async () => [
  await crawl.sql`select * from snapshot_index order by capture_id`,
  await crawl.sql`select * from page_links order by from_hash, to_hash`,
  await crawl.sql`select * from archive_languages order by language`,
  await crawl.sql`select * from archive_words order by word`,
];

const indexAnew = async (): Promise<void> => {
  await crawl.sql`truncate snapshot_index, snapshots_due, page_links, archive_languages, archive_words`;
  await crawl.sql`
    insert into snapshots_due (capture_id)
    select id from captures where warc_key is not null and reused_from is null and mime_type like '%html%'`;
  await indexSnapshots(crawl.dependencies, ALWAYS);
};

/** The captures stay, and nobody finds their documents. */
async function withoutDocuments(work: () => Promise<void>): Promise<void> {
  await crawl.sql`create table kept_ids as select id, capture_id from documents`;
  await crawl.sql`update documents set capture_id = null`;
  await work();
  await crawl.sql`update documents d set capture_id = k.capture_id from kept_ids k where k.id = d.id`;
  await crawl.sql`drop table kept_ids`;
}

it("is searched by what ingest has stored, which is what the archive says", async () => {
  const reads = readsOf(crawl.aws);
  await indexAnew();
  const stored = await indexRows();
  const [{ snapshots = 0, documents = 0 } = {}] = await crawl.sql<{ snapshots: number; documents: number }[]>`
    select count(distinct c.id)::int as snapshots, count(distinct d.capture_id)::int as documents
    from snapshot_index s join captures c on c.id = s.capture_id left join documents d on d.capture_id = c.id`;
  expect(documents).toBeGreaterThan(40);
  expect(reads).toHaveLength(snapshots - documents);
  reads.length = 0;
  await withoutDocuments(indexAnew);
  expect(reads).toHaveLength(snapshots);
  expect(await indexRows()).toEqual(stored);
});

it("is compared by what ingest has stored, which is what the archive says", async () => {
  const changes = () => crawl.sql`
    select id, kind, summary, from_capture_id, to_capture_id, added_lines, removed_lines, diff from page_changes
    where page like '%/news' order by to_at`;
  await crawl.sql`delete from changes_due where page not like '%/news'`;
  const reads = readsOf(crawl.aws);
  await computeChanges(crawl.dependencies, ALWAYS);
  const stored = await changes();
  expect(stored).toMatchObject([{ kind: "new_page" }, { kind: "updated", added_lines: 1, removed_lines: 1 }]);
  expect(reads).toEqual([]);
  await crawl.sql`truncate page_changes`;
  await crawl.sql`insert into changes_due (page) select distinct page_of(final_url) from captures where final_url like '%/news'`;
  await withoutDocuments(async () => void (await computeChanges(crawl.dependencies, ALWAYS)));
  expect(reads).toHaveLength(2);
  expect(await changes()).toEqual(stored);
});

it("is searched by its main text, whatever its crawl selected or left out", async () => {
  const config = crawlConfigSchema.parse({ rate_limit_rps: 1000, exclude_selectors: ["main"] });
  await crawl.run(newSiteJob(`${site.origin}/news`, { maxDepth: 0, config }));
  await indexSnapshots(crawl.dependencies, ALWAYS);
  const [row] = await crawl.sql<{ snippet: string }[]>`
    select snippet from snapshot_index where url_key like '%/news' order by capture_id desc limit 1`;
  expect(row?.snippet).toContain("of the sea");
});
