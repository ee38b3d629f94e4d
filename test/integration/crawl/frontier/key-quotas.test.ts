/** What the quotas of API keys bound: pages of the day, and bytes that are stored. */
import { expect, test } from "vitest";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { cachedTaskSchema, ingestFromCache } from "../../../../shared/crawl/ingest/ingest-cached.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site } from "../crawl-setup.ts";
import { expectBooksToBalance } from "../real-crawl.ts";

const fan = (count: number): string[] => Array.from({ length: count }, (_, at) => `/p${at}`);
const MEGABYTE = 1_000_000;

async function newKey(sql: Sql, quotas: { pagesPerDay?: number; maxStoredBytes?: number } = {}): Promise<string> {
  const key = await createApiKey(sql, {
    name: "crawler",
    scopes: ["write"],
    rateLimitRpm: 60,
    expiresAt: null,
    ...quotas,
  });
  return key.id;
}

const workOf = async (sql: Sql, apiKeyId: string) =>
  (
    await sql`
    select pages, fetched_bytes > 0 as fetched, documents, stored_bytes::int as stored from key_work
    where api_key_id = ${apiKeyId}`
  )[0];

test("jobs of one key fetch as many pages in a day as its quota says, whatever runs at once", async () => {
  const setup = await crawlSetup();
  const { sql, dependencies } = setup;
  const apiKeyId = await newKey(sql, { pagesPerDay: 47 });
  const tried = new Set<string>();
  const site: Site = (url) => {
    // what was never asked for does not count, and what is tried again counts once
    if (/p[0-3]$/.test(url))
      return { error: { code: "ROBOTS_DENIED", message: "robots.txt forbids it", retryable: false } };
    if (/p[4-9]$/.test(url) && !tried.has(url)) {
      tried.add(url);
      return { status: 500, error: { code: "HTTP_500", message: "fault", retryable: true } };
    }
    return { html: page(url, fan(30), 10) };
  };
  const hosts = ["a", "b", "c", "d", "e"];
  const jobs = await Promise.all(
    hosts.map((host) => createJob(dependencies, newSiteJob(`http://${host}.example/`, { apiKeyId }))),
  );
  await setup.crawl(site, 2);
  const [sum] = await sql`select sum(crawled)::int as crawled, sum(failed)::int as failed from jobs`;
  expect(sum).toEqual({ crawled: 47, failed: 0 });
  expect(await workOf(sql, apiKeyId)).toMatchObject({ pages: 47, fetched: true, documents: 47, stored: 47 });
  for (const { job_id } of jobs) await expectBooksToBalance(sql, job_id);
  const cut = await sql`select stop_reason from jobs where stop_reason <> 'completed'`;
  expect(new Set(cut.map((row) => row["stop_reason"]))).toEqual(new Set(["quota_exceeded"]));
  const codes = await sql`select distinct error_code as code from frontier where state = 'skipped'`;
  expect(new Set(codes.map(({ code }) => code))).toEqual(new Set(["ROBOTS_DENIED", "QUOTA_EXCEEDED"]));

  const another = () => createJob(dependencies, newJob(["http://f.example/"], { apiKeyId }));
  await expect(another()).rejects.toMatchObject({
    status: 429,
    code: "QUOTA_EXCEEDED",
    details: { pages_per_day: 47, resets_at: expect.any(String) },
    headers: { "retry-after": expect.any(String) },
  });
  // a day later
  await sql`update key_work set day = day - 1`;
  expect(await another()).toMatchObject({ status: "pending" });
});

test("a job without a quota counts what it uses, and what the cache answers is no page", async () => {
  const setup = await crawlSetup();
  const { sql, dependencies } = setup;
  const apiKeyId = await newKey(sql);
  const asked = (cache: "use" | "bypass") => newJob(["http://a.example/"], { apiKeyId, handling: { cache } });
  await createJob(dependencies, asked("bypass"));
  await setup.crawl((url) => ({ html: page(url, [], 10) }));
  expect(await workOf(sql, apiKeyId)).toMatchObject({ pages: 1, documents: 1, stored: 1 });
  const again = await createJob(dependencies, asked("use"));
  const [message] = await setup.aws.receive("captures", 1);
  await ingestFromCache(dependencies, cachedTaskSchema.parse(message));
  expect(await readJob(sql, again.job_id)).toMatchObject({ status: "completed", counts: { crawled: 1 } });
  expect(await workOf(sql, apiKeyId)).toMatchObject({ pages: 1, stored: 1 });
});

test("a crawl that a quota has cut leaves what was found of the host before", async () => {
  const setup = await crawlSetup();
  const { sql, dependencies } = setup;
  const site: Site = (url) => ({ html: page(url, fan(6), 10) });
  const visible = async () => (await sql`select from documents_active`).length;
  await createJob(dependencies, newSiteJob("http://a.example/"));
  await setup.crawl(site);
  expect(await visible()).toBe(7);
  const apiKeyId = await newKey(sql, { pagesPerDay: 3 });
  const job = await createJob(dependencies, newSiteJob("http://a.example/", { apiKeyId }));
  await setup.crawl(site);
  expect(await readJob(sql, job.job_id)).toMatchObject({ stop_reason: "quota_exceeded", counts: { crawled: 3 } });
  expect(await visible()).toBe(7);
});

test("nothing more is begun once a key stores as much as it may", async () => {
  const setup = await crawlSetup();
  const { sql, dependencies } = setup;
  const apiKeyId = await newKey(sql, { maxStoredBytes: MEGABYTE });
  await sql`insert into key_work (api_key_id, day, stored_bytes) values (${apiKeyId}, '2026-01-01', ${MEGABYTE - 1})`;
  const job = await createJob(dependencies, newSiteJob("http://a.example/", { apiKeyId }));
  await setup.crawl((url) => ({ html: page(url, fan(30), 10) }));
  expect(await readJob(sql, job.job_id)).toMatchObject({
    status: "completed",
    stop_reason: "quota_exceeded",
    counts: { crawled: 1, skipped: 30 },
  });
  await expect(createJob(dependencies, newJob(["http://b.example/"], { apiKeyId }))).rejects.toMatchObject({
    status: 403,
    code: "STORAGE_QUOTA_EXCEEDED",
    details: { stored_bytes: MEGABYTE, max_stored_bytes: MEGABYTE },
  });
  await sql`update api_keys set max_stored_bytes = ${2 * MEGABYTE}`;
  expect(await createJob(dependencies, newJob(["http://b.example/"], { apiKeyId }))).toMatchObject({
    status: "pending",
  });
});
