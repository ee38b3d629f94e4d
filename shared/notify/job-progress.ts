/** Reads how far a job is, one row looked up by its id, as the event that every listener gets. */
import type { Queryable } from "../platform/database/database.ts";

export interface JobProgress {
  job_id: string;
  status: string;
  /** null until the job has ended. */
  stop_reason: string | null;
  error: string | null;
  cancel_requested: boolean;
  /** discovered = open + crawled + failed + skipped; null where the job was deleted. */
  counts: ProgressCounts | null;
  /** Hosts that it has to wait for: `CIRCUIT_OPEN` or `RATE_LIMITED`. */
  waits: { host: string; code: string; message: string; until: string }[];
  /** ISO 8601. */
  started_at: string | null;
  completed_at: string | null;
}

interface ProgressCounts {
  discovered: number;
  open: number;
  crawled: number;
  failed: number;
  skipped: number;
  documents: number;
  chunks: number;
  unembedded_chunks: number;
}

export interface ProgressEvent {
  /** A job that has ended has one event only, named after how it ended. */
  type: "progress" | EndedStatus;
  /** The same whenever status, counts and waits of the same job are the same. */
  id: string;
  data: JobProgress;
}

const ENDED = ["completed", "failed", "cancelled"] as const;
type EndedStatus = (typeof ENDED)[number];

/** Of a text that a message holds, in UTF-16 units: an error may quote a URL. */
const LONGEST_ERROR = 4_000;

type ProgressRow = Omit<JobProgress, "started_at" | "completed_at"> & {
  started_at: Date | null;
  completed_at: Date | null;
};

/** One index lookup; undefined where there is no such job. */
export async function readProgress(sql: Queryable, jobId: string): Promise<ProgressEvent | undefined> {
  const [row] = await sql<ProgressRow[]>`
    select id as job_id, status, case when status = any(${[...ENDED]}) then stop_reason end as stop_reason,
      left(error, ${LONGEST_ERROR}) as error, cancel_requested, waits_of(jobs) as waits, started_at, completed_at,
      json_build_object('discovered', discovered, 'open', open_urls, 'crawled', crawled, 'failed', failed,
        'skipped', skipped, 'documents', documents, 'chunks', chunks, 'unembedded_chunks', unembedded_chunks) as counts
    from jobs where id = ${jobId}`;
  if (row === undefined) return undefined;
  return progressEvent({
    ...row,
    started_at: row.started_at?.toISOString() ?? null,
    completed_at: row.completed_at?.toISOString() ?? null,
  });
}

/** The last event of a job that was there when its listener came, and is no more. */
export function deletedJob(jobId: string): ProgressEvent {
  return progressEvent({
    job_id: jobId,
    status: "failed",
    stop_reason: "error",
    error: "The job was deleted",
    cancel_requested: false,
    counts: null,
    waits: [],
    started_at: null,
    completed_at: null,
  });
}

export const hasEnded = ({ type }: ProgressEvent): boolean => type !== "progress";

function progressEvent(data: JobProgress): ProgressEvent {
  const type = ENDED.find((status) => status === data.status) ?? "progress";
  const { job_id, counts, cancel_requested, waits } = data;
  const numbers = counts === null ? [] : Object.values(counts);
  const waiting = waits.map(({ host, until }) => `${host}:${Date.parse(until)}`);
  const state = [data.status, ...numbers, ...(cancel_requested ? ["cancelling"] : []), ...waiting];
  return { type, id: `${state.join("-")}@${job_id}`, data };
}
