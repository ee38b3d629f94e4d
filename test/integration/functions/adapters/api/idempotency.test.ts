import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { requestHash } from "../../../../../functions/adapters/api/idempotency.ts";
import { api as crawlApi } from "../../../../../functions/crawl-api/handler.ts";
import { api as discoverApi } from "../../../../../functions/discover-api/handler.ts";
import { api as editionsApi } from "../../../../../functions/editions-api/handler.ts";
import { api as harvestApi } from "../../../../../functions/harvest-api/handler.ts";
import { api as sourcesApi } from "../../../../../functions/sources-api/handler.ts";
import { createIdempotencyKeys, forgetIdempotencyKeys } from "../../../../../shared/access/idempotency.ts";
import { insertRun } from "../../../../../shared/harvest/store.ts";
import { callApi } from "../../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../../api-setup.ts";

let setup: ApiSetup;
let own: { id: string; key: string };
beforeAll(async () => {
  setup = await setUpApi();
  own = await setup.createKey({ scopes: ["write"] });
});
afterAll(() => setup.close());
beforeEach(async () => {
  await setup.database.sql`delete from idempotency_keys`;
  await setup.database.sql`delete from jobs`;
});

const CRAWL = { urls: ["https://once.example/a"], priority: "low" };
const post = (idempotency: string, json: unknown = CRAWL, { path = "/api/v1/crawl", key = own.key } = {}) =>
  callApi(crawlApi, { path, json, key, headers: { "idempotency-key": idempotency } });
const jobs = async () => (await setup.database.sql<{ id: string }[]>`select id from jobs`).map(({ id }) => id);
/** As time does once nobody renews what was begun. */
const endTurns = () => setup.database.sql`update idempotency_keys set locked_until = now() - interval '1 second'`;

it("gives the same request the same job and answer, and says so", async () => {
  const first = await post("one");
  const second = await post("one", { priority: "low", urls: CRAWL.urls });
  expect(first.status).toBe(202);
  expect(first.headers).not.toHaveProperty("idempotent-replayed");
  expect(second).toMatchObject({ status: 202, body: first.body, headers: { "idempotent-replayed": "true" } });
  expect(await jobs()).toEqual([first.body.job_id]);
});

it("takes a key in double quotes for the one between them", async () => {
  const first = await post('"quoted-1"');
  expect((await post("quoted-1")).body).toEqual(first.body);
});

it.each([
  ["another body", { urls: ["https://once.example/b"] }, "/api/v1/crawl"],
  ["another route", CRAWL, "/api/v1/crawl/batch"],
])("refuses %s with the same key", async (_, json, path) => {
  await post("two", { urls: CRAWL.urls });
  const body = path.endsWith("batch") ? { urls: CRAWL.urls } : json;
  expect(await post("two", body, { path })).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_KEY_REUSED" } });
  expect(await jobs()).toHaveLength(1);
});

it.each(["", "a b", "é", "x".repeat(256), "a,b", '"open'])("refuses the key %j", async (key) => {
  expect(await post(key)).toMatchObject({ status: 400, body: { code: "IDEMPOTENCY_KEY_INVALID" } });
  expect(await jobs()).toEqual([]);
});

it("makes one job of twenty requests at once", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => post("burst")));
  const [job] = await jobs();
  expect(await jobs()).toHaveLength(1);
  for (const { status, body, headers } of answers) {
    if (status === 202) expect(body.job_id).toBe(job);
    else expect({ status, code: body.code, after: headers["retry-after"] }).toEqual(IN_PROGRESS);
  }
  expect((await post("burst")).body.job_id).toBe(job);
});
const IN_PROGRESS = { status: 409, code: "IDEMPOTENCY_IN_PROGRESS", after: "1" };

it("shows another caller nothing of the first", async () => {
  const other = await setup.createKey({ scopes: ["write"] });
  const first = await post("shared");
  const second = await post("shared", { urls: ["https://other.example/"] }, { key: other.key });
  expect(second.status).toBe(202);
  expect(second.body.job_id).not.toBe(first.body.job_id);
  expect(second.headers).not.toHaveProperty("idempotent-replayed");
});

/** What a container does before it is killed. */
const begun = async (key: string) => {
  const request = { method: "POST", url: "https://api.example/api/v1/crawl" };
  const begin = await createIdempotencyKeys(setup.database.sql).begin(own.id, key, requestHash(request, CRAWL));
  if ("answer" in begin) throw new Error("The key is used");
  return begin.turn;
};

it("takes up a request whose container was killed before it had made its job", async () => {
  await begun("early");
  expect(await post("early")).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_IN_PROGRESS" } });
  await endTurns();
  const answer = await post("early");
  expect(answer.status).toBe(202);
  expect(await jobs()).toEqual([answer.body.job_id]);
});

it("finds the job of a request whose container was killed before it answered", async () => {
  const first = await post("late");
  await setup.database.sql`update idempotency_keys set status = null, headers = null, body = null`;
  await endTurns();
  const again = await post("late");
  expect(again).toMatchObject({ status: 202, body: { job_id: first.body.job_id } });
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect(await jobs()).toHaveLength(1);
});

it("finds each job of a batch that was cut short", async () => {
  const batch = { urls: ["https://once.example/1", "https://once.example/2", "https://once.example/3"] };
  const path = "/api/v1/crawl/batch";
  const first = await post("batch", batch, { path });
  const ids = first.body.jobs.map(({ job_id }: { job_id: string }) => job_id);
  await setup.database.sql`update idempotency_keys set status = null, headers = null, body = null`;
  await setup.database.sql`delete from jobs where id = ${ids[2]}`;
  await endTurns();
  const again = await post("batch", batch, { path });
  expect(again.body.jobs.map(({ job_id }: { job_id: string }) => job_id)).toEqual(ids);
  expect((await jobs()).toSorted()).toEqual(ids.toSorted());
});

it("keeps no failure: what was refused may be put right with the same key", async () => {
  const refused = await post("mended", { urls: ["http://127.0.0.1/"] });
  expect(refused).toMatchObject({ status: 403, body: { code: "URL_BLOCKED" } });
  expect((await post("mended")).status).toBe(202);
});

it("forgets a key after its day", async () => {
  const first = await post("old");
  await setup.database.sql`update idempotency_keys set expires_at = now() - interval '1 second'`;
  const second = await post("old", { urls: ["https://once.example/new"] });
  expect(second.status).toBe(202);
  expect(second.body.job_id).not.toBe(first.body.job_id);
  await setup.database.sql`update idempotency_keys set expires_at = now() - interval '1 second'`;
  expect(await forgetIdempotencyKeys(setup.database.sql)).toBe(1);
});

it("makes one discovery of a request that is sent twice", async () => {
  const send = () =>
    callApi(discoverApi, {
      path: "/api/v1/discover",
      json: { domain: "once.example" },
      key: own.key,
      headers: { "idempotency-key": "found" },
    });
  const first = await send();
  expect(first.status).toBe(202);
  expect((await send()).body).toEqual(first.body);
});

const anySite = { code: "once", name: "Once", nameTemplate: "once-{date:%Y%m%d}", seeds: ["https://once.example/"] };
/** Requests that make one thing each, beside another body for the same key. */
const MAKERS = {
  "an archive job": {
    api: editionsApi,
    path: "/api/admin/jobs",
    json: { source: "once" },
    other: { source: "once", extraSeeds: ["https://once.example/more"] },
    made: "archive_jobs",
  },
  "a monitored source": {
    api: sourcesApi,
    path: "/api/v1/sources",
    json: { name: "Once", type: "page", url: "https://once.example/" },
    other: { name: "Twice", type: "page", url: "https://once.example/" },
    made: "crawl_sources",
  },
};

it.each(Object.entries(MAKERS))(
  "makes %s once, even where its container was killed before it answered",
  async (_, maker) => {
    const { sql } = setup.database;
    const { key } = await setup.createKey({ scopes: ["admin", "write"] });
    await callApi(editionsApi, { path: "/api/admin/sources", json: { sources: [anySite] }, key });
    const { api, path, json, made } = maker;
    const count = async () => (await sql<{ id: unknown }[]>`select id from ${sql(made)}`).length;
    const send = (body: object) => callApi(api, { path, json: body, key, headers: { "idempotency-key": "thing" } });
    const [before, first] = [await count(), await send(json)];
    expect(first.status).toBe(201);
    expect(await send(json)).toMatchObject({ status: 201, body: first.body });
    expect(await send(maker.other)).toMatchObject({ status: 409 });
    await sql`update idempotency_keys set status = null, headers = null, body = null`;
    await endTurns();
    expect(await send(json)).toMatchObject({ status: 201, body: { id: first.body.id } });
    expect(await count()).toBe(before + 1);
  },
);

/** As a container leaves it that was killed after it had stored its run. */
const storedRun = async (query: string, requestId: string) =>
  await insertRun(setup.database.sql, {
    query,
    rewrittenTemplate: query,
    config: {
      final_queries: { serper: query },
      providers: [{ provider: "serper", queryUsed: query, urls: 1, latencyMs: 12.4, error: null }],
      llm: { cached: true },
    },
    providersUsed: ["serper"],
    apiKeyId: own.id,
    requestId,
    raw: [{ provider: "serper", url: "https://once.example/", rank: 1, meta: {} }],
    processed: [{ url: "https://once.example/", providers: ["serper"], confidence: 1, dedupeHash: "x" }],
  });

it("finds the search run of a request whose container was killed, and asks no provider again", async () => {
  const request = { method: "POST", url: "https://api.example/search-runs" };
  const json = { query: "tide tables" };
  const begin = await createIdempotencyKeys(setup.database.sql).begin(own.id, "harvest", requestHash(request, json));
  if ("answer" in begin) throw new Error("The key is used");
  const id = await storedRun(json.query, begin.turn.idOf("run"));
  expect(await storedRun(json.query, begin.turn.idOf("run"))).toBe(id);
  await endTurns();
  const headers = { "idempotency-key": "harvest" };
  const answer = await callApi(harvestApi, { path: "/search-runs", json, key: own.key, headers });
  expect(answer).toMatchObject({
    status: 201,
    body: {
      run_id: id,
      rewritten_template: "tide tables",
      final_queries: { serper: "tide tables" },
      providers_used: ["serper"],
      urls: [{ url: "https://once.example/", providers: ["serper"], confidence: 1 }],
      meta: { counts: { serper: 1 }, total_unique: 1, latency_ms: { serper: 12 }, errors: {}, template_cached: true },
    },
  });
  const send = () => callApi(harvestApi, { path: `/search-runs/${id}/crawl`, json: {}, key: own.key, headers: keyed });
  const keyed = { "idempotency-key": "crawl-of-run" };
  const crawl = await send();
  expect(crawl.status).toBe(202);
  expect((await send()).body).toEqual(crawl.body);
  expect(await jobs()).toEqual([crawl.body.job_id]);
});
