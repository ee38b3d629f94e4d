/**
 * Calls a function that has internet from one that has none: the request goes out through a queue, and the answer comes
 * back through the state table.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import type { Clock } from "../clock.ts";
import { ApiError } from "../errors.ts";
import { uuidv7 } from "../ids.ts";
import { retryTransient } from "../transient-errors.ts";
import { MessagesRefused, type QueueSender } from "./queues.ts";
import { createStateTable, expiresAt } from "./state-table.ts";

/** The message of a remote call queue; `request` is what that queue's consumer takes. */
export const remoteCallSchema = z.strictObject({
  callId: z.uuid(),
  /** Epoch ms after which nobody waits for the answer. */
  deadline: z.int(),
  request: z.unknown(),
});
export type RemoteCall = z.infer<typeof remoteCallSchema>;

/** DynamoDB takes 400 KB an item: what is larger goes to S3, and its key into the answer. */
const MAX_ANSWER_BYTES = 390_000;
const answerSchema = z.union([
  z.strictObject({ value: z.unknown() }),
  z.strictObject({
    error: z.strictObject({
      status: z.int(),
      code: z.string(),
      message: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
      headers: z.record(z.string(), z.string()).default({}),
    }),
  }),
]);

const ANSWER_TTL_S = 600;
/** Between two reads: a share of the time waited so far, so that the wait is never much longer than the work. */
const PAUSE_SHARE = 0.1;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 400;

export interface RemoteCaller {
  /**
   * @throws ApiError that the remote call ended with; 504 REMOTE_TIMEOUT where nothing came within `timeoutMs`; 413
   * PAYLOAD_TOO_LARGE where the request fits no message
   * @param gone aborts once nobody waits any more, which the work is told of; the reason is thrown
   */
  ask(queue: string, request: unknown, timeoutMs: number, gone?: AbortSignal): Promise<unknown>;
}

export function createRemoteCaller(
  { queues, dynamo, clock }: { queues: QueueSender; dynamo: DynamoDBDocumentClient; clock: Clock },
  TableName: string,
): RemoteCaller {
  const table = createStateTable(dynamo, TableName);
  return {
    async ask(queue, request, timeoutMs, gone) {
      const callId = uuidv7();
      const started = clock.now();
      const deadline = started + timeoutMs;
      await queues.send(queue, { callId, deadline, request } satisfies RemoteCall).catch((error: unknown) => {
        if (!(error instanceof MessagesRefused)) throw error;
        throw new ApiError(413, error.message, { code: "PAYLOAD_TOO_LARGE", cause: error });
      });
      for (;;) {
        const waited = clock.now() - started;
        const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waited * PAUSE_SHARE));
        if (!gone?.aborted) await clock.sleep(pauseMs, gone).catch(() => undefined);
        if (gone?.aborted) {
          const expires_at = expiresAt(clock.now(), ANSWER_TTL_S);
          await retryTransient(clock, { until: deadline }, () => table.put(`${keyOf(callId)}#gone`, { expires_at }));
          throw gone.reason;
        }
        // the work is under way, and paid for: a read that fails is made again
        const item = await retryTransient(clock, { until: deadline }, () => table.read(keyOf(callId)));
        if (item !== undefined) return answerOf(item["answer"]);
        if (clock.now() >= deadline) {
          const message = `No answer came within ${Math.round(timeoutMs / 1000)} s: try again, or ask for less`;
          throw new ApiError(504, message, { code: "REMOTE_TIMEOUT" });
        }
      }
    },
  };
}

export interface RemoteAnswers {
  /**
   * @returns what a remote call came to that was sent without waiting for it; undefined where nothing has come yet
   * @throws ApiError that it ended with
   */
  read(callId: string): Promise<{ value: unknown } | undefined>;
}

/** For whoever sends remote calls by itself and looks later; answers are kept for ten minutes. */
export function createRemoteAnswers(dynamo: DynamoDBDocumentClient, TableName: string): RemoteAnswers {
  const table = createStateTable(dynamo, TableName);
  return {
    async read(callId) {
      const item = await table.read(keyOf(callId));
      return item === undefined ? undefined : { value: answerOf(item["answer"]) };
    },
  };
}

function answerOf(answer: unknown): unknown {
  const parsed = answerSchema.parse(JSON.parse(String(answer)));
  if ("value" in parsed) return parsed.value;
  const { status, message, code, details, headers } = parsed.error;
  throw new ApiError(status, message, { code, headers, ...(details && { details }) });
}

/**
 * Does what a remote call asks for and keeps the answer for whoever asked. An `ApiError` is an answer too; other errors
 * are thrown on, and the remote call is tried again until its deadline.
 *
 * @param work is told what is left of the time, and learns whether whoever asked has left
 * @param once for work that is paid for: it is begun once, however often the message is delivered, and is not tried
 *   again
 */
export async function answerRemoteCall(
  { dynamo, clock }: { dynamo: DynamoDBDocumentClient; clock: Clock },
  TableName: string,
  { callId, deadline, request }: RemoteCall,
  work: (request: unknown, remainingMs: number, isGone: () => Promise<boolean>) => Promise<unknown>,
  { once = false }: { once?: boolean } = {},
): Promise<void> {
  if (deadline - clock.now() <= 0) return;
  const table = createStateTable(dynamo, TableName);
  const expires_at = expiresAt(clock.now(), ANSWER_TTL_S);
  if (once) {
    const change = { set: { expires_at }, when: "attribute_not_exists(pk)" };
    const token = uuidv7();
    const begin = () => table.takeOnce(`${keyOf(callId)}#begun`, "by", change, token);
    if (!(await retryTransient(clock, { until: deadline }, begin)).taken) return;
  }
  const remaining = deadline - clock.now();
  const isGone = async (): Promise<boolean> => (await table.read(`${keyOf(callId)}#gone`)) !== undefined;
  let answer: z.input<typeof answerSchema>;
  try {
    answer = { value: await work(request, remaining, isGone) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code, message, details, headers } = error;
    answer = { error: { status, code, message, headers, ...(details && { details }) } };
  }
  let text = JSON.stringify(answer);
  const size = Buffer.byteLength(text);
  if (size > MAX_ANSWER_BYTES) {
    // kept as a fault: whoever asked would wait in vain, and the work be done again for nothing
    const message = `The answer has ${size} bytes; ${MAX_ANSWER_BYTES} are the most`;
    text = JSON.stringify({ error: { status: 502, code: "REMOTE_ANSWER_TOO_LARGE", message } } satisfies typeof answer);
  }
  // work that is begun once is lost with its answer
  await retryTransient(clock, { until: deadline }, () => table.put(keyOf(callId), { answer: text, expires_at }));
}

const keyOf = (callId: string): string => `request#${callId}`;
