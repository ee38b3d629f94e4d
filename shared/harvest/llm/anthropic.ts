/** Anthropic's messages. https://docs.anthropic.com/en/api/messages */
import { z } from "zod";
import { type LlmDialect, refused, stoppedFor } from "./dialect.ts";

const ENDPOINT = "https://api.anthropic.com/v1/messages";
const VERSION = "2023-06-01";

const answerSchema = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().nullish() })),
  stop_reason: z.string().nullish(),
});

const CUT_OFF = new Set(["max_tokens", "model_context_window_exceeded"]);
/** Why a model stops before it has answered. */
const EARLY = new Set(["tool_use", "pause_turn"]);

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
  read(answer) {
    const { content, stop_reason } = answerSchema.parse(answer);
    const reason = stop_reason ?? "";
    if (reason === "refusal") return refused();
    if (CUT_OFF.has(reason)) return { cutOff: true };
    if (EARLY.has(reason)) return stoppedFor(reason);
    const texts = content.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : []));
    return { text: texts.length === 0 ? null : texts.join("") };
  },
};
