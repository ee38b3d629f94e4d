/** `crawl URL…`: starts jobs, and follows them with --watch. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import { hasEnded, type JobAnswer, readJob } from "../jobs-api.ts";
import { createProgress, sumCounts } from "../progress.ts";
import type { Terminal } from "../terminal.ts";
import { lastOf, watchJob } from "../watch-job.ts";

export interface CrawlOptions {
  depth?: number;
  maxPages?: number;
  strategy?: string;
  keywords?: string;
  scope?: string;
  include?: string[];
  exclude?: string[];
  /** Seconds. */
  timeout?: number;
  render?: string;
  /** Requests a second and host. */
  rate?: number;
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
  const jobIds = await startJobs(api, urls, options);
  if (!options.watch) {
    if (options.json) terminal.line(JSON.stringify(jobIds.map((job_id) => ({ job_id }))));
    else for (const id of jobIds) terminal.line(`Job ${id} started. Follow it with: strandline jobs show ${id}`);
    return EXIT.done;
  }
  const jobs = await watchJobs(api, jobIds, options.json ? undefined : terminal);
  if (options.json) terminal.line(JSON.stringify(jobs, null, 2));
  else summarize(terminal, jobs);
  return jobs.every((job) => job.status === "completed") ? EXIT.done : EXIT.failed;
}

/** With any option of a site each URL is a site of its own; otherwise all URLs are pages of one job. */
async function startJobs(api: ApiClient, urls: readonly string[], options: CrawlOptions): Promise<string[]> {
  const config = { rate_limit_rps: options.rate, render: options.render };
  const site = siteFields(options);
  // what is undefined is no field of the JSON
  if (Object.values(site).every((value) => value === undefined)) {
    return [(await api<Started>("POST", "/api/v1/crawl", { urls, config })).job_id];
  }
  const jobIds: string[] = [];
  for (const url of urls) {
    jobIds.push((await api<Started>("POST", "/api/v1/crawl/deep", { url, ...site, config })).job_id);
  }
  return jobIds;
}

function siteFields(options: CrawlOptions) {
  return {
    max_depth: options.depth,
    max_pages: options.maxPages,
    strategy: options.strategy,
    keywords: options.keywords?.split(",").filter((word) => word.trim() !== ""),
    scope: options.scope,
    include: options.include,
    exclude: options.exclude,
    timeout_seconds: options.timeout,
  };
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
