/** What discovery asks for and what it leaves alone, when, and how often. */
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { departuresTo } from "../../../services/departures.ts";
import { fastClock } from "../../../services/fast-clock.ts";
import { html, redirect, type Site, startSite } from "../../../sites/site.ts";
import { type DiscoveryHarness, discoveryHarness } from "./harness.ts";
import { pathsOf, robots, sitemapOf, siteWith } from "./list-sites.ts";

test("an address that is not public is not asked, whoever names it", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": robots(`Sitemap: http://169.254.169.254/latest.xml`, `Sitemap: ${self.origin}/moved.xml`),
    "/moved.xml": redirect("http://10.0.0.1/sitemap.xml"),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(found.noted).toEqual(expect.arrayContaining(["URL_BLOCKED /latest.xml", "URL_BLOCKED /moved.xml"]));
});

test("what robots.txt forbids is not asked for, unless it names it itself", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": robots("User-agent: *", "Disallow: /", `Sitemap: ${self.origin}/named.xml`),
    "/named.xml": sitemapOf(self, "/1"),
    "/sitemap.xml": sitemapOf(self, "/2"),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(pathsOf(found)).toEqual(["/1"]);
  expect(site.paths()).toEqual(["/named.xml"]);
  expect(found.noted).toContain("ROBOTS_DENIED /");
});

test("a robots.txt that cannot be had forbids all, and the job says so", async () => {
  await using site = await startSite({ "/robots.txt": { status: 503 } });
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(found.error).toMatch(/^ROBOTS_UNREACHABLE: .*503/);
  expect(site.paths()).toEqual([]);
});

test("ROBOTS__UNREACHABLE=allow goes on at the usual places", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": { status: 503 },
    "/": html("Home"),
    "/sitemap.xml": sitemapOf(self, "/1"),
  }));
  const harness = await discoveryHarness({ ROBOTS__UNREACHABLE: "allow" });
  expect(pathsOf(await harness.find(site.origin))).toEqual(["/1"]);
});

test("a host that nobody answers at ends the job as failed", async () => {
  const site = await startSite();
  await site.close();
  const harness = await discoveryHarness();
  expect((await harness.find(site.host)).error).toMatch(/^ROBOTS_UNREACHABLE: robots.txt of https:/);
});

test("a sitemap that fails for a moment is asked for again", async () => {
  let tries = 0;
  await using site = await siteWith((self) => ({
    "/robots.txt": robots(`Sitemap: ${self.origin}/s.xml`),
    "/s.xml": () => {
      tries += 1;
      return tries < 2 ? { status: 500 } : (sitemapOf(self, "/1") as { body: string });
    },
  }));
  const harness = await discoveryHarness();
  expect(pathsOf(await harness.find(site.origin))).toEqual(["/1"]);
  expect(tries).toBe(2);
});

test("a site that fails for every path is not asked at all the usual places", async () => {
  await using site = await startSite({ "/robots.txt": { status: 404 } }, () => ({ status: 500 }));
  const harness = await discoveryHarness();
  await harness.find(site.origin);
  // two guesses and the home page: below what opens the host's circuit for everyone
  expect(site.paths()).toHaveLength(3);
});

test("requests keep the host's pace, and its Retry-After", async () => {
  let refused = false;
  await using site = await siteWith((self) => ({
    "/robots.txt": robots("User-agent: *", "Crawl-delay: 0.3", `Sitemap: ${self.origin}/s.xml`),
    "/s.xml": () => {
      const first = !refused;
      refused = true;
      return first ? { status: 429, headers: { "Retry-After": "2" } } : (sitemapOf(self, "/1") as { body: string });
    },
  }));
  const departures = departuresTo(site.origin);
  const harness = await discoveryHarness();
  expect(pathsOf(await harness.find(site.origin))).toEqual(["/1"]);
  const times = departures.map(({ at }) => at);
  expect(times).toHaveLength(site.requests.length);
  const gaps = times.slice(1).map((at, index) => at - (times[index] as number));
  expect(Math.min(...gaps.slice(1))).toBeGreaterThanOrEqual(250);
  expect(gaps[1]).toBeGreaterThanOrEqual(1_950);
});

/** What other workers have written down of the host. */
async function hostItem({ aws }: DiscoveryHarness, site: Site, item: Record<string, unknown>): Promise<void> {
  await aws.dynamo.send(new PutCommand({ TableName: aws.stateTable, Item: { pk: `host#${site.host}`, ...item } }));
}

test.each([
  ["blocked", { blocked: true }, /DOMAIN_BLOCKED/],
  ["that asked for more silence than a worker waits", { hold_until: Date.now() + 900_000 }, /RATE_LIMITED/],
  ["whose circuit is open", { failures: 5, opened_at: Date.now() }, /CIRCUIT_OPEN/],
])("a host %s is left alone, and the job says so", async (_name, item, error) => {
  await using site = await startSite();
  const harness = await discoveryHarness();
  await hostItem(harness, site, item);
  expect((await harness.find(site.origin)).error).toMatch(error);
  expect(site.requests).toEqual([]);
});

test("a host whose next seconds belong to a crawl is waited for", async () => {
  const clock = fastClock();
  let askedAt = 0;
  await using site = await siteWith((self) => ({
    "/robots.txt": () => {
      askedAt = clock.now();
      return { status: 404 };
    },
    "/sitemap.xml": sitemapOf(self, "/1"),
  }));
  const harness = await discoveryHarness({}, clock);
  const until = clock.now() + 7_000;
  await hostItem(harness, site, { next_at: until, interval_ms: 1_000 });
  expect(pathsOf(await harness.find(site.origin, { maxUrls: 1 }))).toEqual(["/1"]);
  expect(site.requests[0]?.path).toBe("/robots.txt");
  expect(askedAt).toBeGreaterThanOrEqual(until);
});
