import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/crawl-api/handler.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi, type TestAnswer } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ ACCESS__ALLOW_HOSTS: "127.0.0.1:9999" });
});
afterAll(() => setup.close());

const post = (path: string, json: unknown): Promise<TestAnswer> =>
  callApi(api, { method: "POST", path, json, key: setup.keys.write });
const jobCount = async () => (await setup.database.sql`select count(*)::int as n from jobs`)[0]?.["n"];

it("takes several URLs as one job and queues them", async () => {
  const answer = await post("/api/v1/crawl", {
    urls: ["https://a.example/1", "https://a.example/2"],
    priority: "high",
  });
  expect(answer).toMatchObject({
    status: 202,
    body: { status: "pending", message: expect.stringContaining("2 URLs") },
  });
  const [task] = (await setup.aws.receive("fetch-high", 5)) as { jobId: string; urls: unknown[] }[];
  expect(task).toMatchObject({ jobId: answer.body.job_id, urls: [{ depth: 0 }, { depth: 0 }] });
});

it("takes a single url by that name", async () => {
  expect((await post("/api/v1/crawl", { url: "https://a.example/" })).status).toBe(202);
});

it("runs a site job on the host of its page, breadth first, within its limits", async () => {
  const answer = await post("/api/v1/crawl/deep", {
    url: "http://127.0.0.1:9999/x",
    max_depth: 3,
    max_pages: 7,
    priority: "low",
  });
  expect(answer.status).toBe(202);
  const [row] = await setup.database.sql`select kind, settings from jobs where id = ${answer.body.job_id}`;
  expect(row).toMatchObject({
    kind: "site",
    settings: { scope: { mode: "host", roots: ["127.0.0.1:9999"] }, max_depth: 3, max_pages: 7 },
  });
  expect(await setup.aws.receive("fetch-low", 5)).toHaveLength(1);
});

it("takes null for what may be left out, as clients send it that write all fields of the reference's models", async () => {
  const nothing = { config_id: null, config: null, collection_id: null };
  const given: [string, object][] = [
    ["/api/v1/crawl", { urls: ["https://a.example/"], tags: null, ...nothing }],
    ["/api/v1/crawl/batch", { urls: ["https://a.example/"], tags: null, ...nothing }],
    ["/api/v1/crawl/deep", { url: "https://a.example/", keywords: [], concurrency: null, ...nothing }],
  ];
  for (const [path, body] of given) expect((await post(path, body)).status, path).toBe(202);
  const [row] = await setup.database.sql`
    select collection_id, settings->'tags' as tags, settings->'config'->'chunk_size' as chunk_size
    from jobs order by id desc limit 1`;
  expect(row).toEqual({ collection_id: null, tags: [], chunk_size: 512 });
});

it("remembers which key asked", async () => {
  const { id, key } = await setup.createKey({ scopes: ["write"] });
  const answer = await callApi(api, { path: "/api/v1/crawl", json: { url: "https://a.example/" }, key });
  const [row] = await setup.database.sql`select api_key_id from jobs where id = ${answer.body.job_id}`;
  expect(row?.["api_key_id"]).toBe(id);
});

it.each([
  ["a private address", "http://10.0.0.1/"],
  ["cloud metadata", "http://169.254.169.254/latest/meta-data"],
  ["loopback on a port that is not allowed", "http://127.0.0.1:9998/"],
  ["a decimal host", "http://2130706433/"],
  ["a mapped IPv6 address", "http://[::ffff:10.0.0.1]/"],
])("answers 403 URL_BLOCKED to %s and queues nothing", async (_, url) => {
  const before = await jobCount();
  for (const [path, body] of [
    ["/api/v1/crawl", { urls: ["https://a.example/", url] }],
    ["/api/v1/crawl/deep", { url }],
  ] as const) {
    const answer = await post(path, body);
    expect(answer).toMatchObject({ status: 403, body: { code: "URL_BLOCKED", details: { host: expect.any(String) } } });
  }
  expect(await jobCount()).toBe(before);
});

it("says which of the URLs is blocked", async () => {
  const answer = await post("/api/v1/crawl", { urls: ["https://a.example/", "http://10.0.0.1/"] });
  expect(answer.body.details).toEqual({ path: "urls[1]", host: "10.0.0.1" });
});

it.each([
  ["not a URL", "nonsense"],
  ["of another scheme", "ftp://a.example/"],
  ["longer than 2048 characters", `https://a.example/${"x".repeat(2048)}`],
  ["holding credentials", "https://user:hunter2@a.example/"],
])("answers 400 URL_INVALID to a URL that is %s, and does not repeat its secrets", async (_, url) => {
  const answer = await post("/api/v1/crawl", { url });
  expect(answer).toMatchObject({ body: { code: expect.stringMatching(/^URL_(INVALID|BLOCKED)$/) } });
  expect([400, 403]).toContain(answer.status);
  expect(JSON.stringify(answer.body)).not.toContain("hunter2");
});

it.each([
  ["an unknown field", { urls: ["https://a.example/"], depth: 1 }, ["depth"]],
  ["a field of the wrong type", { urls: "https://a.example/" }, ["urls"]],
  [
    "an unknown setting and a bad one",
    { url: "https://a.example/", config: { rate_limit_rps: 0, retries: 1 } },
    ["config.rate_limit_rps", "config.retries"],
  ],
  [
    "headers that no message could carry",
    { url: "https://a.example/", config: { headers: { "x-a": "y".repeat(9000) } } },
    ["config.headers"],
  ],
  ["neither url nor urls", {}, ["urls"]],
  ["both url and urls", { url: "https://a.example/", urls: ["https://a.example/"] }, ["urls"]],
  ["no URL in the list", { urls: [] }, ["urls"]],
  ["over 1000 URLs", { urls: Array(1001).fill("https://a.example/") }, ["urls"]],
  ["an unknown priority", { url: "https://a.example/", priority: "urgent" }, ["priority"]],
  ["a config id that is no UUID", { url: "https://a.example/", config_id: "mine" }, ["config_id"]],
  ["a body that is no object", [], [""]],
])("answers 400 with the path of each fault to %s", async (_, body, paths) => {
  const answer = await post("/api/v1/crawl", body);
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(answer.body.details.faults.map((fault: { path: string }) => fault.path).sort()).toEqual(paths);
});

it("takes a site with its strategy, scope, patterns, budgets and time limit", async () => {
  const answer = await post("/api/v1/crawl/deep", {
    url: "https://www.deep.example/docs/index.html",
    strategy: "best_first",
    keywords: ["Harbour Wall", "tide"],
    scope: "domain",
    include: ["/docs/"],
    exclude: ["[?&]print="],
    max_pages_per_host: 7,
    concurrency: 3,
    timeout_seconds: 60,
  });
  expect(answer.status).toBe(202);
  const [row] = await setup.database.sql`
    select settings, extract(epoch from deadline_at - created_at)::float8 as seconds from jobs where id = ${answer.body.job_id}`;
  expect(row).toMatchObject({
    settings: {
      strategy: "best_first",
      keywords: ["harbour wall", "tide"],
      score_threshold: 0.4,
      scope: { mode: "domain", roots: ["deep.example"], include: ["/docs/"], exclude: ["[?&]print="] },
      max_pages_per_host: 7,
      concurrency: 3,
    },
    seconds: 60,
  });
});

it.each([
  [{ strategy: "random" }, "strategy"],
  [{ strategy: "best_first" }, "keywords"],
  [{ strategy: "best_first", keywords: ["a"], score_threshold: 1.5 }, "score_threshold"],
  [{ strategy: "best_first", keywords: ["🐟"] }, "keywords"],
  [{ keywords: ["a"] }, "keywords"],
  [{ strategy: "dfs", score_threshold: 0 }, "score_threshold"],
  [{ scope: "planet" }, "scope"],
  [{ include: ["fine", "(a"] }, "include[1]"],
  [{ exclude: ["(?=x)"] }, "exclude[0]"],
  [{ exclude: Array(51).fill("a") }, "exclude"],
  [{ include: ["a".repeat(501)] }, "include[0]"],
  [{ max_pages_per_host: 0 }, "max_pages_per_host"],
  [{ concurrency: 0 }, "concurrency"],
  [{ timeout_seconds: 0 }, "timeout_seconds"],
])("refuses a deep crawl with %j, and names the field", async (fields, path) => {
  const answer = await post("/api/v1/crawl/deep", { url: "https://a.example/", ...fields });
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(answer.body.details.faults).toMatchObject([{ in: "body", path }]);
});

it.each(["config_id", "collection_id"])("names an unknown %s", async (field) => {
  const id = uuidv7();
  const answer = await post("/api/v1/crawl", { url: "https://a.example/", [field]: id });
  expect(answer).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  expect(answer.body.error).toContain(id);
  expect(answer.body.error).toContain(field);
  if (field === "collection_id") expect(answer.body.error).toContain("POST /api/v1/collections");
});

it("lets the settings of a request win over those of a stored config, and defaults over nothing", async () => {
  const config_id = uuidv7();
  const settings = JSON.stringify({ chunk_size: 256, page_timeout_ms: 5000 });
  await setup.database.sql`
    insert into crawl_configs (id, name, settings) values (${config_id}, 'small', ${settings}::text::jsonb)`;
  const answer = await post("/api/v1/crawl", { url: "https://a.example/", config_id, config: { chunk_size: 128 } });
  const [row] = await setup.database
    .sql`select settings->'config' as config from jobs where id = ${answer.body.job_id}`;
  expect(row?.["config"]).toMatchObject({
    chunk_size: 128,
    page_timeout_ms: 5000,
    chunk_overlap: 50,
    respect_robots_txt: true,
  });
});

it.each([
  [{ chunk_size: 64, chunk_overlap: 33 }, "chunk_overlap (33) is more than half of chunk_size (64)"],
  [{ chunk_overlap: 257 }, "set it to 256 at the most"],
  [{ chunk_size: 64, min_chunk_size: 50 }, "min_chunk_size (50) is more than half"],
  [{ wait_for: "main" }, 'wait_for is for pages that are opened in a browser: set render to "always"'],
])("refuses settings that do not go together, at every route that crawls: %j", async (config, message) => {
  const url = "https://a.example/";
  for (const [path, request] of [
    ["", { url }],
    ["/batch", { urls: [url] }],
    ["/deep", { url }],
  ] as const) {
    const answer = await post(`/api/v1/crawl${path}`, { ...request, config });
    expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    expect(answer.body.error).toContain(message);
  }
});

it("gives small chunks a part in proportion where nothing is said of it", async () => {
  const answer = await post("/api/v1/crawl", { url: "https://a.example/", config: { chunk_size: 64 } });
  const [row] = await setup.database
    .sql`select settings->'config' as config from jobs where id = ${answer.body.job_id}`;
  expect(row?.["config"]).toMatchObject({ chunk_size: 64, chunk_overlap: 32, min_chunk_size: 32 });
});

it("refuses chunks that are too small for a word", async () => {
  const config = { chunk_size: 23, chunk_overlap: 0, min_chunk_size: 0 };
  const answer = await post("/api/v1/crawl", { url: "https://a.example/", config });
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(answer.body.error).toContain("config.chunk_size");
});

it("makes a job of each URL of a batch, and a URL that is refused fails alone", async () => {
  const urls = ["https://a.example/", "http://10.0.0.1/", "nonsense", "https://b.example/"];
  const answer = await post("/api/v1/crawl/batch", { urls, tags: ["News", "news "] });
  expect(answer).toMatchObject({ status: 202, body: { total_submitted: 2, failed_count: 2 } });
  expect(answer.body.jobs).toMatchObject([
    { url: urls[0], status: "pending", code: null },
    { url: urls[1], job_id: null, status: "failed", code: "URL_BLOCKED" },
    { url: urls[2], job_id: null, status: "failed", code: "URL_INVALID" },
    { url: urls[3], status: "pending", code: null },
  ]);
  expect(answer.body.jobs[0].job_id).not.toBe(answer.body.jobs[3].job_id);
});

it("takes 100 URLs in a batch, and refuses 101", async () => {
  const urls = Array.from({ length: 101 }, (_, index) => `https://a.example/${index}`);
  expect((await post("/api/v1/crawl/batch", { urls })).status).toBe(400);
  expect((await post("/api/v1/crawl/batch", { urls: urls.slice(1) })).body).toMatchObject({ total_submitted: 100 });
});
