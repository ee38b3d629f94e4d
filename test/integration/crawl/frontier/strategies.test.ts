import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { claimUrls } from "../../../../shared/crawl/frontier/claim.ts";
import { addUrls, seedUrl } from "../../../../shared/crawl/frontier/frontier.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { type JobRow, lockJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob, type NewJob } from "../../../../shared/crawl/submit/create-job.ts";
import { scopeOfSeeds } from "../../../../shared/crawl/urls/scope-of-seeds.ts";
import { html, type Route, type Site, startSite } from "../../../sites/site.ts";
import { crawlSetup, newSiteJob, page } from "../crawl-setup.ts";
import { expectBooksToBalance, realCrawl } from "../real-crawl.ts";

const config = crawlConfigSchema.parse({ rate_limit_rps: 1000 });

/** Page n links to these, in order. */
const TREE: Record<string, string[]> = {
  "/": ["/a", "/b", "/c"],
  "/a": ["/a1", "/c", "/a2"],
  "/a1": ["/a11", "/b"],
  "/a2": [],
  "/a11": ["/"],
  "/b": ["/b1", "/a2"],
  "/b1": [],
  "/c": ["/c1", "/b1"],
  "/c1": ["/deep"],
  "/deep": [],
};

const routesOf = (tree: Record<string, string[]>): Record<string, Route> =>
  Object.fromEntries(Object.entries(tree).map(([path, links]) => [path, html(page(path, links, 10))]));

/** As a reader would who follows each link at once, and comes back. */
function preorder(tree: Record<string, string[]>, path = "/", seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  return [path, ...(tree[path] ?? []).flatMap((link) => preorder(tree, link, seen))];
}

test("depth first: the site sees the order of a depth-first walk, links in the order of the page", async () => {
  await using site = await startSite(routesOf(TREE));
  const crawl = await realCrawl();
  const [job] = await crawl.run(newSiteJob(`${site.origin}/`, { config, order: { strategy: "dfs" } }));
  expect(site.paths()).toEqual(preorder(TREE));
  expect(job).toMatchObject({ status: "completed", counts: { crawled: 10 } });
  expect(crawl.sent.every((task) => task.urls.length === 1)).toBe(true);
});

test("breadth first: no host is asked for a page while another has one of a lesser depth to give", async () => {
  const sites = await Promise.all([startSite(), startSite(), startSite()]);
  const requests: { depth: number; at: number }[] = [];
  /** Each page leads to two more on every host; hosts differ in their pace. */
  for (const [index, site] of sites.entries()) {
    const answer = (request: IncomingMessage): ReturnType<typeof html> & { delayMs: number } => {
      const path = request.url ?? "/";
      const depth = path === "/" ? 0 : path.split("/").length - 1;
      requests.push({ depth, at: Date.now() });
      const names = depth === 3 ? [] : ["x", `y${index}`];
      const links = sites.flatMap(({ origin }) => names.map((name) => `${origin}${path === "/" ? "" : path}/${name}`));
      return { ...html(page(path, links, 10)), delayMs: index * 25 };
    };
    site.route({ "/robots.txt": { status: 404 } });
    const depths = (path: string, left: number): string[] =>
      left === 0 ? [path] : [path, ...["x", "y0", "y1", "y2"].flatMap((name) => depths(`${path}/${name}`, left - 1))];
    site.route(Object.fromEntries(depths("", 3).map((path) => [path === "" ? "/" : path, answer])));
  }
  const crawl = await realCrawl();
  const seed = `${sites[0]?.origin}/`;
  const scope = scopeOfSeeds([seed], { mode: "domain" });
  const [job] = await crawl.run(newSiteJob(seed, { config, scope, maxDepth: 3 }));
  const depths = requests.map(({ depth }) => depth);
  expect(depths).toEqual(depths.toSorted((a, b) => a - b));
  // every path of x and of the names of the hosts that link to it
  expect(depths.filter((depth) => depth === 1)).toHaveLength(6);
  expect(sites.every((site) => site.paths().length > 10)).toBe(true);
  await expectBooksToBalance(crawl.sql, job?.job_id ?? "");
  await Promise.all(sites.map((site: Site) => site.close()));
});

test("breadth first: a page that is to be tried again does not hold up the next level", async () => {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  const site = (url: string) => {
    if (url.endsWith("/slow")) return { status: 500, error: { code: "HTTP_500", message: "fault", retryable: true } };
    return { html: page(url, url.endsWith("/") ? ["/slow", "/quick"] : ["/below"], 10) };
  };
  for (let level = 0; level < 2; level++) {
    for (const task of await setup.tasks()) await ingestBatch(setup.dependencies, await setup.capture(task, site));
  }
  const rows = await setup.sql`select url, state, attempt from frontier where url like '%/slow' or url like '%/below'`;
  expect(rows.map((row) => [new URL(row["url"]).pathname, row["state"], row["attempt"]]).sort()).toEqual([
    ["/below", "claimed", 0],
    ["/slow", "claimed", 1],
  ]);
});

const SEA: Record<string, string> = {
  "/": `<a href="/about">About us</a> <a href="/x1">Tide tables</a> <a href="/shop">Shop</a> <a href="/harbour-tides">More</a>`,
  "/about": `<a href="/team">Team</a>`,
  "/x1": `<p>The tide comes in, the tide goes out.</p><a href="/x2">Next</a> <a href="/tide">The tide</a>`,
  "/shop": `<a href="/tides-book">A book</a>`,
  "/harbour-tides": "",
  "/team": "",
  "/x2": "",
  "/tide": "",
  "/tides-book": "",
};

const seaSite = (): Promise<Site> =>
  startSite(
    Object.fromEntries(Object.entries(SEA).map(([path, body]) => [path, html(`<html lang="en"><main>${body}</main>`)])),
  );

const bestFirst = (seed: string, threshold: number): NewJob =>
  newSiteJob(seed, { config, order: { strategy: "best_first", keywords: ["tide"], score_threshold: threshold } });

test("a page found while a transaction waits for the job is claimed by that transaction, which began before it was found", async () => {
  const setup = await crawlSetup();
  const { job_id: jobId } = await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  const found = "http://a.example/found";
  const claimed = await setup.sql.begin(async (waiting) => {
    await waiting`select now()`;
    await setup.sql.begin(async (quicker) => {
      const job = (await lockJob(quicker, jobId)) as JobRow;
      await addUrls(quicker, job, [seedUrl(found, 1)]);
    });
    return await claimUrls(waiting, (await lockJob(waiting, jobId)) as JobRow, null);
  });
  expect(claimed.flatMap(({ task }) => task.urls.map(({ url }) => url))).toEqual([found]);
});

test("best first: what speaks of the keywords is asked for before the rest, wherever it was found", async () => {
  await using site = await seaSite();
  const crawl = await realCrawl();
  await crawl.run(bestFirst(`${site.origin}/`, 0));
  const paths = site.paths();
  expect(paths).toHaveLength(9);
  // the anchor says it, the URL says it
  expect(paths.indexOf("/x1")).toBeLessThan(paths.indexOf("/about"));
  expect(paths.indexOf("/harbour-tides")).toBeLessThan(paths.indexOf("/shop"));
  const rows = await crawl.sql<
    { url: string; score: number | null }[]
  >`select url, score from frontier order by priority`;
  const scores = Object.fromEntries(rows.map(({ url, score }) => [new URL(url).pathname, score]));
  expect(scores["/"]).toBeNull();
  expect(scores["/tide"]).toBeGreaterThan(scores["/x1"] ?? 1);
  // a link of a page about tides is worth more than one of a page about us
  expect(scores["/x2"]).toBeGreaterThan(scores["/team"] ?? 1);
});

test("best first: links below the threshold are not followed, and do not count as discovered", async () => {
  await using site = await seaSite();
  const crawl = await realCrawl();
  const [job] = await crawl.run(bestFirst(`${site.origin}/`, 0.4));
  expect(site.paths().sort()).toEqual(["/", "/harbour-tides", "/tide", "/x1"]);
  expect(job).toMatchObject({ stop_reason: "completed", counts: { discovered: 4, crawled: 4 } });
});

test("best first: at most ten pages are claimed at a time, so that better links overtake", async () => {
  const setup = await crawlSetup();
  await createJob(
    setup.dependencies,
    newSiteJob("http://a.example/", { order: { strategy: "best_first", keywords: ["tide"] } }),
  );
  const fan = Array.from({ length: 30 }, (_, at) => `/p${at}`);
  const site = (url: string) => ({ html: page(url, url.endsWith("/") ? fan : [`${new URL(url).pathname}/tide`], 10) });
  const [seed] = await setup.tasks();
  if (seed === undefined) throw new Error("no task for the seed");
  await ingestBatch(setup.dependencies, await setup.capture(seed, site));
  const [first, ...others] = await setup.tasks();
  if (first === undefined) throw new Error("no task for the links");
  expect([first.urls.length, others.length]).toEqual([10, 0]);
  await ingestBatch(setup.dependencies, await setup.capture(first, site));
  const [second] = await setup.tasks();
  expect(second?.urls.map(({ url }) => url.endsWith("/tide"))).toEqual(Array(10).fill(true));
});

test.each([1, 2, 3, 5])("a job on three hosts has never more than its %i requests at once", async (concurrency) => {
  let [now, most] = [0, 0];
  const sites = await Promise.all([startSite(), startSite(), startSite()]);
  const links = sites.flatMap(({ origin }) => Array.from({ length: 8 }, (_, at) => `${origin}/p${at}`));
  for (const site of sites) {
    const body = page("A page", links, 10);
    const paths = ["/", ...Array.from({ length: 8 }, (_, at) => `/p${at}`)];
    const route: Route = {
      async raw(socket) {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 20));
        now -= 1;
        socket.end(
          `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
        );
      },
    };
    site.route(Object.fromEntries(paths.map((path) => [path, route])));
  }
  const seed = `${sites[0]?.origin}/`;
  const crawl = await realCrawl();
  const scope = scopeOfSeeds([seed], { mode: "domain" });
  const [job] = await crawl.run(newSiteJob(seed, { config, scope, handling: { concurrency } }));
  expect(most).toBeLessThanOrEqual(concurrency);
  expect(job).toMatchObject({ status: "completed", counts: { crawled: 25 } });
  await Promise.all(sites.map((site) => site.close()));
});
