import type { Counts, JobStatus } from "../../api/types.ts";
import type { Words } from "../../forms/fields.tsx";

export interface Source {
  id: string;
  name: string;
  /** One of those that the schema of the request names. */
  type: string;
  url: string;
  schedule_cron: string | null;
  time_zone: string;
  is_active: boolean;
  revisit: { shortest_hours: number; longest_hours: number } | null;
  revisit_hours: number | null;
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

/** Fields of a source that everybody fills in. */
export const WORDS: Words = {
  name: { label: "Name" },
  url: { label: "Address" },
  type: { label: "What to crawl", hint: "site: from there on. page: that page alone" },
  schedule_cron: { label: "Schedule", hint: "Minute, hour, day, month, weekday: 30 6 * * MON-FRI. Empty: by hand" },
  time_zone: { label: "Time zone", hint: "By its name: Europe/Berlin" },
};

export const FIRST = Object.keys(WORDS);
