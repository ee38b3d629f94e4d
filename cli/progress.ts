/**
 * Shows the progress of running jobs: one line drawn again and again on a terminal, a plain line now and then
 * elsewhere.
 */
import type { JobAnswer, JobCounts } from "./jobs-api.ts";
import { ellipsize, type Terminal } from "./terminal.ts";

export interface Progress {
  update(jobs: readonly JobAnswer[]): void;
  /** Leaves the last state standing. */
  end(): void;
}

/** Pages a second are measured over this time. */
const RATE_WINDOW_MS = 5_000;
const PLAIN_EVERY_MS = 2_000;
const BAR_COLUMNS = 12;

export function createProgress(terminal: Terminal, now: () => number = Date.now): Progress {
  const samples: { at: number; pages: number }[] = [];
  let shown = "";
  let shownAt = -Infinity;
  return {
    update(jobs) {
      const counts = sumCounts(jobs);
      const rate = rateOf(samples, { at: now(), pages: pagesOf(counts) });
      const text = describeProgress(jobs, counts, rate);
      if (terminal.interactive) {
        const bar = progressBar(shareDone(jobs, counts));
        terminal.write(`\r\x1b[2K${ellipsize(`${bar} ${text}`, terminal.width - 1)}`);
      } else if (text !== shown && now() - shownAt >= PLAIN_EVERY_MS) {
        terminal.line(text);
        shownAt = now();
      }
      shown = text;
    },
    end() {
      if (terminal.interactive && shown !== "") terminal.line();
    },
  };
}

export function sumCounts(jobs: readonly JobAnswer[]): JobCounts {
  const sum: JobCounts = {
    discovered: 0,
    open: 0,
    crawled: 0,
    failed: 0,
    skipped: 0,
    documents: 0,
    chunks: 0,
    unembedded_chunks: 0,
  };
  for (const { counts } of jobs) {
    for (const name of Object.keys(sum) as (keyof JobCounts)[]) sum[name] += counts[name];
  }
  return sum;
}

/** Crawled or failed: every page that was asked for. */
const pagesOf = ({ crawled, failed }: JobCounts): number => crawled + failed;

function describeProgress(jobs: readonly JobAnswer[], counts: JobCounts, rate: number): string {
  const status = statusOf(jobs);
  const parts = [`${counts.crawled} pages`];
  if (status !== "embedding") parts.push(`${rate.toFixed(1)}/s`, `${counts.open} queued`);
  parts.push(`${counts.failed} errors`);
  if (counts.skipped > 0) parts.push(`${counts.skipped} skipped`);
  if (counts.unembedded_chunks > 0) parts.push(`${counts.unembedded_chunks} chunks to embed`);
  const [wait] = jobs.flatMap(({ waits }) => waits);
  if (wait !== undefined) parts.push(`waits for ${wait.host} until ${new Date(wait.until).toTimeString().slice(0, 8)}`);
  return `${status}: ${parts.join(", ")}`;
}

/** The state of the job that is furthest behind. */
function statusOf(jobs: readonly JobAnswer[]): string {
  const order = ["pending", "running", "embedding", "failed", "cancelled", "completed"];
  return order.find((status) => jobs.some((job) => job.status === status)) ?? "pending";
}

/** 0 to 1: three quarters for the pages that are known of, one for the embeddings. */
function shareDone(jobs: readonly JobAnswer[], counts: JobCounts): number {
  const known = Math.min(
    counts.discovered,
    jobs.reduce((sum, job) => sum + job.settings.max_pages, 0),
  );
  const pages = known === 0 ? 0 : Math.min(1, (pagesOf(counts) + counts.skipped) / known);
  const embedded = counts.chunks === 0 ? 0 : 1 - counts.unembedded_chunks / counts.chunks;
  return jobs.every((job) => job.status === "completed") ? 1 : pages * (0.75 + 0.25 * embedded);
}

function progressBar(share: number): string {
  const filled = Math.round(share * BAR_COLUMNS);
  return `[${"█".repeat(filled)}${"░".repeat(BAR_COLUMNS - filled)}]`;
}

/** Pages a second over the last seconds. Forgets samples that are older. */
function rateOf(samples: { at: number; pages: number }[], latest: { at: number; pages: number }): number {
  samples.push(latest);
  while (samples.length > 2 && latest.at - (samples[0]?.at ?? 0) > RATE_WINDOW_MS) samples.shift();
  const first = samples[0] ?? latest;
  return latest.at === first.at ? 0 : ((latest.pages - first.pages) * 1000) / (latest.at - first.at);
}
