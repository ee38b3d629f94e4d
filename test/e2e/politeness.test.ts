/** What a server sees of several jobs at once: its rate kept, its silence kept, and a cancelled job gone. */
import { beforeAll, describe, expect, it } from "vitest";
import { busiestSecond } from "../services/arrivals.ts";
import type { RunningInstance } from "../services/instance.ts";
import { listen, readEvents } from "../services/listeners.ts";
import { sharedRuntime } from "../services/shared-runtime.ts";
import { slowness } from "../services/slowness.ts";
import { html, type Site, type SiteAnswer, startSite } from "../sites/site.ts";

const JOBS = 4;
const PAGES = 4;

let instance: RunningInstance;
beforeAll(async () => {
  instance = await sharedRuntime();
});

const siteOf = (answer: () => SiteAnswer = () => html("a page about lighthouses")): Promise<Site> =>
  startSite({ "/robots.txt": { status: 404 } }, answer);

/** For whoever reads of a failure: when each request arrived, in ms from the first. */
const timesOf = ({ requests }: Site): string =>
  requests
    .map(({ path, at, since }) => `${path} ${since - (requests[0]?.at ?? 0)}…${at - (requests[0]?.at ?? 0)}`)
    .join(", ");

type Priority = "high" | "normal" | "low";

/** As one job. */
async function crawl(urls: readonly string[], rps: number, priority: Priority = "normal"): Promise<string> {
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", {
    urls,
    priority,
    config: { rate_limit_rps: rps },
  });
  return job_id;
}

const pagesOf = (site: Site, folder: string, count: number) =>
  Array.from({ length: count }, (_, page) => `${site.origin}/${folder}/${page}`);

const jobsOn = (site: Site, rps: number) =>
  Promise.all(Array.from({ length: JOBS }, (_, job) => crawl(pagesOf(site, `job-${job}`, PAGES), rps)));

it.concurrent("sees no more than 2 requests in any second from four jobs that may send 2 a second each", async ({
  expect,
}) => {
  await using site = await siteOf();
  for (const job of await jobsOn(site, 2)) await instance.waitForJob(job);
  expect(new Set(site.paths()).size).toBe(JOBS * PAGES);
  expect(busiestSecond(site.requests), timesOf(site)).toBeLessThanOrEqual(2);
});

it.concurrent.for<[string, () => string]>([
  ["seconds", () => "3"],
  ["a date", () => new Date(Date.now() + 3_999).toUTCString()],
])("sees nothing for 3 s after it asked for that in %s, from none of four jobs", async ([, value], { expect }) => {
  let answers = 0;
  let askedAt = 0;
  await using site = await siteOf(() => {
    answers += 1;
    if (answers !== 5) return html("a page about lighthouses");
    askedAt = Date.now();
    return { status: 429, headers: { "Retry-After": value() } };
  });
  for (const job of await jobsOn(site, 2)) await instance.waitForJob(job);
  expect(new Set(site.paths()).size).toBe(JOBS * PAGES);
  const after = site.requests.filter(({ since }) => since > askedAt).map(({ at }) => at - askedAt);
  expect(Math.min(...after)).toBeGreaterThanOrEqual(3_000);
  expect(busiestSecond(site.requests)).toBeLessThanOrEqual(2);
});

/** Only against waiting for ever. */
const NEVER_FULL_MS = 60_000;
/** In which one request too many would come. */
const FULL_FOR_MS = 800;

/** Holds its answers until `expected` of them are asked for at once, however long that takes, and a while longer. */
function holding(expected: number): { answer: () => SiteAnswer; most: () => number } {
  const { promise: full, resolve } = Promise.withResolvers<void>();
  let underWay = 0;
  let most = 0;
  const answer = (): SiteAnswer => {
    underWay += 1;
    most = Math.max(most, underWay);
    if (underWay === 1) setTimeout(resolve, NEVER_FULL_MS).unref();
    if (underWay === expected) setTimeout(resolve, FULL_FOR_MS);
    const after = full.then(() => {
      underWay -= 1;
    });
    return { ...html("a page about lighthouses"), after };
  };
  return { answer, most: () => most };
}

describe("the requests of a job at once", () => {
  const config = { rate_limit_rps: 1_000 };
  type Begin = (urls: readonly string[], hub: string) => Promise<unknown>;

  const crawlPages =
    (concurrency?: number): Begin =>
    async (urls) => {
      const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", {
        urls,
        concurrency,
        config,
      });
      return await instance.waitForJob(job_id);
    };
  const crawlSite =
    (strategy: string, concurrency: number): Begin =>
    async (_urls, url) => {
      const ranking = strategy === "best_first" ? { keywords: ["page"], score_threshold: 0 } : {};
      const body = { url, strategy, ...ranking, max_pages: 1_000, concurrency, config };
      const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", body);
      return await instance.waitForJob(job_id);
    };
  const spider =
    (concurrency: number): Begin =>
    (_urls, hub) =>
      instance.call("POST", "/spider/crawl", { seed_urls: [hub], max_pages: 1_000, concurrency, config });
  const extract =
    (concurrency: number): Begin =>
    (urls) =>
      instance.call("POST", "/extract/batch", { urls, concurrency, config });

  it.concurrent.for<[string, number, Begin]>([
    ["pages, where nothing is said", 16, crawlPages()],
    ["pages", 10, crawlPages(10)],
    ["a site, breadth first", 4, crawlSite("bfs", 4)],
    ["a site, depth first", 3, crawlSite("dfs", 3)],
    ["a site, best first", 15, crawlSite("best_first", 15)],
    ["a spider", 64, spider(64)],
    ["an extraction of a batch", 7, extract(7)],
  ])("of %s are %i", async ([, expected, begin], { expect }) => {
    const count = 2 * expected + 12;
    const links = Array.from({ length: count }, (_, page) => `<a href="/page/${page}">page ${page}</a>`).join(" ");
    const { answer, most } = holding(expected);
    await using site = await startSite({ "/robots.txt": { status: 404 }, "/hub": html(links) }, answer);
    await begin(pagesOf(site, "page", count), `${site.origin}/hub`);
    expect(most()).toBe(expected);
  });
});

it("sees the first request of a job of high priority within 2 s, whatever waits for its host meanwhile", async () => {
  const slow = await Promise.all(Array.from({ length: 12 }, () => siteOf()));
  await using idle = await siteOf();
  const rps = [1, 0.2, 0.5];
  const jobs = await Promise.all(
    slow.map((site, index) => {
      const priority = (["high", "normal", "low"] as const)[index % 3];
      return crawl(pagesOf(site, "waits", 50), rps[Math.floor(index / 4)] ?? 1, priority);
    }),
  );
  try {
    // each has a task that waits for its second request, or a later one
    await expect.poll(() => slow.filter((site) => site.paths().length > 0).length).toBe(slow.length);
    const sentAt = Date.now();
    await instance.waitForJob(await crawl(pagesOf(idle, "urgent", 1), 10, "high"));
    const first = Math.min(...idle.requests.map(({ since }) => since));
    expect(first - sentAt).toBeLessThan(2_000 * slowness());
  } finally {
    // unless it has ended
    for (const job of jobs) await instance.call("POST", `/api/v1/crawl/${job}/cancel`).catch(() => undefined);
    for (const site of slow) await site[Symbol.asyncDispose]();
  }
});

it("sees no request of a cancelled job later than 2 s after the answer, and its listeners hear of one end", async () => {
  await using slow = await siteOf(() => ({ ...html("a page about lighthouses"), delayMs: 300 }));
  await using quick = await siteOf();
  const job = await crawl([...pagesOf(slow, "cancelled", 200), ...pagesOf(quick, "cancelled", 200)], 20);
  const sockets = await Promise.all([1, 2, 3].map(() => listen(instance.url, job, { key: instance.apiKey })));
  const stream = fetch(`${instance.url}/api/v1/crawl/${job}/stream`, {
    headers: { authorization: `Bearer ${instance.apiKey}` },
  }).then((response) => readEvents(response));
  const requests = () => [slow, quick].flatMap((site) => site.requests);
  const askedFor = (site: Site) => site.paths().length;
  await expect.poll(() => Math.min(askedFor(slow), askedFor(quick))).toBeGreaterThan(20);
  await instance.call("POST", `/api/v1/crawl/${job}/cancel`);
  const answeredAt = Date.now();
  await Promise.all(sockets.map(({ closed }) => closed));
  const told = (await stream).map(({ event }) => event);
  for (const types of [told, ...sockets.map(({ events }) => events.map(({ type }) => type))]) {
    expect(types.filter((type) => type !== "progress")).toEqual(["cancelled"]);
    expect(types.at(-1)).toBe("cancelled");
  }
  // others crawl on, for seconds
  const others = await Promise.all([slow, quick].map((site) => crawl(pagesOf(site, "other", 10), 2)));
  for (const other of others) await instance.waitForJob(other);
  const late = requests().filter(({ path, since }) => path.startsWith("/cancelled") && since > answeredAt + 2_000);
  expect(late.map(({ path, at }) => [path, at - answeredAt])).toEqual([]);
  expect(Math.max(...requests().map(({ at }) => at)) - answeredAt).toBeGreaterThan(4_000);
});
