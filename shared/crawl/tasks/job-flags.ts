/**
 * What fetch must know of a job while it has no database: whether it was cancelled. And what the sweep asks before it
 * wakes the database: whether any job is unfinished.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createStateTable, expiresAt } from "../../platform/aws/state-table.ts";

export interface JobFlags {
  markCancelled(jobId: string): Promise<void>;
  isCancelled(jobId: string): Promise<boolean>;
  /** Set whenever a job starts; cleared by the sweep once it has seen that no job is unfinished. */
  markActive(): Promise<void>;
  /** The time of the last `markActive` in ms, or undefined where no job is unfinished. */
  activeSince(): Promise<number | undefined>;
  /** Clears the marker unless a job started after `seen`. */
  clearActive(seen: number): Promise<void>;
}

/** A cancelled job's tasks are gone long before. */
const CANCEL_FLAG_TTL_S = 7 * 24 * 3600;

const jobKey = (jobId: string): string => `job#${jobId}`;
const ACTIVE_KEY = "marker#active";

export function createJobFlags(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): JobFlags {
  const table = createStateTable(dynamo, TableName);
  return {
    markCancelled: (jobId) =>
      table.put(jobKey(jobId), { cancelled: true, expires_at: expiresAt(now(), CANCEL_FLAG_TTL_S) }),
    isCancelled: async (jobId) => (await table.read(jobKey(jobId)))?.["cancelled"] === true,
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
