import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Instance, startInstance } from "../services/instance.ts";
import { html, type Site, startSite } from "../sites/site.ts";

const CIRCUIT_TIMEOUT_S = 1;

let instance: Instance;
beforeAll(async () => {
  const env = {
    ACCESS__ALLOW_HOSTS: "127.0.0.1",
    CIRCUIT_BREAKER__TIMEOUT_S: String(CIRCUIT_TIMEOUT_S),
    EMBEDDER__PROVIDER: "none",
  };
  instance = await startInstance({ env });
});
afterAll(() => instance.stop());

const pages = (site: Site, count: number) => Array.from({ length: count }, (_, page) => `${site.origin}/page/${page}`);
const fine = html(`<html lang="en"><title>Fine</title><main><p>${"The tide comes in. ".repeat(20)}</p></main></html>`);

async function crawl(urls: string[], config: object, more: object = {}): Promise<string> {
  const body = { urls, config: { respect_robots_txt: false, rate_limit_rps: 100, ...config }, ...more };
  return (await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", body)).job_id;
}

describe("a host that fails", () => {
  it.concurrent("for a while costs a job time, and no page", async ({ expect }) => {
    let failures = 0;
    let served = 0;
    await using site = await startSite({}, () => {
      if (served < 20 || failures >= 7) {
        served += 1;
        return fine;
      }
      failures += 1;
      return { status: 503 };
    });
    const job = await instance.waitForJob(await crawl(pages(site, 120), {}));
    expect(job).toMatchObject({ status: "completed", counts: { crawled: 120, failed: 0, open: 0 } });
    // no more was tried than what opened the circuit, what was under way by then, and the probes
    expect(site.requests.length).toBeLessThan(120 + 7 + 1);
  });

  it.concurrent("for good ends a job in bounded time, after a bounded number of requests", async ({ expect }) => {
    await using site = await startSite({}, () => ({ status: 500 }));
    const started = Date.now();
    const jobId = await crawl(pages(site, 150), {});
    await expect(instance.waitForJob(jobId)).rejects.toThrow("the job ended as failed");
    const job = await instance.call("GET", `/api/v1/crawl/${jobId}?limit=1`);
    expect(job).toMatchObject({ status: "failed", counts: { crawled: 0, failed: 150, open: 0 } });
    expect(Date.now() - started).toBeGreaterThan(3 * CIRCUIT_TIMEOUT_S * 1000);
    // five failures and what was under way, then one for each time the circuit was open
    expect(site.requests.length).toBeLessThan(40);
    const detail = await instance.call<{ circuit: { openings: number }; urls: { failed: number } }>(
      "GET",
      `/api/v1/domains/${encodeURIComponent(site.host)}`,
    );
    expect(detail.circuit.openings).toBeGreaterThanOrEqual(4);
    expect(detail.urls.failed).toBe(150);
  });
});

it("a domain that is blocked while it is crawled gets no request later than two seconds after the answer", async () => {
  await using site = await startSite({}, () => fine);
  const jobId = await crawl(pages(site, 300), { rate_limit_rps: 20 });
  await expect.poll(() => site.requests.length).toBeGreaterThan(20);
  const path = `/api/v1/domains/${encodeURIComponent(site.host)}`;
  await instance.call("POST", `${path}/block`, { reason: "test" });
  const blockedAt = Date.now();
  const job = await instance.waitForJob(jobId);
  const { crawled = 0, skipped = 0 } = job.counts;
  expect(crawled + skipped).toBe(300);
  expect(crawled).toBe(site.requests.length);
  expect(Math.max(...site.requests.map(({ since }) => since))).toBeLessThan(blockedAt + 2000);
  await instance.call("POST", `${path}/unblock`, {});
  const again = await instance.waitForJob(await crawl(pages(site, 3), {}, { cache: "bypass" }));
  expect(again.counts).toMatchObject({ crawled: 3, skipped: 0 });
});

it("pages that were crawled a moment ago are taken from the cache, until it is cleared", async () => {
  await using site = await startSite({}, () => fine);
  const run = async (more: object = {}) => {
    const before = site.requests.length;
    const job = await instance.waitForJob(await crawl(pages(site, 30), {}, more));
    expect(job).toMatchObject({ status: "completed", counts: { crawled: 30, documents: 30 } });
    return site.requests.length - before;
  };
  expect(await run()).toBe(30);
  expect(await run()).toBe(0);
  expect(await run({ tags: ["again"] })).toBe(0);
  expect(await run({ cache: "bypass" })).toBe(30);
  await instance.call("DELETE", `/api/v1/cache/domain/${encodeURIComponent(site.host)}`);
  expect(await run()).toBe(30);
  expect(await instance.call("GET", "/api/v1/cache/stats")).toMatchObject({ crawl: { hits: 60 } });
});
