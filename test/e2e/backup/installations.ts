/** Installations that hold something of everything, and what their APIs answer, for tests of back-ups. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import type { Instance } from "../../services/instance.ts";
import { html, type Site, startSite } from "../../sites/site.ts";

/** Of both sides: sites of tests are on loopback, and tests ask often. */
export const ENV = {
  ACCESS__ALLOW_HOSTS: "127.0.0.1",
  RATE_LIMIT__API_RPM: "100000",
  // maintenance of WARC files would move captures between the two looks at an installation
  ARCHIVE__UPKEEP_HOURS: "0",
};

/** What stands in each secret: it is in no file of a back-up. */
export const SECRET = "hush-4711";

const STRANDLINE = join(import.meta.dirname, "../../../cli/strandline.js");

export interface CommandEnd {
  /** null: killed. */
  code: number | null;
  out: string;
  err: string;
}

/** @param killMs after which the command is killed, with whatever it has started */
export async function strandline(
  args: readonly string[],
  env: Record<string, string>,
  killMs?: number,
): Promise<CommandEnd> {
  const child = spawn(process.execPath, [STRANDLINE, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const kill = () => process.kill(-(child.pid ?? Number.NaN), "SIGKILL");
  const timer = killMs === undefined ? undefined : setTimeout(kill, killMs);
  const [[code], out, err] = await Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]);
  clearTimeout(timer);
  return { code: code as number | null, out, err };
}

const article = (name: string, words: string, links = "") =>
  html(
    `<html lang="en"><head><title>${name}</title></head><body><main><h1>${name}</h1><p>${words}</p>${links}</main></body></html>`,
  );

export async function startHarbour(): Promise<Site> {
  return await startSite({
    "/": article(
      "Harbour",
      "The harbour master keeps a ledger of every ship.",
      '<a href="/tides">Tides</a> <a href="/ships">Ships</a>',
    ),
    "/tides": article("Tides", "Spring tides follow the full moon, and the ferry waits for the water to rise."),
    "/ships": article("Ships", "A trawler and two barges lie at the quay; the pilot boat is being painted."),
  });
}

export interface Filled {
  jobs: string[];
  exportId: string;
  collection: string;
  webhook: string;
  proxy: string;
  source: string;
  config: string;
}

/** Crawls, uploads, and one of each thing that is set up. */
export async function fill(instance: Instance, site: Site): Promise<Filled> {
  const post = <T>(path: string, body: unknown) => instance.call<T>("POST", path, body);
  const { id: collection } = await post<{ id: string }>("/api/v1/collections", { name: "Harbour" });
  const crawl = async (extra: object = {}) => {
    const body = { url: `${site.origin}/`, max_depth: 2, collection_id: collection, tags: ["coast"], ...extra };
    const { job_id } = await post<{ job_id: string }>("/api/v1/crawl/deep", {
      ...body,
      cache: "bypass",
      config: { rate_limit_rps: 100, headers: { "X-Session-Token": SECRET } },
    });
    await instance.waitForJob(job_id);
    return job_id;
  };
  const jobs = [await crawl()];
  site.route({ "/tides": article("Tides", "Neap tides follow the half moon, and the ferry leaves by the clock.") });
  jobs.push(await crawl());
  await post("/api/v1/documents", {
    title: "Charts",
    content: "A chart shows soundings in fathoms.",
    collection_id: collection,
  });
  const { id: exportId } = await post<{ id: string }>("/api/v1/exports", { job_id: jobs[0] });
  const hook = { url: `${site.origin}/hook`, secret: `${SECRET}-of-the-webhook`, headers: { Authorization: SECRET } };
  const { id: webhook } = await post<{ id: string }>("/api/v1/webhooks", { ...hook, events: ["crawl.completed"] });
  const { id: proxy } = await post<{ id: string }>("/api/v1/proxies", {
    name: "quay",
    servers: [{ url: "http://127.0.0.1:9", username: SECRET, password: SECRET }],
  });
  const { id: config } = await post<{ id: string }>("/api/v1/configs", {
    name: "gate",
    headers: { Authorization: `Bearer ${SECRET}` },
    cookies: [{ name: "sid", value: SECRET, host: site.host }],
  });
  const { id: source } = await post<{ id: string }>("/api/v1/sources", {
    name: "harbour",
    type: "site",
    url: `${site.origin}/`,
    schedule_cron: "0 4 1 1 *",
    config: { headers: { Cookie: SECRET } },
  });
  await instance.call("PUT", `/api/v1/domains/${encodeURIComponent("slow.example")}`, { rate_limit_rps: 0.5 });
  await post("/api/admin/exclusions", { url: `${site.origin}/ships`, reason: "painted" });
  await expect
    .poll(async () => (await instance.call<{ status: string }>("GET", `/api/v1/exports/${exportId}`)).status)
    .toBe("completed");
  return { jobs, exportId, collection, webhook, proxy, source, config };
}

/** Nothing waits for a vector, a change or an index any more. */
export async function settled({ call }: Instance): Promise<void> {
  const read = async () => {
    const models = await call<{ items: { chunks: number; waiting: number }[] }>("GET", "/api/v1/embedding-models");
    const changes = await call<{ total: number }>("GET", "/api/changes");
    const { total: found } = await call<{ total: number }>("GET", "/api/search?q=ferry");
    return { models: models.items.map(({ chunks, waiting }) => ({ chunks, waiting })), changes: changes.total, found };
  };
  await expect.poll(read).toEqual({ models: [{ chunks: 4, waiting: 0 }], changes: 1, found: 2 });
}

const SEARCHES = ["ferry tides", "trawler", "soundings in fathoms", "the moon"];

/** What the API answers to many questions, by question. */
export async function answers(
  instance: Instance,
  site: Site,
  { jobs, exportId, ...made }: Filled,
): Promise<Record<string, unknown>> {
  const url = encodeURIComponent(`${site.origin}/tides`);
  const paths = [
    ...jobs.flatMap((job) => [`/api/v1/crawl/${job}`, `/jobs/${job}/results`, `/jobs/${job}/stats`]),
    "/api/v1/jobs",
    "/api/v1/jobs/failed",
    "/api/v1/documents",
    `/api/v1/documents?collection_id=${made.collection}`,
    "/api/v1/collections",
    "/api/v1/tags",
    "/api/v1/generations",
    "/api/v1/embedding-models",
    "/api/v1/documents/chunk-sizes",
    `/api/v1/configs/${made.config}`,
    `/api/v1/proxies/${made.proxy}`,
    `/api/v1/webhooks/${made.webhook}`,
    `/api/v1/sources/${made.source}`,
    `/api/v1/exports/${exportId}`,
    "/api/v1/domains",
    `/api/cdx?url=${url}`,
    `/timemap/link/${site.origin}/tides`,
    "/api/search?q=ferry",
    "/api/changes",
    "/api/admin/exclusions",
    "/api/admin/warc-files",
    "/api/stats",
    "/api/sources",
  ];
  const asked: Record<string, unknown> = {};
  const replay = JSON.parse(await readRuntime(instance)).env.ARCHIVE__REPLAY_URL as string;
  const neutral = (answer: string) =>
    answer
      .replaceAll(instance.url, "<api>")
      .replaceAll(replay, "<replay>")
      // each start of a runtime draws its own
      .replaceAll(/data-token="[^"]+"/g, "");
  const ask = async (name: string, address: string, init: RequestInit = {}) => {
    const response = await fetch(address, {
      ...init,
      headers: { authorization: `Bearer ${instance.apiKey}`, "content-type": "application/json" },
    });
    const body = readable(neutral(await response.text()));
    expect([200, 451], `${name}: ${JSON.stringify(body)}`).toContain(response.status);
    asked[name] = { status: response.status, body };
  };
  for (const path of paths) await ask(path, instance.url + path);
  for (const query of SEARCHES) {
    for (const mode of ["search", "search/vector", "search/keyword"]) {
      await ask(`${mode} ${query}`, `${instance.url}/api/v1/${mode}`, {
        method: "POST",
        body: JSON.stringify({ query }),
      });
    }
  }
  for (const page of ["/", "/tides", "/ships"])
    await ask(`replay ${page}`, `${replay}/20991231000000/${site.origin}${page}`);
  return asked;
}

async function readRuntime({ home }: Instance): Promise<string> {
  return await readFile(join(home, "runtime.json"), "utf8");
}

/** Without what tells of the answer itself. */
function readable(body: string): unknown {
  try {
    return JSON.parse(body, (name, value) => {
      // scores rest on statistics of words, which are counted at leisure; the order is compared
      if (/^(latency_ms|expires_at|score|keyword_score)$/.test(name)) return undefined;
      // a signed link is of its minute, and of the store that gives it
      return name === "url" && value.includes("X-Amz-Signature=") ? new URL(value).pathname : value;
    });
  } catch {
    return body;
  }
}
