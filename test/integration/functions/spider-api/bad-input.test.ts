import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/spider-api/handler.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi, type TestAnswer } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

const SEEDS = { seed_urls: ["https://a.example/"] };

function crawl(query: string, json: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> {
  return callApi(api, { path: `/spider/crawl${query}`, json, headers, key: setup.keys.write });
}
const follow = (jobId: string, query = "", headers: Record<string, string> = {}) =>
  callApi(api, { path: `/jobs/${jobId}/stream${query}`, headers, key: setup.keys.read });
const jobs = async () => (await setup.database.sql`select 1 from jobs`).length;

it.each([
  ["no seeds", {}, ["seed_urls"]],
  ["an empty list of seeds", { seed_urls: [] }, ["seed_urls"]],
  ["10,001 seeds", { seed_urls: Array(10_001).fill("https://a.example/") }, ["seed_urls"]],
  ["max_pages 0", { ...SEEDS, max_pages: 0 }, ["max_pages"]],
  ["a negative depth", { ...SEEDS, max_depth: -1 }, ["max_depth"]],
  ["half a page", { ...SEEDS, max_pages: 1.5 }, ["max_pages"]],
  ["an unknown strategy", { ...SEEDS, strategy: "random_walk" }, ["strategy"]],
  ["best first without keywords", { ...SEEDS, strategy: "best_first" }, ["keywords"]],
  ["keywords for breadth first", { ...SEEDS, keywords: ["tide"] }, ["keywords"]],
  ["a threshold for depth first", { ...SEEDS, strategy: "dfs", score_threshold: 0.2 }, ["score_threshold"]],
  ["a score above 1", { ...SEEDS, strategy: "best_first", keywords: ["a"], score_threshold: 1.1 }, ["score_threshold"]],
  ["no time", { ...SEEDS, timeout_seconds: 0 }, ["timeout_seconds"]],
  ["more time than an answer may take", { ...SEEDS, timeout_seconds: 281 }, ["timeout_seconds"]],
  ["no request at once", { ...SEEDS, concurrency: 0 }, ["concurrency"]],
  ["a pattern that is none", { ...SEEDS, include_patterns: ["ok", "(unclosed"] }, ["include_patterns[1]"]],
  ["a pattern beyond RE2", { ...SEEDS, exclude_patterns: ["(a)\\1"] }, ["exclude_patterns[0]"]],
  ["unknown fields", { ...SEEDS, seeds: [], depth: 1 }, ["seeds", "depth"]],
  ["an unknown setting", { ...SEEDS, config: { retries: 1 } }, ["config.retries"]],
])("answers 400 with the path of each fault to %s, and takes no job", async (_, body, paths) => {
  const before = await jobs();
  const answer = await crawl("", body);
  expect(answer).toMatchObject({ status: 400, body: { error: "ValidationError", error_code: "VALIDATION_ERROR" } });
  expect(answer.body.message).toEqual(expect.any(String));
  expect(answer.body.details.faults.map((fault: { path: string }) => fault.path)).toEqual(paths);
  expect(await jobs()).toBe(before);
});

it.each([
  ["an unknown mode", "?result_mode=everything", "result_mode"],
  ["a mode in another case", "?result_mode=Pages", "result_mode"],
  ["an unknown field to include", "?include=title,colour", "include"],
  ["an unknown field to exclude", "?result_mode=stream&exclude=body", "exclude"],
  ["max_pages 0", "?result_mode=pages&max_pages=0", "max_pages"],
  ["max_pages over 10,000", "?result_mode=pages&max_pages=10001", "max_pages"],
  ["max_pages of an answer that holds no pages", "?max_pages=10", "max_pages"],
  ["max_pages that is no number", "?result_mode=pages&max_pages=many", "max_pages"],
  ["detach that is neither true nor false", "?result_mode=stream&detach=maybe", "detach"],
  ["an unknown parameter", "?mode=pages", "mode"],
])("answers 400 naming the parameter to %s", async (_, query, path) => {
  const before = await jobs();
  const answer = await crawl(query, SEEDS);
  expect(answer).toMatchObject({ status: 400, body: { error_code: "VALIDATION_ERROR" } });
  expect(answer.body.details.faults.map((fault: { path: string }) => fault.path)).toEqual([path]);
  expect(await jobs()).toBe(before);
});

it("takes null for what may be left out", async () => {
  const nothing = { timeout_seconds: null, concurrency: null, respect_robots: null, config: null, collection_id: null };
  expect((await crawl("?result_mode=store", { ...SEEDS, ...nothing })).status).toBe(202);
});

it("says which field it is that does not exist", async () => {
  expect((await crawl("?include=colour", SEEDS)).body.message).toContain("colour");
});

it("answers 403 with each reason where all seeds are blocked", async () => {
  const answer = await crawl("", { seed_urls: ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data"] });
  expect(answer).toMatchObject({ status: 403, body: { error: "UrlBlocked", error_code: "URL_BLOCKED" } });
  expect(answer.body.details.refused_seeds).toEqual([
    { path: "seed_urls[0]", host: "10.0.0.1", code: "URL_BLOCKED", message: expect.any(String) },
    { path: "seed_urls[1]", host: "169.254.169.254", code: "URL_BLOCKED", message: expect.any(String) },
  ]);
});

it("answers 400 with each reason where no seed is left and some are no URLs, without repeating secrets", async () => {
  const answer = await crawl("", { seed_urls: ["nonsense", "https://user:hunter2@a.example/", "http://10.0.0.1/"] });
  expect(answer).toMatchObject({ status: 400, body: { error_code: "URL_INVALID" } });
  expect(answer.body.details.refused_seeds.map((seed: { code: string }) => seed.code)).toEqual([
    "URL_INVALID",
    "URL_INVALID",
    "URL_BLOCKED",
  ]);
  expect(JSON.stringify(answer.body)).not.toContain("hunter2");
});

it("goes on with the seeds that are fine, and tells of the others", async () => {
  const seed_urls = ["https://a.example/", "http://10.0.0.1/", "nonsense", "https://a.example/"];
  const answer = await crawl("?result_mode=store", { seed_urls });
  expect(answer.status).toBe(202);
  expect(answer.body.refused_seeds).toMatchObject([
    { path: "seed_urls[1]", code: "URL_BLOCKED" },
    { path: "seed_urls[2]", code: "URL_INVALID" },
  ]);
  const urls = await setup.database.sql`select url from frontier where job_id = ${answer.body.job_id}`;
  expect(urls.map(({ url }) => url)).toEqual(["https://a.example/"]);
});

it.each(["config_id", "collection_id"])("names an unknown %s", async (field) => {
  const answer = await crawl("", { ...SEEDS, [field]: uuidv7() });
  expect(answer).toMatchObject({ status: 404, body: { error: "NotFound", error_code: "NOT_FOUND" } });
  expect(answer.body.message).toContain(field);
});

it("answers 406 where the client takes neither form of a stream, before it takes a job", async () => {
  const before = await jobs();
  const answer = await crawl("?result_mode=stream", SEEDS, { Accept: "application/json, text/html;q=0.9" });
  expect(answer).toMatchObject({ status: 406, body: { error_code: "NOT_ACCEPTABLE" } });
  expect(answer.body.details.offered).toEqual(["application/x-ndjson", "text/event-stream"]);
  expect(await jobs()).toBe(before);
});

it("begins no second crawl for a client that wants to take a stream up again", async () => {
  const answer = await crawl("?result_mode=stream", SEEDS, { "Last-Event-ID": "17" });
  expect(answer).toMatchObject({ status: 400, body: { error_code: "VALIDATION_ERROR" } });
  expect(answer.body.message).toContain("/jobs/{job_id}/stream");
});

it.each([
  ["that is no number", "?cursor=abc"],
  ["below zero", "?cursor=-1"],
  ["beyond what there can be", "?cursor=99999999999"],
])("refuses a cursor %s", async (_, query) => {
  const answer = await follow(uuidv7(), query);
  expect(answer).toMatchObject({ status: 400, body: { error_code: "VALIDATION_ERROR" } });
  expect(answer.body.details.faults).toMatchObject([{ in: "query", path: "cursor" }]);
});

it("refuses a Last-Event-ID that is none of a stream's", async () => {
  const answer = await follow(uuidv7(), "", { "Last-Event-ID": "abc" });
  expect(answer).toMatchObject({ status: 400, body: { error_code: "VALIDATION_ERROR" } });
  expect(answer.body.details.faults).toMatchObject([{ path: "last-event-id" }]);
});

it("knows no stream of a job that is not there", async () => {
  expect(await follow(uuidv7())).toMatchObject({ status: 404, body: { error_code: "NOT_FOUND" } });
  expect(await follow("mine")).toMatchObject({ status: 404, body: { error_code: "NOT_FOUND" } });
});
