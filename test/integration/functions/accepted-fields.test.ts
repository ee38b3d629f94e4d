/**
 * Whatever a request for a crawl may hold shows in the job, in the answer or in a refusal: nothing is taken and
 * ignored.
 * What a setting of a job does is held by the tests of the room that reads it.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPENAPI_FILE } from "../../../checks/openapi.ts";
import { api as crawlApi } from "../../../functions/crawl-api/handler.ts";
import { api as discoverApi } from "../../../functions/discover-api/handler.ts";
import { api as extractApi } from "../../../functions/extract-api/handler.ts";
import { api as harvestApi } from "../../../functions/harvest-api/handler.ts";
import { api as scrapeApi } from "../../../functions/scrape-api/handler.ts";
import { api as spiderApi } from "../../../functions/spider-api/handler.ts";
import { cachedTaskSchema, ingestFromCache } from "../../../shared/crawl/ingest/ingest-cached.ts";
import { crawlConfigSchema } from "../../../shared/crawl/settings/crawl-config.ts";
import { insertRun } from "../../../shared/harvest/store.ts";
import { sha256, uuidv7 } from "../../../shared/platform/ids.ts";
import { callApi, type TestAnswer } from "../../services/api.ts";
import { type ExtractSetup, extractSetup } from "./extract-api/extract-setup.ts";

type Fields = Record<string, unknown>;

/** A field with another value than it has where it is left out, and what must stand beside it. */
interface Given {
  value: unknown;
  beside?: Fields;
}
const given = (value: unknown, beside: Fields = {}): Given => ({ value, beside });

interface Door {
  api: Parameters<typeof callApi>[0];
  /** As the OpenAPI document has it. */
  path: string;
  /** As it is asked for, where that differs. */
  at?: string;
  /** A request without any field that may be left out. */
  least: Fields;
  fields: Record<string, Given>;
  /** Query parameters, in the same way. */
  query?: Record<string, { value: string; beside?: Record<string, string> }>;
  leastQuery?: Record<string, string>;
  /** Whether the answer waits for its pages. */
  waits?: boolean;
}

const URL_A = "http://a.example/";
const CONFIG_ID = uuidv7();
const COLLECTION_ID = uuidv7();
const PROXY_ID = uuidv7();
/** The first one of its database. */
const RUN_ID = 1;

const ofJobs = {
  config_id: given(CONFIG_ID),
  config: given({ max_redirects: 3 }),
  collection_id: given(COLLECTION_ID),
  tags: given(["t"]),
  priority: given("high"),
};
const HOOK = { webhook_url: "http://hook.example/" };
/** Of jobs that end without anybody who waits for them. */
const ofStoredJobs = {
  ...ofJobs,
  restore_deleted: given(true),
  webhook_url: given(HOOK.webhook_url),
  webhook_headers: given({ "x-token": "a" }, HOOK),
  webhook_secret: given("0123456789abcdef", HOOK),
  webhook_events: given(["crawl.failed"], HOOK),
};
const bestFirst = { strategy: "best_first", keywords: ["harbour"] };

const DOORS: Record<string, Door> = {
  crawl: {
    api: crawlApi,
    path: "/api/v1/crawl",
    least: { url: URL_A },
    fields: {
      url: given("http://b.example/"),
      urls: given([URL_A, "http://b.example/"], { url: undefined }),
      concurrency: given(3),
      cache: given("bypass"),
      ...ofStoredJobs,
    },
  },
  batch: {
    api: crawlApi,
    path: "/api/v1/crawl/batch",
    least: { urls: [URL_A] },
    fields: { urls: given(["http://b.example/"]), cache: given("bypass"), ...ofStoredJobs },
  },
  deep: {
    api: crawlApi,
    path: "/api/v1/crawl/deep",
    least: { url: URL_A },
    fields: {
      url: given("http://b.example/"),
      strategy: given("dfs"),
      keywords: given(["quay"], bestFirst),
      score_threshold: given(0.9, bestFirst),
      scope: given("domain"),
      include: given(["x"]),
      exclude: given(["x"]),
      max_depth: given(5),
      max_pages: given(7),
      max_pages_per_host: given(3),
      concurrency: given(3),
      timeout_seconds: given(100),
      cache: given("use"),
      ...ofStoredJobs,
    },
  },
  spider: {
    api: spiderApi,
    path: "/spider/crawl",
    least: { seed_urls: [URL_A] },
    leastQuery: { result_mode: "store" },
    fields: {
      seed_urls: given(["http://b.example/"]),
      max_depth: given(5),
      max_pages: given(7),
      strategy: given("dfs"),
      keywords: given(["quay"], bestFirst),
      score_threshold: given(0.9, bestFirst),
      timeout_seconds: given(100),
      concurrency: given(3),
      respect_robots: given(false),
      same_domain_only: given(false),
      include_patterns: given(["x"]),
      exclude_patterns: given(["x"]),
      cache: given("use"),
      ...ofJobs,
    },
    query: {
      result_mode: { value: "nothing" },
      include: { value: "title" },
      exclude: { value: "title" },
      max_pages: { value: "5" },
      detach: { value: "true" },
    },
  },
  "extract/batch": {
    api: extractApi,
    path: "/extract/batch",
    least: { urls: [URL_A] },
    waits: true,
    fields: {
      urls: given(["http://b.example/"]),
      format: given("html"),
      concurrency: given(3),
      timeout_seconds: given(70),
      cache: given("bypass"),
      config_id: ofJobs.config_id,
      config: ofJobs.config,
    },
  },
  "spider/extract": {
    api: extractApi,
    path: "/spider/extract",
    least: { seeds: [URL_A] },
    waits: true,
    fields: {
      seeds: given(["http://b.example/"]),
      scope: given({ max_depth: 5 }),
      include: given(["title"]),
      result_mode: given("stats"),
      extract_pattern: given("nowhere"),
      timeout_seconds: given(70),
      cache: given("use"),
      ...ofJobs,
    },
  },
  scrape: {
    api: scrapeApi,
    path: "/api/v1/scrape",
    least: { url: URL_A },
    waits: true,
    fields: {
      url: given("http://b.example/"),
      formats: given(["text"]),
      schema: given({ fields: { a: { selector: "p" } } }),
      screenshot: given({}),
      timeout_seconds: given(70),
      cache: given("bypass"),
      config_id: ofJobs.config_id,
      config: ofJobs.config,
    },
  },
  "search-runs/crawl": {
    api: harvestApi,
    path: "/search-runs/{run_id}/crawl",
    at: `/search-runs/${RUN_ID}/crawl`,
    least: {},
    fields: { min_confidence: given(2), limit: given(1), ...ofJobs },
  },
  discover: {
    api: discoverApi,
    path: "/api/v1/discover",
    least: { domain: "a.example" },
    fields: {
      domain: given("b.example"),
      sources: given(["common_crawl"]),
      pattern: given("x"),
      max_urls: given(7),
      score_query: given("harbour"),
      score_threshold: given(0.9, { score_query: "harbour" }),
    },
  },
};

type Setting = keyof typeof crawlConfigSchema.shape;
/** Every setting, with another value than its default. */
const CONFIG: Record<Setting, unknown> = {
  rate_limit_rps: 3,
  respect_robots_txt: false,
  headers: { "x-team": "blue" },
  chunk_size: 100,
  chunk_overlap: 20,
  min_chunk_size: 20,
  page_timeout_ms: 5_000,
  max_page_size_mb: 3,
  max_redirects: 3,
  languages: ["de"],
  session_ids: "keep",
  ignore_parameters: ["x"],
  render: "always",
  pdf: "read",
  wait_for: "#x",
  viewport: { width: 500, height: 500 },
  mobile: true,
  actions: [{ type: "scroll", pixels: 100 }],
  cookies: [{ host: "a.example", name: "a", value: "b" }],
  session: true,
  include_selectors: ["main"],
  exclude_selectors: ["aside"],
  only_main_content: false,
  proxy_id: PROXY_ID,
};

let setup: ExtractSetup;
beforeAll(async () => {
  setup = await extractSetup();
  const settings = { max_redirects: 4 };
  await setup.sql`insert into crawl_configs (id, name, settings) values (${CONFIG_ID}, 'c', ${JSON.stringify(settings)}::text::jsonb)`;
  await setup.sql`insert into proxy_configs (id, name, servers) values (${PROXY_ID}, 'p', '[]')`;
  await setup.sql`insert into collections (id, name) values (${COLLECTION_ID}, 'c')`;
  const processed = [URL_A, "http://b.example/", "http://c.example/"].map((url, at) => {
    const providers = at === 0 ? ["serper", "brave"] : ["serper"];
    return { url, providers, confidence: providers.length, dedupeHash: sha256(url).toString("hex") };
  });
  const run = { query: "a", rewrittenTemplate: "a", config: {}, providersUsed: ["serper"], apiKeyId: null, raw: [] };
  expect(await insertRun(setup.sql, { ...run, processed })).toBe(RUN_ID);
});
afterAll(() => setup.close());

/** What is of one job or moment alone. */
const OF_THE_MOMENT = /^(job_id|request_id|created_at|crawled_at|fetch_time_ms|duration_seconds|id|generation_id)$/;

const lasting = (value: unknown): string =>
  JSON.stringify(value, (key, each: unknown) => (OF_THE_MOMENT.test(key) ? undefined : each));

/** What requests without a field gave. */
const plain = new Map<string, ReturnType<typeof observe>>();

function observePlain(door: Door, body: Fields, query: Record<string, string> = {}): ReturnType<typeof observe> {
  const key = JSON.stringify([door.path, body, query]);
  const seen = plain.get(key) ?? observe(door, body, query);
  plain.set(key, seen);
  return seen;
}

/** The answer, and the job that it has made. */
async function observe(door: Door, body: Fields, query: Record<string, string> = {}) {
  const path = `${door.at ?? door.path}?${new URLSearchParams({ ...door.leastQuery, ...query })}`;
  const before = await lastJobs();
  const answer: TestAnswer = await whileAnswered(() => callApi(door.api, { path, json: body, key: setup.key }));
  const made = (await lastJobs()).filter(({ id }) => !before.some((each) => each["id"] === id));
  return {
    status: answer.status,
    text: lasting([answer.status, answer.body, made]),
    message: answer.body?.message ?? answer.body?.error,
  };
}

async function lastJobs(): Promise<Fields[]> {
  const jobs = await setup.sql<Fields[]>`
    select id, kind, priority, collection_id, delivery, settings, watched_at is not null as watched,
      round(extract(epoch from deadline_at - created_at)) as seconds,
      (select array_agg(url order by url) from frontier f where f.job_id = jobs.id and depth = 0) as urls,
      (select jsonb_build_array(url, headers, secrets, events) from webhooks w where w.job_id = jobs.id) as webhook
    from jobs order by id desc limit 30`;
  const discoveries = await setup.sql<Fields[]>`
    select id, domain, sources, pattern, max_urls, score_query, score_threshold from discovery_jobs order by id desc limit 30`;
  return [...jobs, ...discoveries];
}

const PAGE = `<html lang="en"><title>Quay</title><p>${"The harbour is open from dawn to dusk. ".repeat(10)}</p>`;

async function whileAnswered<T>(work: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const answering = Promise.all([setup.answer(() => ({ body: PAGE }), done.signal), fromCache(done.signal)]);
  const result = await work().finally(() => done.abort());
  await answering;
  return result;
}

/** Pages that a recent capture answers. */
async function fromCache(until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    for (const message of await setup.aws.receive("captures")) {
      const task = cachedTaskSchema.safeParse(message).data;
      if (task !== undefined) await ingestFromCache(setup.dependencies, task);
    }
  }
}

/** The value once for each text in it, which has `odd` behind it then. */
function* withOdd(value: unknown, odd: string): Generator<unknown> {
  if (typeof value === "string") yield value + odd;
  if (typeof value !== "object" || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    for (const other of withOdd(each, odd)) {
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
    }
  }
}

interface Described {
  requestBody: { content: { "application/json": { schema: { $ref: string } } } };
  parameters?: { name: string; in: string }[];
}
const { paths, components } = JSON.parse(readFileSync(OPENAPI_FILE, "utf8")) as {
  paths: Record<string, { post: Described }>;
  components: { schemas: Record<string, { properties: object }> };
};

describe.each(Object.entries(DOORS))("%s", (_name, door) => {
  const described = paths[door.path]?.post as Described;

  it("is asked here for every field that it takes", () => {
    const { $ref } = described.requestBody.content["application/json"].schema;
    const { properties } = components.schemas[$ref.split("/").at(-1) ?? ""] ?? { properties: {} };
    expect(Object.keys(door.fields).toSorted()).toEqual(Object.keys(properties).toSorted());
    const parameters = described.parameters?.filter((each) => each.in === "query").map(({ name }) => name) ?? [];
    expect(Object.keys(door.query ?? {}).toSorted()).toEqual(parameters.toSorted());
  });

  it.each(Object.keys(door.fields))("takes %s and does something with it, or refuses it", async (field) => {
    const { value, beside } = door.fields[field] as Given;
    const without = { ...door.least, ...beside };
    const usual = await observePlain(door, field in door.least ? door.least : without);
    const asked = await observe(door, { ...without, [field]: value });
    expect(asked.status).toBeLessThan(500);
    expect(asked.text).not.toBe(usual.text);
  });

  it.each(Object.keys(door.query ?? {}))("takes ?%s= and does something with it, or refuses it", async (field) => {
    const { value, beside } = door.query?.[field] ?? { value: "" };
    const usual = await observePlain(door, door.least, beside);
    const asked = await observe(door, door.least, { ...beside, [field]: value });
    expect(asked.status).toBeLessThan(500);
    expect(asked.text).not.toBe(usual.text);
  });

  it("keeps every setting of config, or refuses it", async () => {
    expect(Object.keys(CONFIG).toSorted()).toEqual(Object.keys(crawlConfigSchema.shape).toSorted());
    if (!("config" in door.fields)) return;
    const answered = /scrape|batch/.test(door.path) && door.waits;
    const refused = answered ? ["chunk_size", "chunk_overlap", "min_chunk_size", "languages"] : [];
    for (const field of refused) {
      const { status, message } = await observe(door, { ...door.least, config: { [field]: CONFIG[field as Setting] } });
      expect([field, status, message]).toEqual([field, 400, expect.stringContaining(`config: ${field} is for pages`)]);
    }
    const config = Object.fromEntries(Object.entries(CONFIG).filter(([field]) => !refused.includes(field)));
    const least = door.waits ? { ...door.least, timeout_seconds: 0.01 } : door.least;
    await observe(door, { ...least, config });
    const [job] = await setup.sql`select settings->'config' as config from jobs order by id desc limit 1`;
    expect(job?.["config"]).toMatchObject(config);
    expect(await observe(door, { ...least, config: { proxy_id: uuidv7() } })).toMatchObject({ status: 404 });
  });

  it.each(["\u{1F30A}", "\ud800", "\uffff"])("takes %j in any of its texts, or refuses it", async (odd) => {
    const least = door.waits ? { ...door.least, timeout_seconds: 0.01 } : door.least;
    const fields = { ...door.fields, ...("config" in door.fields && { config: given(CONFIG) }) };
    for (const [field, { value, beside }] of Object.entries(fields)) {
      for (const other of withOdd(value, odd)) {
        const json = { ...least, ...beside, [field]: other };
        const path = `${door.at ?? door.path}?${new URLSearchParams(door.leastQuery)}`;
        const { status, body } = await callApi(door.api, { path, json, key: setup.key });
        // whoever waits for pages that nobody fetches waits in vain
        const late = door.waits && status === 504;
        expect(late || status < 500, JSON.stringify([json, status, body])).toBe(true);
      }
    }
  });
});
