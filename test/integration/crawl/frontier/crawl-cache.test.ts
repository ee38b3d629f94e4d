import { expect, test } from "vitest";
import { cachedTaskSchema, ingestFromCache } from "../../../../shared/crawl/ingest/ingest-cached.ts";
import { listJobUrls, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob, type NewJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site, siteOf } from "../crawl-setup.ts";

const base = "http://a.example";
const site = siteOf(base, { "/": page("Home", ["/b"]), "/b": page("B", ["/c"]), "/c": page("C", ["/"]) });
const all = ["/", "/b", "/c"].map((path) => base + path);
const cached: Partial<NewJob> = { handling: { cache: "use" } };
type Setup = Awaited<ReturnType<typeof crawlSetup>>;

/**
 * Lets ingest answer what was found in the cache, until nothing more comes.
 * @returns how many messages there were
 */
async function answerFromCache(setup: Setup, deliveries = 1): Promise<number> {
  for (let answered = 0; ; answered += 1) {
    const [message] = await setup.aws.receive("captures", 1);
    if (message === undefined) return answered;
    const task = cachedTaskSchema.parse(message);
    await Promise.all(Array.from({ length: deliveries }, () => ingestFromCache(setup.dependencies, task)));
  }
}

/** The pages of the site, captured and searchable. */
async function crawled(overrides: Partial<NewJob> = {}, urls = all): Promise<Setup> {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newJob(urls, overrides));
  await setup.crawl(site);
  return setup;
}

async function asked(setup: Setup, overrides: Partial<NewJob>, urls = all) {
  const job = await createJob(setup.dependencies, newJob(urls, { ...cached, ...overrides }));
  const fetched = (await setup.tasks()).flatMap((task) => task.urls.map(({ url }) => url));
  return { job, fetched };
}

test("pages that were captured a moment ago are not fetched: their captures and documents are used again, and say so", async () => {
  const setup = await crawled();
  const { job, fetched } = await asked(setup, { tags: ["again"] });
  expect(fetched).toEqual([]);
  await answerFromCache(setup);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    stop_reason: "completed",
    counts: { crawled: 3, open: 0, documents: 3 },
  });
  const pairs = await setup.sql`
    select n.url, n.reused_from = o.id as same, n.fetched_at = o.fetched_at as seen, n.warc_key = o.warc_key as record,
      n.fetch_time_ms as time, n.title = o.title as title, f.result_seq as place
    from captures n join captures o on o.id = n.reused_from join frontier f on f.capture_id = n.id
    where n.job_id = ${job.job_id} order by n.url`;
  expect([...pairs]).toEqual(
    all.map((url) => ({ url, same: true, seen: true, record: true, time: 0, title: true, place: expect.any(Number) })),
  );
  expect(pairs.map((row) => row["place"] as number).sort()).toEqual([1, 2, 3]);
  const active = await setup.sql`
    select d.url from documents_active d join document_tags on document_id = d.id where d.job_id = ${job.job_id} order by 1`;
  expect(active.map((row) => row["url"])).toEqual(all);
  const { urls } = await listJobUrls(setup.sql, job.job_id, { limit: 1 });
  expect(urls).toMatchObject([{ reused: true, status_code: 200, document_id: expect.any(String) }]);
  expect(await setup.sql`select hits, misses from cache_counts where cache = 'crawl'`).toMatchObject([
    { hits: 3, misses: 0 },
  ]);
  expect(await setup.sql`select crawled, reused from domain_counts`).toMatchObject([{ crawled: 6, reused: 3 }]);
});

test("a capture that repeats another one has all that is known of it, in every column that there is", async () => {
  const setup = await crawled();
  const own = ["id", "job_id", "url", "depth", "fetch_time_ms", "reused_from"];
  await setup.sql`
    update captures set warc_coding = 'none', warc_inner = 3, refers_to = '{"recordId": "urn:x"}', stated_digest = 'sha1:A',
      text_key = '\\x01', not_indexed = 'noindex', canonical_url = url, etag = '"1"', last_modified = 'then', title = 'Told',
      charset = 'utf-8', language = 'en', revisit_of = id, disallowed = true, rendered = '{"reason": "always"}',
      url_key = 'key'`;
  const { job } = await asked(setup, {});
  await answerFromCache(setup);
  const rows = await setup.sql`
    select to_jsonb(n) - ${own}::text[] as repeated, to_jsonb(o) - ${own}::text[] as original
    from captures n join captures o on o.id = n.reused_from where n.job_id = ${job.job_id}`;
  expect(rows).toHaveLength(all.length);
  for (const { repeated, original } of rows) {
    expect(repeated).toEqual(original);
    const unknown = Object.entries(original as object).flatMap(([name, value]) => (value === null ? [name] : []));
    expect(unknown.toSorted()).toEqual(["error_code", "error_message", "error_retryable"]);
  }
});

test("what was used again is as old as it was when it was fetched", async () => {
  const setup = await crawled();
  await asked(setup, {});
  await answerFromCache(setup);
  await setup.sql`update captures set fetched_at = fetched_at - interval '25 hours'`;
  expect((await asked(setup, {})).fetched).toEqual(all);
});

test.each<[string, Partial<NewJob>, string[]]>([
  ["a job that does not ask for it", { handling: {} }, all],
  ["other headers", { config: crawlConfigSchema.parse({ headers: { "accept-language": "fr" } }) }, all],
  ["other rules for robots", { config: crawlConfigSchema.parse({ respect_robots_txt: false }) }, all],
  ["chunks of another size", { config: crawlConfigSchema.parse({ chunk_size: 100 }) }, all],
  ["a time of its own", { handling: { cache: "use", cache_ttl_s: 0 } }, all],
  ["another pace alone", { config: crawlConfigSchema.parse({ rate_limit_rps: 7, page_timeout_ms: 1000 }) }, []],
])("a capture serves %s only where it would have been made alike", async (_, overrides, fetched) => {
  const setup = await crawled();
  expect((await asked(setup, overrides)).fetched).toEqual(fetched);
});

test("nothing that was cleared, for a domain or for all, is used again, while captures stay", async () => {
  const setup = await crawled();
  await setup.sql`insert into crawl_cache_cleared (domain) values ('b.example')`;
  expect((await asked(setup, {})).fetched).toEqual([]);
  await setup.sql`insert into crawl_cache_cleared (domain) values ('a.example')`;
  expect((await asked(setup, {})).fetched).toEqual(all);
  await setup.sql`update crawl_cache_cleared set domain = '*' where domain = 'a.example'`;
  expect((await asked(setup, {})).fetched).toEqual(all);
  expect((await setup.sql`select from captures where reused_from is null`).length).toBe(3);
});

test("a page that is gone since is fetched, one that merely could not be reached is not", async () => {
  const setup = await crawled();
  const failing: Site = (url) =>
    url === `${base}/b`
      ? { status: 404, error: { code: "HTTP_404", message: "gone", retryable: false } }
      : { status: 503, error: { code: "HTTP_503", message: "busy", retryable: true } };
  await createJob(setup.dependencies, newJob([`${base}/b`, `${base}/c`], { collectionId: null }));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.crawlTask(task, failing);
  const { job } = await asked(setup, {});
  await answerFromCache(setup);
  const tasks = (await setup.tasks()).filter(({ jobId }) => jobId === job.job_id);
  expect(tasks.flatMap((each) => each.urls.map(({ url }) => url))).toEqual([`${base}/b`]);
});

test("a page without a document to use again is fetched, unless the job wants none", async () => {
  const setup = await crawled({}, all.slice(0, 2));
  await setup.sql`update documents set deleted_at = now() where url = ${`${base}/b`}`;
  expect((await asked(setup, {}, all.slice(0, 2))).fetched).toEqual([]);
  expect(await answerFromCache(setup)).toBe(1);
  expect((await setup.tasks()).flatMap((task) => task.urls.map(({ url }) => url))).toEqual([`${base}/b`]);
  const { job, fetched } = await asked(setup, { handling: { cache: "use", index: false } }, all.slice(0, 2));
  expect(fetched).toEqual([]);
  await answerFromCache(setup);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { crawled: 2, documents: 0 },
  });
});

test("a document is copied into the collection that the job is for", async () => {
  const setup = await crawled();
  const collectionId = uuidv7();
  await setup.sql`insert into collections (id, name) values (${collectionId}, 'other')`;
  const { fetched } = await asked(setup, { collectionId });
  expect(fetched).toEqual([]);
  await answerFromCache(setup);
  const found =
    await setup.sql`select collection_id, count(*)::int from documents_active group by 1 order by 1 nulls last`;
  expect([...found]).toEqual([
    { collection_id: collectionId, count: 3 },
    { collection_id: null, count: 3 },
  ]);
});

test("what is not there any more once it is looked up goes on to be fetched, as the same task", async () => {
  const setup = await crawled();
  const { job } = await asked(setup, {});
  await setup.sql`insert into crawl_cache_cleared (domain) values ('*')`;
  await answerFromCache(setup);
  expect(await setup.crawl(site)).toEqual(all);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { crawled: 3 } });
});

test("a lost message costs time and no page: the sweep sends the task to be fetched", async () => {
  const setup = await crawled();
  const { job } = await asked(setup, {});
  expect(await setup.aws.receive("captures", 2)).toHaveLength(1);
  await setup.sql`update frontier set lease_until = now() - interval '1 second' where state = 'claimed'`;
  await sweep(setup.dependencies, Date.now());
  expect(await setup.crawl(site)).toEqual(all);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { crawled: 3 } });
});

test("a message that comes many times at once writes each capture once", async () => {
  const setup = await crawled();
  const { job } = await asked(setup, {});
  await answerFromCache(setup, 4);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { crawled: 3, documents: 3 },
  });
  expect(await setup.sql`select from captures where job_id = ${job.job_id}`).toHaveLength(3);
});

test("a site that is known is walked by the links of its documents, with no more pages than allowed", async () => {
  const setup = await crawled();
  const job = await createJob(setup.dependencies, newSiteJob(`${base}/`, { ...cached, maxPages: 2 }));
  await answerFromCache(setup);
  expect(await setup.tasks()).toEqual([]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    stop_reason: "max_pages",
    counts: { crawled: 2, skipped: 1 },
  });
});

test("chunks that are used again get their vectors like all others", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  await createJob(setup.dependencies, newJob(all));
  await setup.crawl(site);
  await setup.sql`update documents set generation_active = true`;
  await setup.aws.receive("embed-normal", 1);
  const { job } = await asked(setup, {});
  await answerFromCache(setup);
  const [message] = (await setup.aws.receive("embed-normal", 2)) as [{ jobId: string; chunkIds: string[] }];
  expect(message.jobId).toBe(job.job_id);
  const view = await readJob(setup.sql, job.job_id);
  expect(view).toMatchObject({ status: "embedding" });
  expect(message.chunkIds).toHaveLength(view?.counts.unembedded_chunks ?? 0);
});
