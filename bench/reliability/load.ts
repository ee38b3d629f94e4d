/** Everything at once: crawls of all kinds, the spider, sources that fire, uploads, deletes, searches, WARC files. */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { ask, make, type TestedSystem } from "./tested-system.ts";

/** What was answered for: nothing of it may be missing in the end. */
export interface Made {
  /** Ids. */
  jobs: Set<string>;
  sources: { id: string; source: object }[];
  webhook: string;
  /** By URL: whether the document is there or deleted. */
  uploads: Map<string, { id: string; deleted: boolean }>;
  /** Ids of imports whose file was taken. */
  imports: string[];
  searches: number;
  searchesAnswered: number;
}

const CRAWLERS = 4;
const POLL_MS = 300;
/** Then the next job is begun beside it. */
const LONGEST_WAIT_MS = 45_000;
const SEARCH_PAUSE_MS = 250;
const UPLOAD_PAUSE_MS = 700;
const IMPORT_PAUSE_MS = 15_000;
const EDITION_MS = 10_000;
export const RECORDS_PER_FILE = 60;
const SITE_PAGES = 120;
const EVERY_MINUTE = { schedule_cron: "* * * * *" };
const RATE = { rate_limit_rps: 60 };

export async function prepareLoad(system: TestedSystem): Promise<Made> {
  const { id: webhook } = await system.instance.call<{ id: string }>("POST", "/api/v1/webhooks", {
    url: `${system.receiver.url}/hook`,
    events: ["crawl.completed", "crawl.failed", "crawl.cancelled", "page.changed"],
  });
  const sources: Made["sources"] = [];
  for (const [nth, site] of system.sites.slice(0, 2).entries()) {
    const source = { name: `Source ${nth}`, url: site.url, site: { max_pages: 8 }, config: RATE };
    const { id } = await system.instance.call<{ id: string }>("POST", "/api/v1/sources", {
      ...source,
      ...EVERY_MINUTE,
    });
    sources.push({ id, source });
  }
  return { jobs: new Set(), sources, webhook, uploads: new Map(), imports: [], searches: 0, searchesAnswered: 0 };
}

/** Resolves when the load is over and all that was under way has been answered. */
export async function work(system: TestedSystem, made: Made): Promise<void> {
  const untilOver = async (step: (nth: number) => Promise<void>): Promise<void> => {
    for (let nth = 0; !system.isOver; nth += 1) await step(nth);
  };
  await Promise.all([
    ...Array.from({ length: CRAWLERS }, (_, crawler) =>
      untilOver((nth) => crawl(system, made, crawler + nth * CRAWLERS)),
    ),
    untilOver(() => upload(system, made)),
    untilOver(() => search(system, made)),
    untilOver(() => importFile(system, made)),
    untilOver(() => trigger(system, made)),
    untilOver(async (nth) => {
      for (const site of system.sites) site.setEdition(`number ${nth}`);
      await pause(system, EDITION_MS);
    }),
  ]);
}

/** From now on nothing begins by itself. */
export async function endLoad(system: TestedSystem, made: Made): Promise<void> {
  for (const { id, source } of made.sources) await system.instance.call("PUT", `/api/v1/sources/${id}`, source);
}

/** Kinds of jobs, in turn. */
const KINDS: readonly ((url: string, pages: number) => readonly [path: string, body: object])[] = [
  (url, max_pages) => ["/api/v1/crawl/deep", { url, max_depth: 20, max_pages, config: RATE }],
  (url) => ["/api/v1/crawl", { urls: pagesOf(url, 12), cache: "bypass", config: RATE }],
  (url, max_pages) => ["/spider/crawl?result_mode=store", { seed_urls: [url], max_depth: 9, max_pages, config: RATE }],
  (url, max_pages) => ["/api/v1/crawl/deep", { url, strategy: "dfs", max_depth: 20, max_pages, config: RATE }],
  (url) => ["/api/v1/crawl", { urls: pagesOf(url, 12), cache: "use", config: RATE }],
  (url, max_pages) => [
    "/api/v1/crawl/deep",
    { url, strategy: "best_first", keywords: ["harbour"], score_threshold: 0, max_depth: 20, max_pages, config: RATE },
  ],
  // pages that are not there: they fail
  (url) => ["/api/v1/crawl", { urls: [`${url}p/${SITE_PAGES + 5}`, `${url}p/1`], config: RATE }],
];

const pagesOf = (url: string, count: number) =>
  Array.from({ length: count }, () => `${url}p/${1 + Math.floor(Math.random() * (SITE_PAGES - 1))}`);

async function crawl(system: TestedSystem, made: Made, nth: number): Promise<void> {
  const site = system.sites[nth % system.sites.length];
  const kind = KINDS[nth % KINDS.length];
  if (site === undefined || kind === undefined) throw new Error("no site to crawl");
  const { job_id } = await make<{ job_id: string }>(system, ...kind(site.url, 15 + Math.floor(Math.random() * 40)));
  made.jobs.add(job_id);
  const isCancelled = Math.random() < 0.12;
  if (isCancelled) await ask(system, "POST", `/api/v1/crawl/${job_id}/cancel`);
  for (const until = performance.now() + LONGEST_WAIT_MS; performance.now() < until && !system.isOver; ) {
    const job = await ask<{ status: string }>(system, "GET", `/api/v1/crawl/${job_id}?limit=1`);
    if (job?.status === 200 && ["completed", "failed", "cancelled"].includes(job.body.status)) return;
    await delay(POLL_MS);
  }
}

async function upload(system: TestedSystem, made: Made): Promise<void> {
  const urls = Array.from({ length: 4 }, () => `https://uploads.example/${crypto.randomUUID()}`);
  const documents = urls.map((url) => {
    return {
      url,
      language: "en",
      title: "Tides",
      content: `# Tides at ${url}\n\nA note on tides, lighthouses and the harbour wall.`,
    };
  });
  const answer = await ask<{ items: { document_id?: string }[] }>(system, "POST", "/api/v1/documents/batch", {
    documents,
  });
  // one that has no id was not taken: it says so with an error of its own
  const taken = answer !== undefined && answer.status < 300 ? answer.body.items : [];
  for (const [nth, url] of urls.entries()) {
    const id = taken[nth]?.document_id;
    if (id !== undefined) made.uploads.set(url, { id, deleted: false });
  }
  const known = [...made.uploads.values()];
  const some = known.filter(({ deleted }) => !deleted && Math.random() < 3 / known.length).slice(0, 5);
  if (some.length > 0) {
    const body = { document_ids: some.map(({ id }) => id) };
    // deleting twice is deleting once: asked for until it was answered
    while ((await ask(system, "POST", "/api/v1/documents/delete", body))?.status !== 200) await delay(POLL_MS);
    for (const each of some) each.deleted = true;
  }
  const gone = known.find(({ deleted }) => deleted && Math.random() < 0.2);
  if (gone !== undefined) {
    const restored = () => ask(system, "POST", `/api/v1/documents/${gone.id}/restore`);
    for (let status: number | undefined; status !== 200 && status !== 404 && status !== 409; await delay(POLL_MS)) {
      status = (await restored())?.status;
    }
    gone.deleted = false;
  }
  await pause(system, UPLOAD_PAUSE_MS);
}

async function search(system: TestedSystem, made: Made): Promise<void> {
  for (const path of ["/search", "/search/keyword", "/search/vector"]) {
    made.searches += 1;
    const answer = await ask(system, "POST", `/api/v1${path}`, { query: "harbour wall", limit: 5 });
    if (answer?.status === 200) made.searchesAnswered += 1;
  }
  await pause(system, SEARCH_PAUSE_MS);
}

async function importFile(system: TestedSystem, made: Made): Promise<void> {
  const serial = crypto.randomUUID();
  const members = Array.from({ length: RECORDS_PER_FILE }, (_, index) => {
    const url = `https://imported-${serial}.example/${index}`;
    return gzipSync(response(url, `<title>${index}</title><h1>Imported</h1><p>Number ${index} of ${serial}.</p>`));
  });
  const file = Buffer.concat(members);
  const announced = {
    filename: `${serial}.warc.gz`,
    bytes: file.length,
    sha256: createHash("sha256").update(file).digest("hex"),
  };
  const { id, uploadUrl, headers } = await make<{ id: string; uploadUrl: string; headers: Record<string, string> }>(
    system,
    "/api/admin/warcs",
    announced,
  );
  const put = await fetch(uploadUrl, { method: "PUT", headers, body: file }).catch(() => undefined);
  await put?.text().catch(() => "");
  if (put?.status === 200) made.imports.push(id);
  await pause(system, IMPORT_PAUSE_MS);
}

/** A WARC record, as archivers write it. */
function response(url: string, body: string): string {
  const block = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n${body}`;
  const fields = [
    "WARC/1.0",
    "WARC-Type: response",
    `WARC-Target-URI: ${url}`,
    "WARC-Date: 2026-01-02T03:04:05Z",
    `WARC-Record-ID: <urn:uuid:${crypto.randomUUID()}>`,
    "Content-Type: application/http; msgtype=response",
    `Content-Length: ${Buffer.byteLength(block)}`,
  ];
  return `${fields.join("\r\n")}\r\n\r\n${block}\r\n\r\n`;
}

async function trigger(system: TestedSystem, made: Made): Promise<void> {
  const source = made.sources[Math.floor(Math.random() * made.sources.length)];
  await ask(system, "POST", `/api/v1/sources/${source?.id}/trigger`);
  await pause(system, IMPORT_PAUSE_MS);
}

async function pause(system: TestedSystem, ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until && !system.isOver; ) await delay(50);
}
