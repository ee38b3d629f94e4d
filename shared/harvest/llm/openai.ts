/** OpenAI's chat completions, which many local servers speak too. https://platform.openai.com/docs/api-reference/chat */
import { z } from "zod";
import type { LlmDialect } from "./dialect.ts";

const ENDPOINT = "https://api.openai.com/v1/chat/completions";

const answerSchema = z.object({
  choices: z
    .array(z.object({ message: z.object({ content: z.string() }), finish_reason: z.string().nullish() }))
    .min(1),
});

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
  textOf(answer) {
    const [choice] = answerSchema.parse(answer).choices;
    return choice === undefined || choice.finish_reason === "length" ? null : choice.message.content;
  },
};
