/** Anthropic's messages. https://docs.anthropic.com/en/api/messages */
import { z } from "zod";
import type { LlmDialect } from "./dialect.ts";

const ENDPOINT = "https://api.anthropic.com/v1/messages";
const VERSION = "2023-06-01";

const answerSchema = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  stop_reason: z.string().nullish(),
});

export const anthropic: LlmDialect = {
  call: ({ model, endpoint, temperature, maxTokens, prompt, query, apiKey }) => ({
    method: "POST",
    url: new URL(endpoint ?? ENDPOINT),
    headers: { "anthropic-version": VERSION, ...(apiKey === null ? {} : { "x-api-key": apiKey }) },
    body: {
      model,
      temperature,
      max_tokens: maxTokens,
      system: prompt,
      messages: [{ role: "user", content: query }],
    },
  }),
  textOf(answer) {
    const { content, stop_reason } = answerSchema.parse(answer);
    if (stop_reason === "max_tokens") return null;
    return content.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join("");
  },
};
