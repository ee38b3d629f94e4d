import { expect, onTestFinished, test } from "vitest";
import { captureSchema } from "../../../../shared/capture/capture.ts";
import { capturesMessageSchema, writeCaptureBatch } from "../../../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { listJobUrls, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
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
  await setup.sql`
    create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'string is too long for tsvector' using errcode = '54000'; end $$`;
  await setup.sql`
    create trigger refuse before insert on documents for each row when (new.url like '%/2') execute function refuse()`;
  // the database goes on to other tests
  onTestFinished(async () => void (await setup.sql`drop function refuse cascade`));
  const message = await setup.capture(task, (url) => ({ html: page(url) }));
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
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "failed", counts: { failed: 1, open: 0 } });
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

test("a page that takes longer than a function may holds up no other page of its batch", async () => {
  const setup = await crawlSetup();
  const urls = [1, 2, 3, 4, 5].map((at) => `http://a.example/${at}`);
  const job = await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  // as PostgreSQL does where a statement takes longer than the time that it was given
  await setup.sql`
    create function dawdle() returns trigger language plpgsql as $$ begin
      if current_setting('statement_timeout') = '45s' then raise sqlstate '57014' using message = 'statement timeout'; end if;
      return new;
    end $$`;
  await setup.sql`
    create trigger dawdle before insert on documents for each row when (new.url like '%/2') execute function dawdle()`;
  // the database goes on to other tests
  onTestFinished(async () => void (await setup.sql`drop function dawdle cascade`));
  const sizes: number[] = [];
  let [messages, refusals]: [unknown[], number] = [[await setup.capture(task, site)], 0];
  for (const delivery = { receiveCount: 1, remainingMs: () => 60_000 }; messages.length > 0; ) {
    const [message, ...others] = messages.map((each) => capturesMessageSchema.parse(each));
    if (message === undefined) break;
    const [start, end] = message.range ?? [0, 5];
    sizes.push(end - start);
    await ingestBatch(setup.dependencies, message, delivery).catch((error: unknown) => {
      expect(error).toMatchObject({ name: "RetryableError", code: "OUT_OF_TIME" });
      refusals += 1;
      others.push(message);
      // the queue delivers it again
      delivery.receiveCount += 1;
    });
    messages = [...others, ...(await setup.aws.receive("captures"))];
  }
  expect([sizes, refusals]).toEqual([[5, 3, 2, 2, 1, 1, 1, 1], 1]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { open: 0, crawled: 4, failed: 1, documents: 4 },
  });
  const { urls: results } = await listJobUrls(setup.sql, job.job_id, { limit: 5 });
  expect(results.map((each) => each.error_code)).toEqual([null, "EXTRACT_FAILED", null, null, null]);
  expect(results[1]).toMatchObject({
    status_code: 200,
    error_message: "The text of the page cannot be stored: it takes longer than a function may",
  });
});

test("a batch that kept coming is halved before it kills its worker once more, and ends as it would have", async () => {
  const setup = await crawlSetup();
  const urls = [1, 2, 3, 4, 5].map((at) => `http://a.example/${at}`);
  const job = await createJob(setup.dependencies, newJob(urls));
  const [task] = (await setup.tasks()) as [FetchTask];
  const message = await setup.capture(task, site);
  // what killed the function left no word
  await ingestBatch(setup.dependencies, message, { receiveCount: 3, remainingMs: () => 60_000 });
  const halves = (await setup.aws.receive("captures")).map((each) => capturesMessageSchema.parse(each));
  expect(halves.map(({ range }) => range)).toEqual([
    [0, 3],
    [3, 5],
  ]);
  for (const half of halves) await ingestBatch(setup.dependencies, half);
  // delivered late once more, it changes nothing
  await ingestBatch(setup.dependencies, message);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { documents: 5 } });
});

test("what a page says about itself is kept in part where it is megabytes, and so are its chunks", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  const words = "harbour ".repeat(30_000);
  const paragraphs = "<p>The tide brings what the river carried down to the strand.</p>".repeat(500);
  const links = Array.from({ length: 12_000 }, (_, at) => `<a href="/${at}">${at}</a>`).join(" ");
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.crawlTask(task, () => ({
    html: `<html lang="en"><title>${words}</title><meta name="author" content="${"Ada ".repeat(20)}">
      <meta name="description" content="${words}"><main><h1>${words}</h1><h2>${words}</h2>${paragraphs}${links}</main>`,
  }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { documents: 1 } });
  const [longest] = await setup.sql`
    select max(length(d.title)) as title, max(length(d.metadata->>'description')) as description,
      max(length(c.section_header)) as header, max(cardinality(d.links)) as links from documents d, chunks c`;
  expect(longest).toEqual({ title: 999, description: 1999, header: 500, links: 10_000 });
  const [row] = await setup.sql`select content like '%strand.' || '%' as whole from documents`;
  expect(row).toEqual({ whole: true });
});

test("of a page that is cut into endlessly many chunks, so many are found as one page may have", async () => {
  const setup = await crawlSetup();
  const config = crawlConfigSchema.parse({ chunk_size: 24, chunk_overlap: 0, min_chunk_size: 0 });
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"], { config }));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.crawlTask(task, () => ({ html: page("Long", [], 40_000) }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { chunks: 2000 } });
  expect(setup.logged.join("\n")).toContain("a page has more text than is made searchable");
});

test("a view of a job stays within what an answer may hold, whatever the titles, and goes on from there", async () => {
  const setup = await crawlSetup();
  const urls = Array.from({ length: 40 }, (_, at) => `http://a.example/${at}/${"long".repeat(400)}`);
  const job = await createJob(setup.dependencies, newJob(urls));
  for (const task of await setup.tasks()) await setup.crawlTask(task, site);
  await setup.sql`
    update captures set title = repeat(E'\u{20AC}', 500000), error_message = repeat('x', 500000), mime_type = repeat('m', 100000)`;
  const seen: string[] = [];
  let pages = 0;
  for (let after: string | undefined; ; ) {
    const { urls: shown, next } = await listJobUrls(setup.sql, job.job_id, { limit: 40, after });
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(2_600_000);
    seen.push(...shown.map(({ url }) => url));
    pages += 1;
    if (next === null) break;
    after = next;
  }
  expect(seen).toEqual(urls);
  expect(pages).toBeGreaterThan(1);
});
