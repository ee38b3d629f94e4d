import { afterAll, beforeAll, expect, test } from "vitest";
import { hasEnded } from "../../cli/jobs-api.ts";
import { lastOf, watchJob } from "../../cli/watch-job.ts";
import { type Instance, startInstance } from "../services/instance.ts";
import { commonCrawlDouble } from "../sites/common-crawl.ts";
import { type LargeSite, startLargeSite } from "../sites/large-site.ts";

interface Discovery {
  status: string;
  error: string | null;
  urls_found: number;
  notes: { code: string; source: string }[];
  results: { items: { url: string; source: string; score: number | null }[]; next_cursor: string | null };
}

let site: LargeSite;
let index: Awaited<ReturnType<typeof commonCrawlDouble>>;
let instance: Instance;
beforeAll(async () => {
  site = await startLargeSite();
  index = await commonCrawlDouble([
    [{ url: `${site.main.origin}/page/1` }, { url: `${site.main.origin}/only-in-the-index` }],
  ]);
  instance = await startInstance({
    env: { ACCESS__ALLOW_HOSTS: "127.0.0.1", RATE_LIMIT__DEFAULT_RPS: "1000", COMMON_CRAWL__URL: index.origin },
  });
});
afterAll(async () => {
  await instance.stop();
  await Promise.all([site[Symbol.asyncDispose](), index.close()]);
});

const start = async (body: object): Promise<string> =>
  (await instance.call<{ job_id: string }>("POST", "/api/v1/discover", body)).job_id;

async function ended(id: string): Promise<Discovery> {
  return await lastOf(watchJob(() => instance.call("GET", `/api/v1/discover/${id}?limit=1000`), hasEnded, 100));
}

test("the pages of a large site are found in its sitemaps, its feeds and Common Crawl, each once", async () => {
  const id = await start({ domain: site.main.origin, sources: ["sitemap", "common_crawl"], max_urls: 10_000 });
  const job = await ended(id);
  expect(job).toMatchObject({ status: "completed", error: null });
  const urls: string[] = [];
  for (let page = job; ; ) {
    urls.push(...page.results.items.map(({ url }) => url));
    if (page.results.next_cursor === null) break;
    page = await instance.call("GET", `/api/v1/discover/${id}?limit=1000&cursor=${page.results.next_cursor}`);
  }
  expect(new Set(urls).size).toBe(urls.length);
  expect(urls).toHaveLength(job.urls_found);
  expect(urls.filter((url) => url.startsWith(`${site.main.origin}/page/`))).toHaveLength(2_000);
  expect(urls).toContain(`${site.main.origin}/only-in-the-index`);
  const codes = job.notes.map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(["TRUNCATED", "WRONG_HOST", "LASTMOD_INVALID", "HTTP_404"]));
});
