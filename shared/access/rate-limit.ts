/**
 * Counts the requests per minute of one API key in DynamoDB. The minute is part of the item's key, so an item that TTL
 * has not deleted yet is never counted again. A fixed window lets through up to twice the limit around the turn of a
 * minute, which is the price of one write per request and no read.
 */
import { type DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expiresAt, isConditionFailure } from "../platform/aws/state-table.ts";

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

/** Makes the limiter of the requests per minute. */
export function createRateLimiter(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): RateLimiter {
  return {
    async take(keyId, limit) {
      const window = Math.floor(now() / WINDOW_MS);
      const resetAt = (window + 1) * WINDOW_MS;
      try {
        const { Attributes } = await dynamo.send(
          new UpdateCommand({
            TableName,
            Key: { pk: `rate#${keyId}#${window}` },
            UpdateExpression: "ADD hits :one SET expires_at = :expires",
            ConditionExpression: "attribute_not_exists(hits) OR hits < :limit",
            ExpressionAttributeValues: { ":one": 1, ":limit": limit, ":expires": expiresAt(resetAt, KEEP_S) },
            ReturnValues: "UPDATED_NEW",
          }),
        );
        return { limit, remaining: Math.max(0, limit - Number(Attributes?.["hits"])), resetAt, exceeded: false };
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        return { limit, remaining: 0, resetAt, exceeded: true };
      }
    },
  };
}
