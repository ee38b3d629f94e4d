/** One crawl of all there is on the site built for it, by the fetcher, the queues and the tables of a runtime. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningInstance } from "../../services/instance.ts";
import { CHARSETS, charsetPage, charsetText } from "../../sites/charset-pages.ts";
import { type LargeSite, NEWS_STORIES, startLargeSite } from "../../sites/large-site.ts";
import { digestOf, type Engine, engineOf, expectBooksToBalance, type Page } from "./engine.ts";

const RETRY_AFTER_S = 3;
const SLOW_MS = 400;

/** @param queryPages of them each leads to the next two, so they are crawled one after the other */
export function allOfTheSiteIsCrawled(
  { pages: pageCount, queryPages }: { pages: number; queryPages: number },
  start: () => Promise<RunningInstance>,
): void {
  let site: LargeSite;
  let engine: Engine;
  beforeAll(async () => {
    site = await startLargeSite({ pages: pageCount, queryPages, slowMs: SLOW_MS });
    engine = engineOf(await start());
  });
  afterAll(async () => {
    await engine?.close();
    await site?.close();
  });

  describe("of a crawl of everything", () => {
    let jobId: string;
    let pages: Map<string, Page>;
    let codes: Record<string, number>;
    const pageOf = (path: string): Page | undefined => pages.get(site.main.origin + path);
    beforeAll(async () => {
      const { main, slow, robotsDown } = site;
      const seeds = ["/", "/redirect/self", "/redirect/private", "/redirect/chain/9", "/redirect/chain/29"];
      jobId = await engine.store({
        seed_urls: [...seeds.map((path) => main.origin + path), `${slow.origin}/page/0`, `${robotsDown.origin}/page/0`],
        max_depth: 1_000,
        max_pages: 100_000,
        // a trap of two thousand pages, which has a test of its own
        exclude_patterns: ["/filter"],
      });
      await engine.instance.waitForJob(jobId, 900_000, 500);
      pages = new Map((await engine.results(jobId)).map((page) => [page.url, page]));
      codes = await expectBooksToBalance(engine, jobId);
    }, 960_000);

    it("each page is there, and was asked for once", () => {
      const asked = site.main.paths().filter((path) => /^\/page\/\d+$/.test(path));
      // the chain and page 0's links lead to /page/1 both; what redirects there asks for it as well
      expect(new Set(asked).size).toBe(pageCount);
      expect(asked.filter((path) => path !== "/page/1")).toHaveLength(pageCount - 1);
      for (let page = 0; page < pageCount; page += 1)
        expect(pageOf(`/page/${page}`)).toMatchObject({ status_code: 200 });
    });

    it("nothing that robots.txt forbids was asked for", () => {
      expect(site.main.paths().filter((path) => path.startsWith("/private/"))).toEqual([]);
    });

    it("honest parts are complete: a dated archive, and pages that differ in their query", () => {
      const asked = new Set(site.main.paths());
      expect([...asked].filter((path) => path.startsWith("/news/20"))).toHaveLength(NEWS_STORIES);
      expect([...asked].filter((path) => path.startsWith("/index.php?id="))).toHaveLength(queryPages);
    });

    it("a calendar without end is left, and says why", () => {
      const asked = site.main.paths().filter((path) => path.startsWith("/calendar/"));
      expect(asked.length).toBeGreaterThan(50);
      expect(asked.length).toBeLessThan(1_000);
      expect(codes["TRAP_CALENDAR"]).toBeGreaterThan(0);
    });

    it("session ids in links make no further pages, and none is sent", () => {
      const asked = site.main.paths().filter((path) => path.startsWith("/shop/"));
      expect(asked).toHaveLength(1 + 2 * 20);
      expect(asked.filter((path) => /session|sid/i.test(path))).toEqual([]);
    });

    it("paths that repeat themselves, and one body under endless names, are left", () => {
      expect(codes["TRAP_PATH"]).toBeGreaterThan(0);
      expect(codes["DUPLICATE_CONTENT"]).toBeGreaterThan(0);
      expect(site.main.paths().filter((path) => path.startsWith("/mirror/")).length).toBeLessThan(600);
    });

    it("redirect chains end at their page, loops and too many in an error, and nothing private is asked", () => {
      for (const length of [3, 9]) {
        expect(pageOf(`/redirect/chain/${length}`)).toMatchObject({
          status_code: 200,
          final_url: `${site.main.origin}/page/1`,
        });
      }
      const error = (path: string) => pageOf(path)?.fetch_error;
      expect(error("/redirect/chain/29")).toMatch(/^TOO_MANY_REDIRECTS: /);
      expect(error("/redirect/loop/a")).toMatch(/^REDIRECT_LOOP: /);
      expect(error("/redirect/self")).toMatch(/^REDIRECT_LOOP: /);
      expect(error("/redirect/private")).toMatch(/^URL_BLOCKED: /);
    });

    it("a slow host is complete, and holds up none of the others", () => {
      const asked = site.slow.paths().filter((path) => path.startsWith("/page/"));
      expect(new Set(asked).size).toBe(20);
      for (const path of asked) expect(pages.get(site.slow.origin + path)).toMatchObject({ status_code: 200 });
      const first = site.slow.requests[0]?.at ?? 0;
      const last = site.slow.requests.at(-1)?.at ?? 0;
      expect(site.main.requests.filter(({ at }) => at > first && at < last).length).toBeGreaterThan(20);
    });

    it("a host whose robots.txt answers 503 is asked for nothing else, and says why", () => {
      expect(new Set(site.robotsDown.paths(true))).toEqual(new Set(["/robots.txt"]));
      expect(pages.get(`${site.robotsDown.origin}/page/0`)?.fetch_error).toMatch(/^ROBOTS_UNREACHABLE: /);
    });
  });

  it.concurrent("twelve charsets are readable in the results, and their bytes are archived as they were sent", async ({
    expect,
  }) => {
    const urlOf = (charset: string) => `${site.main.origin}/charset/${charset}`;
    const job = await engine.store({ seed_urls: CHARSETS.map(urlOf), max_depth: 0 });
    await engine.instance.waitForJob(job);
    const pages = new Map(
      (await engine.results(job, "include=title,content,markdown")).map((page) => [page.url, page]),
    );
    const captures = await engine.sql<{ url: string; warc_key: string; warc_offset: number; warc_length: number }[]>`
    select distinct on (url) url, warc_key, warc_offset, warc_length from captures order by url, id`;
    for (const charset of CHARSETS) {
      const page = pages.get(urlOf(charset));
      expect(page, charset).toMatchObject({ status_code: 200, title: charset });
      expect(page?.markdown, charset).toContain(charsetText(charset));
      expect(page?.content, charset).toContain(charsetText(charset));
      const capture = captures.find(({ url }) => url === urlOf(charset));
      if (capture === undefined) throw new Error(`no capture of ${charset}`);
      const sent = charsetPage(`/charset/${charset}`) as { body: Uint8Array };
      expect(digestOf((await engine.record(capture)).body), charset).toBe(digestOf(sent.body));
    }
  });

  it.concurrent.for(["seconds", "date"])(
    "429 with Retry-After in %s: the host is left in peace for so long, and then its pages come",
    async (form, { expect }) => {
      await using site = await startLargeSite({ pages: 24, retryAfterS: RETRY_AFTER_S });
      const path = `/limited/${form}`;
      const around = (job: number) =>
        Array.from({ length: 8 }, (_, page) => `${site.main.origin}/page/${job * 8 + page}`);
      // the page that is refused goes first, so that there is much left to be asked for
      const config = { rate_limit_rps: 4 };
      const first = await engine.store({ seed_urls: [site.main.origin + path, ...around(0)], max_depth: 0, config });
      await expect.poll(() => site.main.requests.some((request) => request.path === path)).toBe(true);
      const jobs = [
        first,
        ...(await Promise.all([1, 2].map((job) => engine.store({ seed_urls: around(job), max_depth: 0, config })))),
      ];
      for (const job of jobs) await engine.instance.waitForJob(job);
      const asked = site.main.requests.filter((request) => request.path === path);
      expect(asked).toHaveLength(2);
      const refusedAt = asked[0]?.at ?? 0;
      const after = site.main.requests.filter(({ since }) => since > refusedAt).map(({ at }) => at - refusedAt);
      expect(after.length).toBeGreaterThan(5);
      expect(Math.min(...after)).toBeGreaterThanOrEqual(RETRY_AFTER_S * 1_000);
      for (const job of jobs) await expectBooksToBalance(engine, job);
      const [page] = await engine
        .results(first, "include=markdown")
        .then((all) => all.filter(({ url }) => url.endsWith(path)));
      expect(page).toMatchObject({ status_code: 200, markdown: expect.stringContaining("Now there is time for you.") });
    },
  );

  it.concurrent("sitemaps in gzip, named so or not, with byte order marks and as text, list all pages to POST /discover", async ({
    expect,
  }) => {
    const { job_id } = await engine.post<{ job_id: string }>("/api/v1/discover", {
      domain: site.main.origin,
      max_urls: 5_000,
    });
    interface Discovery {
      status: string;
      urls_found: number;
      results: { items: { url: string; lastmod: string | null; found_in: string }[]; next_cursor: string | null };
    }
    const read = (cursor = "") =>
      engine.instance.call<Discovery>("GET", `/api/v1/discover/${job_id}?limit=1000${cursor}`);
    await expect.poll(async () => (await read()).status, { interval: 200 }).toBe("completed");
    const items: Discovery["results"]["items"] = [];
    for (let page = await read(); ; page = await read(`&cursor=${page.results.next_cursor}`)) {
      items.push(...page.results.items);
      if (page.results.next_cursor === null) break;
    }
    const inFile = (file: string) => items.filter(({ found_in }) => found_in === `${site.main.origin}/${file}`);
    for (const file of ["sitemap-a.xml.gz", "sitemap-b", "sitemap-c.txt", "sitemap-d.xml"]) {
      expect(inFile(file).length, file).toBe(pageCount / 4);
    }
    expect(inFile("sitemap-a.xml.gz")[0]?.lastmod).toBe("2024-03-01T10:00:00+00:00");
    expect(items.filter(({ url }) => !url.startsWith(site.main.origin))).toEqual([]);
  });
}
