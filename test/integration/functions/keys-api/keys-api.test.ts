import { afterAll, beforeAll, expect, it } from "vitest";
import { api as crawlApi } from "../../../../functions/crawl-api/handler.ts";
import { api as documentsApi } from "../../../../functions/documents-api/handler.ts";
import { api } from "../../../../functions/keys-api/handler.ts";
import { removeUnseenDocuments } from "../../../../shared/knowledge/documents/maintenance.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi, type TestRequest } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ RATE_LIMIT__API_RPM: "120", EMBEDDER__PROVIDER: "none" });
});
afterAll(() => setup.close());

const admin = (request: TestRequest) => callApi(api, { key: setup.keys.admin, ...request });
const create = (json: Record<string, unknown>) => admin({ path: "/api/v1/api-keys", json });
const revoke = (id: string, key?: string) =>
  admin({ method: "DELETE", path: `/api/v1/api-keys/${id}`, ...(key === undefined ? {} : { key }) });
const works = async (key: string) => (await callApi(crawlApi, { path: "/api/v1/jobs", key })).status === 200;

it("creates a key that works, shows it once and stores only its hash", async () => {
  const created = await create({ name: "reader" });
  expect(created).toMatchObject({
    status: 201,
    body: { name: "reader", scopes: ["read"], rate_limit_rpm: 120, expires_at: null, is_active: true },
  });
  const { id, key, prefix } = created.body;
  expect(key).toMatch(/^sl_[A-Za-z0-9_-]{49}$/);
  expect(key.startsWith(prefix)).toBe(true);
  expect(await works(key)).toBe(true);

  const list = await admin({ path: "/api/v1/api-keys" });
  expect(list.body.items.find((each: { id: string }) => each.id === id)).not.toHaveProperty("key");
  const rows = JSON.stringify(await setup.database.sql`select api_keys::text as row from api_keys where id = ${id}`);
  expect(rows).not.toContain(key.slice(prefix.length));
});

it("takes a key in either header", async () => {
  const { key } = (await create({ name: "headers" })).body;
  const status = async (headers: Record<string, string>) =>
    (await callApi(crawlApi, { path: "/api/v1/jobs", headers })).status;
  expect(await status({ authorization: `bearer ${key}` })).toBe(200);
  expect(await status({ "x-api-key": key })).toBe(200);
  expect(await status({ "x-admin-token": key })).toBe(200);
  expect(await status({ authorization: `Basic ${key}` })).toBe(401);
  expect(await status({ authorization: key })).toBe(401);
});

it("a key begins as many jobs in a day as its quota says, however many are asked for at once", async () => {
  const { id, key } = (await create({ name: "quota", scopes: ["write"], jobs_per_day: 7, rate_limit_rpm: 1000 })).body;
  const crawl = () => callApi(crawlApi, { path: "/api/v1/crawl", key, json: { urls: ["https://quota.example/"] } });
  const answers = await Promise.all(Array.from({ length: 50 }, crawl));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(7);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(43);
  expect(refused[0]).toMatchObject({ body: { code: "QUOTA_EXCEEDED", details: { jobs_per_day: 7 } } });
  expect(Number(refused[0]?.headers["retry-after"])).toBeGreaterThan(0);
  const { sql } = setup.database;
  expect(await sql`select from jobs where api_key_id = ${id}`).toHaveLength(7);

  const change = (json: object) => admin({ method: "PUT", path: `/api/v1/api-keys/${id}`, json: { ...json } });
  expect((await change({ jobs_per_day: 8 })).body).toMatchObject({ jobs_per_day: 8, jobs_today: 7, collections: null });
  expect([(await crawl()).status, (await crawl()).status]).toEqual([202, 429]);
  // a day later
  await sql`update key_usage set day = day - 1 where api_key_id = ${id}`;
  expect((await crawl()).status).toBe(202);
  expect((await change({ jobs_per_day: null })).body).toMatchObject({ jobs_per_day: null, jobs_today: 1 });
  expect((await change({})).status).toBe(400);
});

it("quotas of pages and bytes are set, changed and lifted, and refused jobs say what helps", async () => {
  const quotas = { pages_per_day: 5, max_stored_bytes: 1000 };
  const { id, key, ...made } = (await create({ name: "crawler", scopes: ["write"], ...quotas })).body;
  expect(made).toMatchObject({ ...quotas, pages_today: 0, stored_bytes: 0 });
  const crawl = () => callApi(crawlApi, { path: "/api/v1/crawl", key, json: { urls: ["https://quota.example/"] } });
  const change = (json: object) => admin({ method: "PUT", path: `/api/v1/api-keys/${id}`, json: { ...json } });
  const { sql } = setup.database;
  await sql`
    insert into key_work (api_key_id, day, pages, stored_bytes)
    values (${id}, (now() at time zone 'UTC')::date, 5, 1000)`;
  expect(await crawl()).toMatchObject({
    status: 403,
    body: { code: "STORAGE_QUOTA_EXCEEDED", details: quotaOf(1000) },
  });
  expect((await change({ max_stored_bytes: null })).body).toMatchObject({ pages_per_day: 5, max_stored_bytes: null });
  const refused = await crawl();
  expect(refused).toMatchObject({ status: 429, body: { code: "QUOTA_EXCEEDED", details: { pages_per_day: 5 } } });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect((await change({ pages_per_day: 6 })).body).toMatchObject({
    pages_per_day: 6,
    pages_today: 5,
    stored_bytes: 1000,
  });
  expect([(await crawl()).status, (await crawl()).status]).toEqual([202, 429]);
  expect(await sql`select from jobs where api_key_id = ${id}`).toHaveLength(1);
});
const quotaOf = (bytes: number) => ({ stored_bytes: bytes, max_stored_bytes: bytes });

it("uploads are refused where they would not fit, and what is deleted for good is free again", async () => {
  const { id, key } = (await create({ name: "writer", scopes: ["write"], max_stored_bytes: 3000 })).body;
  const call = (path: string, json: unknown) => callApi(documentsApi, { path: `/api/v1${path}`, key, json });
  const text = (name: string) =>
    `${name}. ${"The tide comes in and goes out again by the old harbour wall. ".repeat(15)}`;
  const { sql } = setup.database;
  const stored = async () => (await admin({ path: `/api/v1/usage?key_id=${id}` })).body;
  const first = await call("/documents", { content: text("First") });
  expect(first.status).toBe(201);
  const { stored_bytes: one } = await stored();
  expect(one).toBeGreaterThan(900);
  // of several at once as many are taken as fit
  const items = ["Second", "Third", "Fourth"].map((name) => ({ content: text(name) }));
  const many = await Promise.all(items.map((each) => call("/documents", each)));
  const taken = many.filter(({ status }) => status === 201).length;
  expect(taken).toBe(Math.floor(3000 / one) - 1);
  const refused = many.find(({ status }) => status !== 201);
  expect(refused).toMatchObject({ status: 403, body: { code: "STORAGE_QUOTA_EXCEEDED" } });
  const held = await stored();
  expect(held).toMatchObject({ limits: { max_stored_bytes: 3000 }, left: { stored_bytes: 3000 - held.stored_bytes } });
  expect(held.stored_bytes).toBeLessThanOrEqual(3000);

  const path = `/api/v1/documents/${first.body.document_id}/permanently`;
  expect((await callApi(documentsApi, { method: "DELETE", path, key: setup.keys.admin })).status).toBeLessThan(300);
  await removeUnseenDocuments(sql, null, () => true);
  expect((await stored()).stored_bytes).toBe(held.stored_bytes - one);
  expect((await call("/documents", items[0])).status).not.toBe(403);
});

it("usage is told day by day, of the key that asks; of others, and of all, to admins", async () => {
  const { id, key } = (await create({ name: "user", jobs_per_day: 9, pages_per_day: 50 })).body;
  const { sql } = setup.database;
  const before = (await admin({ path: "/api/v1/usage?key_id=all" })).body;
  await sql`insert into key_usage (api_key_id, day, jobs) values (${id}, (now() at time zone 'UTC')::date, 4)`;
  await sql`
    insert into key_work (api_key_id, day, pages, fetched_bytes, documents, stored_bytes) values
      (${id}, '2026-01-30', 10, 5000000000, 9, 3000000000), (${id}, '2026-02-01', 1, 1, 1, -1000000000),
      (${id}, (now() at time zone 'UTC')::date, 20, 2, 2, 7)`;
  const usage = (query: string, asking = key) => callApi(api, { path: `/api/v1/usage${query}`, key: asking });
  const own = await usage("");
  expect(own).toMatchObject({
    status: 200,
    body: {
      key_id: id,
      totals: { jobs: 4, pages: 20, fetched_bytes: 2, documents: 2 },
      stored_bytes: 2_000_000_007,
      limits: { jobs_per_day: 9, pages_per_day: 50, max_stored_bytes: null },
      left: { jobs: 5, pages: 30, stored_bytes: null },
    },
  });
  expect(own.body.days).toHaveLength(30);
  const past = await usage("?from=2026-01-29&to=2026-02-02");
  expect(past.body.totals).toEqual({ jobs: 0, pages: 11, fetched_bytes: 5_000_000_001, documents: 10 });
  expect(past.body.stored_bytes).toBe(2_000_000_007);
  expect(past.body.days.map((day: { date: string; stored_bytes: number }) => [day.date, day.stored_bytes])).toEqual([
    ["2026-01-29", 0],
    ["2026-01-30", 3_000_000_000],
    ["2026-01-31", 3_000_000_000],
    ["2026-02-01", 2_000_000_000],
    ["2026-02-02", 2_000_000_000],
  ]);
  const other = (await create({ name: "other" })).body;
  expect((await usage(`?key_id=${id}`)).status).toBe(200);
  expect((await usage(`?key_id=${id}`, other.key)).body).toMatchObject({ code: "FORBIDDEN" });
  expect((await usage("?key_id=all", other.key)).status).toBe(403);
  expect((await usage(`?key_id=${id}`, setup.keys.admin)).body).toMatchObject({
    key_id: id,
    stored_bytes: 2_000_000_007,
  });
  expect((await usage(`?key_id=${uuidv7()}`, setup.keys.admin)).status).toBe(404);
  const all = (await usage("?key_id=all", setup.keys.admin)).body;
  expect(all).toMatchObject({ key_id: null, limits: null, left: null });
  expect(all.totals.pages).toBe(before.totals.pages + 20);
  expect(all.stored_bytes).toBe(before.stored_bytes + 2_000_000_007);
  for (const query of ["?from=2026-02-01&to=2026-01-01", "?from=2020-01-01", "?from=soon", "?key_id=mine"]) {
    expect([query, (await usage(query)).body]).toMatchObject([query, { code: "VALIDATION_ERROR" }]);
  }
});

it("a revoked key stops working at once, and revoking it again changes nothing", async () => {
  const { id, key } = (await create({ name: "short-lived" })).body;
  expect(await works(key)).toBe(true);
  expect((await revoke(id)).status).toBe(204);
  expect(await works(key)).toBe(false);
  expect((await revoke(id)).status).toBe(204);
  const list = await admin({ path: "/api/v1/api-keys" });
  expect(list.body.items.find((each: { id: string }) => each.id === id)).toMatchObject({ is_active: false });
});

it("a key that has expired does not work", async () => {
  const { id, key } = (await create({ name: "expiring", expires_at: "2100-01-01T00:00:00+02:00" })).body;
  await setup.database.sql`update api_keys set expires_at = now() where id = ${id}`;
  expect(await works(key)).toBe(false);
});

it.each([
  ["an expiry in the past", { expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
  ["an expiry beyond the calendar", { expires_at: "9999-12-31T23:59:59-02:00" }, "expires_at"],
  ["an expiry that is no time", { expires_at: "tomorrow" }, "expires_at"],
  ["an unknown scope", { scopes: ["read", "root"] }, "scopes[1]"],
  ["no scope at all", { scopes: [] }, "scopes"],
  ["a limit of nothing", { rate_limit_rpm: 0 }, "rate_limit_rpm"],
  ["an empty name", { name: "  " }, "name"],
  ["a field that is no part of it", { owner: "me" }, "owner"],
])("refuses %s", async (_, fields, path) => {
  const answer = await create({ name: "bad", ...fields });
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(answer.body.details.faults).toEqual([{ in: "body", path, message: expect.any(String) }]);
});

it("answers 404 to the revocation of a key that is not there", async () => {
  expect((await revoke(uuidv7())).status).toBe(404);
  expect((await revoke("mine")).status).toBe(404);
});

it("lists keys page by page, newest first", async () => {
  for (let index = 0; index < 3; index += 1) await create({ name: `page ${index}` });
  const all = (await admin({ path: "/api/v1/api-keys?limit=200" })).body.items.map((each: { id: string }) => each.id);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await admin({ path: `/api/v1/api-keys?limit=2${cursor ? `&cursor=${cursor}` : ""}` });
    seen.push(...page.body.items.map((each: { id: string }) => each.id));
    cursor = page.body.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual(all);
  expect([...seen].sort().reverse()).toEqual(seen);
});

it("never revokes the last usable admin key, not even when two revoke each other at once", async () => {
  const [own] = await setup.database.sql`select id from api_keys where 'admin' = any(scopes) and is_active`;
  expect(await revoke(own?.["id"])).toMatchObject({ status: 409, body: { code: "CONFLICT" } });

  const other = (await create({ name: "second admin", scopes: ["admin"] })).body;
  const expired = (await create({ name: "past admin", scopes: ["admin"] })).body;
  await setup.database.sql`update api_keys set expires_at = now() where id = ${expired.id}`;
  const statuses = await Promise.all([revoke(own?.["id"]), revoke(other.id)]);
  expect(statuses.map(({ status }) => status).sort()).toEqual([204, 409]);
  const usable = await setup.database.sql`
    select id from api_keys where 'admin' = any(scopes) and is_active and (expires_at is null or expires_at > now())`;
  expect(usable).toHaveLength(1);
});
