import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { api } from "../../../../functions/documents-api/handler.ts";
import { api as searchApi } from "../../../../functions/search-api/handler.ts";
import { settleJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { activateGeneration } from "../../../../shared/knowledge/documents/generations.ts";
import { endDeletedDocuments, removeUnseenDocuments } from "../../../../shared/knowledge/documents/maintenance.ts";
import { embedTaskSchema } from "../../../../shared/knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../../../shared/knowledge/embedding/embed-worker.ts";
import { openVectorSide } from "../../../../shared/knowledge/search/vector-side.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { callApi } from "../../../services/api.ts";
import { pdfFile } from "../../../services/pdf-file.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline-documents-"));
  const VECTORS__SQLITE_PATH = join(directory, "vectors.sqlite");
  setup = await setUpApi({ VECTORS__SQLITE_PATH, EMBEDDER__PROVIDER: "static" });
});
afterAll(async () => {
  await setup.close();
  await rm(directory, { recursive: true, force: true });
});

const call = (method: string, path: string, json?: unknown, key = setup.keys.write) =>
  callApi(api, { method, path: `/api/v1${path}`, key, ...(json === undefined ? {} : { json }) });
const upload = async (content: string, more: object = {}) =>
  (await call("POST", "/documents", { content, ...more })).body as { document_id: string; job_id: string; url: string };
const collection = async (name: string): Promise<string> => (await call("POST", "/collections", { name })).body.id;

/** Does what the messages that were sent ask for. */
async function embed(): Promise<number> {
  const config = loadConfig();
  const vectorSide = await openVectorSide(config)();
  const log = createLogger({}, "error", () => {});
  let chunks = 0;
  for (const message of await setup.aws.receive("embed-high", 0)) {
    const task = embedTaskSchema.parse(message);
    await embedChunks({ sql: setup.database.sql, vectorSide, settleJob, log }, task);
    chunks += task.chunkIds.length;
  }
  await vectorSide?.vectors.close();
  return chunks;
}

async function found(mode: "vector" | "keyword", query: string, more: object = {}): Promise<string[]> {
  const { body } = await callApi(searchApi, {
    path: `/api/v1/search/${mode}`,
    json: { query, ...more },
    key: setup.keys.read,
  });
  return body.results.map((each: { document_id: string }) => each.document_id);
}

const text = (word: string) => `The ${word} stands by the harbour, and everybody who lives there knows it well.`;

describe("uploads", () => {
  it("are found by their words at once, and by meaning once they are embedded", async () => {
    const { document_id, job_id } = await upload(`# Harbour\n\n${text("zanzibar")}`, { title: "On harbours" });
    expect(await found("keyword", "zanzibar")).toEqual([document_id]);
    expect(await embed()).toBeGreaterThan(0);
    expect(await found("vector", "zanzibar harbour")).toContain(document_id);
    const { body } = await call("GET", `/documents/${document_id}`);
    expect(body).toMatchObject({
      title: "On harbours",
      source: "upload",
      language: "en",
      job_id,
      capture_id: null,
      chunk_count: 1,
      is_cut: false,
      chunks: [{ chunk_index: 0, section_header: "Harbour" }],
    });
    expect(body.markdown).toContain("# Harbour");
  });

  it("are one document where they say the same, and a new version where they do not", async () => {
    const first = await call("POST", "/documents", { content: text("mombasa") });
    expect(first).toMatchObject({ status: 201, body: { outcome: "created" } });
    const again = await call("POST", "/documents", { content: text("mombasa") });
    expect(again.body).toMatchObject({ outcome: "unchanged", document_id: first.body.document_id, job_id: null });
    await embed();
    const tagged = await call("POST", "/documents", { content: text("mombasa"), tags: ["coral"] });
    expect(tagged.body).toMatchObject({ outcome: "unchanged", document_id: first.body.document_id });
    // their vectors carry the tag
    expect(await embed()).toBe(1);
    const { url } = first.body;
    const changed = await call("POST", "/documents", { url, content: text("lamu"), metadata: { author: "A" } });
    expect(changed.body).toMatchObject({ outcome: "updated", url });
    expect(changed.body.document_id).not.toBe(first.body.document_id);
    expect(await found("keyword", "mombasa")).toEqual([]);
    expect(await found("keyword", "lamu")).toEqual([changed.body.document_id]);
    const { body } = await call("GET", `/documents?url=${encodeURIComponent(url)}&count=true`);
    expect(body).toMatchObject({ total: 1, items: [{ metadata: { author: "A" } }] });
  });

  it("of which one is broken fail alone, each with its reason", async () => {
    const documents = [
      { content: text("kilwa"), tags: ["Coast", "coast"] },
      { content: "%PDF-1.7 …" },
      { content: "<script>1</script>", content_type: "text/html" },
      { content: "The word", content_type: "image/png" },
      { content: "Der Leuchtturm steht am Hafen, und alle, die dort leben, kennen ihn seit vielen Jahren sehr gut." },
      { content: text("pemba"), collection_id: uuidv7() },
      { content: text("tanga"), url: "no url" },
      { content: text("dar"), url: "https://user:secret@a.example/" },
      { content: text("kilwa") },
    ];
    const { status, body } = await call("POST", "/documents/batch", { documents });
    expect(status).toBe(200);
    expect(body).toMatchObject({ stored: 2, failed: 7 });
    expect(body.items.map((each: { code?: string; outcome: string }) => each.code ?? each.outcome)).toEqual([
      "created",
      "UNSUPPORTED_TYPE",
      "NO_TEXT",
      "UNSUPPORTED_TYPE",
      "LANGUAGE_NOT_WANTED",
      "NOT_FOUND",
      "URL_INVALID",
      "URL_INVALID",
      "created",
    ]);
    expect(body.items[8].document_id).toBe(body.items[0].document_id);
    const { body: shown } = await call("GET", `/documents/${body.items[0].document_id}`);
    expect(shown.tags.map(({ name }: { name: string }) => name)).toEqual(["coast"]);
    const german = await call("POST", "/documents", { ...documents[4], languages: ["de"] });
    expect(german).toMatchObject({ status: 201, body: { language: "de" } });
  });
});

describe("files", () => {
  it("are read by what they are, and their chunks name the pages", async () => {
    const page = (word: string) => Array.from({ length: 40 }, (_, line) => `${line}: ${text(word)}`);
    const content_base64 = pdfFile([page("chinde"), page("ibo")], { title: "Ports" }).toString("base64");
    const stored = await call("POST", "/documents", { content_base64, filename: "ports.txt" });
    expect(stored).toMatchObject({ status: 201, body: { title: "Ports" } });
    expect(new Set(await found("keyword", "ibo"))).toEqual(new Set([stored.body.document_id]));
    const { body } = await call("GET", `/documents/${stored.body.document_id}/chunks`);
    const headers = new Set(body.items.map((each: { section_header: string }) => each.section_header));
    expect([...headers]).toEqual(["Page 1", "Page 2"]);
    const again = await call("POST", "/documents", { content_base64, filename: "ports.txt" });
    expect(again.body).toMatchObject({ outcome: "unchanged" });
  });

  it("that are larger than a request are put where the answer says, and read from there", async () => {
    const file = pdfFile([[text("zambezi")]], { title: "Rivers" });
    const sha256 = createHash("sha256").update(file).digest("hex");
    const { status, body } = await call("POST", "/documents/uploads", { bytes: file.length, sha256 });
    expect({ status, method: body.method }).toEqual({ status: 201, method: "PUT" });
    const { upload_id, upload_url, headers } = body;
    expect(await call("POST", "/documents", { upload_id })).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect((await fetch(upload_url, { method: "PUT", headers, body: file })).ok).toBe(true);
    const stored = await call("POST", "/documents", { upload_id, filename: "rivers.pdf" });
    expect(stored).toMatchObject({ status: 201, body: { outcome: "created", title: "Rivers" } });
    const content_base64 = file.toString("base64");
    const { body: both } = await call("POST", "/documents/batch", {
      documents: [{ upload_id: uuidv7() }, { content_base64, filename: "rivers.pdf" }],
    });
    expect(both.items).toMatchObject([
      { code: "NOT_FOUND" },
      { outcome: "unchanged", document_id: stored.body.document_id },
    ]);
    const large = await call("POST", "/documents/uploads", { bytes: 26 * 1024 * 1024, sha256 });
    expect(large).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  });

  it("need one content, in base64", async () => {
    for (const body of [{}, { content: "a", content_base64: "YQ==" }, { content_base64: "a b" }]) {
      expect(await call("POST", "/documents", body)).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    }
  });
});

describe("a document that is deleted", () => {
  it("is found by nobody, stays away from crawls, and comes back when it is restored", async () => {
    const url = "https://site.example/gone";
    const { document_id } = await upload(text("quelimane"), { url });
    await embed();
    expect(await call("DELETE", `/documents/${document_id}`)).toMatchObject({ status: 204 });
    expect(await found("keyword", "quelimane")).toEqual([]);
    expect(await found("vector", "quelimane harbour")).not.toContain(document_id);
    expect(await call("DELETE", `/documents/${document_id}`)).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
    const { body } = await call("GET", "/documents?deleted=true");
    expect(body.items).toMatchObject([{ id: document_id, deleted_at: expect.any(String) }]);

    const { sql } = setup.database;
    const [job] = await sql<{ id: string; generation: string }[]>`
      select id, generation_id as generation from jobs order by id desc limit 1`;
    const generationId = uuidv7();
    await sql`
      insert into documents (id, generation_id, url, url_hash, domain, content, markdown, content_hash, language, crawled_at)
      select gen_random_uuid(), ${generationId}, url, url_hash, domain, 'crawled quelimane', '', content_hash, 'en', now()
      from documents where id = ${document_id}`;
    const target = { jobId: job?.id ?? "", generationId, collectionId: null, onlyNewer: false };
    await sql.begin((tx) => activateGeneration(tx, { ...target, wholeHosts: ["site.example"] }));
    expect((await call("GET", `/documents?url=${encodeURIComponent(url)}`)).body.items).toEqual([]);

    expect(await call("POST", `/documents/${document_id}/restore`)).toMatchObject({
      status: 200,
      body: { deleted_at: null },
    });
    expect(await found("keyword", "quelimane")).toEqual([document_id]);
    await embed();
    expect(await found("vector", "quelimane harbour")).toContain(document_id);
  });

  it("cannot be restored where another has taken its place; an upload takes it", async () => {
    const url = "https://site.example/taken";
    const first = await upload(text("inhambane"), { url });
    await call("DELETE", `/documents/${first.document_id}`);
    const second = await upload(text("beira"), { url });
    expect(await found("keyword", "beira")).toEqual([second.document_id]);
    expect(await call("POST", `/documents/${first.document_id}/restore`)).toMatchObject({
      status: 409,
      body: { code: "CONFLICT", error: expect.stringContaining(url) },
    });
  });

  it("goes for good after its time, or at once for admins, and its URL stays away", async () => {
    const { sql } = setup.database;
    const [late, erased] = [await upload(text("sofala")), await upload(text("angoche"))];
    await call("DELETE", `/documents/${late.document_id}`);
    expect(await endDeletedDocuments(sql, 30)).toBe(0);
    await sql`update documents set deleted_at = now() - interval '31 days' where id = ${late.document_id}`;
    expect(await endDeletedDocuments(sql, 30)).toBe(1);
    expect(await call("DELETE", `/documents/${erased.document_id}/permanently`)).toMatchObject({ status: 403 });
    expect(
      await call("DELETE", `/documents/${erased.document_id}/permanently`, undefined, setup.keys.admin),
    ).toMatchObject({
      status: 204,
    });
    expect(await found("keyword", "angoche")).toEqual([]);
    await removeUnseenDocuments(sql, null, () => true);
    const rows = await sql`select from documents where id in (${late.document_id}, ${erased.document_id})`;
    expect(rows.length).toBe(0);
    const [kept] = await sql<{ urls: number }[]>`
      select count(*)::int as urls from removed_urls
      where url_hash in (sha256(convert_to(${late.url}, 'UTF8')), sha256(convert_to(${erased.url}, 'UTF8')))`;
    expect(kept?.urls).toBe(2);
  });
});

describe("collections and tags", () => {
  it("filter both sides of a search exactly, at once after a move", async () => {
    const [here, there] = [await collection("here"), await collection("there")];
    const { document_id } = await upload(text("malindi"), { collection_id: here });
    await embed();
    const both = async (query: string, ids: string[]) => [
      await found("keyword", query, { collection_ids: ids }),
      await found("vector", query, { collection_ids: ids }),
    ];
    expect(await both("malindi harbour", [here])).toEqual([[document_id], [document_id]]);
    const move = await call("POST", `/collections/${there}/documents`, { document_ids: [document_id, uuidv7()] });
    expect(move.body).toMatchObject({ changed: [document_id], failed: [{ code: "NOT_FOUND" }] });
    expect(await both("malindi harbour", [here])).toEqual([[], []]);
    expect(await both("malindi harbour", [there])).toEqual([[document_id], [document_id]]);
    // the vector itself says so once it is stored anew
    expect(await embed()).toBe(1);
    expect((await call("GET", `/collections/${there}`)).body.documents).toBe(1);
    expect((await call("GET", `/documents?collection_id=${there}`)).body.items).toMatchObject([{ id: document_id }]);
  });

  it("do not take two documents of one URL", async () => {
    const url = "https://site.example/twice";
    const target = await collection("target");
    const inside = await upload(text("watamu"), { url, collection_id: target });
    const outside = await upload(text("kilifi"), { url });
    const move = await call("POST", `/collections/${target}/documents`, {
      document_ids: [outside.document_id, inside.document_id],
    });
    expect(move.body).toEqual({
      changed: [inside.document_id],
      failed: [{ document_id: outside.document_id, code: "CONFLICT", error: expect.any(String) }],
    });
  });

  it("are deleted when empty, or with their documents", async () => {
    const id = await collection("short-lived");
    const { document_id } = await upload(text("mtwara"), { collection_id: id });
    expect(await call("DELETE", `/collections/${id}`)).toMatchObject({
      status: 409,
      body: { code: "COLLECTION_NOT_EMPTY", details: { documents: 1 } },
    });
    expect(await call("DELETE", `/collections/${id}?delete_documents=true`)).toMatchObject({ status: 204 });
    expect(await found("keyword", "mtwara")).toEqual([]);
    expect(await call("GET", `/documents/${document_id}`)).toMatchObject({ status: 404 });
    expect(await call("GET", `/collections/${id}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });

  it("have names of their own, and are listed in pages", async () => {
    await collection("named");
    expect(await call("POST", "/collections", { name: "named" })).toMatchObject({
      status: 409,
      body: { code: "CONFLICT" },
    });
    const names: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await call("GET", `/collections?limit=2${more}`);
      names.push(...body.items.map(({ name }: { name: string }) => name));
      cursor = body.next_cursor;
    }
    expect(names).toEqual(["named", "target", "there", "here"]);
  });

  it("tags are added and taken, and found by at once", async () => {
    const { document_id } = await upload(text("lindi"));
    await embed();
    const { body } = await call("POST", `/documents/${document_id}/tags`, { tags: [" Sea ", "sea", "port"] });
    expect(body.tags.map(({ name }: { name: string }) => name)).toEqual(["port", "sea"]);
    const by = (tags: string[]) =>
      Promise.all([found("keyword", "lindi", { tags }), found("vector", "lindi", { tags })]);
    expect(await by(["sea"])).toEqual([[document_id], [document_id]]);
    const sea = body.tags.find(({ name }: { name: string }) => name === "sea");
    expect(await call("DELETE", `/documents/${document_id}/tags/${sea.id}`)).toMatchObject({ status: 204 });
    expect(await by(["sea"])).toEqual([[], []]);
    expect((await call("GET", "/documents?tags=port")).body.items).toMatchObject([{ id: document_id }]);
    const { body: bulk } = await call("POST", "/documents/tags", {
      document_ids: [document_id],
      add: ["x"],
      remove: ["port"],
    });
    expect(bulk).toEqual({ changed: [document_id], failed: [] });
    const { body: tags } = await call("GET", "/tags");
    expect(tags.items.map(({ name, documents }: { name: string; documents: number }) => [name, documents])).toEqual(
      expect.arrayContaining([
        ["sea", 0],
        ["port", 0],
        ["x", 1],
      ]),
    );
    expect(await call("DELETE", `/tags/${sea.id}`)).toMatchObject({ status: 204 });
    expect(await call("DELETE", `/tags/${sea.id}`)).toMatchObject({ status: 404 });
    expect(await call("POST", "/tags", { name: "Sea" })).toMatchObject({ status: 201, body: { name: "sea" } });
  });
});

describe("chunks and sections", () => {
  const BOOK = [
    ...["Before all.", "# One", "Of one.", "## One a", "```sh", "# no heading", "```", "## One b", text("b")],
    ...["# Two", "Of two."],
  ].join("\n\n");

  it("are a tree, and a section is Markdown with all below it", async () => {
    const { document_id } = await upload(BOOK, { language: "en" });
    const { body } = await call("GET", `/documents/${document_id}/sections`);
    expect(
      body.sections.map(({ heading, parent, children }: { heading: string; parent: number; children: number }) => [
        heading,
        parent,
        children,
      ]),
    ).toEqual([
      [null, null, 0],
      ["One", null, 2],
      ["One a", 1, 0],
      ["One b", 1, 0],
      ["Two", null, 0],
    ]);
    const section = async (at: number) => (await call("GET", `/documents/${document_id}/sections/${at}`)).body;
    const one = await section(1);
    expect(one).toMatchObject({ heading: "One", last_position: 3 });
    expect(one.markdown).toMatch(/^# One\n/);
    expect(one.markdown).toContain("# no heading");
    expect(one.markdown).toContain("## One b");
    expect(one.markdown).not.toContain("Two");
    expect((await section(0)).markdown).toBe("Before all.");
    expect((await section(4)).markdown).toBe("# Two\n\nOf two.");
    expect(await call("GET", `/documents/${document_id}/sections/5`)).toMatchObject({ status: 404 });
  });

  it("of more than 5,000 headings are cut, say so, and each of them is its own Markdown", async () => {
    const parts = Array.from({ length: 5_100 }, (_, at) => `## Part ${at}\n\nOf *part* ${at}.`);
    const { document_id } = await upload(`# All\n\n${parts.join("\n\n")}`, { language: "en" });
    await setup.aws.receive("embed-high", 0);
    const positions: number[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const more: string = cursor === "" ? "" : `?cursor=${cursor}`;
      const { body } = await call("GET", `/documents/${document_id}/sections${more}`);
      expect(body).toMatchObject({ total: 5_000, is_cut: true });
      expect(body.sections.length).toBeLessThanOrEqual(1_000);
      positions.push(...body.sections.map(({ position }: { position: number }) => position));
      cursor = body.next_cursor;
    }
    expect(positions).toEqual(Array.from({ length: 5_000 }, (_, at) => at));
    const section = async (at: number) => (await call("GET", `/documents/${document_id}/sections/${at}`)).body;
    expect(await section(1)).toMatchObject({ markdown: "## Part 0\n\nOf *part* 0.", is_cut: false });
    const { markdown } = await section(4_999);
    expect(markdown).toMatch(/^## Part 4998\n/);
    expect(markdown).toMatch(/Of \*part\* 5099\.$/);
    expect(await section(0)).toMatchObject({ last_position: 4_999, heading: "All" });
    expect(await call("GET", `/documents/${document_id}/sections?cursor=eA`)).toMatchObject({ status: 400 });
    const { body: short } = await call("GET", `/documents/${document_id}/sections?limit=2`);
    expect(short).toMatchObject({ has_more: true, sections: [{ position: 0, children: 4_999 }, { position: 1 }] });
  });

  it("are listed in pages, and embedded anew when that is asked for", async () => {
    await embed();
    const { document_id } = await upload(
      Array.from({ length: 400 }, (_, at) => `## Part ${at}\n\n${text(`w${at}`)}`).join("\n\n"),
    );
    const all: number[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await call("GET", `/documents/${document_id}/chunks?limit=7${more}`);
      all.push(...body.items.map(({ chunk_index }: { chunk_index: number }) => chunk_index));
      cursor = body.next_cursor;
    }
    expect(all).toEqual(all.map((_, at) => at));
    expect(all.length).toBeGreaterThan(14);
    expect(await embed()).toBe(all.length);
    expect(await call("POST", `/documents/${document_id}/reindex`)).toMatchObject({ status: 202 });
    expect(await embed()).toBe(all.length);
    const { body } = await call("GET", `/documents/${document_id}/chunks?limit=1`);
    expect(body.items[0].embedding_model).toEqual(expect.any(String));
  });
});

describe("documents as a file", () => {
  interface Part {
    documents: number;
    download_url: string;
    sha256: string;
    next_cursor: string | null;
  }
  const part = async (body: object): Promise<Part> =>
    (await call("POST", "/documents/export", body, setup.keys.read)).body as Part;

  it("are had in parts by a link, and come back as they were, with their vectors", async () => {
    const collection_id = await collection("travels");
    await embed();
    await upload(`# Port\n\n${text("shanga")}`, { collection_id, tags: ["port"] });
    await upload(text("lamu"), { collection_id });
    expect(await embed()).toBe(2);
    const before = await found("vector", "shanga harbour", { collection_ids: [collection_id] });
    const parts: Buffer[] = [];
    for (let cursor: string | undefined; ; ) {
      const { download_url, sha256, next_cursor } = await part({ collection_id, limit: 1, cursor });
      const bytes = Buffer.from(await (await fetch(download_url)).arrayBuffer());
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
      parts.push(bytes);
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    expect(parts).toHaveLength(2);
    const deleted = await call("POST", "/documents/delete", { document_ids: before });
    expect(deleted.body.changed).toHaveLength(2);

    const file = Buffer.concat(parts);
    const announced = await call("POST", "/documents/uploads", {
      ...{ bytes: file.length, sha256: createHash("sha256").update(file).digest("hex") },
    });
    const { upload_id, upload_url, headers } = announced.body;
    expect((await fetch(upload_url, { method: "PUT", headers, body: file })).ok).toBe(true);
    const { body } = await call("POST", "/documents/import", { upload_id });
    expect(body).toEqual({
      created: 2,
      updated: 0,
      unchanged: 0,
      failed: [],
      vectors: 2,
      to_embed: 0,
      next_line: null,
    });
    expect(await embed()).toBe(0);
    const after = await found("vector", "shanga harbour", { collection_ids: [collection_id] });
    expect(after).toHaveLength(2);
    const [first = ""] = after;
    expect((await call("GET", `/documents/${first}`)).body).toMatchObject({ tags: [{ name: "port" }], collection_id });
    expect(await found("keyword", "shanga")).toEqual([first]);
  });

  it("need the scope, and lines or a file", async () => {
    expect(await call("POST", "/documents/import", { content: "{}" }, setup.keys.read)).toMatchObject({ status: 403 });
    for (const body of [{}, { content: "{}", upload_id: uuidv7() }, { content: "{}", from_line: 0 }]) {
      expect(await call("POST", "/documents/import", body)).toMatchObject({ status: 400 });
    }
    expect(await call("POST", "/documents/import", { upload_id: uuidv7() })).toMatchObject({ status: 404 });
    expect((await call("POST", "/documents/import", { content: "{}" })).body.failed).toMatchObject([
      { line: 1, code: "LINE_INVALID" },
    ]);
    expect(await call("POST", "/documents/export", { cursor: "x" })).toMatchObject({ status: 400 });
    expect(await part({ collection_id: uuidv7() })).toMatchObject({ documents: 0, next_cursor: null });
  });
});

it("makes the vectors of a collection anew, some of its documents at a time", async () => {
  const { sql } = setup.database;
  await embed();
  const collection_id = await collection("reindexed");
  const mine = await upload(text("pangani"), { collection_id });
  await upload(text("bagamoyo"));
  expect(await embed()).toBe(2);
  // behind it, since ids are in order
  await sql`
    insert into documents (id, generation_id, generation_active, url, url_hash, domain, content, markdown, content_hash, language,
      collection_id, crawled_at)
    select ('ffffffff-ffff-7fff-bfff-' || lpad(n::text, 12, '0'))::uuid, gen_random_uuid(), true, 'https://many.example/' || n,
      sha256(n::text::bytea), 'many.example', '', '', sha256(''), 'en', ${collection_id}, now() from generate_series(1, 200) n`;
  const path = `/collections/${collection_id}/reindex`;
  const first = await call("POST", path);
  expect(first).toMatchObject({ status: 202, body: { documents: 200, has_more: true } });
  const second = await call("POST", `${path}?cursor=${first.body.next_cursor}`);
  expect(second.body).toEqual({ documents: 1, recut: 0, next_cursor: null, has_more: false });
  // one chunk, which is that of the first document
  expect(await embed()).toBe(1);
  expect(await found("vector", "pangani harbour", { collection_ids: [collection_id] })).toEqual([mine.document_id]);
  expect(await call("POST", `/collections/${uuidv7()}/reindex`)).toMatchObject({ status: 404 });
  await sql`delete from documents where domain = 'many.example'`;
});

it("tells which embedding model answers; a change of it is paused and gone back from by admins", async () => {
  const { sql } = setup.database;
  const models = "/embedding-models";
  const admin = (json: unknown) => call("POST", models, json, setup.keys.admin);
  await sql`delete from embedding_models`;
  const of = (model: string, state: string) =>
    sql`insert into embedding_models (model, dimension, state) values (${model}, 256, ${state})`;
  await of("answers", "serving");
  expect(await admin({ paused: true })).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  await of("comes", "coming");
  await of("leaves", "leaving");
  expect(await call("POST", models, { paused: true })).toMatchObject({ status: 403 });
  expect(await admin({ paused: true, serving: { model: "leaves", dimension: 256 } })).toMatchObject({ status: 400 });
  expect(await admin({})).toMatchObject({ status: 400 });
  const states = ({ body }: Awaited<ReturnType<typeof admin>>) =>
    body.items.map(({ model, state, paused }: { model: string; state: string; paused: boolean }) =>
      [model, state, ...(paused ? ["paused"] : [])].join(" "),
    );
  expect(states(await admin({ paused: true }))).toEqual(["answers serving", "comes coming paused", "leaves leaving"]);
  expect(states(await admin({ paused: false }))).toEqual(["answers serving", "comes coming", "leaves leaving"]);
  expect(await admin({ serving: { model: "comes", dimension: 256 } })).toMatchObject({ status: 409 });
  expect(await admin({ serving: { model: "leaves", dimension: 3 } })).toMatchObject({ status: 404 });
  expect(states(await admin({ serving: { model: "leaves", dimension: 256 } }))).toEqual([
    "leaves serving",
    "answers coming paused",
    "comes leaving",
  ]);
  expect(states(await call("GET", models, undefined, setup.keys.read))).toHaveLength(3);
  await sql`delete from embedding_models`;
});

it("writes nothing for who may only read, and nothing is found under ids that are none", async () => {
  const { read } = setup.keys;
  expect(await call("POST", "/documents", { content: text("x") }, read)).toMatchObject({ status: 403 });
  expect(await call("POST", "/collections", { name: "x" }, read)).toMatchObject({ status: 403 });
  expect(await call("GET", `/documents/${uuidv7()}`, undefined, read)).toMatchObject({ status: 404 });
  expect(await call("GET", "/documents/x", undefined, read)).toMatchObject({ status: 404 });
  expect(await call("GET", "/documents?cursor=x", undefined, read)).toMatchObject({ status: 400 });
  expect(await call("POST", `/collections/${uuidv7()}/documents`, { document_ids: [uuidv7()] })).toMatchObject({
    status: 404,
  });
});
