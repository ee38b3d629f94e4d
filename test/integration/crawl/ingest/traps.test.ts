import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob, type NewJob } from "../../../../shared/crawl/submit/create-job.ts";
import { scopeOfSeeds } from "../../../../shared/crawl/urls/scope-of-seeds.ts";
import { type LargeSite, NEWS_STORIES, QUERY_PAGES, startLargeSite } from "../../../sites/large-site.ts";
import type { SiteAnswer } from "../../../sites/site.ts";
import { createTraps } from "../../../sites/traps.ts";
import { crawlSetup, newSiteJob, page, type Site } from "../crawl-setup.ts";
import { expectBooksToBalance, realCrawl } from "../real-crawl.ts";

const ORIGIN = "http://a.example";

/** The endless parts of the large site, without the way there. */
function trapSite(): Site {
  const traps = createTraps();
  return (url) => {
    const answer = traps({ url: url.slice(ORIGIN.length) } as IncomingMessage) as SiteAnswer | undefined;
    if (answer === undefined) return { status: 404, error: { code: "HTTP_404", message: "gone", retryable: false } };
    return { html: String(answer.body) };
  };
}

/** Crawls without a limit that would end it: what ends is ended by the rules. */
async function crawlTrap(path: string, site = trapSite(), overrides: Partial<NewJob> = {}) {
  const setup = await crawlSetup();
  const limits = { maxDepth: 1000, maxPages: 100_000 };
  const { job_id } = await createJob(setup.dependencies, newSiteJob(ORIGIN + path, { ...limits, ...overrides }));
  const fetched = await setup.crawl(site);
  const job = await readJob(setup.sql, job_id);
  expect(job).toMatchObject({ status: "completed", stop_reason: "completed" });
  const codes = await expectBooksToBalance(setup.sql, job_id);
  return { setup, job_id, fetched: fetched.map((url) => url.slice(ORIGIN.length)), codes };
}

test("a calendar without end and without events is left after some months, and a few refused links tell why", async () => {
  const { fetched, codes } = await crawlTrap("/calendar/2024/01");
  expect(fetched.length).toBeGreaterThan(50);
  expect(fetched.length).toBeLessThan(1000);
  expect(codes["TRAP_CALENDAR"]).toBeGreaterThan(0);
  expect(codes["TRAP_CALENDAR"]).toBeLessThanOrEqual(20);
});

test("a dated archive whose days have something to say is crawled to its end", async () => {
  const days = Array.from({ length: 120 }, (_, at) =>
    new Date(Date.UTC(2020, 0, 1 + at * 5)).toISOString().slice(0, 10).replaceAll("-", "/"),
  );
  const things = ["tide", "wall", "crane", "gull", "rope", "light", "bell"];
  const site: Site = (url) => {
    const at = days.indexOf(url.slice(`${ORIGIN}/diary/`.length));
    const seen = things.filter((_, bit) => (((at + 1) >> bit) & 1) === 1);
    const links = days.slice(at + 1, at + 13).map((day) => `/diary/${day}`);
    return { html: page(`Seen today: the ${seen.join(" and the ")}`, links, 10) };
  };
  const { fetched, codes } = await crawlTrap(`/diary/${days[0]}`, site);
  expect(fetched).toHaveLength(120);
  expect(codes).toEqual({ crawled: 120 });
});

test("a page has one URL, whatever session its links carry, and no session is sent", async () => {
  const { fetched, codes } = await crawlTrap("/shop/");
  // each item, and each with its parameter `page`, which is no session
  expect(fetched).toHaveLength(1 + 2 * 20);
  expect(fetched.filter((path) => /session|sid/i.test(path))).toEqual([]);
  expect(codes).toEqual({ crawled: 41 });
});

test("a filter that may be set in any combination is left after fifty sets of parameters", async () => {
  const { fetched, codes, setup } = await crawlTrap("/filter");
  const shapes = new Set(
    fetched
      .map((path) => [...new URLSearchParams(path.split("?")[1]).keys()].sort().join("&"))
      .filter((shape) => shape !== ""),
  );
  expect(shapes.size).toBe(50);
  // the first fifty sets that any batch found: 8 of one facet, 36 of two, 6 of three, in as many orders as their facets
  // have
  expect(fetched.length).toBeLessThanOrEqual(1 + 8 * 4 + (28 * 2 + 8) * 4 ** 2 + 6 * 6 * 4 ** 3);
  expect(codes["TRAP_QUERY"]).toBe(20);
  const [rows] = await setup.sql<{ urls: number }[]>`select count(*)::int as urls from frontier`;
  expect(rows?.urls).toBe(fetched.length + 20);
});

test("paths that repeat themselves end at the third time", async () => {
  const { fetched, codes } = await crawlTrap("/maze/");
  expect(fetched.length).toBeLessThan(200);
  expect(fetched.filter((path) => path.includes("products/list/products/list/products/list"))).toEqual([]);
  expect(codes["TRAP_PATH"]).toBeGreaterThan(0);
  expect(codes["TRAP_PATH"]).toBeLessThanOrEqual(20);
});

test("one body under endlessly many URLs is indexed some fifty times and then followed no more", async () => {
  const { codes, setup, job_id } = await crawlTrap("/mirror/");
  // batches that are ingested at the same time do not see each other's
  expect(codes["crawled"]).toBeGreaterThanOrEqual(50);
  expect(codes["crawled"]).toBeLessThanOrEqual(100);
  expect(codes["DUPLICATE_CONTENT"]).toBeGreaterThan(0);
  const [rows] = await setup.sql<{ documents: number; archived: number; refused: number }[]>`
    select (select count(*)::int from documents where job_id = ${job_id}) as documents,
      (select count(*)::int from captures where job_id = ${job_id} and warc_key is not null) as archived,
      (select count(*)::int from captures where job_id = ${job_id} and error_code = 'DUPLICATE_CONTENT') as refused`;
  expect(rows).toEqual({
    documents: codes["crawled"],
    archived: (codes["crawled"] ?? 0) + (codes["DUPLICATE_CONTENT"] ?? 0),
    refused: codes["DUPLICATE_CONTENT"],
  });
  // no more than what the first ones had led to
  expect(codes["DUPLICATE_CONTENT"]).toBeLessThanOrEqual(4 * (codes["crawled"] ?? 0));
});

test("what pages link to again and again counts once against a path's queries", async () => {
  const links = Array.from({ length: 30 }, (_, at) => `/list?${at % 2 === 0 ? "a" : "b"}=${at}`);
  const { codes } = await crawlTrap("/", (url) => ({ html: page(url, links, 10) }));
  expect(codes).toEqual({ crawled: 31 });
});

test("parameters that the config ignores make no further page", async () => {
  const site: Site = (url) => ({ html: page(url, ["/list?sort=up", "/list?sort=down", "/list?q=1&sort=up"], 10) });
  const config = crawlConfigSchema.parse({ ignore_parameters: ["sort"] });
  const { fetched } = await crawlTrap("/", site, { config });
  expect(fetched).toEqual(["/", "/list", "/list?q=1"]);
});

test("a recrawl knows a page again whose URL had a session", async () => {
  const setup = await crawlSetup();
  const site: Site = (_, { prior }) =>
    prior === null
      ? { html: page("A page", [], 10), finalUrl: `${ORIGIN}/a;jsessionid=0123456789ABCDEF` }
      : { notModified: true };
  const job = newSiteJob(`${ORIGIN}/a;jsessionid=FEDCBA9876543210`);
  await createJob(setup.dependencies, job);
  await setup.crawl(site);
  const [document] = await setup.sql<{ url: string }[]>`select url from documents_active`;
  expect(document?.url).toBe(`${ORIGIN}/a`);
  await createJob(setup.dependencies, job);
  const [task] = await setup.tasks();
  expect(task?.urls[0]).toMatchObject({ url: `${ORIGIN}/a`, prior: { etag: '"1"' } });
});

test("the whole of the large site but for its pages: traps end, honest parts are complete, and the books balance", async () => {
  await using site: LargeSite = await startLargeSite({ pages: 40, linksPerPage: 5 });
  const crawl = await realCrawl();
  const config = crawlConfigSchema.parse({ rate_limit_rps: 1000 });
  const seed = `${site.main.origin}/`;
  // the filter has its own test, and two thousand pages
  const scope = scopeOfSeeds([seed], { mode: "host", exclude: ["/filter"] });
  const [job] = await crawl.run(newSiteJob(seed, { config, scope, maxDepth: 1000, maxPages: 20_000 }));
  expect(job).toMatchObject({ status: "completed", stop_reason: "completed" });
  const codes = await expectBooksToBalance(crawl.sql, job?.job_id ?? "");
  expect(codes).toMatchObject({
    REDIRECT_LOOP: expect.any(Number),
    OUT_OF_SCOPE: 1,
    DUPLICATE_CONTENT: expect.any(Number),
    TRAP_PATH: expect.any(Number),
    TRAP_CALENDAR: expect.any(Number),
  });
  const paths = site.main.paths();
  expect(new Set(paths.filter((path) => path.startsWith("/news/20"))).size).toBe(NEWS_STORIES);
  expect(new Set(paths.filter((path) => path.startsWith("/index.php"))).size).toBe(QUERY_PAGES);
  expect(new Set(paths.filter((path) => path.startsWith("/page/"))).size).toBe(40);
  expect(paths.length).toBeLessThan(5000);
}, 600_000);
