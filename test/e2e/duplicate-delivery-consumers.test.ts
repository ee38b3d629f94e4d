/**
 * Every consumer of a queue, with each of its messages delivered twice and at once: what was asked for is done once.
 */
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QUEUES } from "../../infra/topology/queues.ts";
import { deadLetterQueue } from "../../infra/topology/spec.ts";
import { TOPOLOGY } from "../../infra/topology.ts";
import { credentialsIn } from "../../local/front/credentials.ts";
import { firstQueueOf } from "../../shared/crawl/tasks/fetch-task.ts";
import { type EmbeddingServer, startEmbeddingServer } from "../services/embedding-server.ts";
import { type GraphSite, startGraphSite } from "../services/graph-site.ts";
import { listen } from "../services/listeners.ts";
import { startProxy } from "../services/proxy-server.ts";
import { type Site, startSite } from "../sites/site.ts";
import { listenersAreTold, PAGES } from "./followed-crawls.ts";
import { type Harvest, startHarvest } from "./harvest-setup.ts";

const html = (body: string) => ({ headers: { "content-type": "text/html; charset=utf-8" }, body });
const TEXT = "<p>The lantern keeper wrote down every ship that passed the skerries before the ice came.</p>".repeat(8);

let site: Site;
let graph: GraphSite;
let embedder: EmbeddingServer;
let harvest: Harvest;
beforeAll(async () => {
  const pages = [
    "/high",
    "/normal",
    "/low",
    "/captures",
    "/embed/high",
    "/embed/normal",
    "/embed/low",
    "/progress",
    "/push",
  ];
  const sitemap = (paths: readonly string[]) =>
    `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths.map((path) => `<url><loc>${site.origin}${path}</loc></url>`).join("")}</urlset>`;
  site = await startSite({
    ...Object.fromEntries(pages.map((path) => [path, html(`<title>${path}</title><h1>${path}</h1>${TEXT}`)])),
    ...Object.fromEntries(Array.from({ length: 6 }, (_, page) => [`/shared/${page}`, html(TEXT)])),
    "/scripted": html(`<title>Scripted</title><div id="root"></div>
      <script>document.querySelector("#root").innerHTML = "${TEXT}"</script>`),
    "/media": html("<p>Media</p>"),
    "/live": html(`<title>Live</title><h1>Live</h1>${TEXT}`),
    "/exported": html(`<title>Exported</title>${TEXT}`),
    "/sitemap.xml": () => ({ headers: { "content-type": "application/xml" }, body: sitemap(pages) }),
    "/said": { body: "heard" },
    "/proxied": { body: "through" },
  });
  graph = await startGraphSite(PAGES);
  embedder = await startEmbeddingServer();
  harvest = await startHarvest({
    ...embedder.env,
    STRANDLINE_DELIVER_TWICE: "1",
    RATE_LIMIT__DEFAULT_RPS: "200",
    RATE_LIMIT__API_RPM: "100000",
    // while a site holds its answers
    FETCH__HEADERS_TIMEOUT_MS: "200000",
  });
});
afterAll(async () => {
  await harvest.stop();
  await Promise.all([site.close(), graph.close()]);
  embedder.close();
});

async function send(queues: readonly string[], body: string): Promise<void> {
  const { env } = JSON.parse(await readFile(join(harvest.instance.home, "runtime.json"), "utf8")) as {
    env: Record<string, string>;
  };
  const credentials = credentialsIn(env);
  const sqs = new SQSClient({ endpoint: env["AWS_ENDPOINT_URL_SQS"] ?? "", region: "us-east-1", credentials });
  for (const queue of queues) {
    const QueueUrl = (env["QUEUES__URL_PREFIX"] ?? "") + queue;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
  }
  sqs.destroy();
}

const asked = (path: string): number => site.paths(true).filter((each) => each === path).length;

/** @returns the job's row with how many captures, documents and chunks it has, and how many of these have a vector */
async function crawl(path: string, more: Record<string, unknown> = {}) {
  const { instance, sql } = harvest;
  const url = site.origin + path;
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", { urls: [url], ...more });
  await instance.waitForJob(job_id);
  const [row] = await sql`
    select j.id, j.status, j.crawled, j.results, j.open_urls as open, j.documents, j.chunks, j.unembedded_chunks as unembedded,
      (select count(*)::int from captures where job_id = j.id) as captures,
      (select count(*)::int from captures where job_id = j.id and rendered->'warc' is not null) as rendered,
      (select count(*)::int from documents where generation_id = j.generation_id) as written,
      (select count(*)::int from documents d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
       where d.generation_id = j.generation_id and e.state = 'done') as vectors
    from jobs j where id = ${job_id}`;
  return { ...row } as Record<string, unknown>;
}

const ONE_PAGE = { status: "completed", crawled: 1, results: 1, open: 0, captures: 1, documents: 1, written: 1 };

async function fetchesOnce(path: string, priority: string): Promise<void> {
  expect(await crawl(path, { priority })).toMatchObject(ONE_PAGE);
  expect(asked(path)).toBe(1);
}

/** Events of a job of one page, as a socket hears them. */
async function heard(path: string): Promise<string[]> {
  const { instance } = harvest;
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", { urls: [site.origin + path] });
  const { events, closed } = await listen(instance.url, job_id, { key: instance.apiKey });
  await closed;
  return events.map((event) => JSON.stringify(event));
}

async function discovered() {
  const { instance, sql } = harvest;
  const body = { domain: site.origin, sources: ["sitemap"], max_urls: 100 };
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/discover", body);
  const read = () => sql`select status, urls_found, completed_at, sends from discovery_jobs where id = ${job_id}`;
  await expect.poll(async () => (await read())[0]?.["status"]).toBe("completed");
  const { results } = await instance.call<{ results: { items: { url: string }[] } }>(
    "GET",
    `/api/v1/discover/${job_id}?limit=100`,
  );
  return { jobId: job_id, row: (await read())[0], urls: results.items.map(({ url }) => url), read };
}

type QueueName = (typeof QUEUES)[number]["name"];

const LAUNCHER = join(import.meta.dirname, "../../cli/strandline.js");

interface Upload {
  uploadUrl: string;
  headers: Record<string, string>;
}

function resource(url: string): Buffer {
  const block = `A page about lighthouses, and about ${url}`;
  const head = `WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: ${url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n`;
  const rest = `WARC-Record-ID: <urn:uuid:${randomUUID()}>\r\nContent-Type: text/plain\r\nContent-Length: ${block.length}`;
  return Buffer.from(`${head}${rest}\r\n\r\n${block}\r\n\r\n`);
}

async function embedsOnce(priority: string): Promise<void> {
  const { chunks, ...job } = await crawl(`/embed/${priority}`, { priority });
  expect(chunks).toBeGreaterThan(0);
  expect(job).toMatchObject({ ...ONE_PAGE, vectors: chunks, unembedded: 0 });
}

/** A run whose job has ended, so that nobody else looks at it. */
async function engineRun(): Promise<number> {
  const { sql } = harvest;
  await sql`
    insert into sources (code, name, name_template, seeds, engine) values ('runs', 'Runs', 'r', '{https://example.org/}', 'zimit')
    on conflict do nothing`;
  const [run] = await sql<{ id: number }[]>`
    with job as (
      insert into archive_jobs (source_code, name, output_dir, engine, status, config)
      values ('runs', 'r', 'archive-jobs/runs/r/', 'zimit', 'failed', '{}') returning id)
    insert into engine_runs (archive_job_id, number, mode, workers, prefix, status)
    select id, 1, 'fresh', 1, 'archive-jobs/runs/r/tmp/run-1/', 'starting' from job returning id::int`;
  return run?.id ?? 0;
}

const DONE_ONCE: Record<QueueName, () => Promise<void>> = {
  "fetch-high": () => fetchesOnce("/high", "high"),
  "fetch-normal": () => fetchesOnce("/normal", "normal"),
  "fetch-low": () => fetchesOnce("/low", "low"),
  async "fetch-shared"() {
    const { instance } = harvest;
    const shared = Array.from({ length: 6 }, (_, page) => `/shared/${page}`);
    const urls = shared.map((path) => site.origin + path);
    const config = { rate_limit_rps: 1 };
    const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", { urls, config });
    await instance.waitForJob(job_id);
    expect(shared.map(asked)).toEqual(shared.map(() => 1));
  },
  async captures() {
    expect(await crawl("/captures")).toMatchObject(ONE_PAGE);
    // the same once more, from the cache
    expect(await crawl("/captures", { cache: "use" })).toMatchObject(ONE_PAGE);
    expect(asked("/captures")).toBe(1);
  },
  "embed-high": () => embedsOnce("high"),
  "embed-normal": () => embedsOnce("normal"),
  "embed-low": () => embedsOnce("low"),
  async render() {
    expect(await crawl("/scripted", { config: { render: "always" } })).toMatchObject({ ...ONE_PAGE, rendered: 1 });
    expect(asked("/scripted")).toBe(1);
  },
  async media() {
    const scripts = [`fetch("/said").then((answer) => answer.text())`];
    const answer = await harvest.call("POST", "/api/v1/execute-js", { url: `${site.origin}/media`, scripts });
    expect(answer).toMatchObject({ status: 200, body: { results: [{ success: true, result: "heard" }] } });
    expect([asked("/media"), asked("/said")]).toEqual([1, 1]);
  },
  async discover() {
    const { row, urls } = await discovered();
    expect(row).toMatchObject({ urls_found: 9, sends: 1 });
    expect(urls).toHaveLength(9);
    expect(new Set(urls).size).toBe(9);
  },
  async discovered() {
    const { jobId, row, read } = await discovered();
    const late = { event: "ended", jobId, error: "late", urlsFound: 0, resultKey: null, notes: [] };
    await send(["discovered"], JSON.stringify(late));
    // of two runs, each told twice, one counted; then twice the late one
    const unheeded = async () =>
      (await harvest.handlerLog())
        .split("\n")
        .filter((line) => line.includes(jobId) && line.includes("has gone on already") && line.includes('"ended"'));
    await expect.poll(unheeded).toHaveLength(5);
    expect((await read())[0]).toEqual(row);
  },
  async harvest() {
    const { status, body } = await harvest.run();
    expect({ status, total: body.meta?.counts }).toEqual({ status: 201, total: { serper: 2, google: 2, brave: 2 } });
    // whatever else may come to a port that another process had before
    const rewritten = harvest.llm.asked.filter(({ url }) => url.pathname === "/v1/chat/completions");
    expect([rewritten.map(({ body }) => body), harvest.asked()]).toEqual([[expect.anything()], 3]);
    const [row] = await harvest.sql`select count(*)::int as runs from search_runs`;
    expect(row).toEqual({ runs: 1 });
  },
  async progress() {
    const events = await heard("/progress");
    expect(new Set(events).size).toBe(events.length);
  },
  async push() {
    const events = await heard("/push");
    expect(events.filter((event) => event.includes('"type":"completed"'))).toHaveLength(1);
    expect(events.at(-1)).toContain('"type":"completed"');
  },
  async imports() {
    const { instance, sql } = harvest;
    const file = Buffer.concat(["a", "b"].map((name) => resource(`http://example.org/${name}`)));
    const path = join(instance.home, "two.warc");
    await writeFile(path, file);
    const arguments_ = [LAUNCHER, "--url", instance.url, "--api-key", instance.apiKey, "import", path, "--json"];
    const { stdout } = await promisify(execFile)(process.execPath, arguments_);
    const imported = JSON.parse(stdout) as { jobId: string };
    expect(imported).toMatchObject({ status: "completed", captures: 2, records: { resource: 2 }, documents: 2 });
    const { jobId } = imported;
    // a link for one file takes no other
    const announced = { filename: "a.warc", bytes: 1, sha256: createHash("sha256").update("a").digest("hex") };
    const { uploadUrl, headers } = await instance.call<Upload>("POST", "/api/admin/warcs", announced);
    const sent = (body: string) => fetch(uploadUrl, { method: "PUT", headers, body });
    expect(await (await sent("b")).text()).toContain("BadDigest");
    expect((await sent("a")).status).toBe(200);
    const [row] = await sql`select count(*)::int as captures from captures where job_id = ${jobId}`;
    expect(row).toEqual({ captures: 2 });
  },
  async exports() {
    const { id: jobId } = await crawl("/exported");
    const { instance, sql } = harvest;
    const file = join(instance.home, "exported.wacz");
    const arguments_ = [LAUNCHER, "--url", instance.url, "--api-key", instance.apiKey, "export", String(jobId)];
    const { stdout } = await promisify(execFile)(process.execPath, [...arguments_, "--output", file, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", pages: 1 });
    expect((await readFile(file)).toString("latin1", 0, 4)).toBe("PK\u0003\u0004");
    const [row] = await sql`select attempts from exports where job_id = ${String(jobId)}`;
    expect(row).toEqual({ attempts: 1 });
  },
  async "warc-runs"() {
    await crawl("/exported");
    const asked = await harvest.call("POST", "/api/admin/warc-runs", { kind: "verify" });
    const path = `/api/admin/warc-runs/${(asked.body as { id: string }).id}`;
    await expect
      .poll(async () => (await harvest.call("GET", path)).body, { timeout: 60_000 })
      .toMatchObject({ status: "completed" });
    const { faults } = (await harvest.call("GET", path)).body as { faults: { key: string }[] };
    // what was uploaded as a.warc is none
    expect(faults.filter(({ key }) => !key.endsWith("/a.warc"))).toEqual([]);
    const [row] = await harvest.sql`
      select (counts->>'files')::int as files, (select count(*)::int from warc_files) as known
      from warc_runs where kind = 'verify'`;
    expect(row?.files).toBeGreaterThan(0);
    // upkeep may have made another one since
    expect(row?.files).toBeLessThanOrEqual(row?.known as number);
  },
  webhooks: deliversTest,
  "webhook-results": deliversTest,
  "source-schedules": firesOnce,
  "source-runs": firesOnce,
  async "proxy-test"() {
    await using proxy = await startProxy({ kind: "http" });
    const body = { server: { url: proxy.url }, url: `${site.origin}/proxied` };
    const answer = await harvest.call("POST", "/api/v1/proxies/test", body);
    expect(answer).toMatchObject({ status: 200, body: { success: true, results: [{ success: true, status: 200 }] } });
  },
  async "live-pages"() {
    const { id } = await crawl("/live");
    const [capture] = await harvest.sql<{ id: number }[]>`select id from captures where job_id = ${id as string}`;
    const answer = await harvest.call("GET", `/api/snapshots/${capture?.id}/compare-live`);
    expect(answer).toMatchObject({ status: 200, body: { changeType: "unchanged" } });
    // the crawl, and the comparison
    expect(asked("/live")).toBe(2);
  },
  async "engine-tasks"() {
    const run = await engineRun();
    await send(["engine-tasks"], JSON.stringify({ do: "start", runId: run, prefix: "archive-jobs/runs/r/tmp/run-1/" }));
    const read = () =>
      harvest.sql`select status, task_id, task_stopped_reason as why from engine_runs where id = ${run}`;
    await expect.poll(async () => (await read())[0]?.["why"]).toBe("ZIMIT__COMMAND is not set");
    expect((await read())[0]).toMatchObject({ status: "starting", task_id: null });
  },
  async "engine-events"() {
    const run = await engineRun();
    const detail = { taskArn: "arn:of:it", startedBy: `run-${run}` };
    const event = (more: Record<string, unknown>) =>
      send(
        ["engine-events"],
        JSON.stringify({ "detail-type": "ECS Task State Change", detail: { ...detail, ...more } }),
      );
    const read = () =>
      harvest.sql`select status, task_exit_code as code, task_stopped_at as at from engine_runs where id = ${run}`;
    await event({ lastStatus: "RUNNING" });
    await expect.poll(async () => (await read())[0]?.["status"]).toBe("running");
    await event({ lastStatus: "STOPPED", containers: [{ name: "zimit", exitCode: 16 }] });
    await expect.poll(async () => (await read())[0]?.["code"]).toBe(16);
    const [stopped] = await read();
    await event({ lastStatus: "STOPPED", containers: [{ name: "zimit", exitCode: 0 }] });
    await send(["engine-events"], JSON.stringify({ runId: run, taskId: "late", failure: null }));
    expect((await read())[0]).toEqual(stopped);
  },
};

/** A source whose schedule is made, fires, and goes with it. */
async function firesOnce(): Promise<void> {
  const source = { name: "s", type: "page", url: `${site.origin}/exported`, schedule_cron: "0 0 29 2 *" };
  const made = await harvest.call("POST", "/api/v1/sources", source);
  const { id } = made.body as { id: string };
  const read = async () => (await harvest.sql`select schedule_pending from crawl_sources where id = ${id}`)[0];
  await expect.poll(read, { timeout: 60_000 }).toEqual({ schedule_pending: false });
  await send(["source-runs"], JSON.stringify({ fire: { source_id: id, version: 1, at: "2028-02-29T00:00:00Z" } }));
  const runs = () => harvest.sql`select status from jobs where crawl_source_id = ${id}`;
  await expect.poll(async () => [...(await runs())], { timeout: 60_000 }).toEqual([{ status: "completed" }]);
  await harvest.call("DELETE", `/api/v1/sources/${id}`);
  await expect.poll(read, { timeout: 60_000 }).toBeUndefined();
}

async function deliversTest(): Promise<void> {
  const made = await harvest.call("POST", "/api/v1/webhooks", { url: `${site.origin}/hook` });
  const path = `/api/v1/webhooks/${(made.body as { id: string }).id}`;
  await harvest.call("POST", `${path}/test`);
  const read = async () => (await harvest.call("GET", `${path}/deliveries`)).body as { items: Delivery[] };
  await expect.poll(async () => (await read()).items[0]?.status, { timeout: 60_000 }).not.toBe("pending");
  const [delivery] = (await read()).items;
  expect(delivery?.tries).toHaveLength(1);
}

interface Delivery {
  status: string;
  tries: unknown[];
}

describe("delivered twice, done once", () => {
  it.each(Object.entries(DONE_ONCE))("%s", async (_queue, expectOnce) => await expectOnce());

  it("dead letters of every queue", async () => {
    const names = QUEUES.map(({ name }) => name);
    await send(
      names.map((name) => deadLetterQueue(name)),
      "not what anybody sends",
    );
    const letters = () => harvest.sql<{ queue: string; state: string }[]>`select queue, state from dead_letters`;
    await expect.poll(async () => (await letters()).length).toBeGreaterThanOrEqual(names.length);
    expect((await letters()).map(({ queue, state }) => `${queue} ${state}`).toSorted()).toEqual(
      names.map((name) => `${firstQueueOf(name, "")} ended`).toSorted(),
    );
  });

  it("is shown of every queue that a function consumes", () => {
    const consumed = TOPOLOGY.functions.flatMap(({ queues = [] }) => queues.map(({ queue }) => queue));
    const asked = TOPOLOGY.functions.flatMap(({ grants }) => grants.receive ?? []);
    const shown = Object.keys(DONE_ONCE);
    expect([...consumed, ...asked].toSorted()).toEqual([...shown, ...shown.map(deadLetterQueue)].toSorted());
  });
});

describe("where queues deliver each message twice, at once", () =>
  listenersAreTold(() => ({ instance: harvest.instance, site: graph })));
