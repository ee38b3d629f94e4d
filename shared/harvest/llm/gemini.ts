/** Gemini's generateContent. https://ai.google.dev/api/generate-content */
import { z } from "zod";
import type { LlmDialect } from "./dialect.ts";

const ENDPOINT = "https://generativelanguage.googleapis.com/v1beta";

const answerSchema = z.object({
  candidates: z
    .array(
      z.object({
        content: z.object({
          parts: z.array(z.object({ text: z.string().default(""), thought: z.boolean().default(false) })),
        }),
        finishReason: z.string().nullish(),
      }),
    )
    .min(1),
});

export const gemini: LlmDialect = {
  call: ({ model, endpoint, temperature, maxTokens, prompt, query, apiKey }) => ({
    method: "POST",
    url: new URL(`${(endpoint ?? ENDPOINT).replace(/\/+$/, "")}/models/${encodeURIComponent(model)}:generateContent`),
    headers: apiKey === null ? {} : { "x-goog-api-key": apiKey },
    body: {
      systemInstruction: { parts: [{ text: prompt }] },
      contents: [{ role: "user", parts: [{ text: query }] }],
      generationConfig: { temperature, maxOutputTokens: maxTokens, responseMimeType: "application/json" },
    },
  }),
  textOf(answer) {
    const [candidate] = answerSchema.parse(answer).candidates;
    if (candidate === undefined || candidate.finishReason === "MAX_TOKENS") return null;
    return candidate.content.parts.map(({ text, thought }) => (thought ? "" : text)).join("");
  },
};
