import { afterAll, beforeAll, expect, it } from "vitest";
import { openStream, PAGES, startCrawl } from "../e2e/followed-crawls.ts";
import { type Harvest, startHarvest } from "../e2e/harvest-setup.ts";
import { ndjson, spiderOf } from "../e2e/spider/spider-setup.ts";
import { type GraphSite, startGraphSite } from "../services/graph-site.ts";
import { readEvents } from "../services/listeners.ts";
import { memoryMb, threadsOf } from "../services/processes.ts";
import { RESULTS } from "../services/provider-doubles.ts";

const LISTENERS = 20;
const STREAMS = 8;
const RUNS = 30;
const KEYLESS = 60;
/** Near the most that a request may hold. */
const KEYLESS_BODY = "x".repeat(6_000_000);
/** Of the runtime's process with all its threads, at the worst moment. */
const MOST_MB = 1_200;

let site: GraphSite;
let harvest: Harvest;
beforeAll(async () => {
  site = await startGraphSite(PAGES);
  // pages are held back while the others work
  harvest = await startHarvest({ FETCH__HEADERS_TIMEOUT_MS: "200000" });
});
afterAll(async () => {
  await harvest.stop();
  await site.close();
});

it("20 listeners, 8 streams, 30 search runs and 60 bodies without a key stay within 1.2 GB", async () => {
  const { instance, doubles } = harvest;
  // searches take their time, as on the web, so that all run side by side
  for (const name of ["serper", "google", "brave"] as const) {
    doubles[name].answer = () => ({ ...RESULTS[name]("https://all.example/page"), delayMs: 3_000 });
  }
  site.holdAfter(20);
  const jobId = await startCrawl(instance, site, 1000);
  const events = Array.from({ length: LISTENERS }, async () => {
    const stream = await openStream(instance, jobId);
    expect(stream.status).toBe(200);
    return await readEvents(stream);
  });
  const streams = Array.from({ length: STREAMS }, async () => {
    const config = { rate_limit_rps: 1000, page_timeout_ms: 200_000 };
    const body = { seed_urls: [site.url], max_depth: 50, max_pages: PAGES, config };
    let pages = 0;
    for await (const { type } of ndjson(await spiderOf(instance).crawl("result_mode=stream", body))) {
      if (type === "page") pages++;
    }
    return pages;
  });
  const runs = Array.from({ length: RUNS }, async () => await harvest.run());
  const keyless = Array.from({ length: KEYLESS }, async () => {
    const refused = { method: "POST", headers: { "content-type": "application/json" }, body: KEYLESS_BODY };
    // a connection that is closed before all of the body was sent is a refusal too
    const answer = await fetch(`${instance.url}/api/v1/crawl`, refused).catch(() => undefined);
    return answer?.status ?? 401;
  });

  for (const { status, body } of await Promise.all(runs)) {
    // a busy machine may not hear a provider or the model within its time, and says so
    if (status === 502) expect(body.details).toMatch(/timeout/);
    else expect([200, 201, 202, 429, 503]).toContain(status);
  }
  for (const status of await Promise.all(keyless)) expect([401, 413, 429, 503]).toContain(status);
  site.release();
  for (const told of await Promise.all(events)) expect(told.at(-1)?.event).toBe("completed");
  expect(await Promise.all(streams)).toEqual(Array(STREAMS).fill(PAGES));

  const { peak } = await memoryMb(instance.child.pid);
  console.info(`at most ${Math.round(peak)} MB, with ${await threadsOf(instance.child.pid)} threads at the end`);
  expect(peak).toBeLessThan(MOST_MB);
});
