/**
 * What the private side asks of the side with internet: that a model rewrites a question, that providers are searched,
 * and whether names resolve. Keys are named, never sent.
 */
import { z } from "zod";
import { LLM_PROVIDERS } from "./llm/dialect.ts";
import { neutralQuerySchema } from "./query-schema.ts";

const keyName = z.string().nullable();

const rewriteRequestSchema = z.strictObject({
  kind: z.literal("rewrite"),
  llm: z.strictObject({
    provider: z.enum(LLM_PROVIDERS),
    model: z.string(),
    endpoint: z.string().nullable(),
    temperature: z.number(),
    maxTokens: z.int(),
    timeoutMs: z.int(),
    apiKeyEnv: keyName,
  }),
  prompt: z.string(),
  query: z.string(),
});
export type RewriteRequest = z.infer<typeof rewriteRequestSchema>;

const searchRequestSchema = z.strictObject({
  kind: z.literal("search"),
  /** Its dates are days. */
  query: neutralQuerySchema,
  providers: z
    .array(
      z.strictObject({
        name: z.enum(["serper", "google", "brave", "searxng"]),
        endpoint: z.string().nullable(),
        apiKeyEnv: keyName,
        engineIdEnv: keyName,
      }),
    )
    .min(1),
  /** Results wanted of each. */
  want: z.int().positive(),
  /** Epoch ms. */
  deadline: z.int(),
  timeoutMs: z.int(),
});
export type SearchRequest = z.infer<typeof searchRequestSchema>;

export const harvestRequestSchema = z.discriminatedUnion("kind", [
  rewriteRequestSchema,
  searchRequestSchema,
  z.strictObject({ kind: z.literal("probe"), url: z.string() }),
]);

export const rewriteAnswerSchema = z.strictObject({ text: z.string() });
export const probeAnswerSchema = z.strictObject({ ok: z.boolean(), detail: z.string() });
const providerRunSchema = z.strictObject({
  provider: z.string(),
  queryUsed: z.string().nullable(),
  urls: z.array(z.string()),
  latencyMs: z.number(),
  requests: z.int(),
  skipped: z.int(),
  error: z.string().nullable(),
});
export const searchAnswerSchema = z.strictObject({ runs: z.array(providerRunSchema) });
