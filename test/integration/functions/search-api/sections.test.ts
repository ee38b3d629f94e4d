/** Searches whose results are sections of documents, and the sections that they name. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { api as documentsApi } from "../../../../functions/documents-api/handler.ts";
import { api as searchApi } from "../../../../functions/search-api/handler.ts";
import { settleJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { embedTaskSchema } from "../../../../shared/knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../../../shared/knowledge/embedding/embed-worker.ts";
import { openVectorSide } from "../../../../shared/knowledge/search/vector-side.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

const LEVELS = 6;
const DEEP = 10_000;
const filler = (word: string, sentences = 40) =>
  Array.from({ length: sentences }, (_, at) => `The ${word} number ${at} is known to everybody there.`).join(" ");
const MANUAL = [
  "# Harbour manual",
  "What everybody who works in the harbour has to know.",
  "## Mooring",
  filler("bollard"),
  "### Ropes",
  `Ropes of hemp are dried in the loft. ${filler("rope", 60)} The capstan turns slowly.`,
  "### Capstans",
  filler("winch", 50),
  "## Tides",
  "The spring tide comes at full moon.",
  "## Fees",
  "Whoever stays for a night pays the quayage at the office.",
  "## Fog",
  "The foghorn is sounded twice a minute.",
].join("\n\n");

let setup: ApiSetup;
let directory: string;
let manual: string;
let foreign: string;
let mine: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline-sections-"));
  setup = await setUpApi({
    VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite"),
    EMBEDDER__PROVIDER: "static",
  });
  const collection = async (name: string) => (await documents("POST", "/collections", { name })).body.id;
  [mine, foreign] = [await collection("Mine"), await collection("Foreign")];
  const store = async (body: object) => (await documents("POST", "/documents", body)).body.document_id;
  manual = await store({
    ...{ content: MANUAL, url: "https://a.example/manual", collection_id: mine, tags: ["handbook"] },
  });
  await store({
    content: `# Inn\n\n## Rooms\n\nThe quayage is none of ours. ${filler("room")}`,
    collection_id: foreign,
  });
  await embed();
});
afterAll(async () => {
  await setup.close();
  await rm(directory, { recursive: true, force: true });
});

const documents = (method: string, path: string, json?: unknown, key = setup.keys.write) =>
  callApi(documentsApi, { method, path: `/api/v1${path}`, key, ...(json === undefined ? {} : { json }) });

type Mode = "" | "/vector" | "/keyword";
interface Found {
  document_id: string;
  url: string;
  content: string;
  score: number;
  highlights: [number, number][];
  section: { position: number; heading: string; path: string[]; link: string; level: number } | null;
}
const ask = (mode: Mode, query: string, more: object = {}, key = setup.keys.read) =>
  callApi(searchApi, { path: `/api/v1/search${mode}`, json: { query, group_by: "section", ...more }, key });
const found = async (...asked: Parameters<typeof ask>): Promise<Found[]> => {
  const { status, body } = await ask(...asked);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.results;
};

async function embed(): Promise<void> {
  const vectorSide = await openVectorSide(loadConfig())();
  const log = createLogger({}, "error", () => {});
  for (
    let some = await setup.aws.receive("embed-high", 0);
    some.length > 0;
    some = await setup.aws.receive("embed-high", 0)
  ) {
    for (const message of some) {
      await embedChunks({ sql: setup.database.sql, vectorSide, settleJob, log }, embedTaskSchema.parse(message));
    }
  }
  await vectorSide?.vectors.close();
}

describe("sections as results", () => {
  it("are those in which the words stand, though a passage holds several", async () => {
    for (const [query, heading] of [
      ["spring tide", "Tides"],
      ["quayage", "Fees"],
      ["foghorn", "Fog"],
      ["hemp", "Ropes"],
    ] as const) {
      const [best] = await found("/keyword", query, { collection_ids: [mine] });
      expect(best?.section, query).toMatchObject({ heading });
      expect(best?.content, query).toContain(query);
      const marked = best?.highlights.map(([start, end]) => best.content.slice(start, end)) ?? [];
      expect(marked, query).toEqual(expect.arrayContaining(query.split(" ")));
    }
  });

  it("have the headings above them, and a link to all of their text", async () => {
    const [best] = await found("/keyword", "hemp", { collection_ids: [mine] });
    expect(best).toMatchObject({ document_id: manual, url: "https://a.example/manual" });
    expect(best?.section).toMatchObject({ level: 3, path: ["Harbour manual", "Mooring", "Ropes"] });
    const { body } = await documents(
      "GET",
      best?.section?.link.replace("/api/v1", "") ?? "",
      undefined,
      setup.keys.read,
    );
    expect(body).toMatchObject({ document_id: manual, position: best?.section?.position, heading: "Ropes" });
    expect(body.markdown).toMatch(/^### Ropes\n\n.*hemp.*capstan turns slowly\.$/s);
  });

  it.each(["", "/vector", "/keyword"] as const)(
    "come once each, with the score of their best passage (%s)",
    async (mode) => {
      const sections = await found(mode, "rope winch bollard", { limit: 100, collection_ids: [mine] });
      const { body } = await ask(mode, "rope winch bollard", { limit: 100, collection_ids: [mine], group_by: null });
      const passages: Found[] = body.results;
      expect(sections.length).toBeGreaterThan(1);
      expect(sections.length).toBeLessThan(passages.length);
      const names = sections.map(({ section }) => section?.position);
      expect(new Set(names).size).toBe(names.length);
      expect(sections[0]?.score).toBe(passages[0]?.score);
      const scores = sections.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(passages.every(({ section }) => section === null)).toBe(true);
    },
  );

  it.each(["", "/vector", "/keyword"] as const)("are the same page by page as at once (%s)", async (mode) => {
    const whole = await found(mode, "known to everybody", { limit: 100 });
    const paged: Found[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: { results: Found[]; next_cursor: string | null } } = await ask(
        mode,
        "known to everybody",
        {
          ...{ limit: 2, ...(cursor !== null && { cursor }) },
        },
      );
      paged.push(...body.results);
      cursor = body.next_cursor;
    } while (cursor !== null);
    const named = (each: Found) => [each.document_id, each.section, each.content, each.score];
    expect(paged.map(named)).toEqual(whole.map(named));
    expect(whole.length).toBeGreaterThan(3);
  });

  it("are those that a filter lets through, and a key may see", async () => {
    const { key } = await setup.createKey({ collectionIds: [mine] });
    const unlimited = (await found("/keyword", "quayage")).map((each) => each.section?.heading);
    expect(unlimited.toSorted()).toEqual(["Fees", "Rooms"]);
    for (const mode of ["", "/keyword"] as const) {
      for (const more of [{ collection_ids: [mine] }, { tags: ["handbook"] }, { domains: ["a.example"] }]) {
        const some = await found(mode, "quayage", more);
        expect(some.every((each) => each.document_id === manual)).toBe(true);
        expect(some[0]?.section?.heading).toBe("Fees");
      }
      const limited = await found(mode, "quayage", { limit: 100 }, key);
      expect(limited.every((each) => each.document_id === manual)).toBe(true);
      expect(await found(mode, "quayage", { collection_ids: [foreign] }, key)).toEqual([]);
      expect(await found(mode, "quayage", { languages: ["fr"] })).toEqual([]);
    }
  });

  it("are gone with their document when the answer of its deletion is there, from cursors as well", async () => {
    const content = `# Wrecks\n\n${filler("wreck")}\n\n## Anchors\n\n${filler("wreck")}`;
    const { document_id } = (await documents("POST", "/documents", { content })).body;
    const { body } = await ask("/keyword", "wreck", { limit: 1 });
    expect(body).toMatchObject({ results: [{ document_id }], total_count: 2, next_cursor: expect.any(String) });
    await documents("DELETE", `/documents/${document_id}`);
    expect(await found("/keyword", "wreck")).toEqual([]);
    const next = await ask("/keyword", "wreck", { limit: 1, cursor: body.next_cursor });
    expect(next).toMatchObject({ status: 410, body: { code: "CURSOR_EXPIRED" } });
  });

  it("refuse the cursor of a search for passages, and what goes with these alone", async () => {
    const { body } = await ask("/keyword", "everybody", { limit: 1, group_by: null });
    const other = await ask("/keyword", "everybody", { limit: 1, cursor: body.next_cursor });
    expect(other).toMatchObject({ status: 400, body: { code: "CURSOR_OF_ANOTHER_SEARCH" } });
    const expanded = await ask("/keyword", "everybody", { expand_chunks: true });
    expect(expanded).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    const unknown = await ask("/keyword", "everybody", { group_by: "page" });
    expect(unknown).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  });
});

describe("10,000 sections in one document", () => {
  const headings = Array.from({ length: DEEP }, (_, at) => ({ level: (at % LEVELS) + 1, at }));
  const kinds = {
    Markdown: headings.map(({ level, at }) => `${"#".repeat(level)} Depth ${at}\n\nMark m${at}x.`).join("\n\n"),
    HTML: `<!doctype html><body>${headings
      .map(({ level, at }) => `<section><h${level}>Depth ${at}</h${level}><p>Mark m${at}x.</p></section>`)
      .join("")}</body>`,
  };

  it.each(Object.entries(kinds))("of %s are kept as far as they fit, listed, read and found", async (kind, content) => {
    const upload = { content, url: `https://deep.example/${kind}`, languages: ["*"] };
    const { status, body: stored } = await documents("POST", "/documents", upload);
    expect(status, JSON.stringify(stored)).toBe(201);
    const path = `/documents/${stored.document_id}/sections`;
    const { body } = await documents("GET", `${path}?limit=1000`);
    expect(body).toMatchObject({ total: 5_000, is_cut: true, has_more: true });
    // each stands in the one above it of a lower level: never deeper than headings are
    const parents = body.sections.map((each: { position: number; parent: number | null }) => each.parent);
    expect(parents.every((parent: number | null, at: number) => parent === null || parent < at)).toBe(true);
    expect(parents.slice(0, 7)).toEqual([null, 0, 1, 2, 3, 4, null]);
    const { body: tree } = await documents("GET", `${path}/600`);
    expect(tree).toMatchObject({ heading: "Depth 600", last_position: 605 });
    expect(tree.markdown).toMatch(/^# Depth 600\n\nMark m600x\..*###### Depth 605\n\nMark m605x\.$/s);
    const [best] = await found("/keyword", "m605x", { url_prefix: upload.url });
    expect(best?.section).toMatchObject({ position: 605, level: 6, heading: "Depth 605" });
    expect(best?.section?.path).toEqual([600, 601, 602, 603, 604, 605].map((at) => `Depth ${at}`));
  });

  it("whose elements stand one in the other lose no text", async () => {
    const nested = headings.map(({ level, at }) => `<section><h${level}>Depth ${at}</h${level}><p>Mark m${at}x.</p>`);
    const upload = { content: `<!doctype html><body>${nested.join("")}`, url: "https://deep.example/nested" };
    const { body: stored } = await documents("POST", "/documents", { ...upload, languages: ["*"] });
    const { body: document } = await documents("GET", `/documents/${stored.document_id}`);
    expect(document.content.match(/Mark m\d+x/g)).toHaveLength(DEEP);
    const { body } = await documents("GET", `/documents/${stored.document_id}/sections/0`);
    expect(body.markdown).toContain("Mark m5x.");
    const [best] = await found("/keyword", "m305x", { url_prefix: upload.url });
    expect(best?.section?.heading).toBe("Depth 305");
  });

  it("that were imported one in the other have a path that is bounded, and cannot go round", async () => {
    const own = Array.from({ length: 4_000 }, (_, at) => `h${at}\nDeeper d${at}x stands here.\n`);
    const text = own.join("");
    let start = 0;
    const sections = own.map((each, at) => {
      const from = start;
      start += each.length;
      return { heading: `h${at}`, level: 1, start: from, end: start, parent: at === 0 ? null : at - 1 };
    });
    const chunks = sections.map(({ start: from, end }, at) => ({
      ...{ start: from, end, tokens: 8, section: at, section_header: `h${at}`, content_type: "prose" },
    }));
    const line = {
      ...{ format: "strandline-document/1", url: "https://deep.example/line", parent_url: null, title: "Line" },
      ...{ language: "en", source: "upload", crawled_at: new Date().toISOString(), metadata: {}, links: [], tags: [] },
      ...{ collection: null, content: text, markdown: text, sections, chunks: chunks.slice(0, 2_000), vectors: null },
    };
    const send = (each: object) => documents("POST", "/documents/import", { content: JSON.stringify(each) });
    expect((await send(line)).body, JSON.stringify((await send(line)).body)).toMatchObject({ failed: [] });
    const [best] = await found("/keyword", "d1500x", { url_prefix: line.url });
    expect(best?.section?.position).toBe(1_500);
    expect(best?.section?.path).toHaveLength(32);
    expect(best?.section?.path.at(-1)).toBe("h1500");
    const { body } = await documents("GET", best?.section?.link.replace("/api/v1", "") ?? "");
    expect(body).toMatchObject({ position: 1_500, last_position: 3_999 });
    const round = {
      ...line,
      url: "https://deep.example/round",
      sections: [{ ...sections[0], parent: 1 }, sections[1]],
    };
    const { body: refused } = await send({ ...round, chunks: chunks.slice(0, 2) });
    expect(refused).toMatchObject({
      failed: [{ code: "LINE_INVALID", error: expect.stringMatching(/does not come before/) }],
    });
    expect((await documents("GET", "/documents?url=https%3A%2F%2Fdeep.example%2Fround")).body.items).toEqual([]);
  });
});
