import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { createUrlGuard } from "../../../../shared/access/url-guard.ts";
import { directEgress } from "../../../../shared/crawl/proxies/egress.ts";
import { createRobotsCache, type RobotsCache } from "../../../../shared/crawl/robots/cache.ts";
import { startSite } from "../../../sites/site.ts";
import { type FetchHarness, fetchHarness, fetchTask } from "./harness.ts";

const page = { headers: { "Content-Type": "text/html" }, body: "<p>x" };

/** Another container of the same deployment: what it keeps in memory is its own. */
const container = ({ aws, dependencies }: FetchHarness) => {
  dependencies.robots = createRobotsCache(aws.dynamo, aws.stateTable);
};

/** Tasks of one host at once, each in a container of its own. */
async function tasksAtOnce(harness: FetchHarness, origin: string, count: number) {
  const deliveries = Array.from({ length: count }, (_, task) => {
    container(harness);
    const urls = [`${origin}/${task}`, `${origin}/no/${task}`];
    return harness.deliver(fetchTask({ urls, config: { rate_limit_rps: 50 } }));
  });
  await Promise.all(deliveries);
  return (await harness.captures()).map(({ url, error }) => [new URL(url).pathname, error?.code ?? null]).sort();
}

const expected = (count: number, code: string | null) =>
  Array.from({ length: count }, (_, task) => [
    [`/${task}`, code],
    [`/no/${task}`, code ?? "ROBOTS_DENIED"],
  ])
    .flat()
    .sort();

it("is fetched once, however many tasks of a host begin together", async () => {
  const robots = { body: "User-agent: *\nDisallow: /no" };
  await using site = await startSite({ "/robots.txt": robots }, () => page);
  const harness = await fetchHarness();
  expect(await tasksAtOnce(harness, site.origin, 6)).toEqual(expected(6, null));
  expect(site.requests.filter(({ path }) => path === "/robots.txt")).toHaveLength(1);
});

it("is not fetched by who looked before others put it, and claims it afterwards", async () => {
  const { aws } = await fetchHarness();
  const [one, other] = [0, 1].map(() => createRobotsCache(aws.dynamo, aws.stateTable)) as [RobotsCache, RobotsCache];
  const rules = { rules: [], crawlDelayMs: null, sitemaps: [] };
  expect(await other.get("https://a.example")).toBeUndefined();
  expect(await one.claim("https://a.example")).toBe(true);
  await one.put("https://a.example", rules);
  expect(await other.claim("https://a.example")).toBe(false);
  expect(await other.awaited("https://a.example", Date.now())).toEqual(rules);
});

it("is asked for once where it cannot be had, and by the next task again", async () => {
  await using site = await startSite({ "/robots.txt": { status: 503 } }, () => page);
  const harness = await fetchHarness();
  expect(await tasksAtOnce(harness, site.origin, 4)).toEqual(expected(4, "ROBOTS_UNREACHABLE"));
  expect(site.requests.filter(({ path }) => path === "/robots.txt")).toHaveLength(1);
  await tasksAtOnce(harness, site.origin, 1);
  expect(site.requests.filter(({ path }) => path === "/robots.txt")).toHaveLength(2);
});

it.each<[string, (packed: Buffer) => Buffer, string | null]>([
  ["its trailer is missing", (packed) => packed.subarray(0, -8), "ROBOTS_DENIED"],
  ["its checksum is wrong", (packed) => Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)]), "ROBOTS_DENIED"],
  ["it is cut in its last line", (packed) => packed.subarray(0, -12), "ROBOTS_DENIED"],
  ["something stands behind it", (packed) => Buffer.concat([packed, Buffer.from("\n<!-- -->")]), "ROBOTS_DENIED"],
  ["its head is all that came", (packed) => packed.subarray(0, 10), null],
  ["one byte is all that came", (packed) => packed.subarray(0, 1), null],
])("counts as far as it can be unpacked: %s", async (_what, sent, code) => {
  const packed = gzipSync("User-agent: *\nDisallow: /no\nDisallow: /elsewhere/with/some/more\n");
  const robots = { headers: { "Content-Type": "text/plain", "Content-Encoding": "gzip" }, body: sent(packed) };
  await using site = await startSite({ "/robots.txt": robots }, () => page);
  const harness = await fetchHarness();
  expect(await tasksAtOnce(harness, site.origin, 1)).toEqual([
    ["/0", null],
    ["/no/0", code],
  ]);
});

it("of a name that resolves privately is not asked for, and its pages end as what they are: blocked", async () => {
  const harness = await fetchHarness();
  const guard = createUrlGuard({
    allowHosts: [],
    lookup: (_name, _options, callback) => callback(null, [{ address: "10.0.0.7", family: 4 }]),
  });
  harness.dependencies.guard = guard;
  harness.dependencies.egress = { forTask: () => directEgress(guard.dispatcher()) };
  const [capture] = await harness.fetch(fetchTask({ urls: ["http://rebound.example/page"] }));
  expect(capture?.error).toMatchObject({ code: "URL_BLOCKED", retryable: false });
  expect(capture?.error?.message).toContain("10.0.0.7");
});

it("tells of a job that does not ask it what is known that it forbids, and nothing is left out or asked for", async () => {
  const robots = { body: "User-agent: *\nCrawl-delay: 60\nDisallow: /no" };
  const routes = { "/robots.txt": robots, "/hop": { status: 302, headers: { Location: "/no/hop" } } };
  await using site = await startSite(routes, () => page);
  const harness = await fetchHarness();
  const ignoring = async (paths: string[]) => {
    container(harness);
    const config = { rate_limit_rps: 200, respect_robots_txt: false };
    const captures = await harness.fetch(fetchTask({ urls: paths.map((path) => site.origin + path), config }));
    return captures.map(({ url, error, disallowed = false }) => [new URL(url).pathname, error, disallowed]).toSorted();
  };
  expect(await ignoring(["/no/1"])).toEqual([["/no/1", null, false]]);
  expect(site.requests.map(({ path }) => path)).toEqual(["/no/1"]);
  const rules = [{ allow: false, pattern: "/no" }];
  await harness.dependencies.robots.put(site.origin, { rules, crawlDelayMs: 60_000, sitemaps: [] });
  expect(await ignoring(["/yes", "/no/2", "/hop"])).toEqual([
    ["/hop", null, true],
    ["/no/2", null, true],
    ["/yes", null, false],
  ]);
  expect(site.requests.map(({ path }) => path)).not.toContain("/robots.txt");
});
