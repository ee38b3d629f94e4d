/** What the providers of language models differ in: how a request is written, and where the text stands in the answer. */
import type { ApiCall } from "../http.ts";

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
  call(request: LlmRequest): Omit<ApiCall, "timeoutMs">;
  /** @returns the text; null where it was cut off at the token limit @throws ZodError where the answer has another shape */
  textOf(answer: unknown): string | null;
}
