import { expect, test } from "vitest";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { scopeOfSeeds } from "../../../../shared/crawl/urls/scope-of-seeds.ts";
import { newSiteJob } from "../../../integration/crawl/crawl-setup.ts";
import { expectBooksToBalance, realCrawl } from "../../../integration/crawl/real-crawl.ts";
import { crawlTrap } from "../../../integration/crawl/trap-crawl.ts";
import { type LargeSite, NEWS_STORIES, QUERY_PAGES, startLargeSite } from "../../../sites/large-site.ts";

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
