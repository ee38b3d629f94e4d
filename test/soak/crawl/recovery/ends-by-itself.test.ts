/**
 * Without the sweep, and with nothing lost: every job ends, whatever its limits and in whatever order its tasks are
 * answered.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { fetchTaskSchema } from "../../../../shared/crawl/tasks/fetch-task.ts";
import type { QueueSender } from "../../../../shared/platform/aws/queues.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site } from "../../../integration/crawl/crawl-setup.ts";
import { expectBooksToBalance } from "../../../integration/crawl/real-crawl.ts";

const HOSTS = ["a", "b", "c"].map((name) => `http://${name}.example`);
const PAGES = 7;

const limits = fc.record({
  kind: fc.constantFrom("pages" as const, "site" as const),
  strategy: fc.constantFrom("bfs" as const, "dfs" as const, "best_first" as const),
  concurrency: fc.constantFrom(1, 1, 2, 3, null),
  maxPages: fc.integer({ min: 1, max: 12 }),
  maxPagesPerHost: fc.constantFrom(null, null, 1, 3),
  /** Tries of each page that fail, by its place; -1: robots.txt forbids it. */
  failures: fc.array(fc.constantFrom(0, 0, 0, 1, 2, 4, -1), { minLength: 21, maxLength: 21 }),
  /** Which of the tasks under way is answered next. */
  turns: fc.infiniteStream(fc.nat({ max: 100 })),
});

test("a job ends by itself", async () => {
  const setup = await crawlSetup();
  // no task waits for its time, so that no test does
  const tasks: unknown[] = [];
  const queues: QueueSender = {
    send: async (_queue, task) => void tasks.push(task),
    sendRaw: () => Promise.reject(new Error("nothing is sent again")),
    sendAll: async (_queue, some) => void tasks.push(...some),
  };
  const dependencies = { ...setup.dependencies, queues };
  await fc.assert(
    fc.asyncProperty(limits, async ({ kind, maxPages, concurrency, failures, turns, ...order }) => {
      const site: Site = (url, { attempt }) => {
        const { origin, pathname } = new URL(url);
        const nth = Number(pathname.slice(1));
        const failing = failures[HOSTS.indexOf(origin) * PAGES + nth] ?? 0;
        const fault = (code: string, retryable: boolean) => ({ error: { code, message: code, retryable } });
        if (failing < 0) return fault("ROBOTS_DENIED", false);
        if (attempt < failing) return fault("CONNECT_FAILED", true);
        const links = [2 * nth + 1, 2 * nth + 2].filter((each) => each < PAGES);
        return {
          html: page(
            url,
            HOSTS.flatMap((host) => links.map((each) => `${host}/${each}`)),
            5,
          ),
        };
      };
      const settings = {
        maxPages,
        order: { strategy: order.strategy, keywords: ["tide"], max_pages_per_host: order.maxPagesPerHost },
        handling: { concurrency, index: false },
      };
      const scope = { mode: "host" as const, roots: HOSTS.map((host) => new URL(host).host), include: [], exclude: [] };
      const seeds = HOSTS.flatMap((host) => [0, 1, 2].map((nth) => `${host}/${nth}`));
      const wanted = kind === "site" ? newSiteJob(`${HOSTS[0]}/0`, { ...settings, scope }) : newJob(seeds, settings);
      const { job_id } = await createJob(dependencies, wanted);
      for (const turn of turns) {
        if (tasks.length === 0) break;
        const task = fetchTaskSchema.parse(tasks.splice(turn % tasks.length, 1)[0]);
        await ingestBatch(dependencies, await setup.capture(task, site));
      }
      const job = await readJob(setup.sql, job_id);
      expect(["completed", "failed"]).toContain(job?.status);
      await expectBooksToBalance(setup.sql, job_id);
    }),
    { numRuns: 40 },
  );
});
