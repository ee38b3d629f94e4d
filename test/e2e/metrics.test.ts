/** What `GET /metrics` says after crawls, searches and runs of the harvester. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type EmbeddingServer, startEmbeddingServer } from "../services/embedding-server.ts";
import { readPrometheusText, sampleOf } from "../services/prometheus-text.ts";
import { html, type Site, startSite } from "../sites/site.ts";
import { type Harvest, startHarvest } from "./harvest-setup.ts";

/** What a function prints arrives a moment after its answer. */
const PATIENCE = { timeout: 120_000, interval: 500 };
const TEXT = "The tide brings what the river carried down and leaves it along the strand. ".repeat(5);
const linking = (...paths: string[]) =>
  html(`<title>Page</title><p>${TEXT}</p>${paths.map((path) => `<a href="${path}">${path}</a>`).join(" ")}`);

let embedder: EmbeddingServer;
let harvest: Harvest;
let site: Site;
beforeAll(async () => {
  embedder = await startEmbeddingServer();
  [harvest, site] = await Promise.all([
    startHarvest(embedder.env),
    startSite({
      "/robots.txt": { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /private" },
      "/": linking("/a", "/b", "/private", "/none"),
      "/a": linking("/"),
      "/b": linking("/"),
    }),
  ]);
});
afterAll(async () => {
  await harvest?.stop();
  await site?.close();
  embedder?.close();
});

async function metrics() {
  const answer = await fetch(`${harvest.instance.url}/metrics`);
  expect(answer.status).toBe(200);
  const families = readPrometheusText(await answer.text());
  return (name: string, labels: Record<string, string> = {}) => sampleOf(families, `strandline_${name}`, labels);
}

it("a crawl, a search, and runs that succeed and fail are counted, each once", async () => {
  const { instance } = harvest;
  expect((await metrics())("ingest_pages_total", { outcome: "crawled" })).toBe(0);
  const crawl = { url: `${site.origin}/`, max_depth: 2, config: { rate_limit_rps: 100 } };
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", crawl);
  const { counts } = await instance.waitForJob(job_id);
  expect(counts).toMatchObject({ crawled: 3, failed: 1, skipped: 1 });
  await instance.call("POST", "/api/v1/search", { query: "tide" });
  expect((await harvest.run()).status).toBe(201);
  harvest.doubles.google.answer = () => ({ status: 403 });
  expect((await harvest.run()).status).toBe(201);
  harvest.llm.answer = () => ({ status: 401 });
  expect((await harvest.run()).status).toBe(502);

  const arrives = (name: string, labels: Record<string, string>, expected: number) =>
    expect.poll(async () => (await metrics())(name, labels)).toBe(expected);
  await arrives("harvest_runs_failed_total", { reason: "LLM_FAILED" }, 1);
  await arrives("search_request_seconds_count", { mode: "hybrid" }, 1);
  await arrives("jobs_ended_total", { kind: "site", status: "completed", stop_reason: "completed" }, 1);
  await arrives("fetch_page_seconds_count", {}, 4);
  const chunks = counts["chunks"] ?? -1;
  const embedded = async () => {
    const value = await metrics();
    return ["embedded", "cached"].reduce((sum, outcome) => sum + (value("embed_chunks_total", { outcome }) ?? 0), 0);
  };
  await expect.poll(embedded).toBe(chunks);
  await vi.waitFor(async () => {
    const value = await metrics();
    const pages = (component: string, outcome: string) => value(`${component}_pages_total`, { outcome });
    expect(["crawled", "failed", "skipped", "retried"].map((outcome) => pages("ingest", outcome))).toEqual([
      3, 1, 1, 0,
    ]);
    expect(["fetched", "http_4xx", "robots", "dns"].map((outcome) => pages("fetch", outcome))).toEqual([3, 1, 1, 0]);
    expect(value("fetch_payload_bytes_total")).toBeGreaterThan(3 * TEXT.length);
    expect(value("ingest_documents_total")).toBe(3);
    expect(value("ingest_chunks_total")).toBe(chunks);

    const provider = (name: string, of: string) => value(`harvest_provider_${name}`, { provider: of });
    expect([provider("asked_total", "serper"), provider("success_total", "serper")]).toEqual([2, 2]);
    expect([provider("asked_total", "google"), provider("success_total", "google")]).toEqual([2, 1]);
    expect([provider("urls_count", "brave"), provider("urls_sum", "brave")]).toEqual([2, 4]);
    const confidence = (providers: string) => value("harvest_confidence_total", { providers });
    // one URL of all that answer, and one of each alone
    expect(["1", "2", "3", "4"].map(confidence)).toEqual([3 + 2, 1, 1, 0]);
    expect(value("harvest_run_seconds_count")).toBe(2);

    expect(value("queue_messages", { queue: "fetch-normal", state: "ready" })).toBe(0);
    expect(value("function_duration_seconds_count", { function: "ingest" })).toBeGreaterThan(0);
    expect(value("aws_cost_dollars_total", { service: "lambda" })).toBeGreaterThan(0);
  }, PATIENCE);
});
