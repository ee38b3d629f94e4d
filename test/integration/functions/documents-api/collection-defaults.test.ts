/** What a collection says of its documents where whoever fills it leaves it open. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { api as crawlApi } from "../../../../functions/crawl-api/handler.ts";
import { api } from "../../../../functions/documents-api/handler.ts";
import { api as searchApi } from "../../../../functions/search-api/handler.ts";
import { indexPages } from "../../../../shared/crawl/ingest/index-pages.ts";
import { type JobRow, peekJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { extractPage } from "../../../../shared/extract/extract-page.ts";
import { inTransaction } from "../../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ EMBEDDER__PROVIDER: "none" });
});
afterAll(async () => {
  await setup.close();
});

const call = (method: string, path: string, json?: unknown, key = setup.keys.write) =>
  callApi(api, { method, path: `/api/v1${path}`, key, ...(json === undefined ? {} : { json }) });
const NOTHING = { chunk_size: null, chunk_overlap: null, min_chunk_size: null, languages: null, language: null };
let collections = 0;
const collection = async (defaults: object = {}): Promise<string> => {
  const { body, status } = await call("POST", "/collections", { name: `Of defaults ${++collections}`, defaults });
  expect(status).toBe(201);
  return body.id;
};
const prose = (word: string, sentences: number) =>
  Array.from({ length: sentences }, (_, at) => `The ${word} number ${at} stands by the harbour and is well known.`);
const LONG = prose("beacon", 60).join(" ");
const GERMAN = "Der Leuchtturm steht am Hafen, und alle, die dort leben, kennen ihn seit vielen Jahren sehr gut.";
const upload = async (body: object) => (await call("POST", "/documents", body)).body;

describe("defaults of a collection", () => {
  it("are shown, replaced as a whole, and taken away", async () => {
    const id = await collection({ chunk_size: 100, languages: ["de", "en"], language: null });
    const shown = async () => (await call("GET", `/collections/${id}`)).body.defaults;
    expect(await shown()).toEqual({ ...NOTHING, chunk_size: 100, languages: ["de", "en"] });
    await call("PUT", `/collections/${id}`, { name: `Kept ${id}`, defaults: { language: "de" } });
    expect(await shown()).toEqual({ ...NOTHING, language: "de" });
    await call("PUT", `/collections/${id}`, { name: `Kept ${id}` });
    expect(await shown()).toEqual(NOTHING);
  });

  it.each([
    ["an overlap above half of a chunk", { chunk_size: 100, chunk_overlap: 51 }, /defaults: chunk_overlap \(51\)/],
    ["an overlap above half of the usual chunk", { chunk_overlap: 300 }, /set it to 256 at the most/],
    ["a chunk that holds no word", { chunk_size: 23 }, /chunk_size/],
    ["no language", { languages: [] }, /languages/],
    ["an unknown language", { language: "und" }, /ISO 639-1/],
    ["an embedder", { embedder: "other" }, /one model answers all searches/],
    ["an unknown field", { rate_limit_rps: 1 }, /rate_limit_rps/],
  ])("are refused with %s, and nothing is made", async (_, defaults, message) => {
    const name = `Refused ${uuidv7()}`;
    const { status, body } = await call("POST", "/collections", { name, defaults });
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(JSON.stringify(body)).toMatch(message);
    expect((await call("POST", "/collections", { name })).status).toBe(201);
  });

  it("cut what is uploaded, each collection as it says", async () => {
    const small = await collection({ chunk_size: 60, chunk_overlap: 0 });
    const documents = [small, await collection(), null].map((collection_id) => ({
      content: LONG,
      url: "https://a.example/long",
      collection_id,
    }));
    const { items } = (await call("POST", "/documents/batch", { documents })).body;
    const [cut, usual, outside] = items.map(({ chunks }: { chunks: number }) => chunks);
    expect(cut).toBeGreaterThan(3 * usual);
    expect(outside).toBe(usual);
    const { body } = await call("GET", `/documents/${items[0].document_id}/chunks?limit=200`);
    const sizes = body.items.map(({ token_count }: { token_count: number }) => token_count);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(60);
  });

  it("say which languages are taken where an upload does not", async () => {
    const collection_id = await collection({ languages: ["de"] });
    expect(await upload({ content: GERMAN, collection_id })).toMatchObject({ outcome: "created", language: "de" });
    expect(await upload({ content: prose("buoy", 3).join(" "), collection_id })).toMatchObject({
      code: "LANGUAGE_NOT_WANTED",
      error: expect.stringContaining("only de is wanted"),
    });
    const named = { content: prose("buoy", 3).join(" "), collection_id, languages: ["en"] };
    expect(await upload(named)).toMatchObject({ language: "en" });
  });

  it("say what a text is in that is too short to tell", async () => {
    const collection_id = await collection({ language: "de" });
    const content = "Die Häuser";
    expect(await upload({ content })).toMatchObject({ language: "und" });
    const { document_id } = await upload({ content, collection_id });
    const [row] = await setup.database.sql<{ language: string; is_language_assumed: boolean; fts: string }[]>`
      select d.language, d.is_language_assumed, c.fts::text
      from documents d join chunks c on c.document_id = d.id where d.id = ${document_id}`;
    // the stem of "Häuser" in German
    expect(row).toMatchObject({ language: "de", is_language_assumed: true, fts: expect.stringMatching(/'haus'/) });
    expect(await upload({ content: `${content}!`, language: "nl", collection_id })).toMatchObject({ language: "nl" });
  });

  it("hold for crawls that fill it, as far as their own settings say nothing", async () => {
    const collection_id = await collection({ chunk_size: 80, chunk_overlap: 40, languages: ["de"] });
    const configOf = async (config: object) => {
      const json = { url: "https://a.example/", collection_id, config };
      const { status, body } = await callApi(crawlApi, { path: "/api/v1/crawl", key: setup.keys.write, json });
      expect(status).toBe(202);
      return (await jobOf(body.job_id)).settings.config;
    };
    const sizes = { chunk_size: 80, chunk_overlap: 40, min_chunk_size: 40 };
    expect(await configOf({})).toMatchObject({ ...sizes, languages: ["de"] });
    expect(await configOf({ languages: ["*"], chunk_overlap: 10 })).toMatchObject({
      chunk_size: 80,
      chunk_overlap: 10,
    });
    // an overlap is for the size that it was chosen for
    expect(await configOf({ chunk_size: 40 })).toMatchObject({ chunk_size: 40, chunk_overlap: 20, languages: ["de"] });
    const json = { url: "https://a.example/", collection_id: uuidv7() };
    const missing = await callApi(crawlApi, { path: "/api/v1/crawl", key: setup.keys.write, json });
    expect(missing).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });

  it("say what a crawled page is in that does not tell", async () => {
    const collection_id = await collection({ language: "de", chunk_size: 60, chunk_overlap: 0 });
    const json = { url: "https://a.example/", collection_id };
    const { body } = await callApi(crawlApi, { path: "/api/v1/crawl", key: setup.keys.write, json });
    const job = await jobOf(body.job_id);
    const page = (path: string, html: string) => ({
      capture: {
        extraction: extractPage(html, { url: path }),
        fetchedAt: new Date().toISOString(),
        notModified: false,
      },
      ...{ captureId: null, finalUrl: `https://a.example/${path}`, finalHash: path.padEnd(64, "0") },
      ...{ url: { discoveredFrom: null }, outcome: { state: "crawled" } },
    });
    const pages = [page("aa", "<p>Die Häuser"), page("bb", `<p>${LONG}`)] as unknown as Parameters<
      typeof indexPages
    >[2];
    const log = createLogger({}, "error", () => {});
    await inTransaction(setup.database.sql, (tx) => indexPages(tx, job, pages, null, log));
    const rows = await setup.database.sql<{ url: string; language: string; chunks: number; blocks: number[] }[]>`
      select url, language, blocks, (select count(*)::int from chunks c where c.document_id = d.id) as chunks
      from documents d where job_id = ${job.id} order by url`;
    expect(rows).toMatchObject([
      { url: "https://a.example/aa", language: "de", chunks: 1, blocks: [0, 0, 10] },
      { url: "https://a.example/bb", language: "en" },
    ]);
    expect(rows[1]?.chunks).toBeGreaterThan(3);
  });
});

describe("reindexing a collection", () => {
  const reindex = async (id: string, cursor = "") =>
    (await call("POST", `/collections/${id}/reindex${cursor === "" ? "" : `?cursor=${cursor}`}`)).body;
  const found = async (query: string, collection_id: string) => {
    const json = { query, collection_ids: [collection_id], limit: 100 };
    const { body } = await callApi(searchApi, { path: "/api/v1/search/keyword", key: setup.keys.read, json });
    return body.results as { document_id: string; content: string }[];
  };
  const CODE = Array.from({ length: 30 }, (_, at) => `const beam${at} = turn(${at});`).join("\n");
  const GUIDE = `# Guide\n\n${LONG}\n\n\`\`\`js\n${CODE}\n\`\`\`\n\n${prose("mole", 40).join(" ")}`;

  it("cuts what is there as its defaults say by now, and once more nothing", async () => {
    const id = await collection();
    const { document_id, chunks } = await upload({ content: GUIDE, collection_id: id, tags: ["kept"] });
    await call("PUT", `/collections/${id}`, { name: `Cut ${id}`, defaults: { chunk_size: 400, chunk_overlap: 0 } });
    expect(await reindex(id)).toEqual({ documents: 1, recut: 1, next_cursor: null, has_more: false });
    const { body: after } = await call("GET", `/documents/${document_id}/chunks?limit=200`);
    expect(after.items.length).not.toBe(chunks);
    expect(Math.max(...after.items.map((each: { token_count: number }) => each.token_count))).toBeLessThanOrEqual(400);
    // the code is whole, as a crawl would have cut it
    const fresh = await upload({ content: GUIDE, url: "https://a.example/guide", collection_id: id });
    const { body: anew } = await call("GET", `/documents/${fresh.document_id}/chunks?limit=200`);
    const ranges = ({ items }: { items: { start_char: number; content_type: string }[] }) =>
      items.map(({ start_char, content_type }) => [start_char, content_type]);
    expect(ranges(after)).toEqual(ranges(anew));
    expect(ranges(after).some(([, type]) => type === "code")).toBe(true);
    expect(await reindex(id)).toMatchObject({ documents: 2, recut: 0 });
    const { body: document } = await call("GET", `/documents/${document_id}`);
    expect(document).toMatchObject({ id: document_id, tags: [{ name: "kept" }], title: "Guide" });
    const hits = await found("beam29", id);
    expect(new Set(hits.map((each) => each.document_id))).toEqual(new Set([document_id, fresh.document_id]));
    // without sizes chunks stay as they are
    await call("PUT", `/collections/${id}`, { name: `Cut ${id}` });
    expect(await reindex(id)).toMatchObject({ documents: 2, recut: 0 });
  });

  it("cuts documents of which the blocks are not known, and the second time nothing", async () => {
    const id = await collection();
    const { document_id } = await upload({ content: GUIDE, collection_id: id });
    await setup.database.sql`update documents set blocks = null where id = ${document_id}`;
    await call("PUT", `/collections/${id}`, { name: `Old ${id}`, defaults: { chunk_size: 100, chunk_overlap: 20 } });
    expect(await reindex(id)).toMatchObject({ documents: 1, recut: 1 });
    expect(await reindex(id)).toMatchObject({ documents: 1, recut: 0 });
  });

  it("reads texts in the language that is assumed by now, and leaves those that tell", async () => {
    const id = await collection({ language: "de", languages: ["*"] });
    const short = await upload({ content: "Die Häuser", collection_id: id });
    await upload({ content: GERMAN, collection_id: id });
    const languages = async () =>
      (await call("GET", `/documents?collection_id=${id}`)).body.items.map(
        (each: { language: string }) => each.language,
      );
    expect(await found("Haus", id)).toMatchObject([{ document_id: short.document_id }]);
    await call("PUT", `/collections/${id}`, { name: `Read ${id}`, defaults: { language: "nl" } });
    expect(await reindex(id)).toMatchObject({ documents: 2, recut: 1 });
    expect((await languages()).sort()).toEqual(["de", "nl"]);
    await call("PUT", `/collections/${id}`, { name: `Read ${id}` });
    expect(await reindex(id)).toMatchObject({ recut: 1 });
    expect((await languages()).sort()).toEqual(["de", "und"]);
    expect(await reindex(id)).toMatchObject({ recut: 0 });
  });

  it("has more than 200 documents seen to page by page, each once", async () => {
    const id = await collection();
    for (let batch = 0; batch < 5; batch++) {
      const documents = Array.from({ length: 45 }, (_, at) => ({
        ...{ content: `${prose(`pier${batch}x${at}`, 8).join(" ")}`, collection_id: id },
      }));
      expect((await call("POST", "/documents/batch", { documents })).body.stored).toBe(45);
    }
    await call("PUT", `/collections/${id}`, { name: `Many ${id}`, defaults: { chunk_size: 50, chunk_overlap: 0 } });
    let [documents, recut, cursor] = [0, 0, ""];
    do {
      const page = await reindex(id, cursor);
      documents += page.documents;
      recut += page.recut;
      cursor = page.next_cursor ?? "";
    } while (cursor !== "");
    expect([documents, recut]).toEqual([225, 225]);
    expect((await found("pier4x44", id)).length).toBeGreaterThan(1);
  });
});

const jobOf = (id: string): Promise<JobRow> =>
  inTransaction(setup.database.sql, async (tx) => (await peekJob(tx, id)) as JobRow);
