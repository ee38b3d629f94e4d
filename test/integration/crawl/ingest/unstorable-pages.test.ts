import { expect, test } from "vitest";
import { captureSchema } from "../../../../shared/capture/capture.ts";
import { writeCaptureBatch } from "../../../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { listJobUrls, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { captureOf, crawlSetup, newJob, page, type Site } from "../crawl-setup.ts";

const site: Site = (url) => ({ html: page(new URL(url).pathname) });

test("NUL characters and lone surrogates are replaced, and offsets still fit", async () => {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newJob(["http://a.example/"]));
  const [task] = (await setup.tasks()) as [FetchTask];
  const [asked] = task.urls;
  const capture = captureOf(task, asked as NonNullable<typeof asked>, site);
  const text = "one \0 two \ud800 three \u{1F30A} four";
  const title = "\\u0000 is written so, \0 is not";
  const extraction = {
    ...(capture.extraction as NonNullable<typeof capture.extraction>),
    text,
    title,
    sections: [{ heading: "a\0b", level: 1, start: 0, end: text.length, parent: null }],
    blocks: [{ kind: "prose" as const, start: 0, end: text.length }],
  };
  const batchKey = await writeCaptureBatch(setup.dependencies.objects, task.jobId, [
    captureSchema.parse({ ...capture, headers: [["x-odd", "\0\udfff"]], extraction }),
  ]);
  await ingestBatch(setup.dependencies, { jobId: task.jobId, taskId: task.taskId, batchKey });
  const [document] = await setup.sql`select title, content from documents_active`;
  expect(document).toEqual({
    title: "\\u0000 is written so, \uFFFD is not",
    content: "one \uFFFD two \uFFFD three \u{1F30A} four",
  });
  for (const chunk of await setup.sql`select * from chunks`) {
    expect(document?.["content"].slice(chunk["start_char"], chunk["end_char"])).toBe(chunk["content"]);
  }
});

test("a page whose text the database refuses does not take the other pages of its batch with it", async () => {
  const setup = await crawlSetup();
  const urls = [1, 2, 3].map((at) => `http://a.example/${at}`);
  const job = await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  // more distinct words than a tsvector holds
  const endlessTitle = Array.from({ length: 200_000 }, (_, at) => `word${at.toString(36)}`).join(" ");
  const message = await setup.capture(task, (url) =>
    url.endsWith("/2")
      ? { html: page("two").replace(/<title>.*<\/title>/, `<title>${endlessTitle}</title>`) }
      : { html: page(url) },
  );
  await ingestBatch(setup.dependencies, message);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { crawled: 2, failed: 1, documents: 2 },
  });
  const { urls: results } = await listJobUrls(setup.sql, job.job_id, { limit: 3 });
  expect(results.map((each) => each.error_code)).toEqual([null, "EXTRACT_FAILED", null]);
  expect(results[1]).toMatchObject({ status_code: 200, error_message: expect.stringContaining("tsvector") });
});

test("a page whose text cannot be cut into chunks is kept without it, and its job ends", async () => {
  // less than any chunk may have
  const setup = await crawlSetup({ embedding: { maxTokens: 10 } });
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  const [task] = (await setup.tasks()) as [FetchTask];
  await ingestBatch(setup.dependencies, await setup.capture(task, site));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { failed: 1, open: 0 } });
  const { urls } = await listJobUrls(setup.sql, job.job_id, { limit: 1 });
  expect(urls[0]).toMatchObject({ error_code: "EXTRACT_FAILED", error_message: expect.stringContaining("24 tokens") });
});

test("captures of URLs that nobody asked for are ignored", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  const [task] = (await setup.tasks()) as [FetchTask];
  const stranger = { ...task, urls: task.urls.map((url) => ({ ...url, urlHash: "f".repeat(64) })) };
  await ingestBatch(setup.dependencies, await setup.capture(stranger, site));
  expect(await setup.sql`select from captures`).toHaveLength(0);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ counts: { open: 1 } });
});
