/**
 * Keeps flags of jobs outside the database: fetch, which has none, sees here whether a job was cancelled, and the
 * sweep, before it wakes the database, whether any job is unfinished.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createStateTable, expiresAt } from "../../platform/aws/state-table.ts";

export interface JobFlags {
  markCancelled(jobId: string): Promise<void>;
  isCancelled(jobId: string): Promise<boolean>;
  /** Somebody looks at the job as it goes: noted for half a minute. */
  markListened(jobId: string): Promise<void>;
  /** What a worker asks for each second. */
  read(jobId: string): Promise<{ cancelled: boolean; listened: boolean }>;
  /** Set whenever a job starts; cleared by the sweep once it has seen that no job is unfinished. */
  markActive(): Promise<void>;
  /** The time of the last `markActive` in ms, or undefined where no job is unfinished. */
  activeSince(): Promise<number | undefined>;
  /** Clears the marker unless a job started after `seen`. */
  clearActive(seen: number): Promise<void>;
}

/** Listeners say so every ten seconds, and may miss it twice. */
const LISTENED_MS = 30_000;
/** A cancelled job's tasks are gone long before. */
const FLAG_TTL_S = 7 * 24 * 3600;

const jobKey = (jobId: string): string => `job#${jobId}`;
const ACTIVE_KEY = "marker#active";

export function createJobFlags(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): JobFlags {
  const table = createStateTable(dynamo, TableName);
  return {
    async markCancelled(jobId) {
      await table.update(jobKey(jobId), { set: { cancelled: true, expires_at: expiresAt(now(), FLAG_TTL_S) } });
    },
    isCancelled: async (jobId) => (await table.read(jobKey(jobId)))?.["cancelled"] === true,
    async markListened(jobId) {
      const set = { listened_until: now() + LISTENED_MS, expires_at: expiresAt(now(), FLAG_TTL_S) };
      await table.update(jobKey(jobId), { set });
    },
    async read(jobId) {
      const item = await table.read(jobKey(jobId));
      const until = item?.["listened_until"];
      return { cancelled: item?.["cancelled"] === true, listened: typeof until === "number" && until > now() };
    },
    markActive: () => table.put(ACTIVE_KEY, { since: now() }),
    async activeSince() {
      const since = (await table.read(ACTIVE_KEY))?.["since"];
      return typeof since === "number" ? since : undefined;
    },
    async clearActive(seen) {
      // where a job started meanwhile the marker is its own
      await table.remove(ACTIVE_KEY, { when: "since = :seen", values: { seen } });
    },
  };
}
