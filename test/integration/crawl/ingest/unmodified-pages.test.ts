import { expect, test } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { listJobUrls, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { type CrawlConfig, crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site, siteOf } from "../crawl-setup.ts";

const base = "http://a.example";
const first = siteOf(base, { "/": page("Home", ["/b"]), "/b": page("B", ["/c"]), "/c": page("C", ["/"]) });
/** Answers 304 wherever the crawler asks on a condition. */
const unmodified =
  (site: Site): Site =>
  (url, asked) =>
    (asked.prior?.etag ?? null) === null ? site(url, asked) : { notModified: true };

test("a recrawl that is answered 304 throughout finds the same pages and carries them over, unread", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  await createJob({ ...setup.dependencies }, newSiteJob(`${base}/`));
  await setup.crawl(first);
  // as the embedder would leave it
  await setup.sql`update embeddings set state = 'done'`;
  await setup.sql`update jobs set unembedded_chunks = 0, status = 'completed', completed_at = now()`;
  await setup.sql`update documents set generation_active = true`;
  const again = await createJob(setup.dependencies, newSiteJob(`${base}/`));
  expect(await setup.crawl(unmodified(first))).toEqual(["/", "/b", "/c"].map((path) => base + path));
  const view = await readJob(setup.sql, again.job_id);
  expect(view).toMatchObject({ status: "embedding", counts: { crawled: 3, documents: 3 } });
  expect(view?.counts.unembedded_chunks).toBeGreaterThan(0);
  const parts = (generation: "old" | "new") => setup.sql`
    select d.url, d.title, d.capture_id, d.links, d.content, d.sections,
      array(select (c.chunk_index, c.content, c.start_char, c.end_char, c.fts, c.section)::text
        from chunks c where c.document_id = d.id order by chunk_index) as chunks
    from documents d where (d.job_id = ${again.job_id}) = ${generation === "new"} order by d.url`;
  expect([...(await parts("new"))]).toEqual([...(await parts("old"))]);
  const { urls } = await listJobUrls(setup.sql, again.job_id, { limit: 1 });
  expect(urls).toMatchObject([{ not_modified: true, status_code: 304, document_id: expect.any(String) }]);
});

test("validators of a page are sent along only where its document can be carried over; the digest of its response always", async () => {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newJob([`${base}/`, `${base}/fr`]));
  const french = page("Bonjour").replace('lang="en"', 'lang="fr"');
  await setup.crawl(siteOf(base, { "/": page("Home"), "/fr": french }));
  await createJob(setup.dependencies, newJob([`${base}/`, `${base}/fr`]));
  const [task] = (await setup.tasks()) as [FetchTask];
  expect(task.urls).toMatchObject([
    { url: `${base}/`, prior: { etag: '"1"', url: `${base}/`, recordId: expect.any(String) } },
    { url: `${base}/fr`, prior: { etag: null, lastModified: null, payloadDigest: expect.any(String) } },
  ]);
});

/** What is known of a page that was crawled with the first settings, to whoever crawls it with the second. */
async function priorOf(then: object, now: object, rendered: object | null = null) {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newJob([`${base}/`], { config: crawlConfigSchema.parse(then) }));
  await setup.crawl(first);
  await setup.sql`update captures set rendered = ${rendered === null ? null : setup.sql.json(rendered as never)}`;
  await createJob(setup.dependencies, newJob([`${base}/`], { config: crawlConfigSchema.parse(now) }));
  const [task] = (await setup.tasks()) as [FetchTask];
  return task.urls[0]?.prior;
}

test.each([
  [{ include_selectors: ["h1"] }],
  [{ exclude_selectors: ["nav"] }],
  [{ only_main_content: false }],
  [{ headers: { "accept-language": "fr" } }],
  [{ render: "auto" }],
  [{ render: "always" }],
  [{ pdf: "read" }],
])("validators are not sent along where %j may keep something else of the page", async (settings) => {
  expect(await priorOf({}, settings)).toMatchObject({ etag: null, payloadDigest: expect.any(String) });
  expect(await priorOf(settings, {})).toMatchObject({ etag: null, payloadDigest: expect.any(String) });
  expect(await priorOf(settings, { ...settings, page_timeout_ms: 9_000 })).toMatchObject({ etag: '"1"' });
});

test.each([
  ["always", { reason: "always", renderer: "chromium", warc: null, error: null }, null],
  ["auto", { reason: "an application's root is empty", renderer: "chromium", warc: null, error: null }, null],
  ["auto", null, '"1"'],
  ["auto", { reason: "pdf", renderer: "pdfjs", warc: null, error: null }, '"1"'],
])("a page is opened in a browser again though its HTML is unmodified (%s, %j)", async (render, rendered, etag) => {
  const prior = await priorOf({ render }, { render }, rendered);
  expect(prior).toMatchObject({ etag, lastModified: null, payloadDigest: expect.any(String) });
});

/** Every setting, with another value than its default. */
const OTHER_SETTINGS: Record<keyof CrawlConfig, unknown> = {
  rate_limit_rps: 3,
  page_timeout_ms: 9_000,
  respect_robots_txt: false,
  headers: { "x-team": "blue" },
  chunk_size: 100,
  chunk_overlap: 20,
  min_chunk_size: 20,
  max_page_size_mb: 3,
  max_redirects: 3,
  languages: ["en", "de"],
  session_ids: "keep",
  ignore_parameters: ["x"],
  render: "always",
  pdf: "read",
  wait_for: "#x",
  viewport: { width: 500, height: 500 },
  mobile: true,
  actions: [{ type: "scroll", pixels: 100 }],
  cookies: [{ host: "a.example", name: "a", value: "b" }],
  session: true,
  include_selectors: ["h1"],
  exclude_selectors: ["aside"],
  only_main_content: false,
  proxy_id: uuidv7(),
};

test("validators are not sent along where any other setting would keep something else of the page", async () => {
  expect(Object.keys(OTHER_SETTINGS).toSorted()).toEqual(Object.keys(crawlConfigSchema.shape).toSorted());
  const setup = await crawlSetup();
  const taskWith = async (url: string, settings: object) => {
    const config = crawlConfigSchema.parse(settings);
    await createJob(setup.dependencies, newJob([url], { config }));
    return (await setup.tasks()) as [FetchTask];
  };
  const url = `${base}/`;
  const [made] = await taskWith(url, {});
  await ingestBatch(setup.dependencies, await setup.capture(made, first));
  const [same] = await taskWith(url, {});
  expect(same.urls[0]?.prior).toMatchObject({ etag: '"1"' });
  for (const [name, value] of Object.entries(OTHER_SETTINGS)) {
    const [task] = await taskWith(url, { [name]: value });
    const kept = name === "rate_limit_rps" || name === "page_timeout_ms";
    const { etag, payloadDigest } = task.urls[0]?.prior ?? {};
    expect([name, etag, typeof payloadDigest]).toEqual([name, kept ? '"1"' : null, "string"]);
  }
});

test("a page that is called unmodified but is no longer known is asked for once more, unconditionally", async () => {
  const setup = await crawlSetup();
  await createJob(setup.dependencies, newJob([`${base}/`]));
  await setup.crawl(first);
  const again = await createJob(setup.dependencies, newJob([`${base}/`]));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.sql`update documents set deleted_at = now()`;
  await ingestBatch(setup.dependencies, await setup.capture(task, unmodified(first)));
  const [second] = (await setup.tasks(20)) as [FetchTask];
  expect(second.urls).toMatchObject([{ attempt: 1, prior: { etag: null, lastModified: null } }]);
  await ingestBatch(setup.dependencies, await setup.capture(second, unmodified(first)));
  expect(await readJob(setup.sql, again.job_id)).toMatchObject({ status: "completed", counts: { documents: 1 } });
});
