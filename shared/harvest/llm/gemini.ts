/** Gemini's generateContent. https://ai.google.dev/api/generate-content */
import { z } from "zod";
import { type LlmDialect, refused, stoppedFor } from "./dialect.ts";

const ENDPOINT = "https://generativelanguage.googleapis.com/v1beta";

const partSchema = z.object({ text: z.string().nullish(), thought: z.boolean().nullish() });
const candidateSchema = z.object({
  content: z.object({ parts: z.array(partSchema).default([]) }).default({ parts: [] }),
  finishReason: z.string().nullish(),
});
/** A question that is blocked has a reason, and no candidate. */
const answerSchema = z.union([
  z.object({ candidates: z.array(candidateSchema).min(1) }),
  z.object({ promptFeedback: z.object({ blockReason: z.string() }) }),
]);
/** Why a model stops that has said all; every other reason is a fault. */
const WHOLE = new Set(["", "STOP", "FINISH_REASON_UNSPECIFIED"]);

/** @param endpoint the base of all addresses, or the whole of one */
const addressOf = (endpoint: string, model: string): URL =>
  new URL(
    endpoint.endsWith(":generateContent")
      ? endpoint
      : `${endpoint.replace(/\/+$/, "")}/models/${encodeURIComponent(model)}:generateContent`,
  );

export const gemini: LlmDialect = {
  call: ({ model, endpoint, temperature, maxTokens, prompt, query, apiKey }) => ({
    method: "POST",
    url: addressOf(endpoint ?? ENDPOINT, model),
    headers: apiKey === null ? {} : { "x-goog-api-key": apiKey },
    body: {
      systemInstruction: { parts: [{ text: prompt }] },
      contents: [{ role: "user", parts: [{ text: query }] }],
      generationConfig: { temperature, maxOutputTokens: maxTokens, responseMimeType: "application/json" },
    },
  }),
  read(answer) {
    const parsed = answerSchema.parse(answer);
    if ("promptFeedback" in parsed) return refused(parsed.promptFeedback.blockReason);
    const [candidate] = parsed.candidates;
    const reason = candidate?.finishReason ?? "";
    if (reason === "MAX_TOKENS") return { cutOff: true };
    if (!WHOLE.has(reason)) return stoppedFor(reason);
    const parts = (candidate?.content.parts ?? []).filter(({ thought }) => thought !== true);
    const texts = parts.flatMap(({ text }) => text ?? []);
    return { text: texts.length === 0 ? null : texts.join("") };
  },
};
