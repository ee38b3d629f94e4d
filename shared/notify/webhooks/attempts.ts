/**
 * Hands an attempt to the function that has internet and no database. The queue carries ids alone: what the attempt
 * needs, secrets among it, waits in the state table, which is encrypted at rest, and is gone once it was made.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { createStateTable, expiresAt } from "../../platform/aws/state-table.ts";

export const SEND_QUEUE = "webhooks";
export const RESULT_QUEUE = "webhook-results";

/** The message of `webhooks`. */
export const attemptMessageSchema = z.strictObject({ deliveryId: z.uuid(), attempt: z.int().positive() });
export type AttemptMessage = z.infer<typeof attemptMessageSchema>;

/** What came of an attempt; lengths are bounded, so that a message holds it. */
export const attemptResultSchema = z.strictObject({
  deliveryId: z.uuid(),
  attempt: z.int().positive(),
  /** ISO 8601, when the request was begun. */
  at: z.iso.datetime(),
  durationMs: z.number().nonnegative(),
  /** null where no answer came. */
  status: z.int().nullable(),
  /** The beginning of the body, as text. */
  body: z.string(),
  /** Why it failed; null where the answer was a 2xx. */
  error: z.string().nullable(),
  /** Of `Retry-After`. */
  retryAfterMs: z.number().nonnegative().nullable(),
});
export type AttemptResult = z.infer<typeof attemptResultSchema>;

/** The message of `webhook-results`: a result, or a hint that something is due. */
export const resultMessageSchema = z.union([z.strictObject({ due: z.literal(true) }), attemptResultSchema]);
export type ResultMessage = z.infer<typeof resultMessageSchema>;

const attemptSchema = z.strictObject({
  url: z.string(),
  event: z.string(),
  headers: z.record(z.string(), z.string()),
  secrets: z.array(z.string()),
  body: z.string(),
});
export type Attempt = z.infer<typeof attemptSchema>;

export interface Attempts {
  put(message: AttemptMessage, attempt: Attempt): Promise<void>;
  /** undefined: it was made, or has lapsed. */
  read(message: AttemptMessage): Promise<Attempt | undefined>;
  remove(message: AttemptMessage): Promise<void>;
}

/** Longer than a message of its queue lives with all its deliveries. */
const TTL_S = 3600;

export function createAttempts(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): Attempts {
  const table = createStateTable(dynamo, TableName);
  const keyOf = ({ deliveryId, attempt }: AttemptMessage): string => `webhook#${deliveryId}#${attempt}`;
  return {
    async put(message, attempt) {
      const held = JSON.stringify(attemptSchema.parse(attempt));
      await table.put(keyOf(message), { attempt: held, expires_at: expiresAt(now(), TTL_S) });
    },
    async read(message) {
      const item = await table.read(keyOf(message));
      return item && attemptSchema.parse(JSON.parse(String(item["attempt"])));
    },
    async remove(message) {
      await table.remove(keyOf(message));
    },
  };
}
