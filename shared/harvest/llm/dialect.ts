/**
 * What the providers of language models differ in: how a request is written, and where the text stands in the answer.
 */
import type { JsonRequest } from "../../platform/json-client.ts";

export const LLM_PROVIDERS = ["openai", "anthropic", "gemini", "local"] as const;
export type LlmProvider = (typeof LLM_PROVIDERS)[number];

export interface LlmSettings {
  provider: LlmProvider;
  model: string;
  /** Null: the provider's own. */
  endpoint: string | null;
  temperature: number;
  maxTokens: number;
  timeoutMs: number;
}

export interface LlmRequest extends Omit<LlmSettings, "provider" | "timeoutMs"> {
  prompt: string;
  query: string;
  /** Null: none is sent. */
  apiKey: string | null;
}

export interface LlmDialect {
  call(request: LlmRequest): JsonRequest;
  /** @throws ZodError where the answer has another shape */
  read(answer: unknown): ModelAnswer;
}

/** What the model wrote, null where it wrote no text; or why that is not the whole of what it had to say. */
export type ModelAnswer = { text: string | null } | { cutOff: true } | { fault: string };

/** @param word the provider's own for why the model stopped, e.g. `content_filter` */
export const stoppedFor = (word: string): ModelAnswer => ({ fault: `the model stopped${named(word)}` });
export const refused = (word = ""): ModelAnswer => ({ fault: `the model refused${named(word)}` });

/** A word of the provider's documentation, and no text of the model. */
const named = (word: string): string => (/^\w{1,40}$/.test(word) ? `: ${word}` : "");
