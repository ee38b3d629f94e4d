import type { Counts, JobStatus } from "../../api/types.ts";

export interface Source {
  id: string;
  name: string;
  type: "page" | "site";
  url: string;
  schedule_cron: string | null;
  time_zone: string;
  is_active: boolean;
  last_crawled_at: string | null;
  last_error: string | null;
  next_run_at: string | null;
}

export interface SourceDetails extends Source {
  /** The next five. */
  next_runs: string[];
  runs: {
    job_id: string;
    status: JobStatus;
    error: string | null;
    counts: Counts;
    created_at: string;
    completed_at: string | null;
  }[];
}
