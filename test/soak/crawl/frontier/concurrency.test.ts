/** Many jobs on the same hosts and URLs, at once, with all that can happen to them meanwhile. */
import { expect, test } from "vitest";
import { capturesMessageSchema } from "../../../../shared/capture/capture-batch.ts";
import { endLostUrls } from "../../../../shared/crawl/frontier/give-up.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { cachedTaskSchema, ingestFromCache } from "../../../../shared/crawl/ingest/ingest-cached.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { sweep } from "../../../../shared/crawl/recovery/sweep.ts";
import { readResultRows } from "../../../../shared/crawl/results/rows.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { connectDatabase } from "../../../../shared/platform/database/database.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site } from "../../../integration/crawl/crawl-setup.ts";
import { expectBooksToBalance } from "../../../integration/crawl/real-crawl.ts";

const HOSTS = ["a", "b", "c", "d"].map((name) => `http://${name}.example`);
const PAGES = 30;
const WORKERS = 6;

const path = (url: string) => Number(new URL(url).pathname.slice(1));
const links = (from: number) => [1, 2, 3].map((each) => from * 3 + each).filter((each) => each < PAGES);
/** Of every page some tries fail, and some pages fail for good. */
const site: Site = (url, { attempt }) => {
  const nth = path(url);
  if (nth % 23 === 22) return { status: 410, error: { code: "HTTP_410", message: "gone", retryable: false } };
  if (nth % 7 === 6 && attempt === 0) return { error: { code: "CONNECT_FAILED", message: "reset", retryable: true } };
  return {
    html: page(
      `Page ${nth}`,
      HOSTS.flatMap((host) => links(nth).map((each) => `${host}/${each}`)),
    ),
  };
};

test("jobs on the same pages end each with its books in order, though cancelled, blocked, swept and given up meanwhile", async () => {
  const setup = await crawlSetup();
  const sql = connectDatabase({ url: setup.databaseUrl, poolSize: WORKERS + 4 });
  const dependencies = { ...setup.dependencies, sql };
  const urls = HOSTS.flatMap((host) => Array.from({ length: 12 }, (_, nth) => `${host}/${nth}`));
  const scope = { mode: "host" as const, roots: HOSTS.map((host) => new URL(host).host), include: [], exclude: [] };
  const jobs = await Promise.all([
    ...["bfs" as const, "dfs" as const, "best_first" as const].map((strategy) =>
      createJob(
        dependencies,
        newSiteJob(`${HOSTS[0]}/0`, { scope, order: { strategy, keywords: ["page"], max_pages_per_host: 20 } }),
      ),
    ),
    createJob(dependencies, newJob(urls)),
    createJob(dependencies, newJob(urls.toReversed(), { handling: { cache: "use", cache_ttl_s: 3_600 } })),
    createJob(dependencies, newJob(urls, { handling: { cache: "use", cache_ttl_s: 3_600 } })),
    createJob(dependencies, newSiteJob(`${HOSTS[1]}/0`, { scope, maxPages: 40 })),
  ]);
  const toCancel = jobs[2]?.job_id ?? "";
  /** It may be over before its turn comes. */
  let cancelled = false;
  let handled = 0;
  let over = false;

  const answer = async (task: FetchTask): Promise<void> => {
    handled += 1;
    if (handled === 20) cancelled = (await cancelJob(dependencies, toCancel)) === "cancelled";
    if (handled === 30) {
      await sql`insert into domain_settings (domain, is_blocked, revision) values ('d.example', true, 1)`;
    }
    // a site without its first page would fail as a whole
    const isFirstPage = task.urls.length === 1 && task.urls[0]?.depth === 0;
    if (handled % 11 === 10 && !isFirstPage) {
      return void (await endLostUrls(dependencies, task.jobId, task.taskId, null));
    }
    // parts of a task arrive as batches of their own, at once and twice
    const parts = [task.urls.slice(0, 5), task.urls.slice(5)].filter(({ length }) => length > 0);
    const messages = await Promise.all(parts.map((part) => setup.capture(task, site, part)));
    await Promise.all([...messages, ...messages].map((message) => ingestBatch(dependencies, message)));
  };
  const work = async (): Promise<void> => {
    while (!over) {
      for (const task of await setup.tasks()) await answer(task);
      for (const message of await setup.aws.receive("captures")) {
        const cached = cachedTaskSchema.safeParse(message).data;
        if (cached) await Promise.all([ingestFromCache(dependencies, cached), ingestFromCache(dependencies, cached)]);
        else await ingestBatch(dependencies, capturesMessageSchema.parse(message));
      }
    }
  };
  const sweepOften = async (): Promise<void> => {
    while (!over) {
      await sql`update jobs set updated_at = now() - interval '5 minutes' where id = any(${jobs.map(({ job_id }) => job_id)})`;
      await sql`update frontier set lease_until = now() where state = 'claimed' and sends < 3 and url like '%5'`;
      await sweep(dependencies, Date.now());
    }
  };
  const read = async (jobId: string): Promise<number[]> => {
    const job = { id: jobId, generationId: crypto.randomUUID() };
    const seen: number[] = [];
    for (;;) {
      const wasOver = over;
      const rows = await readResultRows(sql, job, { after: seen.at(-1) ?? 0, limit: 9 });
      seen.push(...rows.map(({ cursor }) => cursor));
      if (wasOver && rows.length === 0) return seen;
    }
  };
  const end = async (): Promise<void> => {
    try {
      await expect
        .poll(() => sql`select id, status, open_urls, cancel_requested from jobs where completed_at is null`)
        .toEqual([]);
    } finally {
      over = true;
    }
  };
  const readers = jobs.map(({ job_id }) => read(job_id));
  await Promise.all([end(), sweepOften(), ...Array.from({ length: WORKERS }, work)]);

  for (const [nth, { job_id }] of jobs.entries()) {
    const job = await readJob(sql, job_id);
    expect(job?.status).toBe(cancelled && job_id === toCancel ? "cancelled" : "completed");
    await expectBooksToBalance(sql, job_id);
    const [row] = await sql<{ results: number }[]>`select results from jobs where id = ${job_id}`;
    expect(await readers[nth]).toEqual(Array.from({ length: row?.results ?? 0 }, (_, at) => at + 1));
  }
  const [twice] = await sql`
    select count(*)::int as captures from (
      select from captures where error_code is null group by job_id, url_hash having count(*) > 1) c`;
  expect(twice).toEqual({ captures: 0 });
  const [active] = await sql`
    select count(*)::int as documents, count(distinct url_hash)::int as urls from documents_active`;
  expect(active?.["documents"]).toBe(active?.["urls"]);
  const [database] = await sql`select deadlocks::int from pg_stat_database where datname = current_database()`;
  expect(database).toEqual({ deadlocks: 0 });
  await sql.end();
});
