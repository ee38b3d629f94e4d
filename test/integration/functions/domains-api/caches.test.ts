import { afterAll, beforeAll, expect, it } from "vitest";
import { api as crawlApi } from "../../../../functions/crawl-api/handler.ts";
import { api } from "../../../../functions/domains-api/handler.ts";
import { createRobotsCache } from "../../../../shared/crawl/robots/cache.ts";
import { parseRobots } from "../../../../shared/crawl/robots/rules.ts";
import { readSearchVersion } from "../../../../shared/knowledge/search/search-version.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ CACHE__CRAWL_TTL_S: "7200" });
});
afterAll(() => setup.close());

const get = async (path: string) => (await callApi(api, { path, key: setup.keys.read })).body;
const clear = (path: string, key = setup.keys.admin) =>
  callApi(api, { method: "DELETE", path: `/api/v1/cache/${path}`, key });

it("tells how large each cache is and how often it was of use", async () => {
  const { sql } = setup.database;
  await sql`insert into embedding_cache (model, content_hash, vector) values ('m', 'h', 'v')`;
  await sql`insert into cache_counts (cache, hits, misses) values ('crawl', 3, 4), ('embeddings', 5, 6)`;
  expect(await get("/api/v1/cache/stats")).toEqual({
    crawl: { hits: 3, misses: 4, ttl_s: 7200, cleared_at: null },
    embeddings: { hits: 5, misses: 6, ttl_s: 604_800, entries: 1, entries_estimated: false, bytes: expect.any(Number) },
    robots: { ttl_s: 86_400 },
    query: { ttl_s: 3_600 },
  });
});

it("clears the crawl cache by a time, and again by a later one", async () => {
  const first = await clear("crawl");
  expect(first).toMatchObject({ status: 200, body: { cleared: ["crawl"] } });
  const second = await clear("crawl");
  expect(Date.parse(second.body.cleared_at)).toBeGreaterThanOrEqual(Date.parse(first.body.cleared_at));
  expect((await get("/api/v1/cache/stats")).crawl.cleared_at).toBe(second.body.cleared_at);
});

it("empties the embedding cache, and has every search answered anew", async () => {
  expect(await clear("embeddings")).toMatchObject({ status: 200, body: { cleared: ["embeddings"] } });
  expect((await get("/api/v1/cache/stats")).embeddings.entries).toBe(0);
  const before = await readSearchVersion(setup.database.sql);
  expect(await clear("query")).toMatchObject({ status: 200, body: { cleared: ["query"] } });
  expect(await readSearchVersion(setup.database.sql)).not.toBe(before);
});

it("clears what is cached of a domain, its robots.txt included", async () => {
  let now = Date.now();
  const worker = createRobotsCache(setup.aws.dynamo, setup.aws.stateTable, () => now);
  const rules = parseRobots(Buffer.from("User-agent: *\nDisallow: /x"));
  for (const origin of ["https://a.example", "http://a.example", "https://b.example"]) await worker.put(origin, rules);
  expect(await clear("domain/A.example")).toMatchObject({ status: 200, body: { cleared: ["crawl", "robots"] } });
  const other = createRobotsCache(setup.aws.dynamo, setup.aws.stateTable);
  expect(await other.get("https://a.example")).toBeUndefined();
  expect(await other.get("http://a.example")).toBeUndefined();
  expect(await other.get("https://b.example")).toEqual(rules);
  // a worker that has it in memory looks again after five minutes
  expect(await worker.get("https://a.example")).toEqual(rules);
  now += 300_000;
  expect(await worker.get("https://a.example")).toBeUndefined();
  expect(await worker.get("https://b.example")).toEqual(rules);
  const rows = await setup.database.sql`select domain from crawl_cache_cleared order by domain`;
  expect(rows.map((row) => row["domain"])).toEqual(["*", "a.example"]);
});

it.each(["crawl", "query", "embeddings", "domain/a.example"])("lets only admins clear %s", async (path) => {
  expect(await clear(path, setup.keys.write)).toMatchObject({ status: 403 });
});

it("tells what is under way and how much there is, and what became of each domain", async () => {
  const json = { urls: ["https://a.example/1", "https://a.example/2"] };
  await callApi(crawlApi, { path: "/api/v1/crawl", json, key: setup.keys.write });
  const stats = await get("/api/v1/stats");
  expect(stats.open).toEqual({ jobs: { pending: 1, running: 0, embedding: 0 }, urls: 2, unembedded_chunks: 0 });
  expect(stats.tables.jobs).toEqual({ rows: 1, estimated: false });
  await setup.database.sql`
    insert into domain_counts (domain, crawled, payload_bytes, last_capture_at)
    values ('a.example', 2, 300, now()), ('b.example', 1, 200, now())`;
  const first = await get("/api/v1/stats/domains?limit=1");
  expect(first).toMatchObject({
    items: [{ domain: "a.example", crawled: 2, failed: 0, payload_bytes: 300 }],
    has_more: true,
  });
  const second = await get(`/api/v1/stats/domains?limit=1&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ items: [{ domain: "b.example" }], has_more: false });
});

it("estimates what would take long to count", async () => {
  await setup.database.sql`
    insert into domain_counts (domain, last_capture_at) select 'd' || n, now() from generate_series(1, 10001) n`;
  await setup.database.sql`analyze domain_counts`;
  expect((await get("/api/v1/stats")).tables.domain_counts).toEqual({ rows: 10_003, estimated: true });
});

it("takes a crawl's wish not to use the cache, and refuses any other", async () => {
  const crawl = (json: object) =>
    callApi(crawlApi, { path: "/api/v1/crawl", json: { url: "https://c.example/", ...json }, key: setup.keys.write });
  const { body: used } = await crawl({});
  const { body: bypassed } = await crawl({ cache: "bypass" });
  const settings = async (id: string) =>
    (
      await setup.database
        .sql`select settings->>'cache' as cache, settings->>'cache_ttl_s' as ttl from jobs where id = ${id}`
    )[0];
  expect(await settings(used.job_id)).toEqual({ cache: "use", ttl: "7200" });
  expect(await settings(bypassed.job_id)).toEqual({ cache: "bypass", ttl: "7200" });
  expect(await crawl({ cache: "maybe" })).toMatchObject({
    status: 400,
    body: { details: { faults: [{ path: "cache" }] } },
  });
});
