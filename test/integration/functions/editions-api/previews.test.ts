/** Pictures of the entry pages of editions: by the real crawler, and the browser behind its queue. */
import type { SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { StreamApi } from "../../../../functions/adapters/api/stream-api.ts";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { picturedUrl } from "../../../../shared/archive/editions/previews.ts";
import { runArchiveJobs } from "../../../../shared/archive/editions/run-jobs.ts";
import { createExclusion, revokeExclusion } from "../../../../shared/archive/exclusions/exclusions.ts";
import { indexSnapshots } from "../../../../shared/archive/search/index-snapshots.ts";
import { createRemoteAnswers } from "../../../../shared/platform/aws/remote-call.ts";
import { callApi, type TestAnswer } from "../../../services/api.ts";
import { html, type Site, startSite } from "../../../sites/site.ts";
import { realCrawl } from "../../crawl/real-crawl.ts";

let setup: Awaited<ReturnType<typeof realCrawl>>;
let site: Site;
let key: string;
let api: StreamApi;
let snapshotsApi: StreamApi;
let closeBrowser: () => Promise<void>;
let render: (message: unknown) => Promise<void>;

const page = (title: string) =>
  `<!doctype html><html lang=en><title>${title}</title><main><h1>${title}</h1><p>${"Whom to ask about it. ".repeat(20)}`;

beforeAll(async () => {
  setup = await realCrawl();
  const { aws, databaseUrl, sql } = setup;
  Object.assign(process.env, aws.env, { DATABASE__POSTGRES_URL: databaseUrl, LOG_LEVEL: "error" });
  Object.assign(process.env, { ACCESS__ALLOW_HOSTS: "127.0.0.1", RATE_LIMIT__DEFAULT_RPS: "100" });
  ({ key } = await createApiKey(sql, { name: "t", scopes: ["admin"], rateLimitRpm: 100_000, expiresAt: null }));
  ({ api } = (await import("../../../../functions/editions-api/handler.ts")) as { api: StreamApi });
  ({ api: snapshotsApi } = (await import("../../../../functions/snapshots-api/handler.ts")) as { api: StreamApi });
  const { handler } = await import("../../../../functions/render-media/handler.ts");
  const { dependencies } = await import("../../../../functions/render-media/dependencies.ts");
  closeBrowser = () => dependencies().chromium.close();
  render = async (message) => {
    const record = {
      messageId: "m",
      receiptHandle: "r",
      body: JSON.stringify(message),
      attributes: { ApproximateReceiveCount: "1" },
      eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:media",
    };
    await handler({ Records: [record] } as unknown as SQSEvent, { getRemainingTimeInMillis: () => 60_000 });
  };
  site = await startSite({ "/en": html(page("Health")), "/fr": html(page("Santé")) });
});
afterAll(async () => {
  await closeBrowser();
  await site.close();
  await setup.close();
});

const call = (path: string, more: object = {}): Promise<TestAnswer> => callApi(api, { path, key, ...more });

/** Minutes after now, in which what waits has come. */
async function minute(after = 0): Promise<void> {
  const { dependencies, aws } = setup;
  const answers = createRemoteAnswers(aws.dynamo, aws.stateTable);
  const previews = { objects: dependencies.objects, answers, replayUrl: "" };
  await runArchiveJobs({ ...dependencies, previews }, () => true, new Date(Date.now() + after * 60_000));
}

async function edition(code: string): Promise<number> {
  const entryPages = { en: `${site.origin}/en`, fr: `${site.origin}/fr` };
  const source = { code, name: code, nameTemplate: code, seeds: Object.values(entryPages), entryPages };
  await call("/api/admin/sources", { json: { sources: [source] } });
  const { body } = await call("/api/admin/jobs", { json: { source: code } });
  await minute();
  const rows = await setup.sql<{ id: string }[]>`select id from jobs where archive_job_id = ${body.id}`;
  await setup.finish(rows.map(({ id }) => id));
  for (let round = 0; round < 4; round++) {
    await setup.sql`update edition_previews set not_before = now() + interval '1 day' where status = 'due'`;
    await minute();
    await indexSnapshots(setup.dependencies, () => true);
  }
  expect((await call(`/api/admin/jobs/${body.id}`)).body.status).toBe("indexed");
  return body.id;
}

const rowsOf = (id: number) => setup.sql<{ language: string; status: string; tries: number; error: string | null }[]>`
  select language, status, tries, error from edition_previews where archive_job_id = ${id} order by language`;

/** Orders what waits. */
async function order(): Promise<object[]> {
  await setup.sql`update edition_previews set not_before = now() - interval '1 minute' where status = 'due'`;
  await minute();
  return (await setup.aws.receive("media")) as object[];
}

it("are taken in each language, and shown", async () => {
  const id = await edition("clinic");
  const before = (await call("/api/sources/clinic")).body;
  expect(before.entryPreviewUrl).toBe(null);
  expect(await call(`/api/sources/clinic/preview?jobId=${id}`)).toMatchObject({
    status: 404,
    body: { code: "NO_PREVIEW" },
  });
  const orders = await order();
  expect(orders).toHaveLength(2);
  for (const each of orders) await render(each);
  await minute();
  expect(await rowsOf(id)).toMatchObject([
    { language: "en", status: "taken", error: null },
    { language: "fr", status: "taken", error: null },
  ]);
  const { entryPreviewUrl } = (await call("/api/sources/clinic?lang=fr")).body;
  expect(entryPreviewUrl).toBe(`/api/sources/clinic/preview?jobId=${id}&lang=fr`);
  const shown = await callApi(api, { path: entryPreviewUrl });
  const { entryRecordId } = (await call("/api/sources/clinic?lang=fr")).body;
  const timeline = await callApi(snapshotsApi, { path: `/api/snapshots/${entryRecordId}/timeline`, key });
  expect(timeline.body.snapshots).toMatchObject([{ snapshotId: entryRecordId, previewUrl: entryPreviewUrl }]);
  expect(shown).toMatchObject({
    status: 200,
    headers: {
      "content-type": "image/webp",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
      "cache-control": "public, max-age=86400",
    },
  });
  const etag = shown.headers["etag"] ?? "";
  const { status, headers } = await callApi(api, { path: entryPreviewUrl, method: "HEAD" });
  expect({ status, etag: headers["etag"] }).toEqual({ status: 200, etag });
  expect((await callApi(api, { path: entryPreviewUrl, headers: { "if-none-match": etag } })).status).toBe(304);
  // of a client that names the job alone, as that of the original does
  const english = await callApi(api, { path: `/api/sources/CLINIC/preview?jobId=${id}` });
  expect(english.status).toBe(200);
  expect(english.headers["etag"]).not.toBe(etag);
  const [{ object_key: objectKey } = { object_key: "" }] = await setup.sql<{ object_key: string }[]>`
    select object_key from edition_previews where archive_job_id = ${id} and language = 'fr'`;
  expect(objectKey).toBe(`previews/clinic/${id}/fr.webp`);
  const picture = Buffer.from((await setup.dependencies.objects.get(objectKey)) ?? []);
  expect([picture.subarray(0, 4).toString(), picture.subarray(8, 12).toString()]).toEqual(["RIFF", "WEBP"]);
  expect((await callApi(api, { path: `/api/sources/clinic/preview?jobId=${id + 1000}` })).status).toBe(404);
  expect((await callApi(api, { path: `/api/sources/nobody/preview?jobId=${id}` })).status).toBe(404);

  // an exclusion counts at once
  const excluded = { url: site.origin, matchType: "prefix", embargoDays: null, reason: null } as const;
  const { id: exclusion } = await createExclusion(setup.sql, excluded, [{ from: "", to: "\uffff" }], null);
  expect((await callApi(api, { path: entryPreviewUrl })).status).toBe(404);
  await revokeExclusion(setup.sql, exclusion);
  expect((await callApi(api, { path: entryPreviewUrl })).status).toBe(200);
  await setup.sql`update sources set reserved = true where code = 'clinic'`;
  expect((await callApi(api, { path: entryPreviewUrl })).status).toBe(404);
  await setup.sql`update sources set reserved = false where code = 'clinic'`;
}, 240_000);

it("are not taken of the reserved source", async () => {
  const id = await edition("test");
  expect(await rowsOf(id)).toEqual([]);
  expect(await order()).toEqual([]);
}, 240_000);

it("are tried again where no browser answers, and given up at last with a word on why", async () => {
  const id = await edition("closed");
  for (let tries = 1; tries <= 4; tries++) {
    expect(await order()).toHaveLength(2);
    // nobody takes them
    await setup.sql`update edition_previews set deadline = now() - interval '1 minute' where status = 'ordered'`;
    await minute();
    const status = tries < 4 ? "due" : "failed";
    expect(await rowsOf(id)).toMatchObject([
      { status, tries },
      { status, tries },
    ]);
  }
  expect((await rowsOf(id))[0]?.error).toBe("no browser answered in time");
  expect((await call("/api/sources/closed")).body.entryPreviewUrl ?? null).toBe(null);
  // indexed anew, they are tried anew
  await call(`/api/admin/jobs/${id}/index`, { json: {} });
  for (let round = 0; round < 3; round++) {
    await minute();
    await indexSnapshots(setup.dependencies, () => true);
  }
  expect((await rowsOf(id)).map(({ status }) => status).some((status) => status === "failed")).toBe(false);
}, 240_000);

it("are none of what the site has instead of the page", async () => {
  const id = await edition("moved");
  await using other = await startSite({ "/": html(page("Somebody else")) });
  site.route({
    "/en": { status: 302, headers: { location: `${other.origin}/` } },
    "/fr": { status: 404, body: "gone" },
  });
  for (const each of await order()) await render(each);
  await minute();
  const [english, french] = await rowsOf(id);
  expect([english?.status, french?.status]).not.toContain("taken");
  expect(english).toMatchObject({ status: "failed", error: "the page leads to another host now" });
  expect(french?.error).toContain("404");
  expect((await callApi(api, { path: `/api/sources/moved/preview?jobId=${id}` })).status).toBe(404);
}, 240_000);

it("show what was captured: the page while it is fresh, or its replay", () => {
  const now = new Date("2026-01-02T12:00:00Z");
  const url = "https://example.org/";
  const fresh = { url, capturedAt: new Date("2026-01-02T03:04:05Z") };
  const old = { url, capturedAt: new Date("2019-01-02T03:04:05Z") };
  const replay = "https://replay.example";
  expect(picturedUrl({ ...fresh, engine: "native" }, replay, now)).toBe(url);
  expect(picturedUrl({ ...fresh, engine: "zimit" }, replay, now)).toBe(`${replay}/20260102030405mp_/${url}`);
  expect(picturedUrl({ ...old, engine: "native" }, replay, now)).toBe(`${replay}/20190102030405mp_/${url}`);
  expect(picturedUrl({ ...fresh, engine: "zimit" }, "", now)).toBe(url);
  expect(picturedUrl({ ...old, engine: "register" }, "", now)).toBeUndefined();
});
