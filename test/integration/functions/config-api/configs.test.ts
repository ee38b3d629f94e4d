import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/config-api/handler.ts";
import { api as crawlApi } from "../../../../functions/crawl-api/handler.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

const path = "/api/v1/configs";
const create = (json: unknown) => callApi(api, { path, json, key: setup.keys.write });
const call = (method: string, id: string, json?: unknown) =>
  callApi(api, { method, path: `${path}/${id}`, key: setup.keys.write, ...(json === undefined ? {} : { json }) });

it("stores settings under a name, and shows the defaults of what they leave open", async () => {
  const created = await create({ name: " slow ", rate_limit_rps: 0.5, headers: { "x-a": "b" }, max_depth: 0 });
  expect(created).toMatchObject({
    status: 201,
    body: {
      name: "slow",
      rate_limit_rps: 0.5,
      headers: { "x-a": "b" },
      chunk_size: 512,
      max_depth: 0,
      extraction_strategy: "markdown",
      chunking_strategy: "sliding_window",
      render: "never",
    },
  });
  expect((await call("GET", created.body.id)).body).toEqual(created.body);
  const { body: open } = await create({ name: "open" });
  expect(open).toMatchObject({ rate_limit_rps: 1, page_timeout_ms: 30_000, wait_for: null, proxy_id: null });
  expect(open.viewport).toEqual({ width: 1280, height: 800 });
  expect((await create({ name: "phone", mobile: true, render: "auto" })).body.viewport).toEqual({
    width: 390,
    height: 844,
  });
  const [row] = await setup.database.sql`select settings from crawl_configs where id = ${created.body.id}`;
  expect(row?.["settings"]).toEqual({ rate_limit_rps: 0.5, headers: { "x-a": "b" } });
});

it("replaces the whole config, and leaves the jobs that were started with it alone", async () => {
  const { body: config } = await create({ name: "replaced", chunk_size: 100, max_redirects: 3 });
  const json = { url: "https://a.example/", config_id: config.id };
  const { body: job } = await callApi(crawlApi, { path: "/api/v1/crawl", json, key: setup.keys.write });
  const replaced = await call("PUT", config.id, { name: "renamed", chunk_size: 200 });
  expect(replaced).toMatchObject({ status: 200, body: { name: "renamed", chunk_size: 200, max_redirects: 10 } });
  expect(await call("DELETE", config.id)).toMatchObject({ status: 204 });
  const [row] = await setup.database.sql`select settings->'config' as config from jobs where id = ${job.job_id}`;
  expect(row?.["config"]).toMatchObject({ chunk_size: 100, max_redirects: 3 });
  expect(await callApi(crawlApi, { path: "/api/v1/crawl", json, key: setup.keys.write })).toMatchObject({
    status: 404,
  });
});

it("is shown as it is stored when its proxy is switched off, and when that is gone", async () => {
  const id = uuidv7();
  await setup.database
    .sql`insert into proxy_configs (id, name, servers, rotation_strategy) values (${id}, 'p', '[]', 'random')`;
  const { body: config } = await create({ name: "through a proxy", proxy_id: id });
  await setup.database.sql`update proxy_configs set is_active = false where id = ${id}`;
  expect(await call("GET", config.id)).toMatchObject({ status: 200, body: { proxy_id: id } });
  await setup.database.sql`delete from proxy_configs where id = ${id}`;
  expect(await call("GET", config.id)).toMatchObject({ status: 200, body: { proxy_id: id } });
  expect(await callApi(api, { path: `${path}?limit=1`, key: setup.keys.read })).toMatchObject({
    status: 200,
    body: { items: [{ id: config.id, proxy_id: id }] },
  });
  const json = { url: "https://a.example/", config_id: config.id };
  expect(await callApi(crawlApi, { path: "/api/v1/crawl", json, key: setup.keys.write })).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining(id) },
  });
});

it("refuses a name that is taken, however many ask for it at once", async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => create({ name: "taken" })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body).toMatchObject({ code: "CONFLICT", error: expect.stringContaining('"taken"') });
  const { body: other } = await create({ name: "other" });
  expect(await call("PUT", other.id, { name: "taken" })).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
});

it.each([
  ["name", {}],
  ["name", { name: " " }],
  ["name", { name: "n".repeat(101) }],
  ["max_depth", { name: "x", max_depth: 2 }],
  ["extraction_strategy", { name: "x", extraction_strategy: "raw" }],
  ["chunking_strategy", { name: "x", chunking_strategy: "semantic" }],
  ["chunk_overlap", { name: "x", chunk_size: 50, chunk_overlap: 50 }],
  ["min_chunk_size", { name: "x", min_chunk_size: 300 }],
  ["wait_for", { name: "x", wait_for: "main" }],
  ["headers", { name: "x", headers: { "bad name": "y" } }],
  // they would never be sent
  ["headers", { name: "x", headers: { Host: "b.example" } }],
  ["headers", { name: "x", headers: { "if-none-match": '"1"' } }],
  ["rate_limit_rps", { name: "x", rate_limit_rps: 0 }],
  // one request in thirty years would keep every job from the host for as long
  ["rate_limit_rps", { name: "x", rate_limit_rps: 1e-9 }],
  ["speed", { name: "x", speed: 3 }],
])("refuses a config whose %s is wrong: %j", async (field, json) => {
  expect(await create(json)).toMatchObject({
    status: 400,
    body: { code: "VALIDATION_ERROR", error: expect.stringContaining(field) },
  });
});

it("shows who may only read no credential among the headers, and who may write all of them", async () => {
  const headers = {
    Authorization: "Basic c2VjcmV0",
    "X-Api-Key": "secret",
    Cookie: "a=secret",
    "Accept-Language": "fr",
  };
  const { body } = await create({ name: "with credentials", headers });
  expect(body.headers).toEqual(headers);
  const shown = async (key: string) => (await callApi(api, { path: `${path}/${body.id}`, key })).body.headers;
  expect(await shown(setup.keys.write)).toEqual(headers);
  const hidden = { Authorization: "[hidden]", "X-Api-Key": "[hidden]", Cookie: "[hidden]", "Accept-Language": "fr" };
  expect(await shown(setup.keys.read)).toEqual(hidden);
  const listed = await callApi(api, { path, key: setup.keys.read });
  expect(listed.body.items.find(({ id }: { id: string }) => id === body.id).headers).toEqual(hidden);
});

it("shows who may only read neither the values of cookies nor typed texts", async () => {
  const cookies = [{ host: "a.example", name: "session", value: "secret" }];
  const actions = [{ type: "type", selector: "#password", text: "secret" }];
  const { body } = await create({ name: "with cookies", render: "always", cookies, actions });
  expect(body).toMatchObject({ cookies, actions });
  const shown = async (key: string) => (await callApi(api, { path: `${path}/${body.id}`, key })).body;
  expect(await shown(setup.keys.write)).toMatchObject({ cookies, actions });
  expect(await shown(setup.keys.read)).toMatchObject({
    cookies: [{ host: "a.example", name: "session", value: "[hidden]" }],
    actions: [{ type: "type", selector: "#password", text: "[hidden]" }],
  });
});

it("lists configs newest first, page by page", async () => {
  const names = ["list-a", "list-b", "list-c"];
  for (const name of names) await create({ name });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await callApi(api, {
      path: `${path}?limit=2${cursor ? `&cursor=${cursor}` : ""}`,
      key: setup.keys.read,
    });
    seen.push(...page.body.items.map((item: { name: string }) => item.name));
    cursor = page.body.next_cursor;
  } while (cursor !== null);
  expect(seen.slice(0, 3)).toEqual(names.reverse());
  expect(new Set(seen).size).toBe(seen.length);
});

it("answers 404 to what is not there, and lets nobody change anything who may only read", async () => {
  for (const [method, json] of [["GET"], ["PUT", { name: "y" }], ["DELETE"]] as const) {
    expect(await call(method, uuidv7(), json)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect(await call(method, "17", json)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  }
  expect(await callApi(api, { path, json: { name: "z" }, key: setup.keys.read })).toMatchObject({ status: 403 });
});
