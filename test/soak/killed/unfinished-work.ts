/** Pieces of work that a `kill -9` meets in the middle, and what must have become of each after the restart. */
import postgres from "postgres";
import { expect } from "vitest";
import { expectOrder, PAGES as FOLLOWED_PAGES, startCrawl } from "../../e2e/followed-crawls.ts";
import type { Harvest } from "../../e2e/harvest-setup.ts";
import { startGraphSite } from "../../services/graph-site.ts";
import type { RunningInstance } from "../../services/instance.ts";
import { listen } from "../../services/listeners.ts";
import { startSite } from "../../sites/site.ts";

export interface UnfinishedWork {
  /** While nothing runs. */
  afterKill(): Promise<void> | void;
  /** Waits for the end of the work, and checks it. */
  afterRestart(restarted: RunningInstance): Promise<void>;
}

/** Resolves when the work is under way and cannot end before the kill. */
export type BeginWork = (harvest: Harvest) => Promise<UnfinishedWork>;

const PAGES = 500;

export const crawlHalfWay: BeginWork = async ({ instance }) => {
  const site = await startGraphSite(PAGES);
  // so that it is killed in the middle, however late this process gets to it
  site.holdAfter(PAGES / 2);
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: site.url,
    max_depth: 50,
    max_pages: PAGES,
    config: { rate_limit_rps: 200 },
  });
  await site.waitForRequests(PAGES / 3);
  return {
    afterKill() {
      expect(site.pagesRequested()).toBeLessThan(PAGES);
      site.release();
    },
    async afterRestart(restarted) {
      const job = await restarted.waitForJob(job_id);
      expect(job.counts).toMatchObject({
        discovered: PAGES,
        crawled: PAGES,
        failed: 0,
        skipped: 0,
        open: 0,
        documents: PAGES,
      });
      expect(Math.max(...site.requestsByPath().values())).toBeLessThanOrEqual(2);
      await withDatabase(restarted, async (sql) => {
        const [states] = await sql`select count(*)::int as urls, count(distinct url_hash)::int as distinct_urls,
          count(*) filter (where state = 'crawled')::int as crawled from frontier where job_id = ${job_id}`;
        expect(states).toEqual({ urls: PAGES, distinct_urls: PAGES, crawled: PAGES });
        const ofSite = `${site.url}%`;
        const [documents] = await sql`select count(*)::int as documents, count(distinct url)::int as urls
          from documents_active where url like ${ofSite}`;
        expect(documents).toEqual({ documents: PAGES, urls: PAGES });
        const [captures] = await sql`select count(*)::int as captures, count(distinct url)::int as urls
          from captures where url like ${ofSite}`;
        expect(captures).toEqual({ captures: PAGES, urls: PAGES });
      });
      await site.close();
    },
  };
};

/** Less than what fetch reserves at a time: 50 slots of a second each. */
const BEFORE_ITS_SLOTS_MS = 40_000;

/** A minute of the host's slots is reserved when the kill comes; this work may be killed any number of times. */
export const crawlOfSlowHost: BeginWork = async ({ instance }) => {
  const site = await startGraphSite(400);
  const asked = () => [...site.requestsByPath().values()].reduce((sum, requests) => sum + requests, 0);
  await instance.call("POST", "/api/v1/crawl", {
    urls: Array.from({ length: 300 }, (_, page) => `${site.url}p/${page + 1}`),
    config: { rate_limit_rps: 1 },
  });
  await expect.poll(asked).toBeGreaterThan(1);
  let then = 0;
  return {
    afterKill() {
      then = asked();
    },
    async afterRestart() {
      await expect.poll(asked, { timeout: BEFORE_ITS_SLOTS_MS }).toBeGreaterThan(then);
    },
  };
};

export const discovery: BeginWork = async ({ instance }) => {
  const reached = Promise.withResolvers<void>();
  const site = await startSite({
    "/robots.txt": () => {
      reached.resolve();
      return { body: "", delayMs: 60_000 };
    },
  });
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/discover", { domain: site.origin });
  await reached.promise;
  return {
    afterKill: () => site.route({ "/robots.txt": { status: 404 }, "/sitemap.txt": { body: `${site.origin}/1\n` } }),
    async afterRestart(restarted) {
      const read = () => restarted.call<{ status: string }>("GET", `/api/v1/discover/${job_id}?limit=1000`);
      await expect.poll(async () => (await read()).status).toMatch(/completed|failed/);
      expect(await read()).toMatchObject({ status: "completed", urls_found: 1 });
      await site.close();
    },
  };
};

export const followedCrawl: BeginWork = async ({ instance }) => {
  const site = await startGraphSite(FOLLOWED_PAGES);
  site.holdAfter(0);
  const jobId = await startCrawl(instance, site, 40);
  const follow = ({ url, apiKey: key }: RunningInstance) => listen(url, jobId, { key });
  const before = await Promise.all(Array.from({ length: 10 }, () => follow(instance)));
  site.release();
  site.holdAfter(FOLLOWED_PAGES / 2);
  await expect.poll(() => before.every(({ events }) => events.length > 1)).toBe(true);
  return {
    afterKill: () => site.release(),
    async afterRestart(restarted) {
      const { events, closed } = await follow(restarted);
      await closed;
      expectOrder(events, "completed");
      await restarted.waitForJob(jobId);
      await site.close();
    },
  };
};

export const searchRunAsking =
  (whom: "the model" | "a provider"): BeginWork =>
  async (harvest) => {
    const { llm, doubles, run, asked, question } = harvest;
    await harvest.reset();
    const [known, unknown] = [question(), question()];
    expect(await run(known)).toMatchObject({ status: 201 });
    await harvest.reset();
    if (whom === "the model") llm.answer = () => ({ delayMs: 60_000 });
    else doubles.google.answer = () => ({ delayMs: 60_000 });
    const cut = run(whom === "the model" ? unknown : known).then(
      ({ status }) => status,
      () => "cut",
    );
    await expect.poll(() => (whom === "the model" ? llm : doubles.google).asked.length).toBe(1);
    let before: number[] = [];
    return {
      async afterKill() {
        expect(await cut).toBe("cut");
        before = [llm.asked.length, asked()];
      },
      async afterRestart(restarted) {
        await withDatabase(restarted, async (sql) => {
          const queries = [known, unknown];
          const [stored] = await sql`
            select (select count(*)::int from search_runs where query = any(${queries})) as runs,
              (select count(*)::int from queries where original_query = any(${queries})) as queries,
              (select count(distinct run_id)::int from search_results_raw join search_runs r on r.id = run_id
               where r.query = any(${queries})) as raw`;
          expect(stored).toEqual({ runs: 1, queries: 1, raw: 1 });
        });
        expect([llm.asked.length, asked()]).toEqual(before);
        await harvest.reset();
        const made = await restarted.call<{ providers_used: string[] }>("POST", "/search-runs", { query: known });
        expect(made.providers_used).toEqual(["serper", "google", "brave"]);
        // what was cut is not among it
        expect([llm.asked.length, asked()]).toEqual([0, 3]);
      },
    };
  };

async function withDatabase(instance: RunningInstance, work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
