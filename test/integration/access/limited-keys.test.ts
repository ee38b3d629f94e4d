/**
 * Two collections and a key for each. Every route of the topology is asked with a limited key: it refuses the key,
 * needs none, or is one of those below, where nothing of the other collection may appear in any body.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Api } from "../../../functions/adapters/api/api.ts";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { api as documentsApi } from "../../../functions/documents-api/handler.ts";
import { api as keysApi } from "../../../functions/keys-api/handler.ts";
import { api as searchApi } from "../../../functions/search-api/handler.ts";
import { handler as socket } from "../../../functions/socket/handler.ts";
import { TOPOLOGY } from "../../../infra/topology.ts";
import { createGate } from "../../../shared/access/authorize.ts";
import { createKeyCache } from "../../../shared/access/key-cache.ts";
import { createRateLimiter } from "../../../shared/access/rate-limit.ts";
import { settleJob } from "../../../shared/crawl/jobs/lifecycle.ts";
import { embedTaskSchema } from "../../../shared/knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../../shared/knowledge/embedding/embed-worker.ts";
import { openVectorSide } from "../../../shared/knowledge/search/vector-side.ts";
import { loadConfig } from "../../../shared/platform/config.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { callApi } from "../../services/api.ts";
import { type ApiSetup, setUpApi } from "../functions/api-setup.ts";

/** What keys that are limited to collections may ask. */
const OPEN = [
  "DELETE /api/v1/documents/{document_id}",
  "DELETE /api/v1/documents/{document_id}/tags/{tag_id}",
  "GET /api/v1/api-keys/self",
  "GET /api/v1/collections",
  "GET /api/v1/collections/{collection_id}",
  "GET /api/v1/documents",
  "GET /api/v1/documents/{document_id}",
  "GET /api/v1/documents/{document_id}/chunks",
  "GET /api/v1/documents/{document_id}/sections",
  "GET /api/v1/documents/{document_id}/sections/{position}",
  "GET /api/v1/tags",
  "GET /api/v1/usage",
  "GET /mcp",
  "POST /api/v1/collections/{collection_id}/documents",
  "POST /api/v1/collections/{collection_id}/reindex",
  "POST /api/v1/context",
  "POST /api/v1/documents",
  "POST /api/v1/documents/batch",
  "POST /api/v1/documents/delete",
  "POST /api/v1/documents/tags",
  "POST /api/v1/documents/{document_id}/reindex",
  "POST /api/v1/documents/{document_id}/restore",
  "POST /api/v1/documents/{document_id}/tags",
  "POST /api/v1/search",
  "POST /api/v1/search/keyword",
  "POST /api/v1/search/vector",
  "POST /mcp",
];
/** Tell nothing of documents, and take no key. */
const WITHOUT_KEY =
  /^(GET|HEAD) \/(healthz|health|api\/health|api\/v1\/health|api\/v1\/health\/ready|openapi\.json|docs|docs\/\{page\})?$/;
const OUT_OF_REACH = "This API key is limited to collections, and may not ask for this";

interface Own {
  collection: string;
  document: string;
  key: string;
}

let setup: ApiSetup;
let directory: string;
let mine: Own;
let other: Own;
/** In no collection. */
let loose: string;

/** By which each side's documents, tags and collections can be told. */
const MINE = "kelpmine";
const OTHER = "foreignwrack";
const LOOSE = "driftloose";

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline-limited-"));
  setup = await setUpApi({
    VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite"),
    EMBEDDER__PROVIDER: "static",
    ARCHIVE__PUBLIC: "false",
  });
  mine = await own(MINE);
  other = await own(OTHER);
  loose = (await upload(LOOSE, null)).document_id;
  await embed();
});
afterAll(async () => {
  await setup.close();
  await rm(directory, { recursive: true, force: true });
});

const ask = (key: string, method: string, path: string, json?: unknown) =>
  callApi(path.startsWith("/search") || path === "/context" ? searchApi : documentsApi, {
    ...{ method, path: `/api/v1${path}`, key },
    ...(json === undefined ? {} : { json }),
  });
const admin = (method: string, path: string, json?: unknown) => ask(setup.keys.admin, method, path, json);

async function upload(word: string, collection: string | null) {
  const { body } = await admin("POST", "/documents", {
    content: `# Tides at ${word}\n\nHigh water at the harbour of ${word} comes twice a day.\n\n## Boats of ${word}\n\nThey wait.`,
    ...{ url: `https://${word}.example/tides`, tags: [`tag-${word}`], collection_id: collection },
  });
  return body as { document_id: string };
}

async function own(word: string): Promise<Own> {
  const collection = (await admin("POST", "/collections", { name: `collection ${word}` })).body.id as string;
  const { document_id: document } = await upload(word, collection);
  const { key } = await setup.createKey({ scopes: ["write"], collectionIds: [collection] });
  return { collection, document, key };
}

async function embed(): Promise<void> {
  const vectorSide = await openVectorSide(loadConfig())();
  const log = createLogger({}, "error", () => {});
  for (const message of await setup.aws.receive("embed-high", 0)) {
    await embedChunks({ sql: setup.database.sql, vectorSide, settleJob, log }, embedTaskSchema.parse(message));
  }
  await vectorSide?.vectors.close();
}

const foreign = () => [OTHER, LOOSE, other.collection, other.document, loose];
function holdsNothingForeign(body: unknown): void {
  const text = JSON.stringify(body) ?? "";
  for (const each of foreign()) expect(text).not.toContain(each);
}

describe("every route of the topology", () => {
  const functions = TOPOLOGY.functions.filter(({ routes }) => routes !== undefined);

  it("that lets limited keys in is classified, and no other lets them in", async () => {
    const limited: string[] = [];
    for (const { name } of functions) {
      const { api } = (await import(`../../../functions/${name}/handler.ts`)) as { api: Api | StreamApi };
      limited.push(...api.routes.filter((each) => each.limited).map(({ method, path }) => `${method} ${path}`));
    }
    expect(limited.sort()).toEqual(OPEN);
  });

  it.each(functions.flatMap(({ name, routes = [] }) => routes.map(({ method, path }) => ({ name, method, path }))))(
    "$method $path refuses them otherwise",
    async ({ name, method, path }) => {
      if (OPEN.includes(`${method} ${path}`) || WITHOUT_KEY.test(`${method} ${path}`)) return;
      const { api } = (await import(`../../../functions/${name}/handler.ts`)) as { api: Api | StreamApi };
      const at = path.replaceAll(/\{\w+\+?\}/g, () => uuidv7());
      const body = ["POST", "PUT"].includes(method) ? { json: {} } : {};
      const { status, body: answer } = await callApi(api, { method, path: at, key: mine.key, ...body });
      expect(status, JSON.stringify(answer)).toBe(403);
    },
  );

  it("and the WebSocket refuse them", async () => {
    const event = {
      requestContext: { routeKey: "$connect", eventType: "CONNECT", connectionId: "c", requestId: "r", stage: "s" },
      headers: { authorization: `Bearer ${mine.key}` },
      queryStringParameters: { job_id: uuidv7() },
    };
    expect(await (socket as (event: unknown, context: unknown) => Promise<unknown>)(event, {})).toMatchObject({
      statusCode: 403,
    });
  });

  it("as the gate does where nobody says more, which is what replay asks", async () => {
    const limiter = createRateLimiter(setup.aws.dynamo, setup.aws.stateTable);
    const gate = createGate({
      sql: setup.database.sql,
      limiter,
      cache: createKeyCache(setup.aws.dynamo, setup.aws.stateTable),
    });
    await expect(gate.admit(mine.key, "read")).rejects.toMatchObject({ status: 403, message: OUT_OF_REACH });
  });
});

describe("searches", () => {
  const WORDS = ["tides harbour", OTHER, LOOSE, `"high water at the harbour"`];
  const FACETS = ["domain", "language", "collection", "month", "tag"];

  it.each(["/search", "/search/vector", "/search/keyword"])("%s find, count and suggest one's own", async (path) => {
    for (const query of WORDS) {
      const { status, body } = await ask(mine.key, "POST", path, {
        ...{ query, facets: FACETS, collapse_duplicates: true, expand_chunks: true, limit: 1, min_score: -1 },
      });
      expect(status).toBe(200);
      holdsNothingForeign(body);
      expect(body.total_count).toBeLessThanOrEqual(2);
    }
    const { body } = await ask(mine.key, "POST", path, { query: "tides harbour" });
    expect(body.results.map((each: { document_id: string }) => each.document_id)).toContain(mine.document);
  });

  it.each(["/search", "/search/vector", "/search/keyword"])(
    "%s answer for a foreign collection as for none",
    async (path) => {
      const of = async (collection: string) => {
        const { status, body } = await ask(mine.key, "POST", path, { query: "tides", collection_ids: [collection] });
        const { latency_ms: _, result_cached: __, ...rest } = body;
        return { status, rest };
      };
      const answer = await of(other.collection);
      expect(answer).toMatchObject({ status: 200, rest: { results: [], total_count: 0 } });
      expect(answer).toEqual(await of(uuidv7()));
      const both = await ask(mine.key, "POST", path, {
        query: "tides",
        collection_ids: [other.collection, mine.collection],
      });
      expect(both.body.results).not.toEqual([]);
      holdsNothingForeign(both.body);
    },
  );

  it("take no cursor of another key", async () => {
    const more = { content: `# Harbour\n\nTides of ${OTHER}, once more.`, collection_id: other.collection };
    const { document_id } = (await admin("POST", "/documents", more)).body;
    const { body } = await ask(other.key, "POST", "/search", { query: "tides harbour", limit: 1, min_score: -1 });
    expect(body.next_cursor).not.toBeNull();
    const json = { query: "tides harbour", limit: 1, min_score: -1, cursor: body.next_cursor };
    const answer = await ask(mine.key, "POST", "/search", json);
    expect(answer).toMatchObject({ status: 400, body: { code: "CURSOR_OF_ANOTHER_SEARCH" } });
    const all = await admin("POST", "/search", { query: "tides harbour", limit: 1, min_score: -1 });
    expect((await ask(mine.key, "POST", "/search", { ...json, cursor: all.body.next_cursor })).status).toBe(400);
    await admin("DELETE", `/documents/${document_id}`);
  });

  it("give contexts of one's own", async () => {
    for (const query of WORDS) {
      const { status, body } = await ask(mine.key, "POST", "/context", { query, min_score: -1 });
      expect(status).toBe(200);
      holdsNothingForeign(body);
    }
  });
});

describe("documents, collections and tags", () => {
  it.each([
    "/documents?count=true",
    "/documents?deleted=true&count=true",
    `/documents?tags=tag-${OTHER}&count=true`,
    `/documents?domain=${OTHER}.example&count=true`,
    "/collections",
    "/tags",
  ])("GET %s lists one's own", async (path) => {
    const { status, body } = await ask(mine.key, "GET", path);
    expect(status).toBe(200);
    const own = { ...body, items: body.items.map((each: object) => ({ ...each })) };
    holdsNothingForeign(own);
    if ("total" in body) expect(body.total).toBe(body.items.length);
  });

  it("behind whatever cursor", async () => {
    for (const path of ["/documents?limit=1", "/collections?limit=1", "/tags?limit=1"]) {
      let cursor: string | null = null;
      do {
        const page = await admin("GET", `${path}${cursor === null ? "" : `&cursor=${cursor}`}`);
        cursor = page.body.next_cursor;
        if (cursor !== null) holdsNothingForeign((await ask(mine.key, "GET", `${path}&cursor=${cursor}`)).body);
      } while (cursor !== null);
    }
  });

  it("count for a tag what is in reach", async () => {
    await admin("POST", "/documents/tags", { document_ids: [mine.document, other.document, loose], add: ["shared"] });
    const { body } = await ask(mine.key, "GET", "/tags");
    expect(body.items).toContainEqual(expect.objectContaining({ name: "shared", documents: 1 }));
  });

  it.each([
    ["GET", ""],
    ["GET", "/chunks"],
    ["GET", "/sections"],
    ["GET", "/sections/0"],
    ["DELETE", ""],
    ["POST", "/restore"],
    ["POST", "/reindex"],
    ["POST", "/tags"],
    ["DELETE", `/tags/${uuidv7()}`],
  ])("%s /documents/{document_id}%s answers as for none", async (method, below) => {
    const json = below === "/tags" ? { tags: ["x"] } : undefined;
    const of = async (id: string) => {
      const { status, body } = await ask(mine.key, method, `/documents/${id}${below}`, json);
      return { status, text: String(body.error).replace(id, "ID"), code: body.code };
    };
    const unknown = await of(uuidv7());
    expect(unknown).toMatchObject({ status: 404, code: "NOT_FOUND" });
    expect(await of(other.document)).toEqual(unknown);
    expect(await of(loose)).toEqual(unknown);
  });

  it("GET /collections/{collection_id} and its reindex answer as for none", async () => {
    for (const [method, below] of [
      ["GET", ""],
      ["POST", "/reindex"],
    ] as const) {
      expect((await ask(mine.key, method, `/collections/${other.collection}${below}`)).status).toBe(404);
      expect((await ask(mine.key, method, `/collections/${mine.collection}${below}`)).status).toBeLessThan(300);
    }
  });

  it("are changed in bulk where they are in reach", async () => {
    const document_ids = [other.document, loose, uuidv7()];
    const requests = [
      ["/documents/delete", { document_ids }],
      ["/documents/tags", { document_ids, add: ["stolen"] }],
      [`/collections/${mine.collection}/documents`, { document_ids }],
    ] as const;
    for (const [path, json] of requests) {
      const { body } = await ask(mine.key, "POST", path, json);
      expect(body.changed).toEqual([]);
      expect(body.failed.map((each: { code: string }) => each.code)).toEqual(["NOT_FOUND", "NOT_FOUND", "NOT_FOUND"]);
    }
    const own = { document_ids: [mine.document] };
    expect((await ask(mine.key, "POST", `/collections/${other.collection}/documents`, own)).status).toBe(404);
    for (const id of [other.document, loose]) {
      expect((await admin("GET", `/documents/${id}`)).body).toMatchObject({ deleted_at: null });
    }
  });

  it("are uploaded into one's own collections", async () => {
    const content = "# Foghorns\n\nThey sound when the fog comes in from the sea.";
    const post = (more: object) => ask(mine.key, "POST", "/documents", { content, ...more });
    expect((await post({ collection_id: mine.collection })).status).toBe(201);
    expect(await post({})).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    const of = async (id: string) => String((await post({ collection_id: id })).body.error).replace(id, "ID");
    expect(await of(other.collection)).toBe(await of(uuidv7()));
    const { body } = await ask(mine.key, "POST", "/documents/batch", {
      documents: [
        { content, collection_id: other.collection },
        { content: `${content} Always.`, collection_id: mine.collection },
        { upload_id: uuidv7(), collection_id: mine.collection },
      ],
    });
    expect(body.items.map((each: { outcome: string; status?: number }) => each.status ?? each.outcome)).toEqual([
      404,
      "created",
      403,
    ]);
    expect((await admin("GET", `/documents?collection_id=${other.collection}&count=true`)).body.total).toBe(1);
  });
});

describe("a change holds when its answer is there", () => {
  const finds = async (key: string, id: string) => {
    const { body } = await ask(key, "POST", "/search", { query: "moving sandbank", min_score: -1 });
    return body.results.some((each: { document_id: string }) => each.document_id === id);
  };

  it("for a document that leaves the collection, and one that comes", async () => {
    const { body } = await ask(mine.key, "POST", "/documents", {
      ...{ content: "# A moving sandbank\n\nNobody knows where it is.", collection_id: mine.collection },
    });
    await embed();
    expect([await finds(mine.key, body.document_id), await finds(other.key, body.document_id)]).toEqual([true, false]);
    await admin("POST", `/collections/${other.collection}/documents`, { document_ids: [body.document_id] });
    expect([await finds(mine.key, body.document_id), await finds(other.key, body.document_id)]).toEqual([false, true]);
    const taken = `/collections/${other.collection}/documents/remove`;
    await admin("POST", taken, { document_ids: [body.document_id] });
    expect([await finds(mine.key, body.document_id), await finds(other.key, body.document_id)]).toEqual([false, false]);
    expect((await ask(mine.key, "GET", `/documents/${body.document_id}`)).status).toBe(404);
  });

  it("for a collection that is deleted: its key finds nothing", async () => {
    const gone = await own("goner");
    expect((await ask(gone.key, "GET", "/documents")).body.items).toHaveLength(1);
    await admin("DELETE", `/collections/${gone.collection}?delete_documents=true`);
    for (const path of ["/documents", "/collections", "/tags"]) {
      expect((await ask(gone.key, "GET", path)).body.items).toEqual([]);
    }
    const { body } = await ask(gone.key, "POST", "/search", { query: "tides harbour", min_score: -1 });
    expect(body).toMatchObject({ results: [], total_count: 0 });
    const json = { content: "# Late\n\nToo late.", collection_id: gone.collection };
    expect((await ask(gone.key, "POST", "/documents", json)).status).toBe(404);
  });
});

describe("keys", () => {
  const create = (json: object) =>
    callApi(keysApi, { path: "/api/v1/api-keys", json: { name: "limited", ...json }, key: setup.keys.admin });

  it("are limited when they are made, and say so of themselves", async () => {
    const collections = [mine.collection];
    const { status, body } = await create({ collections });
    expect({ status, collections: body.collections }).toEqual({ status: 201, collections });
    const self = await callApi(keysApi, { path: "/api/v1/api-keys/self", key: body.key });
    expect(self.body).toEqual({ id: body.id, name: "limited", scopes: ["read"], collections });
  });

  const limit = (id: string, json: object) =>
    callApi(keysApi, { method: "PUT", path: `/api/v1/api-keys/${id}`, json, key: setup.keys.admin });
  const reach = async (key: string): Promise<string[]> => {
    const { body } = await ask(key, "POST", "/search", { query: "tides harbour", min_score: -1, limit: 50 });
    const listed = (await ask(key, "GET", "/documents")).body.items.map((each: { id: string }) => each.id);
    const found = body.results.map((each: { document_id: string }) => each.document_id);
    return [mine.document, other.document, loose].filter((id) => listed.includes(id) && found.includes(id));
  };

  it("are limited, widened and made unlimited, from their next request on", async () => {
    const { id, key } = (await create({})).body;
    expect(await reach(key)).toEqual([mine.document, other.document, loose]);
    const limited = await limit(id, { collections: [mine.collection, mine.collection.toUpperCase()] });
    expect(limited).toMatchObject({ status: 200, body: { id, collections: [mine.collection] } });
    expect(await reach(key)).toEqual([mine.document]);
    expect((await ask(key, "GET", `/documents/${other.document}`)).status).toBe(404);
    const limiter = createRateLimiter(setup.aws.dynamo, setup.aws.stateTable);
    const gate = createGate({
      sql: setup.database.sql,
      limiter,
      cache: createKeyCache(setup.aws.dynamo, setup.aws.stateTable),
    });
    // what it listens to is of jobs
    expect(await gate.stillAdmits(id)).toBe(false);
    await limit(id, { collections: [mine.collection, other.collection] });
    expect(await reach(key)).toEqual([mine.document, other.document]);
    await limit(id, { collections: [other.collection] });
    expect(await reach(key)).toEqual([other.document]);
    expect(await limit(id, { collections: null })).toMatchObject({ status: 200, body: { collections: null } });
    expect(await reach(key)).toEqual([mine.document, other.document, loose]);
    expect(await gate.stillAdmits(id)).toBe(true);
  });

  it("keep what they have where a change is refused", async () => {
    const { id, key } = (await create({ collections: [mine.collection] })).body;
    expect(await limit(id, { collections: [mine.collection, uuidv7()] })).toMatchObject({ status: 404 });
    expect(await limit(id, { collections: [] })).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    expect(await limit(id, {})).toMatchObject({ status: 400 });
    expect(await limit(uuidv7(), { collections: null })).toMatchObject({ status: 404 });
    expect(await reach(key)).toEqual([mine.document]);
    const strong = await setup.createKey({ scopes: ["admin"] });
    expect(await limit(strong.id, { collections: [mine.collection] })).toMatchObject({
      ...{ status: 409, body: { code: "CONFLICT" } },
    });
    const own = await callApi(keysApi, {
      ...{ method: "PUT", path: `/api/v1/api-keys/${id}`, json: { collections: null }, key },
    });
    expect(own.status).toBe(403);
  });

  it.each([
    ["a collection that does not exist", { collections: [uuidv7()] }, 404],
    ["no collection", { collections: [] }, 400],
    ["the scope admin", { collections: [uuidv7()], scopes: ["admin"] }, 400],
  ])("are not made with %s", async (_, json, status) => {
    expect((await create(json)).status).toBe(status);
  });
});
