/** Every request that takes a URL refuses those that lead where it must not go, stores nothing, and asks nobody. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Instance, startInstance } from "../../services/instance.ts";
import { type Site, startSite } from "../../sites/site.ts";
import { type HostileUrls, hostileUrls } from "./hostile-urls.ts";

/** Where a list has one answer for each URL. */
interface ItemOfBatch {
  code?: string | null;
  error_code?: string | null;
  job_id?: string | null;
}

let forbidden: ReturnType<typeof createServer>;
/** Connections to what nobody may reach. */
let reached = 0;
let site: Site;
let instance: Instance;
let sql: postgres.Sql;
let urls: HostileUrls;

beforeAll(async () => {
  forbidden = createServer((_request, response) => response.end("secret"));
  forbidden.on("connection", () => {
    reached += 1;
  });
  await new Promise<void>((listening) => forbidden.listen(0, "127.0.0.1", listening));
  urls = hostileUrls((forbidden.address() as AddressInfo).port);
  // the one host of this machine that may be asked
  site = await startSite();
  const env = { ACCESS__ALLOW_HOSTS: site.host, EMBEDDER__PROVIDER: "none", RATE_LIMIT__API_RPM: "1000000" };
  instance = await startInstance({ env });
  sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await sql?.end();
  await instance?.stop();
  await site?.close();
  forbidden?.close();
});

async function send(method: string, path: string, body: unknown) {
  const response = await fetch(instance.url + path, {
    method,
    headers: { authorization: `Bearer ${instance.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text };
}

/** All that a request could have made. */
async function stored() {
  const [counts] = await sql`
    select (select count(*)::int from jobs) as jobs, (select count(*)::int from frontier) as urls,
      (select count(*)::int from discovery_jobs) as discoveries, (select count(*)::int from webhooks) as webhooks,
      (select count(*)::int from crawl_sources) as sources, (select count(*)::int from proxy_configs) as proxies,
      (select count(*)::int from captures) as captures, (select count(*)::int from domain_settings) as domains`;
  return { ...counts };
}

it("has at least 80 of them", () => {
  expect(new Set([...urls.blocked, ...urls.invalid]).size).toBeGreaterThan(160);
});

const GOOD = "https://example.org/";
const PROXY = { name: "exit", servers: [{ url: "http://proxy.example:3128" }] };

/** What is sent to each, with a URL in it. */
const DOORS: readonly (readonly [method: string, path: string, field: string, body: (url: string) => unknown])[] = [
  ["POST", "/api/v1/crawl", "url", (url) => ({ url })],
  ["POST", "/api/v1/crawl", "urls", (url) => ({ urls: [url] })],
  ["POST", "/api/v1/crawl/deep", "url", (url) => ({ url })],
  ["POST", "/api/v1/crawl", "webhook_url", (webhook_url) => ({ url: GOOD, webhook_url })],
  ["POST", "/api/v1/crawl/batch", "webhook_url", (webhook_url) => ({ urls: [GOOD], webhook_url })],
  ["POST", "/api/v1/crawl/deep", "webhook_url", (webhook_url) => ({ url: GOOD, webhook_url })],
  ["POST", "/spider/crawl", "seed_urls", (url) => ({ seed_urls: [url] })],
  ["POST", "/spider/crawl?result_mode=stream", "seed_urls", (url) => ({ seed_urls: [url] })],
  ["POST", "/spider/extract", "seeds", (url) => ({ seeds: [url] })],
  ["POST", "/api/v1/scrape", "url", (url) => ({ url })],
  ["POST", "/api/v1/screenshot", "url", (url) => ({ url })],
  ["POST", "/api/v1/pdf", "url", (url) => ({ url })],
  ["POST", "/api/v1/execute-js", "url", (url) => ({ url, scripts: ["1"] })],
  ["POST", "/api/v1/webhooks", "url", (url) => ({ url })],
  ["POST", "/api/v1/sources", "url", (url) => ({ name: "hostile", url })],
  ["POST", "/api/v1/proxies/test", "url", (url) => ({ server: PROXY.servers[0], url })],
];

it.each(DOORS)("%s %s refuses each as its %s, by its code", async (method, path, _field, body) => {
  const before = await stored();
  const wrong: string[] = [];
  for (const [status, code, each] of [
    [403, "URL_BLOCKED", urls.blocked],
    [400, "URL_INVALID", urls.invalid],
  ] as const) {
    for (const url of each) {
      const answer = await send(method, path, body(url));
      // a schema may refuse it before the guard does
      const isRefused = answer.status === status && (answer.text.includes(code) || status === 400);
      if (!isRefused || answer.text.includes("secret")) {
        wrong.push(`${JSON.stringify(url.slice(0, 60))}: ${answer.status} ${answer.text.slice(0, 120)}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(await stored()).toEqual(before);
  expect(reached).toBe(0);
});

it.each([
  ["/api/v1/crawl/batch", "jobs"],
  ["/extract/batch", "results"],
])("%s refuses each of a list by itself", async (path, field) => {
  const before = await stored();
  const wrong: string[] = [];
  for (const [code, each] of [
    ["URL_BLOCKED", urls.blocked],
    ["URL_INVALID", urls.invalid],
  ] as const) {
    for (const url of each) {
      const answer = await send("POST", path, { urls: [url] });
      const items =
        answer.status < 300 ? ((JSON.parse(answer.text) as Record<string, ItemOfBatch[]>)[field] ?? []) : [];
      const isItem = items.length === 1 && JSON.stringify(items[0]).includes(code);
      if (!isItem && ![400, 403].includes(answer.status)) {
        wrong.push(`${JSON.stringify(url.slice(0, 60))}: ${answer.status} ${answer.text.slice(0, 160)}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(await stored()).toEqual(before);
  expect(reached).toBe(0);
});

it.each<[string, string, (url: string) => unknown]>([
  ["POST", "/api/v1/discover", (domain) => ({ domain })],
  ["POST", "/api/v1/proxies", (url) => ({ ...PROXY, servers: [{ url }] })],
  ["POST", "/api/v1/proxies/test", (url) => ({ server: { url }, url: GOOD })],
])("%s %s, which take other things than URLs, refuse each that leads inside", async (method, path, body) => {
  const before = await stored();
  const wrong: string[] = [];
  for (const url of urls.blocked) {
    const answer = await send(method, path, body(url));
    if (![400, 403].includes(answer.status)) wrong.push(`${url}: ${answer.status} ${answer.text.slice(0, 120)}`);
  }
  expect(wrong).toEqual([]);
  expect(await stored()).toEqual(before);
  expect(reached).toBe(0);
});

it("follows no redirect to any of them, at the end of a chain neither", async () => {
  const all = [...urls.blocked, ...urls.invalid].filter(
    (url) => url.length < 2_000 && /^https?:\/\/[\x21-\x7e]+$/i.test(url),
  );
  site.route(
    Object.fromEntries(
      all.flatMap((url, nth) => [
        [`/to/${nth}`, { status: nth % 2 === 0 ? 302 : 307, headers: { location: `/then/${nth}` } }],
        [`/then/${nth}`, { status: 301, headers: { location: url } }],
      ]),
    ),
  );
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", {
    urls: all.map((_, nth) => `${site.origin}/to/${nth}`),
    config: { rate_limit_rps: 1_000 },
  });
  const read = () => instance.call<{ status: string }>("GET", `/api/v1/crawl/${job_id}?limit=1`);
  await expect.poll(async () => (await read()).status).toMatch(/completed|failed/);
  const ends = await sql<{ url: string; error_code: string }[]>`
    select url, error_code from frontier where job_id = ${job_id} and (state <> 'failed' or error_code is null
      or error_code not in ('URL_BLOCKED', 'URL_INVALID', 'INVALID_REDIRECT'))`;
  expect(ends.map(({ url, error_code }) => [all[Number(url.split("/").at(-1))], error_code])).toEqual([]);
  expect(await sql`select 1 from frontier where job_id = ${job_id}`).toHaveLength(all.length);
  expect(reached).toBe(0);
});
