/** A crawl with its fetcher, in this process: requests leave for real, so that a site sees in which order. */
import { expect } from "vitest";
import { z } from "zod";
import { fetchDependencies } from "../../../functions/fetch/dependencies.ts";
import { capturesMessageSchema } from "../../../shared/capture/capture-batch.ts";
import { runFetchTask } from "../../../shared/crawl/fetch/run-task.ts";
import { ingestBatch } from "../../../shared/crawl/ingest/ingest-batch.ts";
import { recordTaskNote } from "../../../shared/crawl/jobs/lifecycle.ts";
import { type JobView, readJob } from "../../../shared/crawl/jobs/views.ts";
import { createJob, type NewJob } from "../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../shared/crawl/tasks/fetch-task.ts";
import { taskNoteSchema } from "../../../shared/crawl/tasks/task-note.ts";
import { loadConfig } from "../../../shared/platform/config.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { crawlSetup } from "./crawl-setup.ts";

const messageSchema = z.union([capturesMessageSchema, taskNoteSchema]);
const ENDED = ["completed", "failed", "cancelled"];

export async function realCrawl(env: Record<string, string> = {}) {
  const setup = await crawlSetup();
  const config = loadConfig({ ...setup.aws.env, ACCESS__ALLOW_HOSTS: "127.0.0.1", LOG_LEVEL: "error", ...env });
  const log = createLogger({}, config.logLevel, (line) => setup.logged.push(line));
  const fetch = { ...fetchDependencies(config, setup.aws, log), queues: setup.aws.queues };
  const sent: FetchTask[] = [];
  return {
    ...setup,
    /** Every task that fetch was given. */
    sent,
    /** Takes the jobs at once and works until all have ended. */
    async run(...jobs: NewJob[]): Promise<JobView[]> {
      const views = await Promise.all(jobs.map((job) => createJob(setup.dependencies, job)));
      return await this.finish(views.map(({ job_id }) => job_id));
    },
    /** Works until jobs that were taken have ended. */
    async finish(jobIds: readonly string[]): Promise<JobView[]> {
      const running = new Set<Promise<void>>();
      let fault: unknown;
      for (;;) {
        const tasks = await setup.tasks();
        sent.push(...tasks);
        for (const task of tasks) {
          const work: Promise<void> = runFetchTask(fetch, task, { receiveCount: 1, remainingMs: () => 300_000, log })
            .catch((error: unknown) => {
              fault = error;
            })
            .finally(() => running.delete(work));
          running.add(work);
        }
        const messages = (await setup.aws.receive("captures")).map((message) => messageSchema.parse(message));
        await Promise.all(
          messages.map((message) =>
            "waits" in message ? recordTaskNote(setup.sql, message) : ingestBatch(setup.dependencies, message),
          ),
        );
        if (fault !== undefined) throw fault;
        const now = await Promise.all(jobIds.map((id) => readJob(setup.sql, id)));
        if (now.every((job) => job !== undefined && ENDED.includes(job.status))) {
          await Promise.all(running);
          return now as JobView[];
        }
      }
    },
  };
}

/**
 * Every URL has ended in one state, and the counts of the job are those of its URLs.
 * @returns codes with their number
 */
export async function expectBooksToBalance(sql: Sql, jobId: string): Promise<Record<string, number>> {
  const rows = await sql<{ state: string; code: string | null; urls: number }[]>`
    select state, error_code as code, count(*)::int as urls from frontier where job_id = ${jobId} group by state, error_code`;
  const counted = (state: string): number =>
    rows.filter((row) => row.state === state).reduce((sum, row) => sum + row.urls, 0);
  const job = await readJob(sql, jobId);
  expect(job?.counts).toMatchObject({
    discovered: rows.reduce((sum, row) => sum + row.urls, 0),
    open: 0,
    crawled: counted("crawled"),
    failed: counted("failed"),
    skipped: counted("skipped"),
  });
  const [left] = await sql<{ counts: number }[]>`
    select count(*)::int as counts from crawl_counts where job_id = ${jobId}`;
  expect(left?.counts).toBe(0);
  return Object.fromEntries(rows.map(({ state, code, urls }) => [code ?? state, urls]));
}
