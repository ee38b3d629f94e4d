import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/spider-api/handler.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ SPIDER__MAX_STORED_JOBS: "3", DATABASE__POOL_SIZE: "8" });
});
afterAll(() => setup.close());

const store = (key: string) =>
  callApi(api, {
    path: "/spider/crawl?result_mode=store&include=title",
    json: { seed_urls: ["https://a.example/"], timeout_seconds: 3600 },
    key,
  });

it("takes a stored job at once, with what it was asked for", async () => {
  const { key, id } = await setup.createKey({ scopes: ["write"] });
  const answer = await store(key);
  expect(answer).toMatchObject({ status: 202, body: { status: "running", created_at: expect.any(String) } });
  expect(answer.headers["x-job-id"]).toBe(answer.body.job_id);
  const [job] = await setup.database.sql`select * from jobs where id = ${answer.body.job_id}`;
  expect(job).toMatchObject({ kind: "site", delivery: "store", api_key_id: id, watched_at: null });
  expect(job?.["settings"]).toMatchObject({ replaces: "pages", fields: { include: "title" }, strategy: "bfs" });
  expect(job?.["deadline_at"] - job?.["created_at"]).toBe(3_600_000);
});

it("holds a key to its quota, however many ask at once, and frees it when a job ends", async () => {
  const { key } = await setup.createKey({ scopes: ["write"] });
  const answers = await Promise.all(Array.from({ length: 8 }, () => store(key)));
  const taken = answers.filter(({ status }) => status === 202);
  expect(taken).toHaveLength(3);
  for (const answer of answers.filter(({ status }) => status !== 202)) {
    expect(answer).toMatchObject({
      status: 429,
      body: { error: "QuotaExceeded", error_code: "QUOTA_EXCEEDED", details: { unfinished_jobs: 3, limit: 3 } },
    });
    expect(answer.headers["retry-after"]).toBe("30");
  }
  await setup.database.sql`
    update jobs set status = 'completed', completed_at = now() where id = ${taken[0]?.body.job_id}`;
  expect((await store(key)).status).toBe(202);
  expect((await store(key)).status).toBe(429);
});

it("counts each key for itself", async () => {
  const [one, other] = [await setup.createKey({ scopes: ["write"] }), await setup.createKey({ scopes: ["write"] })];
  for (let index = 0; index < 3; index += 1) await store(one.key);
  expect((await store(one.key)).status).toBe(429);
  expect((await store(other.key)).status).toBe(202);
});
