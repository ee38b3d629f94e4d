/** Sources and their archive jobs, as an operator works with them: by the API, with the real crawler. */
import { createHash } from "node:crypto";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Api } from "../../../../functions/adapters/api/api.ts";
import type { StreamApi } from "../../../../functions/adapters/api/stream-api.ts";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { computeChanges } from "../../../../shared/archive/changes/compute-changes.ts";
import { runArchiveJobs } from "../../../../shared/archive/editions/run-jobs.ts";
import { handleImportMessage } from "../../../../shared/archive/import/handle-message.ts";
import { indexSnapshots } from "../../../../shared/archive/search/index-snapshots.ts";
import { capturesMessageSchema } from "../../../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { createObjectWriters } from "../../../../shared/platform/aws/multipart.ts";
import { createUploads } from "../../../../shared/platform/aws/uploads.ts";
import { callApi, type TestAnswer } from "../../../services/api.ts";
import { html, type Site, startSite } from "../../../sites/site.ts";
import { http, record } from "../../archive/warc-records.ts";
import { realCrawl } from "../../crawl/real-crawl.ts";

const HOUR = 3_600_000;

let setup: Awaited<ReturnType<typeof realCrawl>>;
let site: Site;
let key: string;
const apis: Record<string, StreamApi> = {};

beforeAll(async () => {
  setup = await realCrawl();
  const { aws, databaseUrl, sql } = setup;
  Object.assign(process.env, aws.env, { DATABASE__POSTGRES_URL: databaseUrl, LOG_LEVEL: "error" });
  Object.assign(process.env, {
    ARCHIVE__PUBLIC: "true",
    ACCESS__ALLOW_HOSTS: "127.0.0.1",
    METRICS__ALSO_AS: "healtharchive",
  });
  ({ key } = await createApiKey(sql, { name: "t", scopes: ["admin"], rateLimitRpm: 100_000, expiresAt: null }));
  for (const name of ["editions", "snapshots", "archive-search", "changes", "archive-exports"]) {
    apis[name] = ((await import(`../../../../functions/${name}-api/handler.ts`)) as { api: StreamApi }).api;
  }
  site = await startSite({
    "/en/health.html": html(page("Health", "/en/flu.html", "/en/missing.html")),
    "/en/flu.html": html(page("Influenza")),
    "/fr/sante.html": html(page("Santé", "/fr/grippe.html")),
    "/fr/grippe.html": html(page("Grippe")),
    "/en/missing.html": { ...html(page("Missing")), status: 404 },
  });
});
afterAll(async () => {
  await site.close();
  await setup.close();
});

function page(title: string, ...links: string[]): string {
  const text = "What everybody should know of it, and whom to ask when it does not get better by itself. ".repeat(4);
  const anchors = links.map((link) => `<a href="${link}">more</a>`).join(" ");
  return `<!doctype html><html lang=en><title>${title}</title><main><h1>${title}</h1><p>${title}: ${text}</p></main>${anchors}`;
}

const ask = (path: string, json?: unknown): Promise<TestAnswer> =>
  callApi(apis["editions"] as StreamApi, { path, key, ...(json === undefined ? {} : { json }) });
const read = async (name: string, path: string) => (await callApi(apis[name] as StreamApi, { path })).body;

const source = (code: string, more: Record<string, unknown> = {}) => ({
  code,
  name: `The ${code}`,
  nameTemplate: `${code}-{date:%Y%m%d}`,
  seeds: [`${site.origin}/en/health.html`, `${site.origin}/fr/sante.html`],
  entryPages: { en: `${site.origin}/en/health.html`, fr: `${site.origin}/fr/sante.html` },
  ...more,
});

/** What the schedules do, until nothing moves any more. */
async function work(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await runArchiveJobs(setup.dependencies, () => true);
    const rows = await setup.sql<{ id: string }[]>`
      select id from jobs where kind <> 'import' and status in ('pending', 'running', 'embedding')`;
    await setup.finish(rows.map(({ id }) => id));
    await imports();
    await indexSnapshots(setup.dependencies, () => true);
    await computeChanges(setup.dependencies, () => true);
  }
}

async function imports(): Promise<void> {
  const { aws, dependencies } = setup;
  const importing = {
    ...dependencies,
    uploads: createUploads(aws.s3, aws.bucket),
    openWriter: createObjectWriters(aws.s3, aws.bucket),
  };
  for (;;) {
    const open = await setup.sql<{ importId: string }[]>`
      select id as "importId" from warc_imports where status in ('pending', 'running')`;
    for (const each of open) await handleImportMessage(importing, each, () => HOUR);
    const captures = await aws.receive("captures");
    for (const each of captures) await ingestBatch(dependencies, capturesMessageSchema.parse(each));
    if (open.length + captures.length === 0) return;
  }
}

async function upload(file: Buffer, name: string): Promise<string> {
  const objectKey = `incoming/${createHash("md5").update(file).digest("hex")}/${name}`;
  await setup.aws.s3.send(new PutObjectCommand({ Bucket: setup.aws.bucket, Key: objectKey, Body: file }));
  return objectKey;
}

describe("an edition of a source", () => {
  let id: number;

  it("is of a source that was seeded, twice with the same outcome", async () => {
    const body = { sources: [source("clinic", { scheduleHint: "yearly" }), source("test")] };
    expect((await ask("/api/admin/sources", body)).body).toEqual({
      created: ["clinic", "test"],
      updated: [],
      unchanged: [],
    });
    expect((await ask("/api/admin/sources", body)).body.unchanged).toEqual(["clinic", "test"]);
    const changed = { sources: [source("clinic", { scheduleHint: "monthly" })] };
    expect((await ask("/api/admin/sources", changed)).body.updated).toEqual(["clinic"]);
    const { items } = (await ask("/api/admin/sources")).body;
    expect(items).toMatchObject([
      { code: "clinic", scheduleHint: "monthly", reserved: false },
      { code: "test", reserved: true },
    ]);
  });

  it("is planned before it is made", async () => {
    const { status, body } = await ask("/api/admin/jobs/validate-config", {
      source: "clinic",
      passthroughArgs: ["--depth", "1"],
      toolOptions: { initial_workers: 2 },
    });
    expect(status).toBe(200);
    const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    expect(body).toMatchObject({
      sourceCode: "clinic",
      engine: "native",
      name: `clinic-${today}`,
      config: {
        seeds: [`${site.origin}/en/health.html`, `${site.origin}/fr/sante.html`],
        zimit_passthrough_args: ["--depth", "1"],
        tool_options: { initial_workers: 2, enable_monitoring: false, log_level: "INFO" },
      },
    });
    expect(body.outputDir).toMatch(new RegExp(`^archive-jobs/clinic/${today}T\\d{6}Z__clinic-${today}/$`));
    expect((await ask("/api/admin/jobs")).body.total).toBe(0);
  });

  it("is crawled, indexed and counted", async () => {
    const made = await ask("/api/admin/jobs", { source: "clinic" });
    expect(made).toMatchObject({ status: 201, body: { status: "queued", retryCount: 0, cleanupStatus: "none" } });
    id = made.body.id;
    await work();
    expect((await ask(`/api/admin/jobs/${id}`)).body).toMatchObject({
      status: "indexed",
      crawlerExitCode: 0,
      crawlerStatus: "success",
      pagesCrawled: 4,
      pagesFailed: 1,
      indexedPageCount: 5,
      lastStats: { crawled: 4, pending: 0 },
    });
    const { items, total } = (await ask("/api/admin/jobs?source=clinic&status=indexed")).body;
    expect({ total, ids: items.map((each: { id: number }) => each.id) }).toEqual({ total: 1, ids: [id] });
    expect(items[0].warcFileCount).toBeGreaterThan(0);
    expect(items[0].warcBytesTotal).toBeGreaterThan(500);
    expect((await ask("/api/admin/jobs/status-counts")).body).toEqual({ counts: { indexed: 1 } });
    const snapshots = (await ask(`/api/admin/jobs/${id}/snapshots?limit=10`)).body;
    expect(snapshots.map(({ url }: { url: string }) => url.slice(site.origin.length)).sort()).toEqual([
      "/en/flu.html",
      "/en/health.html",
      "/en/missing.html",
      "/fr/grippe.html",
      "/fr/sante.html",
    ]);
  });

  it("is told by the source, in either language", async () => {
    const [only, ...others] = await read("editions", "/api/sources?lang=fr");
    expect(others).toEqual([]);
    const french = snapshotOf(await read("archive-search", "/api/search?q=Sante"));
    expect(only).toMatchObject({ sourceCode: "clinic", sourceName: "The clinic", recordCount: 5, pageCount: 5 });
    expect(only.entryRecordId).toBe(french);
    expect((await read("editions", "/api/sources/clinic")).entryRecordId).not.toBe(french);
    expect(await read("editions", "/api/sources/clinic/editions")).toMatchObject([{ jobId: id, recordCount: 5 }]);
    expect(await callApi(apis["editions"] as StreamApi, { path: "/api/sources/nobody" })).toMatchObject({
      status: 404,
    });
  });

  it("is what search, changes, exports and snapshots are narrowed to", async () => {
    const found = await read("archive-search", "/api/search?q=Influenza&source=clinic");
    expect(found).toMatchObject({ total: 1, results: [{ sourceCode: "clinic", sourceName: "The clinic", jobId: id }] });
    expect(await read("archive-search", "/api/search?source=elsewhere")).toMatchObject({ total: 0 });
    const snapshot = await read("snapshots", `/api/snapshot/${found.results[0].id}`);
    expect(snapshot).toMatchObject({ sourceCode: "clinic", sourceName: "The clinic", jobId: id });
    const byJob = `/api/replay/resolve?jobId=${id}&url=${encodeURIComponent(`${site.origin}/en/flu.html`)}`;
    expect(await read("snapshots", byJob)).toMatchObject({ found: true, snapshotId: snapshot.id });
    for (const query of [`source=clinic`, `jobId=${id}`, ""]) {
      const changes = await read("changes", `/api/changes?${query}`);
      expect(changes.results.map(({ toJobId, sourceCode }: Record<string, unknown>) => [toJobId, sourceCode])).toEqual(
        Array.from({ length: 5 }, () => [id, "clinic"]),
      );
    }
    const rows = await read("archive-exports", "/api/exports/snapshots?source=clinic&compressed=false");
    expect(rows.trim().split("\n")).toHaveLength(5);
    expect(JSON.parse(rows.split("\n")[0])).toMatchObject({ source_code: "clinic", job_id: id });
  });

  it("is indexed once more where somebody asks for it", async () => {
    expect(await ask(`/api/admin/jobs/${id}/index`, {})).toMatchObject({ status: 202, body: { status: "indexing" } });
    await work();
    expect((await ask(`/api/admin/jobs/${id}`)).body).toMatchObject({ status: "indexed", indexedPageCount: 5 });
    expect(await ask(`/api/admin/jobs/${id}/retry`, {})).toMatchObject({ status: 409, body: { code: "JOB_STATE" } });
  });

  it("has its temporary files deleted, unless a capture points at them", async () => {
    const job = (await ask(`/api/admin/jobs/${id}`)).body;
    const put = (name: string) =>
      setup.aws.s3.send(
        new PutObjectCommand({ Bucket: setup.aws.bucket, Key: `${job.outputDir}tmp/${name}`, Body: "state" }),
      );
    expect((await ask(`/api/admin/jobs/${id}/cleanup`, {})).body).toMatchObject({
      files: 0,
      job: { cleanupStatus: "none" },
    });
    await put("state.yaml");
    expect((await ask(`/api/admin/jobs/${id}/cleanup`, { dryRun: true })).body).toMatchObject({ files: 1, bytes: 5 });
    const [capture] = await setup.sql<{ id: number; key: string }[]>`
      select c.id, c.warc_key as key from captures c join jobs j on j.id = c.job_id where j.archive_job_id = ${id} limit 1`;
    await setup.sql`update captures set warc_key = ${`${job.outputDir}tmp/a.warc.gz`} where id = ${capture?.id ?? 0}`;
    expect(await ask(`/api/admin/jobs/${id}/cleanup`, {})).toMatchObject({
      status: 409,
      body: { code: "FILES_IN_USE", details: { captures: 1 } },
    });
    await setup.sql`update captures set warc_key = ${capture?.key ?? ""} where id = ${capture?.id ?? 0}`;
    expect((await ask(`/api/admin/jobs/${id}/cleanup`, {})).body).toMatchObject({
      files: 1,
      job: { cleanupStatus: "temp_cleaned" },
    });
    expect((await ask("/api/admin/storage")).body).toMatchObject({
      items: [{ sourceCode: "clinic", jobs: 1, cleanedJobs: 1, temporaryBytes: 0 }],
    });
  });
});

const snapshotOf = (answer: { results: { id: number }[] }): number => answer.results[0]?.id ?? 0;

it("shows the public nothing of the reserved source", async () => {
  const before = await read("archive-search", "/api/search");
  const { body } = await ask("/api/admin/jobs", { source: "test" });
  await work();
  expect((await ask(`/api/admin/jobs/${body.id}`)).body).toMatchObject({ status: "indexed", indexedPageCount: 5 });
  const [capture] = (await ask(`/api/admin/jobs/${body.id}/snapshots`)).body;
  expect((await callApi(apis["snapshots"] as StreamApi, { path: `/api/snapshot/${capture.id}` })).status).toBe(404);
  expect((await callApi(apis["snapshots"] as StreamApi, { path: `/api/snapshots/raw/${capture.id}` })).status).toBe(
    404,
  );
  expect((await read("archive-search", "/api/search")).total).toBe(before.total);
  expect((await read("editions", "/api/sources")).map((each: { sourceCode: string }) => each.sourceCode)).toEqual([
    "clinic",
  ]);
  expect(await read("changes", `/api/changes?jobId=${body.id}`)).toMatchObject({ total: 0 });
  expect(await read("archive-exports", "/api/exports/snapshots?source=test&compressed=false")).toBeFalsy();
  const nearest = await read("snapshots", `/api/replay/resolve?url=${encodeURIComponent(capture.url)}`);
  expect(nearest.snapshotId).not.toBe(capture.id);
});

it("crawls a failed job again by itself, later each time, and then once for each time that somebody asks", async () => {
  await ask("/api/admin/sources", {
    sources: [source("down", { seeds: [`${site.origin}/nothing`], entryPages: {} })],
  });
  const { body } = await ask("/api/admin/jobs", { source: "down" });
  const state = async () => (await ask(`/api/admin/jobs/${body.id}`)).body;
  const due = () => setup.sql`update archive_jobs set not_before = now() where id = ${body.id}`;
  await work();
  expect(await state()).toMatchObject({ status: "retryable", retryCount: 1, crawlerExitCode: 1 });
  for (const expected of [{ status: "retryable", retryCount: 2 }, { status: "failed" }]) {
    await due();
    await work();
    expect(await state()).toMatchObject(expected);
  }
  expect((await state()).error).not.toBeNull();
  expect((await ask(`/api/admin/jobs/${body.id}/retry`, {})).body.status).toBe("retryable");
  await work();
  expect((await state()).status).toBe("failed");
});

it("adopts WARC files that lie in the bucket, those that were imported before too", async () => {
  await ask("/api/admin/sources", { sources: [source("old")] });
  const file = (n: number) => record(http(page(`Old ${n}`)), { url: `http://old.test/${n}` });
  const keys = [await upload(file(1), "one.warc"), await upload(file(2), "two.warc")];
  const made = await ask("/api/admin/jobs/register", { source: "old", keys, name: "old-2020" });
  expect(made).toMatchObject({ status: 201, body: { status: "running", engine: "register", name: "old-2020" } });
  await work();
  expect((await ask(`/api/admin/jobs/${made.body.id}`)).body).toMatchObject({ status: "indexed", indexedPageCount: 2 });
  expect(await read("archive-search", "/api/search?source=old")).toMatchObject({ total: 2 });
  const again = await ask("/api/admin/jobs/register", { source: "old", keys: keys.slice(1) });
  expect(again).toMatchObject({ status: 409, body: { code: "ALREADY_REGISTERED" } });
  expect((await ask("/api/admin/jobs?source=old")).body.total).toBe(1);
});

it("gives what is imported to the source that is named", async () => {
  const { api } = (await import("../../../../functions/archive-api/handler.ts")) as { api: Api };
  await ask("/api/admin/sources", { sources: [source("given")] });
  const key3 = await upload(record(http(page("Given")), { url: "http://given.test/" }), "given.warc");
  const post = (json: unknown) => callApi(api, { path: "/api/admin/warcs", key, json });
  expect((await post({})).body.error).toContain("takes the key of an object, or filename, bytes and sha256");
  expect(await post({ key: key3, source: "nobody" })).toMatchObject({ status: 404 });
  expect(await post({ key: key3, source: "given" })).toMatchObject({ status: 202 });
  await work();
  expect(await read("archive-search", "/api/search?source=given")).toMatchObject({ total: 1 });
});

it("says which source is at fault, and where", async () => {
  const blocked = await ask("/api/admin/sources", {
    sources: [source("fine"), source("amiss", { seeds: [`${site.origin}/`, "http://10.0.0.1:81/"] })],
  });
  expect(blocked).toMatchObject({
    status: 403,
    body: { code: "URL_BLOCKED", details: { path: "sources[1].seeds[1]", host: "10.0.0.1:81" } },
  });
  const at = async (more: Record<string, unknown>) => {
    const { body } = await ask("/api/admin/sources", { sources: [source("fine"), source("amiss", more)] });
    return body.details.path ?? body.details.faults[0].path;
  };
  expect(await at({ baseUrl: "http://10.0.0.1/" })).toBe("sources[1].baseUrl");
  expect(await at({ passthroughArgs: ["--output", "x"] })).toBe("sources[1].passthroughArgs[0]");
  expect(await at({ passthroughArgs: ["--userAgent", "x"] })).toBe("sources[1].passthroughArgs");
  expect(await at({ toolOptions: { log_level: "LOUD" } })).toBe("sources[1].toolOptions.log_level");
});

describe("what is refused", () => {
  const refused: [string, Record<string, unknown>, number, string, string][] = [
    ["a name that is a path", { name: "../../etc/passwd" }, 422, "VALIDATION_ERROR", "name"],
    ["a name with a slash", { name: "a/b" }, 422, "VALIDATION_ERROR", "name"],
    ["a seed with a password", { extraSeeds: ["https://me:secret@example.org/"] }, 400, "URL_INVALID", "extraSeeds[0]"],
    ["a seed of a private host", { extraSeeds: ["http://10.0.0.1/"] }, 403, "URL_BLOCKED", "extraSeeds[0]"],
    ["a seed that is no web page", { extraSeeds: ["file:///etc/passwd"] }, 400, "URL_INVALID", "extraSeeds[0]"],
    [
      "an icon of a private host",
      { passthroughArgs: ["--favicon", "http://10.1.2.3/"] },
      403,
      "URL_BLOCKED",
      "passthroughArgs[0]",
    ],
    [
      "an origin that is led inside",
      { passthroughArgs: ["--depth=1", "--originOverride=https://example.org=http://169.254.170.2"] },
      403,
      "URL_BLOCKED",
      "passthroughArgs[1]",
    ],
    ["an option of ours", { passthroughArgs: ["--output", "/tmp"] }, 422, "VALIDATION_ERROR", "--output"],
    ["an option of ours, abbreviated", { passthroughArgs: ["--outp=/tmp"] }, 422, "VALIDATION_ERROR", "--output"],
    ["an option twice", { passthroughArgs: ["--depth", "1", "--depth=2"] }, 422, "VALIDATION_ERROR", "twice"],
    ["a word without an option", { passthroughArgs: ["rm"] }, 422, "VALIDATION_ERROR", "belongs to no option"],
    [
      "workers without monitoring",
      { toolOptions: { enable_adaptive_workers: true } },
      422,
      "VALIDATION_ERROR",
      "enable_monitoring",
    ],
    ["an unknown option", { toolOptions: { workers: 3 } }, 422, "VALIDATION_ERROR", "workers"],
    ["a source that is not there", { source: "nobody" }, 404, "NOT_FOUND", "nobody"],
  ];
  it.each(refused)("%s", async (_name, more, status, code, told) => {
    const answer = await ask("/api/admin/jobs", { source: "clinic", ...more });
    expect(answer).toMatchObject({ status, body: { code } });
    expect(JSON.stringify(answer.body)).toContain(told);
    expect(JSON.stringify(answer.body)).not.toContain("secret");
  });

  it("a job of a disabled source, and a source with a template that makes a path", async () => {
    await ask("/api/admin/sources", { sources: [source("closed", { enabled: false })] });
    expect(await ask("/api/admin/jobs", { source: "closed" })).toMatchObject({
      status: 409,
      body: { code: "SOURCE_DISABLED" },
    });
    for (const nameTemplate of ["../{date:%Y}", "a-{time}", "a-{date:%Q}", "a-{date:%Y/%m}"]) {
      const answer = await ask("/api/admin/sources", { sources: [source("odd", { nameTemplate })] });
      expect([nameTemplate, answer.status]).toEqual([nameTemplate, 422]);
    }
  });
});

describe("a report", () => {
  const report = {
    category: "takedown",
    description: "Please take this page away, it shows my address.",
    snapshotId: 7,
  };
  const send = (json: unknown, sourceIp = "192.0.2.1") =>
    callApi(apis["editions"] as StreamApi, { path: "/api/reports", json, sourceIp });

  it("is kept for administrators; one of no person is dropped, and answered alike", async () => {
    const first = await send({ ...report, reporterEmail: "me@example.org", website: "" });
    expect(first).toMatchObject({ status: 201, body: { status: "new" } });
    const trap = await send({ ...report, website: "https://spam.example/" });
    const second = await send(report);
    expect([trap.status, Object.keys(trap.body), trap.body.status]).toEqual([201, Object.keys(first.body), "new"]);
    expect([first, trap, second].map(({ body }) => body.reportId - first.body.reportId)).toEqual([0, 1, 2]);
    const { items, total } = (await ask("/api/admin/reports?category=takedown&status=new")).body;
    expect({ total, ids: items.map((each: { id: number }) => each.id) }).toEqual({
      total: 2,
      ids: [second.body.reportId, first.body.reportId],
    });
    expect((await ask(`/api/admin/reports/${first.body.reportId}`)).body).toMatchObject({
      ...report,
      reporterEmail: "me@example.org",
      internalNotes: null,
    });
    expect((await ask(`/api/admin/reports/${trap.body.reportId}`)).status).toBe(404);
  });

  it("is taken as forms send it, with empty fields and addresses as people write them", async () => {
    const json = { ...report, snapshotId: null, originalUrl: " www.example.org/page ", pageUrl: "", reporterEmail: "" };
    const { status, body } = await send({ ...json, website: "" }, "192.0.2.6");
    expect(status).toBe(201);
    expect((await ask(`/api/admin/reports/${body.reportId}`)).body).toMatchObject({
      originalUrl: "www.example.org/page",
      pageUrl: null,
      reporterEmail: null,
    });
  });

  it("is refused where it says nothing, and after five a minute of one address", async () => {
    expect((await send({ ...report, description: "Too short" }, "192.0.2.2")).status).toBe(422);
    expect((await send({ ...report, category: "spam" }, "192.0.2.2")).status).toBe(422);
    expect((await send({ ...report, originalUrl: "javascript:alert(1)" }, "192.0.2.2")).status).toBe(422);
    const statuses = [];
    // a minute may end within
    for (let n = 0; n < 11; n++) statuses.push((await send(report, "192.0.2.3")).status);
    expect(statuses.slice(0, 5)).toEqual([201, 201, 201, 201, 201]);
    expect(statuses).toContain(429);
    expect((await send(report, "192.0.2.4")).status).toBe(201);
  });
});

describe("the use of the archive", () => {
  const metric = (text: string, name: string) =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")
        .at(-1) ?? Number.NaN,
    );

  it("is counted by day, and nothing of who asked", async () => {
    const before = await read("editions", "/api/usage");
    const { results } = await read("archive-search", "/api/search?q=Influenza");
    await read("archive-search", "/api/search?q=Grippe");
    await read("snapshots", `/api/snapshot/${results[0].id}`);
    await callApi(apis["snapshots"] as StreamApi, { path: `/api/snapshots/raw/${results[0].id}` });
    const report = { category: "general_feedback", description: "It is good to have all this in one place." };
    expect((await callApi(apis["editions"] as StreamApi, { path: "/api/reports", json: report })).status).toBe(201);
    const after = await read("editions", "/api/usage");
    expect(after).toMatchObject({ enabled: true, windowDays: 30 });
    expect(after.daily).toHaveLength(30);
    const today = after.daily.at(-1);
    expect(today.date).toBe(new Date().toISOString().slice(0, 10));
    const { searchRequests, snapshotDetailViews, rawSnapshotViews, reportSubmissions } = before.totals;
    expect(after.totals).toEqual({
      searchRequests: searchRequests + 2,
      snapshotDetailViews: snapshotDetailViews + 1,
      rawSnapshotViews: rawSnapshotViews + 1,
      reportSubmissions: reportSubmissions + 1,
    });
    const columns = await setup.sql`
      select column_name as name from information_schema.columns
      where table_name = 'archive_usage' and table_schema = current_schema() order by name`;
    expect(columns.map(({ name }) => name)).toEqual(["count", "day", "what"]);
  });

  it("is told to Prometheus, by the names of the reference too", async () => {
    const answer = await ask("/metrics");
    expect(answer).toMatchObject({
      status: 200,
      headers: { "content-type": expect.stringContaining("version=0.0.4") },
    });
    const text = answer.body as string;
    expect(metric(text, 'strandline_jobs_total{status="indexed"}')).toBeGreaterThan(0);
    const sources = await read("editions", "/api/sources");
    const clinic = sources.find(({ sourceCode }: { sourceCode: string }) => sourceCode === "clinic");
    expect(metric(text, 'strandline_snapshots_total{source="clinic"}')).toBe(clinic.recordCount);
    const total = sources.reduce((sum: number, each: { recordCount: number }) => sum + each.recordCount, 0);
    expect(metric(text, "strandline_snapshots_total")).toBe(total);
    expect(text).not.toContain('strandline_snapshots_total{source="test"}');
    const named = (prefix: string) => text.split("\n").filter((line) => line.startsWith(`${prefix}_`)).length;
    expect([named("healtharchive") > 20, named("healtharchive")]).toEqual([true, named("strandline")]);
    expect(metric(text, 'strandline_jobs_cleanup_status_total{cleanup_status="none"}')).toBeGreaterThan(0);
    for (const name of ["jobs_pages_crawled_total", "jobs_warc_bytes_total", "pages_total", "search_requests_total"])
      expect([name, metric(text, `strandline_${name}`) > 0]).toEqual([name, true]);
    const counted = metric(text, "strandline_search_duration_seconds_count");
    expect(metric(text, 'strandline_search_duration_seconds_bucket{le="+Inf"}')).toBe(counted);
    expect(metric(text, "strandline_search_errors_total")).toBe(0);
    expect(text).toMatch(/^strandline_search_mode_total\{mode="\w+"\} \d+$/m);
    expect(await callApi(apis["editions"] as StreamApi, { path: "/metrics" })).toMatchObject({ status: 401 });
  });
});
