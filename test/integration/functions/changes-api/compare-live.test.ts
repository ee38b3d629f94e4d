/** Snapshots compared with their pages as they are now, and with others than those before them. */
import { createHash, randomUUID } from "node:crypto";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/changes-api/handler.ts";
import { handler } from "../../../../functions/live-page/handler.ts";
import { createLiveSlots } from "../../../../shared/archive/changes/live-slots.ts";
import { handleImportMessage } from "../../../../shared/archive/import/handle-message.ts";
import { importMessageSchema } from "../../../../shared/archive/import/task.ts";
import { capturesMessageSchema } from "../../../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { createObjectWriters } from "../../../../shared/platform/aws/multipart.ts";
import { createUploads } from "../../../../shared/platform/aws/uploads.ts";
import { callApi } from "../../../services/api.ts";
import { html, type Site, startSite } from "../../../sites/site.ts";
import { http, record } from "../../archive/warc-records.ts";
import { crawlSetup } from "../../crawl/crawl-setup.ts";

let setup: Awaited<ReturnType<typeof crawlSetup>>;
let site: Site;
let stopped = false;
let delivering: Promise<void>;

const paragraph = (text: string) =>
  `<p>${text}, written by the pharmacists of the clinic for everybody who takes it.</p>`;
const page = (dose: string, nav = "Home") =>
  `<!doctype html><html lang=en><title>Guide</title><nav><a href="/">${nav}</a></nav><main><h1>A guide</h1>` +
  `${paragraph("What to know of the medicine")}<h2>Dosage</h2>${paragraph(`Adults take ${dose} twice a day`)}` +
  `${paragraph("Children take half of it")}</main></html>`;

beforeAll(async () => {
  setup = await crawlSetup({ sqs: true });
  const { aws, databaseUrl } = setup;
  const open = { ARCHIVE__PUBLIC: "true", ACCESS__ALLOW_HOSTS: "127.0.0.1", LOG_LEVEL: "error" };
  Object.assign(process.env, aws.env, { DATABASE__POSTGRES_URL: databaseUrl, RATE_LIMIT__DEFAULT_RPS: "50", ...open });
  site = await startSite({ "/same": html(page("5 mg")), "/other": html(page("50 mg", "Start")) });
  delivering = deliver();
});
afterAll(async () => {
  stopped = true;
  await delivering;
  await site.close();
  await setup.close();
});

/** The queue service: hands remote calls to the function. */
async function deliver(): Promise<void> {
  while (!stopped) {
    for (const message of await setup.aws.receive("live-pages", 1)) {
      const record = {
        messageId: randomUUID(),
        receiptHandle: "",
        body: JSON.stringify(message),
        messageAttributes: {},
      };
      const attributes = {
        ApproximateReceiveCount: "1",
        SentTimestamp: "0",
        SenderId: "",
        ApproximateFirstReceiveTimestamp: "0",
      };
      const from = {
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:us-east-1:0:live-pages",
        awsRegion: "us-east-1",
      };
      const event = { Records: [{ ...record, attributes, md5OfBody: "", ...from }] };
      await handler(event, { getRemainingTimeInMillis: () => 30_000 });
    }
  }
}

/** @returns the ids of the captures that are made of it */
async function archived(...records: Buffer[]): Promise<number[]> {
  const { aws, sql } = setup;
  const file = Buffer.concat(records);
  const key = `incoming/${randomUUID()}/a.warc`;
  await aws.s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: key, Body: file }));
  const object = { key, size: file.length, eTag: createHash("md5").update(file).digest("hex") };
  const dependencies = {
    ...setup.dependencies,
    uploads: createUploads(aws.s3, aws.bucket),
    openWriter: createObjectWriters(aws.s3, aws.bucket),
  };
  await handleImportMessage(
    dependencies,
    importMessageSchema.parse({ Records: [{ s3: { object } }] }),
    () => 3_600_000,
  );
  const captured = () => sql<{ id: number }[]>`
    select c.id from captures c join warc_imports i on i.job_id = c.job_id where i.object_key = ${key} order by c.fetched_at`;
  while ((await captured()).length < records.length) {
    for (const each of await aws.receive("captures", 1))
      await ingestBatch(dependencies, capturesMessageSchema.parse(each));
  }
  return (await captured()).map(({ id }) => id);
}

const capture = async (path: string, body: string) =>
  (await archived(record(http(body), { url: path.startsWith("http") ? path : site.origin + path })))[0] ?? 0;
const compare = (id: number, query = "") => callApi(api, { path: `/api/snapshots/${id}/compare-live${query}` });

it("tells what became of a page since its capture, of its main text or of all that it shows", async () => {
  const same = await compare(await capture("/same", page("5 mg")));
  expect(same).toMatchObject({ status: 200, body: { changeType: "unchanged", summary: "Unchanged", mode: "main" } });
  expect([same.headers["cache-control"], same.headers["x-robots-tag"]]).toEqual(["no-store", "noindex, nofollow"]);
  const id = await capture("/other", page("5 mg"));
  const { body } = await compare(id);
  expect(body).toMatchObject({
    changeType: "updated",
    addedLines: 1,
    removedLines: 1,
    changedSections: 1,
    snapshot: { snapshotId: id },
    live: { finalUrl: `${site.origin}/other`, statusCode: 200, contentType: "text/html", truncated: false },
  });
  expect(body.diffHtml).toContain("50 mg");
  expect(body).toMatchObject({
    archivedSnapshot: { snapshotId: id },
    liveFetch: { requestedUrl: `${site.origin}/other`, statusCode: 200 },
    stats: { addedLines: 1, removedLines: 1, changedSections: 1 },
    diff: { diffHtml: body.diffHtml, diffTruncated: false, diffVersion: "v1" },
    textModeUsed: "main",
  });
  expect(body.diffHtml).not.toContain("Start");
  const full = await compare(id, "?mode=full&layout=side-by-side");
  expect(full.body).toMatchObject({ mode: "full", addedLines: 2, removedLines: 2 });
  expect(full.body.diffHtml).toContain("Start");
});

it("refuses what is not there, what may not be asked for, and what does not answer as a page", async () => {
  expect((await compare(987_654_321)).status).toBe(404);
  const inside = await compare(await capture("http://10.0.0.1/", page("5 mg")));
  expect(inside).toMatchObject({ status: 400, body: { code: "URL_BLOCKED" } });
  expect(await compare(await capture("/gone", page("5 mg")))).toMatchObject({
    status: 502,
    body: { code: "HTTP_404" },
  });
  expect((await compare(await capture("/same", page("5 mg")), "?mode=all")).status).toBe(422);
});

it("compares with four live pages at once, and asks others to wait", async () => {
  const id = await capture("/same", page("5 mg"));
  const slots = createLiveSlots(setup.aws.dynamo, setup.aws.stateTable);
  const taken = [];
  for (let place = 0; place < 4; place++) taken.push(await slots.take());
  expect(taken.every((each) => each !== undefined)).toBe(true);
  const busy = await compare(id);
  expect(busy).toMatchObject({ status: 429, body: { code: "LIVE_BUSY" }, headers: { "retry-after": "5" } });
  // nothing is looked up for those who have to wait
  expect((await compare(987_654_321)).status).toBe(429);
  await taken[2]?.();
  expect((await compare(id)).status).toBe(200);
  // its place was given back
  expect((await compare(id)).status).toBe(200);
  const later = createLiveSlots(setup.aws.dynamo, setup.aws.stateTable, () => Date.now() + 60_000);
  const lapsed = await later.take();
  expect(lapsed).toBeDefined();
  for (const giveBack of [...taken, lapsed]) await giveBack?.();
  expect((await compare(987_654_321)).status).toBe(404);
});

it("compares any two captures of a page", async () => {
  const at = (day: number, body: string, status = "200 OK") =>
    record(http(body, undefined, status), { url: "http://any.test/", date: `2026-01-0${day}T00:00:00Z` });
  const [first, , third] = await archived(at(1, page("5 mg")), at(2, page("9 mg")), at(3, page("7 mg")));
  const between = (from: number | undefined, to: number | undefined) =>
    callApi(api, { path: `/api/changes/compare?fromSnapshotId=${from}&toSnapshotId=${to}` });
  const { status, body } = await between(first, third);
  expect(status).toBe(200);
  expect(body.event).toMatchObject({
    changeType: "updated",
    fromSnapshotId: first,
    toSnapshotId: third,
    addedLines: 1,
  });
  expect(body.diffHtml).toContain("5 mg");
  expect(await between(third, first)).toMatchObject({ status: 404, body: { code: "NOT_COMPARED" } });
  const other = await capture("/same", page("5 mg"));
  expect(await between(first, other)).toMatchObject({ status: 404, body: { code: "NOT_COMPARED" } });
});
