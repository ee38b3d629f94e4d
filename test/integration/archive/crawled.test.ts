/** What a crawl of an awkward site wrote, as readers find it that nobody here wrote, and as replay gives it back. */
import { createHash } from "node:crypto";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WARCParser } from "warcio";
import { replay } from "../../../shared/archive/replay/replay.ts";
import { buildWacz } from "../../../shared/archive/wacz/build-wacz.ts";
import { crawlConfigSchema } from "../../../shared/crawl/settings/crawl-config.ts";
import { createUploads } from "../../../shared/platform/aws/uploads.ts";
import { CHARSETS, charsetPage } from "../../sites/charset-pages.ts";
import { bytesThenClose } from "../../sites/misbehaviour.ts";
import { html, type Route, redirect, type Site, startSite } from "../../sites/site.ts";
import { newSiteJob } from "../crawl/crawl-setup.ts";
import { realCrawl } from "../crawl/real-crawl.ts";
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

let site: Site;
let crawl: Awaited<ReturnType<typeof realCrawl>>;
const jobs: string[] = [];
const files = new Map<string, Buffer>();

beforeAll(async () => {
  const answers = Object.entries(PAGES).map(([path, [route]]) => [path, route] as const);
  site = await startSite({
    "/": html(page("The index", `${links.join(" ")}<a href="/unchanged">x</a>`)),
    "/unchanged": (request) =>
      request.headers["if-none-match"] === '"1"'
        ? { status: 304, headers: { ETag: '"1"' } }
        : html(page("unchanged"), { ETag: '"1"' }),
    ...REDIRECTS,
    ...Object.fromEntries(answers),
  });
  crawl = await realCrawl();
  const config = crawlConfigSchema.parse({ rate_limit_rps: 1000 });
  for (const _ of [1, 2]) {
    const [job] = await crawl.run(newSiteJob(`${site.origin}/`, { maxDepth: 2, config }));
    jobs.push(job?.job_id as string);
  }
  const rows = await crawl.sql<
    { key: string }[]
  >`select distinct warc_key as key from captures where warc_key is not null`;
  for (const { key } of rows) files.set(key, Buffer.from((await crawl.dependencies.objects.get(key)) as Uint8Array));
}, 120_000);
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

it("leaves as a WACZ file whose index finds each record", async () => {
  const chunks: Buffer[] = [];
  const uploads = createUploads(crawl.aws.s3, crawl.aws.bucket);
  const sources = { sql: crawl.sql, objects: crawl.dependencies.objects, uploads };
  const options = { jobId: jobs[0] as string, created: new Date(), proceed: () => undefined };
  await buildWacz(sources, options, async (bytes) => void chunks.push(Buffer.from(bytes)));
  const entries = zipEntries(Buffer.concat(chunks));
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
