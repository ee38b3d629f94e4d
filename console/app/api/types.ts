/** The parts of the API's answers that the console shows. */

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface Counts {
  discovered: number;
  open: number;
  crawled: number;
  failed: number;
  skipped: number;
  documents: number;
  chunks: number;
  unembedded_chunks: number;
}

export type JobStatus = "pending" | "running" | "embedding" | "completed" | "failed" | "cancelled";

export interface Wait {
  code: string;
  message: string;
  until: string;
}

export interface JobProgress {
  job_id: string;
  status: JobStatus;
  stop_reason: string | null;
  error: string | null;
  cancel_requested: boolean;
  counts: Counts;
  waits: Wait[];
  started_at: string | null;
  completed_at: string | null;
}

export interface Job extends JobProgress {
  kind: string;
  priority: string;
  collection_id: string | null;
  settings: { seeds?: string[]; max_depth?: number; max_pages?: number; strategy?: string; tags?: string[] };
  created_at: string;
}

export interface Frontier {
  /** URLs that wait to be fetched, those first that are next. */
  next: { url: string; depth: number; attempts: number; not_before: string }[];
  /** null where the job has too many to be counted. */
  counts:
    | { depth: number; state: string; status_code: number | null; error_code: string | null; count: number }[]
    | null;
}

export interface JobDetails extends Job {
  run: unknown;
  /** null where it was not asked for. */
  frontier: Frontier | null;
  errors: { code: string; count: number }[];
  results: Page<JobResult>;
}

export interface JobResult {
  url: string;
  depth: number;
  state: string;
  error_code: string | null;
  error_message: string | null;
  status_code: number | null;
  title: string | null;
  fetched_at: string | null;
  payload_bytes: number | null;
  capture_id: number | null;
  no_document: string | null;
}

export interface SearchHit {
  document_id: string;
  chunk_id: string;
  url: string | null;
  title: string | null;
  content: string;
  score: number;
  vector_score: number | null;
  keyword_score: number | null;
  rerank_score: number | null;
  source: string;
  /** UTF-16 code units of `content`. */
  highlights: [number, number][];
  section_header: string | null;
  explanation: { vector_rank: number | null; keyword_rank: number | null } | null;
}

export type FacetName = "domain" | "language" | "collection" | "month" | "tag";

export interface SearchAnswer {
  results: SearchHit[];
  missing_sides: { side: string; code: string; reason: string }[];
  total_count: number;
  total_exact: boolean;
  facets: ({ exact: boolean } & Partial<Record<FacetName, { value: string | null; count: number }[]>>) | null;
  next_cursor: string | null;
  latency_ms: number;
}

export interface Resolved {
  found: boolean;
  snapshotId: number | null;
  captureTimestamp: string | null;
  resolvedUrl: string | null;
  browseUrl: string | null;
  mimeType: string | null;
}

export interface Snapshot {
  snapshotId: number;
  captureTimestamp: string;
  title: string | null;
  statusCode: number | null;
  jobName: string | null;
  compareFromSnapshotId: number | null;
  /** Of its screenshot. */
  previewUrl: string | null;
  browseUrl: string | null;
}
