/** `jobs` lists jobs; `show`, `results`, `retry` and `cancel` are for one of them. */
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import type { JobAnswer, JobWithResults, Page } from "../jobs-api.ts";
import { columnsOf, harmless, shortUrl, type Terminal } from "../terminal.ts";

const JOB_ID_COLUMNS = 36;
const STATUS_COLUMNS = 9;
const PAGES_COLUMNS = 7;
const GAP = 2;

export async function listJobs(
  api: ApiClient,
  terminal: Terminal,
  options: { status?: string; limit: number; json?: true },
): Promise<number> {
  const query = new URLSearchParams({ limit: String(options.limit) });
  if (options.status) query.set("status", options.status);
  const page = await api<Page<JobAnswer>>("GET", `/api/v1/jobs?${query}`);
  if (options.json) {
    terminal.line(JSON.stringify(page, null, 2));
    return EXIT.done;
  }
  if (page.items.length === 0) {
    terminal.line(
      options.status ? `No job is ${options.status}.` : "No jobs yet. Start one with: strandline crawl URL",
    );
    return EXIT.done;
  }
  terminal.line(terminal.dim(row(terminal, "JOB", "STATUS", "PAGES", "URL")));
  for (const job of page.items) {
    terminal.line(row(terminal, job.job_id, job.status, String(job.counts.crawled), job.settings.seeds[0] ?? ""));
  }
  if (page.has_more) terminal.line(terminal.dim("There are more: raise --limit"));
  return EXIT.done;
}

function row(terminal: Terminal, id: string, status: string, pages: string, url: string): string {
  const rest = terminal.width - JOB_ID_COLUMNS - STATUS_COLUMNS - PAGES_COLUMNS - 3 * GAP;
  const gap = " ".repeat(GAP);
  return [
    id.padEnd(JOB_ID_COLUMNS),
    status.padEnd(STATUS_COLUMNS),
    pages.padStart(PAGES_COLUMNS),
    shortUrl(url, rest),
  ].join(gap);
}

export async function showJob(
  api: ApiClient,
  terminal: Terminal,
  jobId: string,
  options: { limit: number; json?: true },
): Promise<number> {
  const job = await api<JobWithResults>("GET", `/api/v1/crawl/${encodeURIComponent(jobId)}?limit=${options.limit}`);
  if (options.json) {
    terminal.line(JSON.stringify(job, null, 2));
    return EXIT.done;
  }
  const { counts, results } = job;
  const facts: [string, string][] = [
    ["Job", job.job_id],
    ["Kind", job.kind],
    ["Status", job.status + (job.stop_reason ? ` (${job.stop_reason})` : "")],
    ["Created", job.created_at],
    ["Ended", job.completed_at ?? "not yet"],
    ["Pages", `${counts.crawled} crawled, ${counts.failed} failed, ${counts.skipped} skipped, ${counts.open} queued`],
    [
      "Search",
      `${counts.documents} documents, ${counts.chunks} chunks, ${counts.unembedded_chunks} without a vector yet`,
    ],
  ];
  if (job.error) facts.push(["Error", harmless(job.error)]);
  for (const [name, value] of facts) terminal.line(`${terminal.bold(name.padEnd(8))} ${value}`);
  terminal.line();
  for (const result of results.items) {
    const outcome = result.error_code ?? (result.status_code === null ? result.state : String(result.status_code));
    const label = outcome.padEnd(STATUS_COLUMNS);
    terminal.line(`${label} ${shortUrl(result.url, terminal.width - columnsOf(label) - 1)}`);
  }
  if (results.has_more) terminal.line(terminal.dim("There are more: raise --limit"));
  return EXIT.done;
}

export async function cancelJob(
  api: ApiClient,
  terminal: Terminal,
  jobId: string,
  { json }: { json?: true },
): Promise<number> {
  const answer = await api<{ status: string }>("POST", `/api/v1/crawl/${encodeURIComponent(jobId)}/cancel`);
  terminal.line(json ? JSON.stringify(answer, null, 2) : `Job ${jobId} is being cancelled (now ${answer.status}).`);
  return EXIT.done;
}

interface ResultsAnswer {
  pages: Record<string, unknown>[];
  cursor: number;
  has_more: boolean;
}

export interface ResultsOptions {
  fields?: string;
  /** Pages. */
  limit?: number;
  json?: true;
}

const RESULTS_PER_CALL = 100;
const RESULTS_POLL_MS = 1_000;

/**
 * One line of JSON for each page, or with `json` for each answer; of a running job those that come as well, until it
 * has ended.
 */
export async function showResults(
  api: ApiClient,
  terminal: Terminal,
  jobId: string,
  { fields, limit = Number.POSITIVE_INFINITY, json }: ResultsOptions,
): Promise<number> {
  let cursor = 0;
  for (let left = limit; left > 0; ) {
    const query = new URLSearchParams({ cursor: String(cursor), limit: String(Math.min(left, RESULTS_PER_CALL)) });
    if (fields !== undefined) query.set("include", fields);
    const answer = await api<ResultsAnswer>("GET", `/jobs/${encodeURIComponent(jobId)}/results?${query}`);
    if (json) terminal.line(JSON.stringify(answer));
    else for (const page of answer.pages) terminal.line(JSON.stringify(page));
    if (!answer.has_more) break;
    left -= answer.pages.length;
    if (answer.pages.length === 0) await delay(RESULTS_POLL_MS);
    cursor = answer.cursor;
  }
  return EXIT.done;
}

export async function retryJob(
  api: ApiClient,
  terminal: Terminal,
  jobId: string,
  { json }: { json?: true },
): Promise<number> {
  const answer = await api<{ job_id: string }>("POST", `/api/v1/jobs/${encodeURIComponent(jobId)}/retry`);
  terminal.line(
    json
      ? JSON.stringify(answer, null, 2)
      : `Job ${answer.job_id} tries again what failed. Follow it with: strandline jobs show ${answer.job_id}`,
  );
  return EXIT.done;
}
