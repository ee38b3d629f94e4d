import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { charsetText } from "../../sites/charset-pages.ts";
import { CHARSETS, type LargeSite, startLargeSite } from "../../sites/large-site.ts";

let site: LargeSite;
beforeAll(async () => {
  site = await startLargeSite({ retryAfterS: 2, slowMs: 50 });
});
afterAll(() => site.close());

const get = (path: string): Promise<Response> => fetch(site.main.origin + path, { redirect: "manual" });
const links = async (path: string): Promise<string[]> =>
  [...(await (await get(path)).text()).matchAll(/href="([^"]+)"/g)].map(([, href]) =>
    (href as string).replaceAll("&amp;", "&"),
  );

test("has 2,000 pages, all reachable from the first", async () => {
  const seen = new Set(["/page/0"]);
  for (const path of seen) for (const link of await links(path)) seen.add(link);
  expect(seen.size).toBe(2000);
});

test("leads from one month of its calendar to the next for ever", async () => {
  expect(await links("/calendar/2024/12")).toEqual(expect.arrayContaining(["/calendar/2025/01", "/calendar/2024/11"]));
});

test("gives another session at every visit", async () => {
  expect(await links("/shop/")).not.toEqual(await links("/shop/"));
});

test("turns a first request away with each form of Retry-After", async () => {
  const seconds = await get("/limited/seconds");
  expect([seconds.status, seconds.headers.get("retry-after")]).toEqual([429, "2"]);
  const asked = Date.now();
  const date = await get("/limited/date");
  const until = Date.parse(date.headers.get("retry-after") ?? "");
  expect(until).toBeGreaterThan(asked + 1_900);
  expect(until).toBeLessThan(Date.now() + 3_100);
  expect((await get("/limited/date")).status).toBe(200);
});

test("speaks twelve encodings", async () => {
  expect(CHARSETS).toHaveLength(12);
  for (const charset of CHARSETS) {
    const bytes = await (await get(`/charset/${charset}`)).arrayBuffer();
    expect(new TextDecoder(charset).decode(bytes)).toContain(charsetText(charset));
  }
});

test("compresses sitemaps with and without saying so", async () => {
  for (const path of ["/sitemap-a.xml.gz", "/sitemap-b"]) {
    const bytes = Buffer.from(await (await get(path)).arrayBuffer());
    expect(gunzipSync(bytes).toString("utf8")).toContain("<urlset");
  }
});

test("answers 503 for robots.txt on one host, and late on another", async () => {
  expect((await fetch(`${site.robotsDown.origin}/robots.txt`)).status).toBe(503);
  const started = performance.now();
  await fetch(`${site.slow.origin}/page/1`);
  expect(performance.now() - started).toBeGreaterThanOrEqual(45);
});

test("keeps a log of all hosts by time of arrival", () => {
  const requests = site.requests();
  expect(new Set(requests.map((entry) => entry.host)).size).toBeGreaterThanOrEqual(3);
  expect(requests.map((entry) => entry.at)).toEqual(requests.map((entry) => entry.at).toSorted((a, b) => a - b));
});
