/** Crawls the demonstration's site through the HTTP API, as anybody would, and collects what the API says of it. */
import type { ApiClient } from "../cli/api-client.ts";
import { hasEnded, type JobAnswer, type JobUrl, type JobWithResults, readJob } from "../cli/jobs-api.ts";
import { createProgress } from "../cli/progress.ts";
import type { Terminal } from "../cli/terminal.ts";
import { lastOf, watchJob } from "../cli/watch-job.ts";
import { DemoError } from "./demo-error.ts";

/** The part of a result that the demonstration reads beside what the command line does. */
export interface CrawledUrl extends JobUrl {
  final_url: string | null;
  fetched_at: string | null;
  not_modified: boolean | null;
  document_id: string | null;
}

export interface Crawl {
  job: JobAnswer;
  urls: CrawledUrl[];
  seconds: { fetching: number; embedding: number };
}

/** How long nothing may change before the crawl is taken for stuck. A slow machine is no fault. */
const PATIENCE_MS = 90_000;
const POLL_MS = 200;
/** The site is our own, so there is no one to be polite to. */
const REQUESTS_PER_SECOND = 50;

/** @throws DemoError where the job does not complete, or no more comes of it */
export async function crawlSite(api: ApiClient, terminal: Terminal, origin: string): Promise<Crawl> {
  const started = performance.now();
  const { job_id } = await api<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: `${origin}/`,
    max_depth: 10,
    max_pages: 500,
    priority: "high",
    config: { rate_limit_rps: REQUESTS_PER_SECOND },
  });
  const progress = createProgress(terminal);
  let fetched: number | undefined;
  let last = { state: "", at: started };
  try {
    const job = await lastOf(
      watchJob(() => readJob(api, job_id), hasEnded, POLL_MS),
      (job) => {
        progress.update([job]);
        if (job.status !== "pending" && job.status !== "running") fetched ??= performance.now() - started;
        const state = JSON.stringify([job.status, job.counts]);
        if (state !== last.state) last = { state, at: performance.now() };
        if (performance.now() - last.at > PATIENCE_MS) throw stuck(job);
      },
    );
    if (job.status !== "completed") throw jobFailed(job);
    const elapsed = performance.now() - started;
    const fetching = (fetched ?? elapsed) / 1000;
    const urls = await readUrls(api, job_id);
    return { job, urls, seconds: { fetching, embedding: elapsed / 1000 - fetching } };
  } finally {
    progress.end();
  }
}

async function readUrls(api: ApiClient, jobId: string): Promise<CrawledUrl[]> {
  const urls: CrawledUrl[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { results }: JobWithResults = await api("GET", `/api/v1/crawl/${jobId}?limit=500${query}`);
    urls.push(...(results.items as CrawledUrl[]));
    cursor = results.next_cursor;
  } while (cursor !== null);
  return urls;
}

function jobFailed(job: JobAnswer): DemoError {
  return new DemoError(
    `The crawl ended as ${job.status}${job.error ? `: ${job.error}` : ""}`,
    `Look at its pages with \`npx strandline jobs show ${job.job_id}\`, and at the log lines with this job_id`,
  );
}

function stuck({ job_id, status, counts }: JobAnswer): DemoError {
  return new DemoError(
    `Nothing has come of the crawl for ${PATIENCE_MS / 1000} s: it is ` +
      `${status}, with ${counts.crawled} pages crawled, ` +
      `${counts.open} queued and ${counts.unembedded_chunks} chunks without a vector`,
    `Run \`npm start\`: the job goes on by itself (\`npx strandline jobs show ${job_id}\`). The log tells more`,
  );
}
