import { expect, test } from "vitest";
import { listJobs, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { crawlSetup, newJob, newSiteJob, page } from "../crawl-setup.ts";

test("seeds that name one page count once, and go out in the order given, by host, to the queue of the priority", async () => {
  const setup = await crawlSetup();
  const seeds = ["http://b.example/2#x", "http://a.example/1", "http://b.example/2?utm_source=y", "http://b.example/1"];
  const job = await createJob(setup.dependencies, newJob(seeds, { priority: "high" }));
  expect(job).toMatchObject({ priority: "high", counts: { discovered: 3, open: 3 } });
  const messages = await setup.aws.receive("fetch-high");
  expect(messages).toMatchObject([
    { host: "a.example", urls: [{ url: "http://a.example/1", depth: 0, attempt: 0, prior: null }] },
    { host: "b.example", urls: [{ url: "http://b.example/2" }, { url: "http://b.example/1" }] },
  ]);
});

test("a job without seeds, with a seed that is no URL, or with impossible limits is refused, and nothing is written", async () => {
  const setup = await crawlSetup();
  await expect(createJob(setup.dependencies, newJob([], { maxPages: 1 }))).rejects.toThrow(RangeError);
  await expect(createJob(setup.dependencies, newJob(["nonsense"]))).rejects.toThrow(TypeError);
  await expect(createJob(setup.dependencies, newSiteJob("http://a.example/", { maxPages: 0 }))).rejects.toThrow(
    RangeError,
  );
  await expect(createJob(setup.dependencies, newSiteJob("http://a.example/", { maxDepth: -1 }))).rejects.toThrow(
    RangeError,
  );
  expect(await setup.sql`select from jobs`).toHaveLength(0);
  expect(await setup.dependencies.flags.activeSince()).toBeUndefined();
});

test("a job is not taken where the sweep could not be told of it", async () => {
  const setup = await crawlSetup();
  const markActive = () => Promise.reject(new RetryableError("no table today", { code: "STATE_UNAVAILABLE" }));
  const flags = { ...setup.dependencies.flags, markActive };
  await expect(createJob({ ...setup.dependencies, flags }, newJob(["http://a.example/"]))).rejects.toThrow("no table");
  expect(await setup.sql`select from jobs`).toHaveLength(0);
});

test("documents carry the tags of their job", async () => {
  const setup = await crawlSetup();
  for (const tags of [["News", " news ", "eu"], ["eu"]]) {
    await createJob(setup.dependencies, newJob(["http://a.example/"], { tags }));
    await setup.crawl((url) => ({ html: page(url) }));
  }
  const tagged = await setup.sql`
    select d.generation_active, array_agg(t.name order by t.name) as tags
    from documents d join document_tags dt on dt.document_id = d.id join tags t on t.id = dt.tag_id
    group by d.id order by d.generation_active`;
  expect(tagged).toEqual([
    { generation_active: false, tags: ["eu", "news"] },
    { generation_active: true, tags: ["eu"] },
  ]);
});

test("jobs are listed newest first, by state, page by page", async () => {
  const setup = await crawlSetup();
  const ids: string[] = [];
  for (let at = 0; at < 3; at++) {
    ids.unshift((await createJob(setup.dependencies, newJob([`http://a.example/${at}`]))).job_id);
  }
  const first = await listJobs(setup.sql, { limit: 2 });
  expect(first.map((job) => job.job_id)).toEqual(ids.slice(0, 2));
  const rest = await listJobs(setup.sql, { limit: 2, after: ids[1] });
  expect(rest.map((job) => job.job_id)).toEqual(ids.slice(2));
  expect(await listJobs(setup.sql, { limit: 5, status: "completed" })).toEqual([]);
  expect(await readJob(setup.sql, crypto.randomUUID())).toBeUndefined();
});
