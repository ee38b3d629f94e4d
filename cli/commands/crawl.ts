/** `crawl URL…`: starts jobs, and follows them with --watch. */
import type { ApiClient } from "../api-client.ts";
import { type CrawlRequest, crawlRequest, type RequestOptions } from "../crawl-request.ts";
import { EXIT } from "../exit.ts";
import { hasEnded, type JobAnswer, readJob } from "../jobs-api.ts";
import { createProgress, sumCounts } from "../progress.ts";
import type { Terminal } from "../terminal.ts";
import { lastOf, watchJob } from "../watch-job.ts";

export interface CrawlOptions extends RequestOptions {
  watch?: true;
  json?: true;
}

interface Started {
  job_id: string;
}

/** @returns the exit code: 1 where a watched job fails or is cancelled */
export async function crawl(
  api: ApiClient,
  terminal: Terminal,
  urls: readonly string[],
  options: CrawlOptions,
): Promise<number> {
  const started = await startJobs(api, urls, crawlRequest(options));
  if (!options.watch) {
    if (options.json) showAnswers(terminal, started);
    else
      for (const { job_id } of started)
        terminal.line(`Job ${job_id} started. Follow it with: strandline jobs show ${job_id}`);
    return EXIT.done;
  }
  const jobIds = started.map(({ job_id }) => job_id);
  const jobs = await watchJobs(api, jobIds, options.json ? undefined : terminal);
  if (options.json) showAnswers(terminal, jobs);
  else summarize(terminal, jobs);
  return jobs.every((job) => job.status === "completed") ? EXIT.done : EXIT.failed;
}

/** The answer, or those to several requests as an array. */
function showAnswers(terminal: Terminal, answers: readonly unknown[]): void {
  terminal.line(JSON.stringify(answers.length === 1 ? answers[0] : answers, null, 2));
}

/** With any option of a site each URL is a site of its own; otherwise all URLs are pages of one job. */
async function startJobs(api: ApiClient, urls: readonly string[], { site, fields }: CrawlRequest): Promise<Started[]> {
  if (!site) return [await api<Started>("POST", "/api/v1/crawl", { ...fields, urls })];
  const started: Started[] = [];
  for (const url of urls) started.push(await api<Started>("POST", "/api/v1/crawl/deep", { ...fields, url }));
  return started;
}

/**
 * Follows jobs until all have ended.
 * @param terminal where progress is shown
 */
async function watchJobs(
  api: ApiClient,
  jobIds: readonly string[],
  terminal: Terminal | undefined,
): Promise<JobAnswer[]> {
  const progress = terminal && createProgress(terminal);
  const readAll = () => Promise.all(jobIds.map((id) => readJob(api, id)));
  try {
    return await lastOf(
      watchJob(readAll, (jobs) => jobs.every(hasEnded)),
      (jobs) => progress?.update(jobs),
    );
  } finally {
    progress?.end();
  }
}

function summarize(terminal: Terminal, jobs: readonly JobAnswer[]): void {
  const counts = sumCounts(jobs);
  for (const job of jobs) {
    const why = job.error ?? (job.stop_reason && job.stop_reason !== "completed" ? job.stop_reason : "");
    terminal.line(`Job ${job.job_id} ${terminal.bold(job.status)}${why ? `: ${why}` : ""}`);
  }
  terminal.line(
    `${counts.crawled} pages crawled, ${counts.failed} failed, ${counts.skipped} skipped; ` +
      `${counts.documents} documents, ${counts.chunks} chunks`,
  );
  if (counts.documents > 0) terminal.line("Search them with: strandline search QUERY");
  if (counts.failed > 0) terminal.line(`What failed and why: strandline jobs show ${jobs[0]?.job_id}`);
}
