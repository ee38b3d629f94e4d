import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/sources-api/handler.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

const path = "/api/v1/sources";
const create = (json: unknown) => callApi(api, { path, json, key: setup.keys.write });
const call = (method: string, at: string, json?: unknown) =>
  callApi(api, { method, path: `${path}/${at}`, key: setup.keys.write, ...(json === undefined ? {} : { json }) });
const finish = async (jobId: string) => {
  await setup.database.sql`delete from frontier where job_id = ${jobId}`;
  await setup.database.sql`
    update jobs set status = 'completed', stop_reason = 'completed', skipped = discovered, open_urls = 0,
      completed_at = now() where id = ${jobId}`;
};

it("keeps a site with its schedule, and tells when it is crawled next", async () => {
  const created = await create({
    name: " Harbour ",
    url: "https://a.example/news",
    schedule_cron: "0 */6 * * *",
    time_zone: "Europe/Berlin",
    site: { max_pages: 7, scope: "prefix" },
    tags: ["Sea"],
  });
  expect(created).toMatchObject({
    status: 201,
    body: {
      name: "Harbour",
      type: "site",
      url: "https://a.example/news",
      schedule_cron: "0 */6 * * *",
      time_zone: "Europe/Berlin",
      is_active: true,
      site: { scope: "prefix", include: [], exclude: [], max_depth: 2, max_pages: 7 },
      tags: ["sea"],
      priority: "normal",
      last_crawled_at: null,
      last_error: null,
    },
  });
  const { body: shown } = await call("GET", created.body.id);
  expect(shown).toMatchObject({ id: created.body.id, runs: [] });
  expect(shown.next_runs).toHaveLength(5);
  const { body: list } = await callApi(api, { path, key: setup.keys.read });
  expect(list.items.map(({ id }: { id: string }) => id)).toContain(created.body.id);
});

it("pauses a source, and shows no next run then; what is deleted is gone", async () => {
  const { body: source } = await create({
    name: "p",
    type: "page",
    url: "https://a.example/p",
    schedule_cron: "0 0 * * *",
  });
  const json = { name: "q", type: "page", url: "https://a.example/q", schedule_cron: "0 0 * * *", is_active: false };
  expect(await call("PUT", source.id, json)).toMatchObject({
    status: 200,
    body: { name: "q", url: "https://a.example/q", is_active: false, next_run_at: null, site: null },
  });
  expect((await call("GET", source.id)).body.next_runs).toEqual([]);
  expect(await call("DELETE", source.id)).toMatchObject({ status: 204 });
  for (const [method, body] of [["GET"], ["DELETE"], ["PUT", json]] as const) {
    expect(await call(method, source.id, body)).toMatchObject({ status: 404 });
  }
  expect(await call("POST", `${source.id}/trigger`)).toMatchObject({ status: 404 });
});

it.each([
  [{ schedule_cron: "0 0 * *" }, /five fields/],
  [{ schedule_cron: "0 0 L * *" }, /L, W, #/],
  [{ time_zone: "Mars/Olympus" }, /time zone/],
  [{ type: "page", site: {} }, /alone: leave it out/],
  [{ unknown: 1 }, /unknown/],
])("refuses %j", async (fields, message) => {
  const answer = await create({ name: "n", url: "https://a.example/", ...fields });
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toMatch(message);
});

it("refuses what no crawl could ask for", async () => {
  expect(await create({ name: "n", url: "http://169.254.169.254/" })).toMatchObject({ status: 403 });
  expect(await create({ name: "n", url: "https://a.example/", config_id: uuidv7() })).toMatchObject({ status: 404 });
  expect(await create({ name: "n", url: "https://a.example/", collection_id: uuidv7() })).toMatchObject({
    status: 404,
  });
});

it("crawls a source when somebody asks, one job at a time, and keeps their history", async () => {
  const { body: source } = await create({ name: "t", type: "page", url: "https://t.example/" });
  const first = await call("POST", `${source.id}/trigger`);
  expect(first).toMatchObject({ status: 202, body: { job_id: expect.any(String) } });
  const answers = await Promise.all([1, 2, 3].map(() => call("POST", `${source.id}/trigger`)));
  for (const answer of answers) {
    expect(answer).toMatchObject({
      status: 409,
      body: { code: "RUN_UNFINISHED", details: { job_id: first.body.job_id } },
    });
  }
  await finish(first.body.job_id);
  const second = await call("POST", `${source.id}/trigger`);
  expect(second.status).toBe(202);
  const { body: shown } = await call("GET", source.id);
  expect(shown.runs.map(({ job_id }: { job_id: string }) => job_id)).toEqual([second.body.job_id, first.body.job_id]);
  expect(shown.last_crawled_at).toEqual(expect.any(String));
  const newest = (await call("GET", `${source.id}/runs?limit=1`)).body;
  expect(newest).toMatchObject({ items: [{ job_id: second.body.job_id, status: "pending" }], has_more: true });
  const { body: rest } = await call("GET", `${source.id}/runs?limit=1&cursor=${newest.next_cursor}`);
  expect(rest).toMatchObject({ items: [{ job_id: first.body.job_id, status: "completed" }], has_more: false });
  expect(await call("GET", `${uuidv7()}/runs`)).toMatchObject({ status: 404 });
});

it("begins one job of many triggers at once", async () => {
  const { body: source } = await create({ name: "m", url: "https://m.example/" });
  const answers = await Promise.all([1, 2, 3, 4].map(() => call("POST", `${source.id}/trigger`)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409]);
});

it("hides the credentials of its config from who may only read", async () => {
  const { body: source } = await create({
    name: "s",
    url: "https://s.example/",
    config: { headers: { authorization: "x" } },
  });
  expect(source.config).toEqual({ headers: { authorization: "x" } });
  const { body: read } = await callApi(api, { path: `${path}/${source.id}`, key: setup.keys.read });
  expect(read.config).toEqual({ headers: { authorization: "[hidden]" } });
});
