/** The responses of the jobs API that the commands read. */
import type { ApiClient } from "./api-client.ts";

export interface JobCounts {
  discovered: number;
  open: number;
  crawled: number;
  failed: number;
  skipped: number;
  documents: number;
  chunks: number;
  unembedded_chunks: number;
}

export interface JobAnswer {
  job_id: string;
  kind: string;
  status: "pending" | "running" | "embedding" | "completed" | "failed" | "cancelled";
  stop_reason: string | null;
  error: string | null;
  settings: { seeds: string[]; max_pages: number };
  counts: JobCounts;
  /** Hosts that it has to wait for. */
  waits: { host: string; until: string }[];
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
}

export interface JobUrl {
  url: string;
  state: string;
  depth: number;
  status_code: number | null;
  error_code: string | null;
  title: string | null;
}

export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface JobWithResults extends JobAnswer {
  results: Page<JobUrl>;
}

export const hasEnded = ({ status }: { status: string }): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** The job as it is, without its results. */
export async function readJob(api: ApiClient, jobId: string): Promise<JobAnswer> {
  const { results: _, ...job } = await api<JobWithResults>("GET", `/api/v1/crawl/${jobId}?limit=1`);
  return job;
}
