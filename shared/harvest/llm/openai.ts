/**
 * OpenAI's chat completions, which many local servers speak too. https://platform.openai.com/docs/api-reference/chat
 */
import { z } from "zod";
import { type LlmDialect, refused, stoppedFor } from "./dialect.ts";

const ENDPOINT = "https://api.openai.com/v1/chat/completions";

const answerSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
});
/** Why a model stops before it has answered. */
const EARLY = new Set(["content_filter", "tool_calls", "function_call"]);

export const openai: LlmDialect = {
  call: ({ model, endpoint, temperature, maxTokens, prompt, query, apiKey }) => ({
    method: "POST",
    url: new URL(endpoint ?? ENDPOINT),
    headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
    body: {
      model,
      temperature,
      max_tokens: maxTokens,
      response_format: { type: "json_object" },
      messages: [
        { role: "system", content: prompt },
        { role: "user", content: query },
      ],
    },
  }),
  read(answer) {
    const [choice] = answerSchema.parse(answer).choices;
    const reason = choice?.finish_reason ?? "";
    if (choice?.message.refusal) return refused();
    if (reason === "length") return { cutOff: true };
    return EARLY.has(reason) ? stoppedFor(reason) : { text: choice?.message.content ?? null };
  },
};
