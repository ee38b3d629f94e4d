import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api } from "../../../../functions/results-api/handler.ts";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { recordTaskNote } from "../../../../shared/crawl/jobs/lifecycle.ts";
import type { CrawledPage } from "../../../../shared/crawl/results/pages.ts";
import { removeExpiredResults } from "../../../../shared/crawl/results/retention.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi } from "../../../services/api.ts";
import { newJob, page } from "../../crawl/crawl-setup.ts";
import { type ResultsSetup, resultsSetup } from "./results-setup.ts";

let setup: ResultsSetup;
let key: string;
beforeAll(async () => {
  setup = await resultsSetup({ sqs: true });
  Object.assign(process.env, setup.aws.env, { DATABASE__POSTGRES_URL: setup.databaseUrl, LOG_LEVEL: "error" });
  const options = { name: "test", scopes: ["read" as const], rateLimitRpm: 100_000, expiresAt: null };
  ({ key } = await createApiKey(setup.sql, options));
});
afterAll(() => setup.close());

const get = (path: string) => callApi(api, { path, key });

async function crawl(count: number, body: (url: string) => string = (url) => page(url)): Promise<string> {
  const urls = Array.from({ length: count }, (_, n) => `http://a.example/${uuidv7()}/${n}`);
  const job = await createJob(setup.dependencies, newJob(urls));
  await setup.serve((url) => ({ body: body(url) }));
  return job.job_id;
}

test("pages through all results by cursor, light unless asked otherwise", async () => {
  const jobId = await crawl(25);
  const first = await get(`/jobs/${jobId}/results?limit=10`);
  expect(first).toMatchObject({ status: 200, body: { cursor: 10, has_more: true, total_pages: 25 } });
  const seen: CrawledPage[] = [...first.body.pages];
  for (let { cursor, has_more } = first.body; has_more; ) {
    const next = await get(`/jobs/${jobId}/results?limit=10&cursor=${cursor}`);
    seen.push(...next.body.pages);
    ({ cursor, has_more } = next.body);
  }
  expect(new Set(seen.map(({ url }) => url)).size).toBe(25);
  expect(seen).toHaveLength(25);
  expect(seen[0]).toMatchObject({ title: seen[0]?.url, links: [], status_code: 200 });
  expect(seen[0]).not.toHaveProperty("content");
  expect(seen[0]).not.toHaveProperty("markdown");
  const whole = await get(`/jobs/${jobId}/results?limit=1&exclude=links`);
  expect(whole.body.pages[0]).toMatchObject({ content: page(seen[0]?.url ?? ""), markdown: expect.any(String) });
  expect(whole.body.pages[0]).not.toHaveProperty("links");
});

test("an answer ends where it would be too large, and the next one goes on from there", async () => {
  const jobId = await crawl(20, (url) => `<title>${url}</title><p>Short</p><script>${"x".repeat(900_000)}</script>`);
  const seen: string[] = [];
  const counts: number[] = [];
  for (let [cursor, more] = [0, true]; more; ) {
    const { status, body } = await get(`/jobs/${jobId}/results?limit=100&include=content&cursor=${cursor}`);
    expect([status, body.total_pages, body.cursor - cursor]).toEqual([200, 20, body.pages.length]);
    seen.push(...body.pages.map(({ url }: CrawledPage) => url));
    counts.push(body.pages.length);
    [cursor, more] = [body.cursor, body.has_more];
  }
  expect(counts).toEqual([17, 3]);
  expect(new Set(seen).size).toBe(20);
});

test("a cursor beyond the end gives an empty page, and stays", async () => {
  const jobId = await crawl(2);
  for (const cursor of [2, 99, 999_999_999_999]) {
    const answer = await get(`/jobs/${jobId}/results?cursor=${cursor}`);
    expect(answer).toMatchObject({ status: 200, body: { pages: [], has_more: false, total_pages: 2 } });
    expect(answer.body.cursor).toBeGreaterThanOrEqual(2);
  }
});

test("while the crawl goes on there may be more, however little there is yet", async () => {
  const job = await createJob(setup.dependencies, newJob(["http://later.example/"]));
  const before = await get(`/jobs/${job.job_id}/results`);
  expect(before.body).toEqual({ pages: [], cursor: 0, has_more: true, total_pages: 0 });
  await setup.serve(() => ({ body: page("later") }));
  const after = await get(`/jobs/${job.job_id}/results?cursor=${before.body.cursor}`);
  expect(after.body).toMatchObject({ pages: [{ title: "later" }], cursor: 1, has_more: false, total_pages: 1 });
});

describe("what cannot be meant is refused by its name", () => {
  test.each([
    ["cursor=-1", "cursor"],
    ["cursor=abc", "cursor"],
    ["cursor=1.5", "cursor"],
    ["cursor=", "cursor"],
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=many", "limit"],
    ["include=title,body", "include"],
    ["exclude=html", "exclude"],
    ["page=2", "page"],
  ])("%s", async (query, name) => {
    const jobId = await crawl(1);
    const answer = await get(`/jobs/${jobId}/results?${query}`);
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: "ValidationError",
        error_code: "VALIDATION_ERROR",
        details: { faults: [{ in: "query", path: name }] },
      },
    });
    expect(answer.body.message).toContain(name);
  });

  test.each([uuidv7(), "17"])("job %s, which does not exist", async (jobId) => {
    for (const what of ["results", "stats"]) {
      const answer = await get(`/jobs/${jobId}/${what}`);
      expect(answer).toMatchObject({ status: 404, body: { error: "NotFound", error_code: "NOT_FOUND" } });
    }
  });

  test("a request without a key", async () => {
    const answer = await callApi(api, { path: `/jobs/${uuidv7()}/results` });
    expect(answer).toMatchObject({ status: 401, body: { error_code: expect.any(String) } });
  });
});

test("stats: running with a growing duration, then ended with the reason", async () => {
  const job = await createJob(setup.dependencies, newJob(["http://b.example/1", "http://b.example/2"]));
  const running = await get(`/jobs/${job.job_id}/stats`);
  expect(running.body).toEqual({
    job_id: job.job_id,
    status: "running",
    created_at: job.created_at.toISOString(),
    completed_at: null,
    pages_crawled: 0,
    pages_failed: 0,
    duration_seconds: expect.any(Number),
    stop_reason: null,
  });
  const later = await get(`/jobs/${job.job_id}/stats`);
  expect(later.body.duration_seconds).toBeGreaterThan(running.body.duration_seconds);
  const error = { code: "HTTP_404", message: "The server answered 404", retryable: false };
  await setup.serve((url) => (url.endsWith("1") ? { body: page("b") } : { body: "", status: 404, error }));
  const ended = await get(`/jobs/${job.job_id}/stats`);
  expect(ended.body).toMatchObject({
    status: "completed",
    pages_crawled: 1,
    pages_failed: 1,
    stop_reason: "completed",
  });
  const took = new Date(ended.body.completed_at).getTime() - new Date(ended.body.created_at).getTime();
  expect(ended.body.duration_seconds).toBeCloseTo(took / 1000, 2);
});

test("stats tell which hosts a job waits for, and why it failed", async () => {
  const { job_id } = await createJob(setup.dependencies, newJob(["http://down.example/1"]));
  const until = new Date(Date.now() + 60_000).toISOString();
  const wait = { code: "CIRCUIT_OPEN" as const, message: "It failed too often", until };
  await recordTaskNote(setup.sql, { jobId: job_id, begunAt: null, waits: { host: "down.example", ...wait } });
  expect((await get(`/jobs/${job_id}/stats`)).body).toMatchObject({
    status: "running",
    waits: [{ host: "down.example", code: "CIRCUIT_OPEN" }],
  });
  const error = { code: "DNS_FAILURE", message: "The name has no address", retryable: false };
  await setup.serve(() => ({ body: "", status: 0, error }));
  const { body } = await get(`/jobs/${job_id}/stats`);
  expect(body).toMatchObject({ status: "failed", error: expect.stringContaining("DNS_FAILURE") });
  expect(body).not.toHaveProperty("waits");
});

test("an answer may be larger than a buffered one", async () => {
  const jobId = await crawl(12, (url) => `<title>${url}</title><p>Short</p><script>${"x".repeat(900_000)}</script>`);
  const answer = await get(`/jobs/${jobId}/results?include=content`);
  expect(answer.status).toBe(200);
  expect(answer.body.pages).toHaveLength(12);
  const bytes = (answer.body.pages as CrawledPage[]).reduce((sum, { content = "" }) => sum + content.length, 0);
  expect(bytes).toBeGreaterThan(10_000_000);
});

test("results of a job that ended 30 days ago are gone, and say since when; the archive keeps its captures", async () => {
  const [old, young] = [await crawl(7), await crawl(3)];
  await setup.sql`update jobs set completed_at = now() - interval '30 days 1 minute' where id = ${old}`;
  await setup.sql`update jobs set completed_at = now() - interval '29 days 23 hours' where id = ${young}`;
  const expired = await get(`/jobs/${old}/results`);
  expect(expired).toMatchObject({ status: 410, body: { error: "ResultsExpired", error_code: "RESULTS_EXPIRED" } });
  const since = Date.now() - new Date(expired.body.details.expired_at).getTime();
  expect(since).toBeGreaterThan(59_000);
  expect(since).toBeLessThan(600_000);
  expect((await get(`/jobs/${young}/results`)).body.pages).toHaveLength(3);

  expect(await removeExpiredResults(setup.sql, 30, () => true)).toBe(7);
  expect(await removeExpiredResults(setup.sql, 30, () => true)).toBe(0);
  expect(await setup.sql`select from frontier where job_id = ${old}`).toHaveLength(0);
  expect(await setup.sql`select from captures where job_id = ${old}`).toHaveLength(7);
  expect((await get(`/jobs/${old}/stats`)).body).toMatchObject({ status: "completed", pages_crawled: 7 });
  expect((await get(`/jobs/${young}/results`)).body.pages).toHaveLength(3);
});

test("removing expired results stops where there is no time, and goes on at the next run", async () => {
  const jobId = await crawl(3);
  await setup.sql`update jobs set completed_at = now() - interval '40 days' where id = ${jobId}`;
  expect(await removeExpiredResults(setup.sql, 30, () => false)).toBe(0);
  expect(await removeExpiredResults(setup.sql, 30, () => true)).toBe(3);
});
