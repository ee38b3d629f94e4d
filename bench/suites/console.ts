/**
 * The console in a browser, on a job of 50,000 pages and a list of 100,000 documents: how long until it can be used,
 * how even it scrolls, and what an hour of live progress leaves in its memory.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import type { CDPSession, Page } from "puppeteer-core";
import { consoleSetup, openView } from "../../test/services/console-page.ts";
import type { Instance } from "../../test/services/instance.ts";
import { readJsonLine, startNode } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { plantDocuments, plantPages } from "../crawl/plant.ts";

const PAGES = 50_000;
const DOCUMENTS = 100_000;
/** Two a second for an hour. */
const EVENTS = 7_200;
const LOADS = 5;

export const run: Benchmark = async ({ scale }) => {
  const site = startNode(join(import.meta.dirname, "../crawl/site.ts"), [], { PAGES: "1" });
  const { port } = await readJsonLine<{ port: number }>(site);
  const setup = await consoleSetup({ EMBEDDER__PROVIDER: "none" });
  const { instance } = setup;
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => undefined });
  try {
    const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", {
      url: `http://127.0.0.1:${port}/page/0`,
    });
    await instance.waitForJob(job_id);
    const pages = Math.round(PAGES * scale);
    const documents = Math.round(DOCUMENTS * scale);
    await plantPages(sql, job_id, pages);
    await plantDocuments(sql, job_id, documents);
    const opened = await setup.open();
    const jobFrames = await scrolled(opened, instance, `/jobs/${job_id}`, pages);
    const documentFrames = await scrolled(opened, instance, "/knowledge", documents);
    const interactive: number[] = [];
    for (let load = 0; load < LOADS; load += 1) interactive.push(await interactiveMs(opened, instance));
    await opened.close();
    return {
      pages,
      documents,
      first_script_kb: Math.round(opened.scriptBytes() / 100) / 10,
      interactive_ms_median: Math.round(interactive.sort((one, other) => one - other)[Math.floor(LOADS / 2)] ?? 0),
      ...named("job", jobFrames),
      ...named("documents", documentFrames),
      ...(await live(setup, job_id, Math.round(EVENTS * scale))),
    };
  } finally {
    await sql.end();
    await setup.close();
    await site.stop("SIGKILL");
  }
};

interface Frames {
  p50: number;
  p95: number;
  longest: number;
  /** Rows in the page at the end. */
  rows: number;
}

const named = (what: string, { p50, p95, longest, rows }: Frames): Record<string, number> => ({
  [`${what}_frame_ms_p50`]: p50,
  [`${what}_frame_ms_p95`]: p95,
  [`${what}_frame_ms_longest`]: longest,
  [`${what}_rows_in_page`]: rows,
});

type Opened = Awaited<ReturnType<Awaited<ReturnType<typeof consoleSetup>>["open"]>>;

/** Scrolls some 400 rows row by row, and then leaps through the whole list; the time between frames meanwhile. */
async function scrolled(opened: Opened, { apiKey }: Instance, view: string, count: number): Promise<Frames> {
  await openView(opened, apiKey, view);
  await opened.page.waitForSelector(`.long table[aria-rowcount="${count + 1}"]`);
  return (await opened.page.evaluate(SCROLL)) as Frames;
}

const SCROLL = `(async () => {
  const region = document.querySelector(".long");
  const times = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let before = await frame();
  const go = async (top) => {
    region.scrollTop = top;
    const now = await frame();
    times.push(now - before);
    before = now;
  };
  for (let step = 1; step <= 400; step += 1) await go(step * 60);
  for (let step = 1; step <= 100; step += 1) await go((region.scrollHeight / 100) * step);
  times.sort((one, other) => one - other);
  const at = (share) => Math.round(times[Math.floor((times.length - 1) * share)] * 10) / 10;
  return { p50: at(0.5), p95: at(0.95), longest: at(1), rows: document.querySelectorAll(".long tbody tr").length };
})()`;

/** From the navigation to the first view with its totals, when its links can be followed. */
async function interactiveMs({ page }: Opened, { url, apiKey }: Instance): Promise<number> {
  await page.evaluate(`sessionStorage.setItem("strandline.key", ${JSON.stringify(apiKey)})`);
  await page.setCacheEnabled(false);
  await page.goto(`${url}/console/`, { waitUntil: "domcontentloaded" });
  await page.waitForFunction(
    `document.querySelector(".totals dd") !== null && document.querySelector(".rows a") !== null`,
    {
      polling: "raf",
    },
  );
  return (await page.evaluate("performance.now()")) as number;
}

/** An hour's progress of a job, as fast as the console takes it. */
async function live(
  setup: Awaited<ReturnType<typeof consoleSetup>>,
  jobId: string,
  events: number,
): Promise<Record<string, number>> {
  const feed = await startFeed(setup.instance, jobId, events);
  const opened = await setup.open({}, feed.url);
  try {
    await openView(opened, setup.instance.apiKey, `/jobs/${jobId}`);
    const devtools = await opened.page.createCDPSession();
    await feed.sent(Math.round(events / 10));
    const early = await heapMb(opened.page, devtools);
    await feed.sent(events);
    const late = await heapMb(opened.page, devtools);
    return { live_events: events, live_heap_mb_early: early, live_heap_mb_late: late };
  } finally {
    await opened.close();
    feed.close();
  }
}

async function heapMb(page: Page, devtools: CDPSession): Promise<number> {
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 500))");
  for (let round = 0; round < 3; round += 1) await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  return Math.round(usedSize / 100_000) / 10;
}

interface Feed {
  url: string;
  /** Resolves once so many events have gone out. */
  sent(events: number): Promise<void>;
  close(): void;
}

/** The instance, but that its job's progress is that of a long crawl. */
async function startFeed({ url, apiKey }: Instance, jobId: string, events: number): Promise<Feed> {
  let sent = 0;
  const waiting: { events: number; tell(): void }[] = [];
  const told = await (await fetch(`${url}/api/v1/crawl/${jobId}?limit=1`, { headers: { "x-api-key": apiKey } })).json();
  const progress = told as { counts: Record<string, number> };
  const stream = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (; sent < events && !response.destroyed; sent += 1) {
      const counts = { ...progress.counts, discovered: 100_000, crawled: sent * 10, open: 100_000 - sent * 10 };
      const data = { ...progress, status: "running", completed_at: null, stop_reason: null, counts };
      response.write(`id: ${sent}\nevent: progress\ndata: ${JSON.stringify(data)}\n\n`);
      for (const each of waiting) if (each.events <= sent + 1) each.tell();
      await delay(4);
    }
  };
  const server = createServer((incoming, response) => {
    if (incoming.url?.endsWith(`/crawl/${jobId}/stream`)) void stream(response);
    else pass(incoming, response, url);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: (count) => new Promise((tell) => (sent >= count ? tell() : waiting.push({ events: count, tell }))),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function pass(incoming: IncomingMessage, response: ServerResponse, to: string): void {
  const { method, headers } = incoming;
  const onward = request(
    `${to}${incoming.url}`,
    { method, headers: { ...headers, host: new URL(to).host } },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  incoming.pipe(onward);
}
