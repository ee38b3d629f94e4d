/** `Idempotency-Key`: a request that is sent again gets the answer of the first. */
import type { IdempotencyKeys, RememberedAnswer, Turn } from "../../../shared/access/idempotency.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { sha256 } from "../../../shared/platform/ids.ts";

export const IDEMPOTENCY_HEADER = "idempotency-key";
export const REPLAYED_HEADER = "idempotent-replayed";

const FORM = "[A-Za-z0-9._:~+/=-]{1,255}";
const KEY = new RegExp(`^(?:(${FORM})|"(${FORM})")$`);

/** As the OpenAPI document has it. */
export const IDEMPOTENCY_PARAMETER = {
  name: "Idempotency-Key",
  in: "header" as const,
  required: false,
  description: "For 24 hours, the same request with the same key makes nothing a second time, and gets the same answer",
  schema: { type: "string" as const, pattern: KEY.source },
};

/**
 * @param presented the header; a value in double quotes, as a structured field has it, is the one between them
 * @throws ApiError 400 IDEMPOTENCY_KEY_INVALID
 */
export function idempotencyKey(presented: string): string {
  const [, bare, quoted] = KEY.exec(presented) ?? [];
  const key = bare ?? quoted;
  if (key !== undefined) return key;
  throw new ApiError(400, "Idempotency-Key is 1 to 255 letters, digits or of . _ : ~ + / = -, such as a UUID", {
    code: "IDEMPOTENCY_KEY_INVALID",
  });
}

/** What the request asks for: objects of the body are the same in any order of their fields. */
export function requestHash(request: { method: string; url: string }, body: unknown): Buffer {
  const { pathname, search } = new URL(request.url);
  return sha256(`${request.method} ${pathname}${search}\n${body === undefined ? "" : JSON.stringify(body, sorted)}`);
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Runs a request once. What fails is not kept, nor is a stream, which is made anew from its job.
 * @param run makes the answer; with the turn where a key was sent
 * @param kept the answer as it is kept; undefined for one that is made anew
 */
export async function idempotently<Answer>(
  keys: IdempotencyKeys | undefined,
  { apiKeyId, presented, hash }: { apiKeyId: string; presented: string; hash: Buffer },
  run: (turn: Turn) => Promise<Answer>,
  kept: (answer: Answer) => RememberedAnswer | undefined,
): Promise<{ answer: Answer; resumed: boolean } | { remembered: RememberedAnswer }> {
  const key = idempotencyKey(presented);
  if (keys === undefined) throw new Error("A route that takes Idempotency-Key has nothing that keeps them");
  const begun = await keys.begin(apiKeyId, key, hash);
  if ("answer" in begun) return { remembered: begun.answer };
  const { turn } = begun;
  let answer: Answer;
  try {
    answer = await run(turn);
  } catch (error) {
    // where this fails too, the turn ends by itself
    await turn.release().catch(() => undefined);
    throw error;
  }
  const toKeep = kept(answer);
  // what is made is made: who sends the request again finds it by its id
  await (toKeep === undefined ? turn.release() : turn.finish(toKeep)).catch(() => undefined);
  return { answer, resumed: turn.resumed };
}
