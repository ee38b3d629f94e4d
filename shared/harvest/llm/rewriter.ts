/**
 * Language models that turn an intent into a neutral query: one call, temperature 0, a hard timeout, and no second try
 * with anything else. Each provider is a way to write the request and to find the text in the answer.
 */
import type { Agent } from "undici";
import { z } from "zod";
import { CallFailed, callJson, type JsonReply, jsonOf } from "../../platform/json-client.ts";
import { MAX_ANSWER_BYTES } from "../provider-run.ts";
import { anthropic } from "./anthropic.ts";
import type { LlmDialect, LlmProvider, LlmRequest, LlmSettings } from "./dialect.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";

const DIALECTS: Record<LlmProvider, LlmDialect> = { openai, anthropic, gemini, local: openai };

/** The call gave no text: to be answered with 502. */
export class LlmFailed extends Error {
  constructor(details: string, cause?: unknown) {
    super(details, cause === undefined ? undefined : { cause });
    this.name = "LlmFailed";
  }
}

/**
 * @returns what the model wrote, unchecked
 * @throws LlmFailed: timeout, refusal with its status, an answer of another shape
 */
export async function askModel(
  client: Agent,
  settings: LlmSettings,
  { prompt, query, apiKey }: Pick<LlmRequest, "prompt" | "query" | "apiKey">,
): Promise<string> {
  const dialect = DIALECTS[settings.provider];
  try {
    const call = dialect.call({ ...settings, prompt, query, apiKey });
    const reply = await callJson({ ...call, client, timeoutMs: settings.timeoutMs, maxBytes: MAX_ANSWER_BYTES });
    if (reply.status !== 200) throw new LlmFailed(refusal(reply));
    const answer = dialect.read(jsonOf(reply));
    if ("cutOff" in answer) throw new LlmFailed(`the answer was cut off at ${settings.maxTokens} tokens`);
    if ("fault" in answer) throw new LlmFailed(answer.fault);
    if (answer.text === null) throw new LlmFailed("the model wrote nothing");
    return answer.text;
  } catch (error) {
    if (error instanceof LlmFailed) throw error;
    if (error instanceof CallFailed) throw new LlmFailed(inSeconds(error.reason), error);
    if (error instanceof z.ZodError) throw new LlmFailed("the answer has an unknown shape", error);
    throw error;
  }
}

function refusal({ status, body }: JsonReply): string {
  // Gemini has 400 for an unknown key
  if (status === 401 || status === 403 || body.includes("API_KEY_INVALID")) {
    return `auth: the provider answered ${status}`;
  }
  if (status === 402 || status === 429) return `quota: the provider answered ${status}`;
  return `the provider answered ${status}`;
}

const inSeconds = (reason: string): string =>
  reason.replace(/^timeout after (\d+) ms$/, (_, ms: string) => `timeout after ${Number(ms) / 1000}s`);
