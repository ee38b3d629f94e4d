/** Calls to servers of models, and what their refusals mean. */
import { PermanentError, RetryableError, ThrottledError } from "../../platform/errors.ts";
import { CallFailed, callJson, type JsonCall, type JsonReply, jsonIfAny } from "../../platform/json-client.ts";
import { retryAfterMs } from "../../platform/retry-after.ts";

/** Names of settings, for whoever has to mend them. */
export interface ServerSettings {
  /** What it is; a server of embeddings where nothing is said. */
  server?: string;
  /** What its error codes begin with; `EMBEDDER` where nothing is said. */
  code?: string;
  url: string;
  apiKey: string;
  batchSize: string;
}

/** @returns a reply with a status of success, or one that is allowed */
export async function askServer(
  call: JsonCall,
  settings: ServerSettings,
  allowed: readonly number[] = [],
): Promise<JsonReply> {
  const { server = "embedding server", code = "EMBEDDER" } = settings;
  const reply = await callJson(call).catch((cause: unknown) => {
    const why = cause instanceof CallFailed ? ` (${cause.reason})` : "";
    throw new RetryableError(`The ${server} did not answer${why}: check ${settings.url} and that it runs`, {
      code: `${code}_UNAVAILABLE`,
      cause,
    });
  });
  if ((reply.status >= 200 && reply.status <= 299) || allowed.includes(reply.status)) return reply;
  throw refusal(reply, { ...settings, server, code });
}

/** Only a refused input is final; everything else passes, or waits for whoever runs it. */
function refusal(reply: JsonReply, settings: Required<ServerSettings>): RetryableError | PermanentError {
  const { status, headers } = reply;
  const { server, code } = settings;
  const message = `The ${server} answered ${status}${reasonOf(jsonIfAny(reply))}`;
  if (status === 401 || status === 403) {
    return new RetryableError(`${message}. Check ${settings.apiKey}`, { code: `${code}_KEY_REFUSED` });
  }
  if (status === 413 || status === 422 || status === 400) {
    return new PermanentError(`${message}. If its batch limit is below ${settings.batchSize}, lower that`, {
      code: `${code}_REFUSED`,
    });
  }
  const wait = status === 429 ? retryAfterMs(headers["retry-after"], Date.now()) : undefined;
  if (wait !== undefined && wait > 0) {
    return new ThrottledError(message, { code: `${code}_BUSY`, retryAfterMs: wait });
  }
  return new RetryableError(message, { code: status === 429 ? `${code}_BUSY` : `${code}_UNAVAILABLE` });
}

/** TEI says `{error: text}`, OpenAI `{error: {message: text}}`. */
function reasonOf(body: unknown): string {
  if (typeof body !== "object" || body === null || !("error" in body)) return "";
  const { error } = body;
  if (typeof error === "string") return `: ${error}`;
  return typeof error === "object" && error !== null && "message" in error ? `: ${String(error.message)}` : "";
}

export const unusableAnswer = (texts: number) =>
  new RetryableError(`The embedding server's answer is not ${texts} arrays of numbers`, {
    code: "EMBEDDER_ANSWER_INVALID",
  });
