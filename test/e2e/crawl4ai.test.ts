/** A whole instance whose pages are rendered by a Crawl4AI server, here a stand-in, that is away for some time. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { CRAWL4AI_TOKEN, crawl4AiServer } from "../services/crawl4ai-server.ts";
import { startInstance } from "../services/instance.ts";
import { startSite } from "../sites/site.ts";

const PAGES = 12;
const AT_ONCE = 3;
const AWAY_MS = 5_000;

it("gives the server no more pages at once than it is set to, and a restart of it costs no page its rendering", async () => {
  const body = `<!doctype html><html lang="en"><title>Shell</title><div id="root"></div><script src="/app.js"></script>`;
  await using site = await startSite({}, () => ({ headers: { "content-type": "text/html" }, body }));
  let underWay = 0;
  let most = 0;
  let refused = 0;
  let awayUntil = Number.POSITIVE_INFINITY;
  // however busy the machine is, the first ones are answered when so many are there
  const { promise: together, resolve: areTogether } = Promise.withResolvers<void>();
  const server = await crawl4AiServer(async (url) => {
    if (awayUntil === Number.POSITIVE_INFINITY) awayUntil = Date.now() + AWAY_MS;
    if (Date.now() < awayUntil) {
      refused += 1;
      return { answer: "hang up" };
    }
    underWay += 1;
    most = Math.max(most, underWay);
    if (underWay >= AT_ONCE) areTogether();
    await together;
    await delay(300);
    underWay -= 1;
    return {
      html: `<html lang="en"><main><p>${`Filled in at ${new URL(url).pathname}. `.repeat(20)}</p></main></html>`,
    };
  });
  const instance = await startInstance({
    env: {
      ACCESS__ALLOW_HOSTS: site.host,
      CRAWL4AI__URL: server.url,
      CRAWL4AI__TOKEN: CRAWL4AI_TOKEN,
      CRAWL4AI__CONCURRENCY: String(AT_ONCE),
    },
  });
  onTestFinished(() => instance.stop());
  const urls = Array.from({ length: PAGES }, (_, page) => `${site.origin}/page/${page}`);
  const config = { render: "always", rate_limit_rps: 50 };
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", { urls, config });
  await instance.waitForJob(job_id);
  const job = await instance.call<{ rendering: unknown }>("GET", `/api/v1/crawl/${job_id}`);
  expect(job.rendering).toEqual({ wanted: PAGES, rendered: PAGES, unrendered: [] });
  expect(refused).toBeGreaterThanOrEqual(AT_ONCE);
  expect(most).toBe(AT_ONCE);
});
