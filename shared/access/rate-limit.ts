/**
 * Counts the requests per minute of one API key, or of one address, in DynamoDB. The minute is part of the item's key,
 * so an item that TTL has not deleted yet is never counted again. A fixed window lets through up to twice the limit
 * around the turn of a minute, which is the price of one write per request and no read.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createStateTable, expiresAt } from "../platform/aws/state-table.ts";
import { sha256 } from "../platform/ids.ts";

export interface RateLimitState {
  /** Requests a minute. */
  limit: number;
  /** What is left of them in this minute. */
  remaining: number;
  /** When the next minute begins, in ms since the epoch. */
  resetAt: number;
  exceeded: boolean;
}

export interface RateLimiter {
  /** Counts one request. */
  take(keyId: string, limit: number): Promise<RateLimitState>;
}

const WINDOW_MS = 60_000;
/** Long enough for clocks that disagree. */
const KEEP_S = 120;

/** @returns whom to count: no address is kept, not for the minute either */
export const ofAddress = (what: string, address: string): string =>
  `${what}#${sha256(address).toString("base64url").slice(0, 22)}`;

/** Makes the limiter of the requests per minute. */
export function createRateLimiter(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): RateLimiter {
  const table = createStateTable(dynamo, TableName);
  return {
    async take(keyId, limit) {
      const window = Math.floor(now() / WINDOW_MS);
      const resetAt = (window + 1) * WINDOW_MS;
      const item = await table.update(`rate#${keyId}#${window}`, {
        set: { expires_at: expiresAt(resetAt, KEEP_S) },
        add: { hits: 1 },
        when: "attribute_not_exists(hits) OR hits < :limit",
        values: { limit },
      });
      const remaining = item === undefined ? 0 : Math.max(0, limit - Number(item["hits"]));
      return { limit, remaining, resetAt, exceeded: item === undefined };
    },
  };
}
