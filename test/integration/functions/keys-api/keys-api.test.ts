import { afterAll, beforeAll, expect, it } from "vitest";
import { api as crawlApi } from "../../../../functions/crawl-api/handler.ts";
import { api } from "../../../../functions/keys-api/handler.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi, type TestRequest } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ RATE_LIMIT__API_RPM: "120" });
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
