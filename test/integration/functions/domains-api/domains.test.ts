import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/domains-api/handler.ts";
import {
  changeDomain,
  readDomainSettings,
  repairDomains,
} from "../../../../shared/crawl/administration/domain-settings.ts";
import { createHostStates, type HostStates } from "../../../../shared/crawl/politeness/host-state.ts";
import { createRobotsCache } from "../../../../shared/crawl/robots/cache.ts";
import { parseRobots } from "../../../../shared/crawl/robots/rules.ts";
import { createJobFlags } from "../../../../shared/crawl/tasks/job-flags.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
let hosts: HostStates;
beforeAll(async () => {
  setup = await setUpApi({ CIRCUIT_BREAKER__THRESHOLD: "7" });
  hosts = createHostStates(setup.aws.dynamo, setup.aws.stateTable);
});
afterAll(() => setup.close());

const at = (domain: string, action = "") => `/api/v1/domains/${encodeURIComponent(domain)}${action}`;
const get = (path: string) => callApi(api, { path, key: setup.keys.read });
const put = (domain: string, json: unknown) =>
  callApi(api, { method: "PUT", path: at(domain), json, key: setup.keys.write });
const post = (domain: string, action: string, json: unknown = {}) =>
  callApi(api, { path: at(domain, `/${action}`), json, key: setup.keys.write });

it("shows a domain that has no settings as the deployment is set", async () => {
  expect(await get(at("Unknown.Example"))).toMatchObject({
    status: 200,
    body: {
      domain: "unknown.example",
      rate_limit_rps: null,
      is_blocked: false,
      updated_at: null,
      in_force: true,
      circuit: { state: "closed", failures: 0, until: null, threshold: 7, timeout_s: 300 },
      next_slot_at: null,
      urls: null,
      robots: [],
    },
  });
});

it("tells what robots.txt says to this crawler, of each origin as it was last read", async () => {
  const cache = createRobotsCache(setup.aws.dynamo, setup.aws.stateTable);
  const text =
    "User-agent: *\nDisallow: /\n\nUser-agent: Strandline\nDisallow: /drafts/\nCrawl-delay: 2.5\n\nSitemap: /map.xml";
  await cache.put("https://told.example", parseRobots(Buffer.from(text)));
  const many = Array.from({ length: 201 }, (_, at) => ({ allow: false, pattern: `/${at}` }));
  await cache.put("http://told.example", { rules: many, crawlDelayMs: null, sitemaps: [] });
  const { status, body } = await get(at("told.example"));
  expect(status).toBe(200);
  expect(body.robots).toEqual([
    {
      origin: "https://told.example",
      rules: [{ allow: false, pattern: "/drafts/" }],
      total_rules: 1,
      crawl_delay_s: 2.5,
      sitemaps: ["/map.xml"],
    },
    {
      origin: "http://told.example",
      rules: many.slice(0, 200),
      total_rules: 201,
      crawl_delay_s: null,
      sitemaps: [],
    },
  ]);
  await callApi(api, { method: "DELETE", path: "/api/v1/cache/domain/told.example", key: setup.keys.admin });
  expect((await get(at("told.example"))).body.robots).toEqual([]);
});

it("writes settings through to what fetch reads; what is left out stays, and null is the deployment's value", async () => {
  const first = { rate_limit_rps: 0.5, circuit_breaker_threshold: 2, circuit_breaker_timeout_s: 60 };
  expect(await put("through.example", first)).toMatchObject({ status: 200, body: { ...first, in_force: true } });
  const state = { rate_limit_rps: 0.5, circuit_threshold: 2, circuit_timeout_s: 60, blocked: false };
  expect(await hosts.read("through.example")).toMatchObject(state);
  await put("through.example", { rate_limit_rps: null });
  expect(await hosts.read("through.example")).toMatchObject({ circuit_threshold: 2 });
  expect(await hosts.read("through.example")).not.toHaveProperty("rate_limit_rps");
});

it("blocks with a reason and unblocks without one, and other settings change neither", async () => {
  expect(await post("blocked.example", "block", { reason: "asked us to" })).toMatchObject({
    status: 200,
    body: { is_blocked: true, blocked_reason: "asked us to", in_force: true },
  });
  await put("blocked.example", { rate_limit_rps: 2 });
  expect((await hosts.read("blocked.example")).blocked).toBe(true);
  expect((await get("/api/v1/domains?blocked=true")).body.items).toMatchObject([{ domain: "blocked.example" }]);
  expect(await post("blocked.example", "unblock")).toMatchObject({
    status: 200,
    body: { is_blocked: false, blocked_reason: null, rate_limit_rps: 2 },
  });
  expect(await hosts.read("blocked.example")).toMatchObject({ blocked: false, rate_limit_rps: 2 });
});

it("blocks without a reason where the request says nothing, and refuses what is no JSON", async () => {
  const path = at("silent.example", "/block");
  const block = (more: object) => callApi(api, { path, method: "POST", key: setup.keys.write, ...more });
  expect(await block({})).toMatchObject({ status: 200, body: { is_blocked: true, blocked_reason: null } });
  const headers = { "content-type": "application/json" };
  expect(await block({ headers })).toMatchObject({ status: 200, body: { is_blocked: true } });
  expect(await block({ headers, body: '{"reason":"asked us to"}' })).toMatchObject({
    status: 200,
    body: { blocked_reason: "asked us to" },
  });
  expect(await block({ headers, body: "{" })).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  // a reason that is not read would be lost
  expect(await block({ body: '{"reason":"again"}' })).toMatchObject({
    status: 415,
    body: { code: "UNSUPPORTED_MEDIA_TYPE" },
  });
});

it("keeps both stores alike, whatever many writers do at once", async () => {
  const changes = Array.from({ length: 12 }, (_, index) =>
    index % 3 === 0
      ? post("contended.example", index % 2 === 0 ? "block" : "unblock")
      : put("contended.example", { rate_limit_rps: index + 1 }),
  );
  expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(changes.map(() => 200));
  const row = await readDomainSettings(setup.database.sql, "contended.example");
  const state = await hosts.read("contended.example");
  expect({ rate: state.rate_limit_rps, blocked: state.blocked }).toEqual({
    rate: row.rate_limit_rps,
    blocked: row.is_blocked,
  });
  expect(row.in_force).toBe(true);
});

it("says so where settings are stored but not in force, and the sweep repairs it", async () => {
  const { sql } = setup.database;
  const flags = createJobFlags(setup.aws.dynamo, setup.aws.stateTable);
  const broken = { sql, flags, hosts: { applySettings: () => Promise.reject(new Error("the table does not answer")) } };
  await expect(changeDomain(broken, "later.example", { is_blocked: true })).rejects.toMatchObject({
    status: 503,
    code: "DOMAIN_NOT_IN_FORCE",
  });
  expect((await get(at("later.example"))).body).toMatchObject({ is_blocked: true, in_force: false });
  expect(await repairDomains({ sql, hosts })).toBe(1);
  expect((await get(at("later.example"))).body).toMatchObject({ is_blocked: true, in_force: true });
  expect((await hosts.read("later.example")).blocked).toBe(true);
  expect(await repairDomains({ sql, hosts })).toBe(0);
});

it("shows an open circuit with its times, and resets it", async () => {
  const openedAt = Date.now() - 1000;
  const Item = { pk: "host#down.example:8080", failures: 9, opened_at: openedAt, down_since: openedAt, openings: 1 };
  await setup.aws.dynamo.send(new PutCommand({ TableName: setup.aws.stateTable, Item }));
  expect((await get(at("down.example:8080"))).body.circuit).toMatchObject({
    state: "open",
    failures: 9,
    openings: 1,
    opened_at: new Date(openedAt).toISOString(),
    until: new Date(openedAt + 300_000).toISOString(),
  });
  await setup.aws.dynamo.send(
    new PutCommand({ TableName: setup.aws.stateTable, Item: { ...Item, opened_at: openedAt - 300_000 } }),
  );
  expect((await get(at("down.example:8080"))).body.circuit.state).toBe("half_open");
  expect((await post("down.example:8080", "reset")).body.circuit).toMatchObject({ state: "closed", failures: 0 });
  expect((await post("never-seen.example", "reset")).body.circuit).toMatchObject({ state: "closed", failures: 0 });
});

it("lists the domains that have settings in order of name, page by page, the longest names too", async () => {
  const long = `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example:65535`;
  for (const domain of ["münchen.example", "zz.example", long]) await put(domain, { rate_limit_rps: 1 });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await get(`/api/v1/domains?limit=1${cursor ? `&cursor=${cursor}` : ""}`);
    expect(page.status).toBe(200);
    seen.push(...page.body.items.map((item: { domain: string }) => item.domain));
    cursor = page.body.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual(expect.arrayContaining([long, "xn--mnchen-3ya.example", "zz.example"]));
  expect(seen).toEqual([...seen].sort());
});

it.each([["example.com/path"], ["example.com:0"], ["user@example.com"], ["a b"], ["x".repeat(10_240)]])(
  "refuses the domain %s wherever it is named",
  async (domain) => {
    const refused = { status: 400, body: { code: "VALIDATION_ERROR", error: expect.stringMatching(/^domain: /) } };
    expect(await get(at(domain))).toMatchObject(refused);
    expect(await put(domain, {})).toMatchObject(refused);
    expect(await post(domain, "block")).toMatchObject(refused);
    expect(await post(domain, "unblock")).toMatchObject(refused);
    expect(await post(domain, "reset")).toMatchObject(refused);
    const path = `/api/v1/cache/domain/${encodeURIComponent(domain)}`;
    expect(await callApi(api, { method: "DELETE", path, key: setup.keys.admin })).toMatchObject(refused);
  },
);

it.each([
  ["rate_limit_rps", { rate_limit_rps: 0 }],
  ["rate_limit_rps", { rate_limit_rps: "fast" }],
  ["circuit_breaker_threshold", { circuit_breaker_threshold: 1.5 }],
  ["circuit_breaker_timeout_s", { circuit_breaker_timeout_s: 3601 }],
  ["is_blocked", { is_blocked: null }],
  ["blocked_reason", { blocked_reason: "\0" }],
  ["colour", { colour: "red" }],
])("refuses settings whose %s is wrong", async (field, json) => {
  expect(await put("wrong.example", json)).toMatchObject({
    status: 400,
    body: { code: "VALIDATION_ERROR", details: { faults: [{ path: field }] } },
  });
});

it("refuses a cursor that names no domain", async () => {
  for (const text of ["\0", "", "a b"]) {
    const cursor = Buffer.from(text).toString("base64url");
    expect(await get(`/api/v1/domains?cursor=${cursor}`)).toMatchObject({ status: 400 });
    expect(await get(`/api/v1/stats/domains?cursor=${cursor}`)).toMatchObject({ status: 400 });
  }
});

it("lets nobody change anything who may only read", async () => {
  const key = setup.keys.read;
  expect(await callApi(api, { method: "PUT", path: at("a.example"), json: {}, key })).toMatchObject({ status: 403 });
  expect(await callApi(api, { path: at("a.example", "/block"), json: {}, key })).toMatchObject({ status: 403 });
});
