import { afterAll, beforeAll, expect, it } from "vitest";
import { type LargeSite, startLargeSite } from "../../sites/large-site.ts";
import { type Spider, startSpider } from "./spider-setup.ts";

let site: LargeSite;
let spider: Spider;
beforeAll(async () => {
  site = await startLargeSite({ pages: 300 });
  spider = await startSpider(site.hosts);
}, 60_000);
afterAll(async () => {
  await spider?.stop();
  await site?.close();
});

const graph = () => ({ seed_urls: [`${site.main.origin}/page/0`], max_depth: 50 });

it("stats: counts, time, stop reason and domains of a crawl that has ended", async () => {
  const response = await spider.crawl("result_mode=stats", { ...graph(), max_pages: 40 });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    pages_crawled: 40,
    pages_failed: 0,
    duration_seconds: expect.any(Number),
    stop_reason: "max_pages",
    domains: ["127.0.0.1"],
  });
});
