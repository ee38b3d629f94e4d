import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/crawl-api/handler.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

const get = (path: string) => callApi(api, { path, key: setup.keys.read });
const cancel = (jobId: string) =>
  callApi(api, { method: "POST", path: `/api/v1/crawl/${jobId}/cancel`, key: setup.keys.write });
const start = async (urls: string[]): Promise<string> =>
  (await callApi(api, { path: "/api/v1/crawl", json: { urls }, key: setup.keys.write })).body.job_id;

it("shows state, counts and what became of each URL, page by page", async () => {
  const urls = Array.from({ length: 5 }, (_, index) => `https://pages.example/${index}`);
  const jobId = await start(urls);
  const first = await get(`/api/v1/crawl/${jobId}?limit=3`);
  expect(first).toMatchObject({
    status: 200,
    body: {
      job_id: jobId,
      kind: "pages",
      status: "pending",
      stop_reason: null,
      counts: { discovered: 5, open: 5, crawled: 0 },
    },
  });
  expect(first.body.results.has_more).toBe(true);
  const second = await get(`/api/v1/crawl/${jobId}?limit=3&cursor=${first.body.results.next_cursor}`);
  expect(second.body.results).toMatchObject({ has_more: false, next_cursor: null });
  const seen = [...first.body.results.items, ...second.body.results.items].map((item: { url: string }) => item.url);
  expect(seen).toEqual(urls);
});

it("shows what a job runs with, and no secret of it", async () => {
  const { body } = await callApi(api, {
    path: "/api/v1/crawl/deep",
    key: setup.keys.write,
    json: {
      url: "https://run.example/docs/",
      strategy: "best_first",
      keywords: ["Tide"],
      scope: "prefix",
      exclude: ["/old/"],
      config: {
        headers: { "X-Api-Key": "hush-1", "X-From": "me" },
        cookies: [{ host: "a.example", name: "s", value: "hush-2" }],
      },
    },
  });
  const shown = await get(`/api/v1/crawl/${body.job_id}`);
  expect(shown.body).toMatchObject({
    settings: { strategy: "best_first", max_depth: 2 },
    run: {
      scope: { mode: "prefix", roots: ["run.example/docs/"], exclude: ["/old/"] },
      keywords: ["tide"],
      score_threshold: 0.4,
      cache: "bypass",
      index: true,
      config: { chunk_size: 512, render: "never", headers: { "X-From": "me" } },
    },
  });
  expect(JSON.stringify(shown.body)).not.toContain("hush-");
});

it.each([
  ["an unknown id", uuidv7()],
  ["what can be no id", "17"],
])("answers 404 to %s", async (_, jobId) => {
  expect(await get(`/api/v1/crawl/${jobId}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  expect(await cancel(jobId)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
});

it("refuses a cursor that is none of its own", async () => {
  const jobId = await start(["https://a.example/"]);
  expect(await get("/api/v1/jobs?cursor=abc")).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(await get(`/api/v1/crawl/${jobId}?cursor=abc`)).toMatchObject({
    status: 400,
    body: { code: "VALIDATION_ERROR" },
  });
});

it("cancels a job once: a job that has ended is a conflict", async () => {
  const jobId = await start(["https://cancel.example/"]);
  expect(await cancel(jobId)).toMatchObject({ status: 200, body: { job_id: jobId } });
  await setup.database.sql`update jobs set status = 'cancelled', completed_at = now() where id = ${jobId}`;
  expect(await cancel(jobId)).toMatchObject({
    status: 409,
    body: { code: "CONFLICT", details: { status: "cancelled" } },
  });
});

it("lists jobs newest first, by state, and page by page without a gap or a repetition", async () => {
  const started: string[] = [];
  for (let index = 0; index < 5; index += 1) started.push(await start([`https://list.example/${index}`]));
  const wanted = started.slice(1, 4);
  await setup.database.sql`update jobs set status = 'failed', stop_reason = 'error' where id = any(${wanted})`;
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await get(`/api/v1/jobs?status=failed&limit=2${cursor ? `&cursor=${cursor}` : ""}`);
    expect(page.status).toBe(200);
    seen.push(...page.body.items.map((job: { job_id: string }) => job.job_id));
    cursor = page.body.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual(wanted.reverse());
});

it("refuses an unknown state and a limit out of range", async () => {
  expect((await get("/api/v1/jobs?status=lost")).status).toBe(400);
  expect((await get("/api/v1/jobs?limit=0")).status).toBe(400);
  expect((await get("/api/v1/jobs?limit=501")).status).toBe(400);
});

it("tells what is next and how many URLs are where, to who asks for the frontier", async () => {
  const urls = ["a", "b"].flatMap((host) => [1, 2, 3].map((page) => `https://${host}.frontier.example/${page}`));
  const jobId = await start(urls);
  await setup.database.sql`
    update frontier set state = 'pending', task_id = null, lease_until = null where job_id = ${jobId}`;
  await setup.database.sql`
    update frontier set state = 'failed', error_code = 'DNS_FAILURE' where job_id = ${jobId} and url like '%b.%/3'`;
  expect((await get(`/api/v1/crawl/${jobId}?limit=1`)).body.frontier).toBeNull();
  const { next, counts } = (await get(`/api/v1/crawl/${jobId}?limit=1&frontier=4`)).body.frontier;
  expect(next.map(({ url }: { url: string }) => url)).toEqual(urls.slice(0, 4));
  expect(next[0]).toMatchObject({ depth: 0, attempts: 0 });
  expect(counts).toEqual([
    { depth: 0, state: "failed", status_code: null, error_code: "DNS_FAILURE", count: 1 },
    { depth: 0, state: "pending", status_code: null, error_code: null, count: 5 },
  ]);
  expect(await get(`/api/v1/crawl/${jobId}?frontier=101`)).toMatchObject({ status: 400 });
});
