import * as zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { selectFields } from "../../../../shared/crawl/results/fields.ts";
import type { CrawledPage } from "../../../../shared/crawl/results/pages.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { encodeAs } from "../../../sites/legacy-encoding.ts";
import { newJob, page } from "../../crawl/crawl-setup.ts";
import { type ResultsSetup, resultsSetup, type Sent } from "./results-setup.ts";

const CONTENT = selectFields({ include: "content,markdown,truncated,parse_error,charset" }, "all");

/**
 * Crawls one URL per name.
 * @returns the pages by name
 */
async function crawl(setup: ResultsSetup, sent: Record<string, Sent>) {
  const names = Object.keys(sent);
  const job = await createJob(setup.dependencies, newJob(names.map((name) => `http://a.example/${name}`)));
  await setup.serve((url) => sent[decodeURIComponent(new URL(url).pathname.slice(1))] as Sent);
  const pages = await setup.pages(job.job_id, CONTENT);
  const byName = pages.map((each) => [decodeURIComponent(new URL(each.page.url).pathname.slice(1)), each.page]);
  return { jobId: job.job_id, pages: Object.fromEntries(byName) as Record<string, CrawledPage> };
}

/** UTF-16 with its mark. */
function encodeText(text: string, charset: string): Uint8Array {
  if (!charset.startsWith("UTF-16")) return encodeAs(text, charset);
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return charset === "UTF-16LE" ? bytes : bytes.swap16();
}

const HTML = page("A page of the strand — ünïcödé 🐚");

test("the content is what the server sent, whatever its content coding", async () => {
  const setup = await resultsSetup();
  const bodies: Record<string, Buffer> = {
    identity: Buffer.from(HTML),
    gzip: zlib.gzipSync(HTML),
    deflate: zlib.deflateSync(HTML),
    br: zlib.brotliCompressSync(HTML),
    zstd: zlib.zstdCompressSync(HTML),
    "gzip,br": zlib.brotliCompressSync(zlib.gzipSync(HTML)),
  };
  const sent = Object.entries(bodies).map(([coding, body]): [string, Sent] => [
    coding,
    {
      body,
      headers: [
        ["Content-Type", "text/html; charset=utf-8"],
        ["Content-Encoding", coding],
      ],
    },
  ]);
  sent.push([
    "raw deflate",
    {
      body: zlib.deflateRawSync(HTML),
      headers: [
        ["content-encoding", "deflate"],
        ["content-type", "text/html"],
      ],
    },
  ]);
  const { pages } = await crawl(setup, Object.fromEntries(sent));
  for (const [coding] of sent) expect(pages[coding], coding).toMatchObject({ content: HTML, truncated: false });
});

const WORDS: Record<string, string> = {
  "UTF-8": "Ström, 潮, прилив 🐚",
  "UTF-16LE": "Ström, 潮, прилив 🐚",
  "UTF-16BE": "Ström, 潮, прилив 🐚",
  "windows-1252": "Ström – “Flut” für 5 €",
  "ISO-8859-2": "příliv a odliv žluťoučký",
  "windows-1251": "прилив приносит брёвна",
  "KOI8-R": "прилив приносит брёвна",
  "windows-1253": "η παλίρροια φέρνει ξύλα",
  "windows-1255": "הגאות מביאה עצים",
  Shift_JIS: "潮が流木を運ぶ",
  "EUC-JP": "潮が流木を運ぶ",
  "EUC-KR": "밀물이 나무를 나른다",
  GBK: "潮水带来漂流木",
  Big5: "潮水帶來漂流木",
};

test("the content of every charset is the text that was encoded", async () => {
  const setup = await resultsSetup();
  const html = (words: string) => `<!doctype html><html lang="en"><title>${words}</title><p>${words}</p>`;
  const sent = Object.entries(WORDS).map(([charset, words]): [string, Sent] => [
    charset,
    { body: encodeText(html(words), charset), headers: [["Content-Type", `text/html; charset=${charset}`]] },
  ]);
  const { pages } = await crawl(setup, Object.fromEntries(sent));
  for (const [charset, words] of Object.entries(WORDS)) {
    expect(pages[charset]?.content, charset).toBe(html(words));
    expect(pages[charset]?.charset, charset).toBe(charset);
  }
});

test("error pages and other texts have content, binary bodies have none", async () => {
  const setup = await resultsSetup();
  const refused = (type: string) => ({
    code: "UNSUPPORTED_TYPE",
    message: `${type} is not extracted`,
    retryable: false,
  });
  const notFound = { code: "HTTP_404", message: "The server answered 404", retryable: false };
  const { pages } = await crawl(setup, {
    "404": { body: "<h1>Keine Fl\xfcsse</h1>", status: 404, error: notFound, headers: [["content-type", "text/html"]] },
    json: {
      body: '{"tide":"潮"}',
      headers: [["content-type", "application/json"]],
      error: refused("application/json"),
    },
    png: {
      body: Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
      headers: [["content-type", "image/png"]],
      error: refused("image/png"),
    },
    lie: { body: Buffer.from("%PDF-1.7 \x00\x01", "latin1"), headers: [["content-type", "text/plain"]] },
  });
  expect(pages["404"]?.content).toBe("<h1>Keine Fl\xfcsse</h1>");
  expect(pages["json"]?.content).toBe('{"tide":"潮"}');
  expect(pages["png"]).not.toHaveProperty("content");
  expect(pages["lie"]).not.toHaveProperty("content");
});

describe("a long content is cut", () => {
  test.each([
    ["ASCII", "UTF-8", "a", 1],
    ["two bytes a character", "UTF-8", "ü", 2],
    ["three bytes", "UTF-8", "潮", 3],
    ["a surrogate pair", "UTF-8", "🐚", 4],
    ["a surrogate pair in UTF-16", "UTF-16LE", "🐚", 4],
    ["two bytes that become three", "Shift_JIS", "潮", 3],
  ])("at a character boundary: %s", async (_, charset, character, bytes) => {
    const setup = await resultsSetup();
    setup.reader.maxContentBytes = 10_001;
    const body = `<p>${character.repeat(20_000)}</p>`;
    const headers: [string, string][] = [
      ["content-type", `text/html; charset=${charset}`],
      ["content-encoding", "gzip"],
    ];
    const whole = `<p>${"a".repeat(10_001 - 3)}`;
    const { pages } = await crawl(setup, {
      long: { body: zlib.gzipSync(encodeText(body, charset)), headers },
      whole: { body: whole, headers: [["content-type", "text/html"]] },
    });
    const fitting = Math.floor((10_001 - 3) / bytes);
    expect(pages["long"]?.content).toBe(`<p>${character.repeat(fitting)}`);
    expect(pages["long"]?.truncated).toBe(true);
    expect(Buffer.byteLength(pages["long"]?.markdown ?? "")).toBe(Math.floor(10_001 / bytes) * bytes);
    expect(pages["whole"]).toMatchObject({ content: whole, truncated: false });
  });

  test("without reading more of it than is shown", async () => {
    const setup = await resultsSetup();
    setup.reader.maxContentBytes = 1_000;
    const noise = Buffer.alloc(9_000_000, "0123456789abcdef ").toString();
    const { jobId } = await crawl(setup, { bomb: { body: `<p>${noise}` } });
    const [found] = await setup.pages(jobId, selectFields({ include: "content" }, "all"));
    expect(found?.page.content).toBe(`<p>${noise}`.slice(0, 1_000));
    // it is cut, so it says so, asked for or not
    expect(found?.page.truncated).toBe(true);
  });

  test("a body that fetch had to cut ends with its last whole character", async () => {
    const setup = await resultsSetup();
    const body = Buffer.from("<p>the tide 潮").subarray(0, -1);
    const { pages } = await crawl(setup, {
      cut: { body, truncated: true, headers: [["content-type", "text/html; charset=utf-8"]] },
    });
    expect(pages["cut"]).toMatchObject({ content: "<p>the tide ", truncated: true });
  });
});

describe("the content of an unmodified page is that of the original response", () => {
  const ORIGINAL = page("The original");

  async function original(setup: ResultsSetup) {
    await crawl(setup, { page: { body: ORIGINAL } });
    const [capture] = await setup.sql<{ id: number; record: string; url: string; at: Date }[]>`
      select id, warc_record_id as record, final_url as url, fetched_at as at from captures`;
    if (capture === undefined) throw new Error("no capture");
    const { id, record, url, at } = capture;
    return { id, of: { url, date: at.toISOString(), recordId: record, payloadDigest: null } };
  }

  test.each([
    ["the capture names it", true],
    ["only the revisit record names it", false],
  ])("where %s", async (_, named) => {
    const setup = await resultsSetup();
    const { id, of } = await original(setup);
    const revisit = { of: { profile: "identical-payload-digest" as const, ...of }, captureId: named ? id : null };
    const { pages } = await crawl(setup, { page: { body: ORIGINAL, revisit } });
    expect(pages["page"]).toMatchObject({ content: ORIGINAL, markdown: expect.stringContaining("# The original") });
  });

  test("through a 304, with the title and text of the original", async () => {
    const setup = await resultsSetup();
    const { id, of } = await original(setup);
    const revisit = { of: { profile: "server-not-modified" as const, ...of }, captureId: id };
    const job = await createJob(setup.dependencies, newJob(["http://a.example/page"]));
    await setup.serve(() => ({ body: "", status: 304, revisit }));
    const [found] = await setup.pages(job.job_id);
    expect(found?.page).toMatchObject({
      status_code: 304,
      title: "The original",
      content: ORIGINAL,
      mime: "text/html",
    });
    expect(found?.page.markdown).toContain("# The original");
  });

  test("through a 304, with the text that this job selects, whatever the original's job selected", async () => {
    const setup = await resultsSetup();
    const { id, of } = await original(setup);
    const revisit = { of: { profile: "server-not-modified" as const, ...of }, captureId: id };
    const config = crawlConfigSchema.parse({ include_selectors: ["h1"] });
    const handling = { index: false };
    const job = await createJob(setup.dependencies, newJob(["http://a.example/page"], { config, handling }));
    await setup.serve(() => ({ body: "", status: 304, revisit }));
    const [found] = await setup.pages(job.job_id);
    expect(found?.page.markdown).toBe("# The original");
  });

  test("through a chain of revisits, and a circle of them is no endless loop", async () => {
    const setup = await resultsSetup();
    const { id, of } = await original(setup);
    const revisit = (captureId: number | null) => ({
      of: { profile: "identical-payload-digest" as const, ...of, recordId: captureId === null ? null : of.recordId },
      captureId,
    });
    await crawl(setup, { page: { body: ORIGINAL, revisit: revisit(id) } });
    const [second] = await setup.sql<{ id: number }[]>`select max(id) as id from captures`;
    const third = await crawl(setup, { page: { body: ORIGINAL, revisit: revisit(second?.id ?? 0) } });
    expect(third.pages["page"]?.content).toBe(ORIGINAL);

    const lost = await crawl(setup, { lost: { body: ORIGINAL, revisit: revisit(null) } });
    await setup.sql`update captures set revisit_of = id where url like '%/lost'`;
    const [circle] = await setup.pages(lost.jobId, CONTENT);
    expect(circle?.page.parse_error).toMatch(/^ARCHIVE_UNREADABLE: .*no record of the original response/);
    expect(circle?.page.markdown).toContain("# The original");
  });
});

describe("what the archive has lost", () => {
  test("a page whose WARC is gone or broken stays, and says so", async () => {
    const setup = await resultsSetup();
    const { jobId } = await crawl(setup, { gone: { body: HTML }, broken: { body: HTML } });
    await setup.sql`update captures set warc_key = 'warcs/nothing.warc.gz' where url like '%/gone'`;
    await setup.sql`update captures set warc_offset = warc_offset + 3 where url like '%/broken'`;
    const pages = await setup.pages(jobId, selectFields({ include: "content,title" }, "all"));
    expect(pages.map((each) => each.page.parse_error)).toEqual([
      expect.stringMatching(/^ARCHIVE_UNREADABLE: There is no WARC file/),
      expect.stringMatching(/^ARCHIVE_UNREADABLE: The WARC record .* cannot be read/),
    ]);
    for (const each of pages) expect(each.page).not.toHaveProperty("content");
  });

  test("text whose batch has expired comes from the document, or is extracted again from the archive", async () => {
    const setup = await resultsSetup();
    const { jobId } = await crawl(setup, { page: { body: page("Expired", ["/b"]) } });
    const [{ key } = { key: "" }] = await setup.sql<{ key: string }[]>`select batch_key as key from captures`;
    await setup.aws.removeObject(key);
    const fields = selectFields({ include: "markdown,links" }, "all");
    const [fromDocument] = await setup.pages(jobId, fields);
    await setup.sql`delete from documents`;
    const [again] = await setup.pages(jobId, fields);
    expect(again?.page.markdown).toContain("# Expired");
    expect(again?.page.links).toEqual(["http://a.example/b"]);
    expect(fromDocument).toEqual(again);
    await setup.sql`update captures set warc_key = 'warcs/nothing.warc.gz'`;
    const [lost] = await setup.pages(jobId, fields);
    expect(lost?.page).toMatchObject({ links: [], parse_error: expect.stringMatching(/^ARCHIVE_UNREADABLE/) });
  });

  test("an archive that does not answer is no page without content: reading fails, and may be tried again", async () => {
    const setup = await resultsSetup();
    const { jobId } = await crawl(setup, { page: { body: HTML } });
    const down = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    setup.reader.objects = { ...setup.reader.objects, get: () => Promise.reject(down) };
    await expect(setup.pages(jobId, CONTENT)).rejects.toThrow(down);
    expect(await setup.pages(jobId, selectFields({ include: "title" }, "all"))).toHaveLength(1);
  });
});
