/** Failed jobs as the API lists them, and their retries. */
import { expect, test } from "vitest";
import { createApi } from "../../../../functions/adapters/api/api.ts";
import type { CrawlApi } from "../../../../functions/crawl-api/dependencies.ts";
import { listFailed, retry } from "../../../../functions/crawl-api/failures.ts";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { createGate } from "../../../../shared/access/authorize.ts";
import { createKeyCache } from "../../../../shared/access/key-cache.ts";
import { createRateLimiter } from "../../../../shared/access/rate-limit.ts";
import { createUrlInspector } from "../../../../shared/access/url-inspection.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { recordDeadLetter } from "../../../../shared/crawl/recovery/dead-letters.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { retryJob } from "../../../../shared/crawl/submit/retry-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { createListening } from "../../../../shared/crawl/tasks/listening.ts";
import { hostScope } from "../../../../shared/crawl/urls/scope.ts";
import { systemClock } from "../../../../shared/platform/clock.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi } from "../../../services/api.ts";
import { type Answer, crawlSetup, newJob, newSiteJob, page, siteOf } from "../crawl-setup.ts";

const base = "http://a.example";
const failing = (code: string, retryable = false): Answer => ({ error: { code, message: code, retryable } });

async function failures() {
  const setup = await crawlSetup();
  const { aws, sql, dependencies } = setup;
  const { key } = await createApiKey(sql, { name: "t", scopes: ["write"], rateLimitRpm: 100_000, expiresAt: null });
  const cache = createKeyCache(aws.dynamo, aws.stateTable);
  const container: CrawlApi = {
    ...dependencies,
    config: loadConfig(aws.env),
    dynamo: aws.dynamo,
    gate: createGate({ sql, cache, limiter: createRateLimiter(aws.dynamo, aws.stateTable) }),
    cache,
    inspector: createUrlInspector([]),
    listening: createListening({ flags: dependencies.flags, clock: systemClock, log: dependencies.log }),
  };
  const api = createApi("crawl-api", [listFailed, retry], () => container);
  return {
    ...setup,
    list: (query = "") => callApi(api, { path: `/api/v1/jobs/failed${query}`, key }),
    retry: (jobId: string, query = "") =>
      callApi(api, { method: "POST", path: `/api/v1/jobs/${jobId}/retry${query}`, key }),
    settings: async (jobId: string) =>
      (
        await sql`
          select kind, priority, collection_id, settings, retry_of, delivery, api_key_id is not null as owned,
            round(extract(epoch from deadline_at - created_at))::int as limit_s
          from jobs where id = ${jobId}`
      )[0],
  };
}

test("jobs that failed, hold failed URLs or dead letters are listed with their error codes counted; others are not", async () => {
  const setup = await failures();
  const fine = await createJob(setup.dependencies, newJob([`${base}/ok`]));
  const partly = await createJob(setup.dependencies, newJob(["/ok", "/a", "/b", "/dns"].map((path) => base + path)));
  await setup.crawl(siteOf(base, { "/ok": page("ok"), "/dns": failing("DNS_FAILURE") }));
  const down = await createJob(setup.dependencies, newSiteJob("http://down.example/"));
  await setup.crawl(() => failing("TLS_ERROR"));
  const waiting = await createJob(setup.dependencies, newJob([`${base}/waits`]));
  const [task] = (await setup.tasks()) as [FetchTask];
  const letter = { queue: "fetch-normal", messageId: uuidv7(), body: JSON.stringify(task), receiveCount: 12 };
  await recordDeadLetter({ ...setup.dependencies, redrive: { most: 3, firstS: 60 } }, { ...letter, attributes: {} });

  const { status, body } = await setup.list();
  expect(status).toBe(200);
  const jobs = body.items.map((job: { job_id: string }) => job.job_id);
  expect(jobs).toEqual([waiting.job_id, down.job_id, partly.job_id]);
  expect(jobs).not.toContain(fine.job_id);
  expect(body.items).toMatchObject([
    {
      status: "pending",
      errors: [],
      dead_letters: [{ queue: "fetch-normal", state: "waiting", redrives: 0, redrive_at: expect.any(String) }],
    },
    { status: "failed", errors: [{ code: "TLS_ERROR", count: 1 }], dead_letters: [] },
    {
      status: "completed",
      errors: [
        { code: "HTTP_404", count: 2 },
        { code: "DNS_FAILURE", count: 1 },
      ],
    },
  ]);
  const first = await setup.list("?limit=2");
  expect(first.body).toMatchObject({ has_more: true });
  const second = await setup.list(`?limit=2&cursor=${first.body.next_cursor}`);
  expect(second.body.items.map((job: { job_id: string }) => job.job_id)).toEqual([partly.job_id]);
  expect(second.body).toMatchObject({ has_more: false, next_cursor: null });
  expect(await setup.list("?cursor=nonsense")).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
});

test("a failed job is run again with everything that it was asked for", async () => {
  const setup = await failures();
  const collectionId = uuidv7();
  await setup.sql`insert into collections (id, name) values (${collectionId}, 'c')`;
  const seed = "http://down.example/docs/";
  const job = await createJob(setup.dependencies, {
    ...newSiteJob(seed, { maxDepth: 3, maxPages: 42, priority: "high", collectionId, tags: ["tides"], timeoutS: 600 }),
    scope: { ...hostScope("down.example"), exclude: ["/private"] },
    config: crawlConfigSchema.parse({ page_timeout_ms: 1234, headers: { "x-a": "b" }, languages: ["de"] }),
    order: { strategy: "best_first", keywords: ["sea"], score_threshold: 0.25 },
    handling: { index: false, concurrency: 3, cache_ttl_s: 77, fields: { include: "title" } },
    delivery: "store",
  });
  await setup.crawl(() => failing("TLS_ERROR"));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "failed" });
  const before = await setup.settings(job.job_id);
  const { status, body } = await setup.retry(job.job_id);
  expect(status).toBe(202);
  expect(body).toMatchObject({ retry_of: job.job_id, status: "pending", urls: 1, left: 0 });
  expect(await setup.settings(body.job_id)).toEqual({ ...before, retry_of: job.job_id, owned: true });
  await setup.crawl(() => ({ html: page("Up again") }));
  expect(await readJob(setup.sql, body.job_id)).toMatchObject({ status: "completed", counts: { crawled: 1 } });
});

test("of a completed site crawl just the failed URLs are tried again, and nothing else is replaced", async () => {
  const setup = await failures();
  const site = siteOf(base, { "/": page("Home", ["/a", "/b", "/gone"]), "/a": page("A"), "/b": failing("TLS_ERROR") });
  const job = await createJob(setup.dependencies, newSiteJob(`${base}/`));
  await setup.crawl(site);
  const { body } = await setup.retry(job.job_id);
  expect(body).toMatchObject({ urls: 2, left: 0 });
  const mended = siteOf(base, { "/b": page("B", ["/further"]) });
  expect((await setup.crawl(mended)).toSorted()).toEqual([`${base}/b`, `${base}/gone`]);
  const pages = await setup.sql`select url from documents_active order by url`;
  expect(pages.map(({ url }) => url)).toEqual(["/", "/a", "/b"].map((path) => base + path));

  // what a retry has crawled is not asked for again
  const again = await setup.retry(job.job_id);
  expect(again.body).toMatchObject({ urls: 1 });
  await setup.crawl(siteOf(base, { "/gone": page("Back") }));
  expect(await setup.retry(job.job_id)).toMatchObject({ status: 409, body: { code: "NOTHING_TO_RETRY" } });
});

test("with only=transient, faults that cannot have passed are left out", async () => {
  const setup = await failures();
  const job = await createJob(setup.dependencies, newJob(["/gone", "/reset", "/lost"].map((path) => base + path)));
  const [task] = (await setup.tasks()) as [FetchTask];
  await setup.sql`update frontier set attempt = 3`;
  const [gone, reset] = task.urls;
  if (gone === undefined || reset === undefined) throw new Error("no URLs");
  await setup.crawlTask(
    { ...task, urls: [gone, reset] },
    siteOf(base, { "/reset": failing("CONNECTION_RESET", true) }),
  );
  await recordDeadLetter(
    { ...setup.dependencies, redrive: { most: 0, firstS: 1 } },
    { queue: "fetch-normal", messageId: uuidv7(), body: JSON.stringify(task), receiveCount: 12, attributes: {} },
  );
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "failed", counts: { failed: 3 } });
  const { body } = await setup.retry(job.job_id, "?only=transient");
  expect(body).toMatchObject({ urls: 2 });
  const asked = (await setup.tasks()).flatMap((each) => each.urls.map(({ url }) => url));
  expect(asked.toSorted()).toEqual([`${base}/lost`, `${base}/reset`]);
});

test("two retries at once start one job, and a further one once that has ended", async () => {
  const setup = await failures();
  const job = await createJob(setup.dependencies, newJob([`${base}/gone`]));
  await setup.crawl(siteOf(base, {}));
  const answers = await Promise.all([1, 2, 3].map(() => setup.retry(job.job_id)));
  const [taken] = answers.filter(({ status }) => status === 202);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
  expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
    code: "RETRY_UNFINISHED",
    details: { job_id: taken?.body.job_id },
  });
  await setup.crawl(siteOf(base, {}));
  expect(await setup.retry(job.job_id)).toMatchObject({ status: 202 });
});

test("a retry that began while another one started and ended does not ask for what that one has crawled", async () => {
  const setup = await failures();
  const { dependencies } = setup;
  const { job_id } = await createJob(dependencies, newJob([`${base}/a`, `${base}/b`]));
  await setup.crawl(() => failing("HTTP_500"));
  const again = { only: "all", apiKeyId: null } as const;
  // what is to be retried is read before the job is marked as active
  const markActive = async () => {
    await retryJob(dependencies, job_id, again);
    await setup.crawl(siteOf(base, { "/a": page("a"), "/b": failing("HTTP_500") }));
    await dependencies.flags.markActive();
  };
  let marked = false;
  const flags = {
    ...dependencies.flags,
    markActive: () => {
      if (marked) return dependencies.flags.markActive();
      marked = true;
      return markActive();
    },
  };
  const { job } = await retryJob({ ...dependencies, flags }, job_id, again);
  expect(job.counts).toMatchObject({ discovered: 1 });
  expect((await setup.tasks()).flatMap(({ urls }) => urls.map(({ url }) => url))).toEqual([`${base}/b`]);
});

test("what cannot be retried says why", async () => {
  const setup = await failures();
  expect(await setup.retry(uuidv7())).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  expect(await setup.retry("failed")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  const job = await createJob(setup.dependencies, newJob([`${base}/`]));
  expect(await setup.retry(job.job_id)).toMatchObject({ status: 409, body: { code: "JOB_UNFINISHED" } });
  expect(await setup.retry(job.job_id, "?only=some")).toMatchObject({
    status: 400,
    body: { code: "VALIDATION_ERROR" },
  });
  await setup.crawl(siteOf(base, { "/": page("Home") }));
  expect(await setup.retry(job.job_id)).toMatchObject({ status: 409, body: { code: "NOTHING_TO_RETRY" } });
  const cancelled = await createJob(setup.dependencies, newJob([`${base}/c`]));
  await setup.sql`update frontier set state = 'pending', task_id = null, lease_until = null where job_id = ${cancelled.job_id}`;
  await cancelJob(setup.dependencies, cancelled.job_id);
  expect(await setup.retry(cancelled.job_id)).toMatchObject({
    status: 409,
    body: { code: "NOTHING_TO_RETRY", error: expect.stringContaining("cancelled") },
  });
});

test("a job without a single page failed where something of it failed, and says with which codes", async () => {
  const setup = await failures();
  const denied = failing("ROBOTS_DENIED");
  const open = { error: { code: "CIRCUIT_OPEN", message: "It is left alone until noon", retryable: false } };
  const site = siteOf(base, { "/tls": failing("TLS_ERROR"), "/denied": denied, "/ok": page("ok"), "/open": open });
  const endOf = async (paths: readonly string[]) => {
    const { job_id } = await createJob(setup.dependencies, newJob(paths.map((path) => base + path)));
    await setup.crawl(site);
    const { status, stop_reason, error } = (await readJob(setup.sql, job_id)) ?? {};
    return { status, stop_reason, error };
  };
  const failed = { status: "failed", stop_reason: "error" };
  expect(await endOf(["/gone"])).toEqual({ ...failed, error: `The page failed: HTTP_404 (${base}/gone)` });
  expect(await endOf(["/a", "/tls", "/b"])).toEqual({
    ...failed,
    error: "All 3 pages failed: 2 × HTTP_404, 1 × TLS_ERROR",
  });
  expect(await endOf(["/a", "/tls", "/denied"])).toEqual({
    ...failed,
    error: "Of 3 pages, 2 failed: 1 × HTTP_404, 1 × TLS_ERROR; 1 skipped: 1 × ROBOTS_DENIED",
  });
  expect(await endOf(["/open"])).toEqual({
    ...failed,
    error: `The page failed: CIRCUIT_OPEN (${base}/open). It is left alone until noon`,
  });
  expect(await endOf(["/tls", "/open"])).toEqual({
    ...failed,
    error: "All 2 pages failed: 1 × CIRCUIT_OPEN, 1 × TLS_ERROR. It is left alone until noon",
  });
  const completed = { status: "completed", stop_reason: "completed", error: null };
  expect(await endOf(["/a", "/ok"])).toEqual(completed);
  // robots.txt was obeyed: that is no failure
  expect(await endOf(["/denied"])).toEqual(completed);
});

test("a page that is gone is found no more, although its job failed; one that merely failed stays", async () => {
  const setup = await failures();
  const urls = [`${base}/gone`, `${base}/down`];
  await createJob(setup.dependencies, newJob(urls));
  await setup.crawl((url) => ({ html: page(url) }));
  const job = await createJob(setup.dependencies, newJob(urls));
  await setup.crawl(siteOf(base, { "/down": failing("TLS_ERROR") }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "failed" });
  expect([...(await setup.sql`select url from documents_active`)]).toEqual([{ url: `${base}/down` }]);
});

test("given pages that all failed are tried again with those that were skipped, without what a retry has crawled", async () => {
  const setup = await failures();
  const late = failing("TIMEOUT");
  const { job_id } = await createJob(setup.dependencies, newJob(["/a", "/b", "/late"].map((path) => base + path)));
  await setup.crawl(siteOf(base, { "/late": late }));
  expect((await setup.retry(job_id)).body).toMatchObject({ urls: 3 });
  await setup.crawl(siteOf(base, { "/a": page("A"), "/late": late }));
  expect((await setup.retry(job_id)).body).toMatchObject({ urls: 2 });
});
