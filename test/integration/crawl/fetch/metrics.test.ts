/** What a delivery of a fetch task tells, in one line. */
import { expect, it } from "vitest";
import { DEFAULT_CIRCUIT } from "../../../../shared/crawl/politeness/host-state.ts";
import { measuredIn } from "../../../services/measured.ts";
import { html, redirect, startSite } from "../../../sites/site.ts";
import { fetchHarness, fetchTask } from "./harness.ts";

const PAGE = html("<title>Page</title><p>Some text of a page.</p>");

it("each page once by what came of it, with its time, its bytes, and whether it was a retry", async () => {
  await using site = await startSite({
    "/robots.txt": { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /private" },
    "/a": PAGE,
    "/b": PAGE,
    "/moved": redirect("/a"),
    "/busy": { status: 503 },
    "/picture": { headers: { "content-type": "image/png" }, body: "png" },
  });
  const harness = await fetchHarness();
  const paths = ["/a", "/b", "/moved", "/none", "/busy", "/private/1", "/private/2", "/picture"];
  const task = fetchTask({ urls: paths.map((path) => site.origin + path) });
  const retried = { ...task, urls: task.urls.map((url) => ({ ...url, attempt: url.url.endsWith("/b") ? 1 : 0 })) };
  const captures = await harness.fetch(retried);
  expect(captures).toHaveLength(paths.length);
  expect(harness.logged.filter((line) => line.includes("_aws"))).toHaveLength(1);
  const told = measuredIn(harness.logged, "fetch");
  expect(told).toEqual({
    pages_fetched: 3,
    pages_http_4xx: 1,
    pages_http_5xx: 1,
    pages_robots: 2,
    pages_content: 1,
    page_seconds: expect.any(Array),
    payload_bytes: captures.reduce((sum, { payloadBytes }) => sum + payloadBytes, 0),
    retries: 1,
    rendering: 0,
    deferrals: 0,
    deferred_seconds: 0,
  });
  // those that robots.txt forbids were not asked for
  expect(told["page_seconds"]).toHaveLength(6);
  const line = JSON.parse(harness.logged.find((each) => each.includes("_aws")) ?? "");
  expect(line._aws.CloudWatchMetrics[0].Dimensions).toEqual([["component"]]);
});

it("a task that is completed already tells nothing", async () => {
  await using site = await startSite({ "/a": PAGE });
  const harness = await fetchHarness();
  const task = fetchTask({ urls: [`${site.origin}/a`], config: { respect_robots_txt: false } });
  await harness.deliver(task);
  await harness.deliver(task);
  expect(measuredIn(harness.logged, "fetch")).toMatchObject({ pages_fetched: 1 });
});

it("a host whose circuit opens is told of once, and its task as deferred", async () => {
  await using site = await startSite({}, () => ({ status: 500 }));
  const harness = await fetchHarness();
  const urls = Array.from({ length: 30 }, (_, page) => `${site.origin}/${page}`);
  await harness.deliver(fetchTask({ urls, config: { respect_robots_txt: false } }));
  const told = measuredIn(harness.logged, "fetch");
  expect(told).toMatchObject({ deferrals: 1, deferred_seconds: expect.any(Number) });
  expect(Number(told["pages_http_5xx"])).toBeGreaterThanOrEqual(DEFAULT_CIRCUIT.threshold);
  expect(Number(told["deferred_seconds"])).toBeGreaterThan(DEFAULT_CIRCUIT.timeoutS / 2);
  expect(measuredIn(harness.logged, "circuit")).toEqual({ openings: 1 });
});
