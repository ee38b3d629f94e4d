/**
 * Servers that speak OpenAI's API for embeddings, such as vLLM, Ollama, LM Studio or the original: `POST /embeddings
 * {model, input}` answers `{data: [{index, embedding}]}`. https://platform.openai.com/docs/api-reference/embeddings
 */
import { z } from "zod";
import { atOnce } from "../../platform/at-once.ts";
import { jsonIfAny } from "../../platform/json-client.ts";
import type { Embedder, EmbedderDescriptor } from "./embedder.ts";
import { normalised } from "./long-texts.ts";
import { askServer, unusableAnswer } from "./server-calls.ts";

export interface OpenAiOptions {
  /** With the version, as in `https://api.openai.com/v1`. */
  url: string;
  /** Empty where the server wants none. */
  apiKey: string;
  descriptor: EmbedderDescriptor;
  timeoutMs: number;
  /** Texts per request. */
  batchSize: number;
  /** Whether the server is asked for vectors as long as the descriptor says. */
  shortened?: boolean;
}

const SETTINGS = { url: "OPENAI__URL", apiKey: "OPENAI__API_KEY", batchSize: "OPENAI__BATCH_SIZE" };
const answerSchema = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number().nullable()) })),
});
const MOST_AT_ONCE = 4;
/** A person waits for it; whoever embeds chunks waits longer. */
const QUERY_TIMEOUT_MS = 10_000;

export function createOpenAiEmbedder(options: OpenAiOptions): Embedder {
  const { url, apiKey, descriptor, timeoutMs, batchSize, shortened = false } = options;
  const base = url.replace(/\/+$/, "");
  const headers: Record<string, string> = apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };

  async function embedBatch(input: readonly string[], limitMs: number): Promise<Float32Array[]> {
    const shape = shortened ? { dimensions: descriptor.dimension } : {};
    const body = { model: descriptor.model, input, encoding_format: "float", ...shape };
    const call = { method: "POST", url: new URL(`${base}/embeddings`), headers, body, timeoutMs: limitMs } as const;
    const { data: answer } = answerSchema.safeParse(jsonIfAny(await askServer(call, SETTINGS)));
    const vectors = new Map(answer?.data.map(({ index, embedding }) => [index, embedding]));
    // not every server keeps the order, and not every one normalises
    return input.map((_, index) => {
      const vector = vectors.get(index);
      if (vector === undefined || vectors.size !== input.length) throw unusableAnswer(input.length);
      return normalised(Float32Array.from(vector, (value) => value ?? Number.NaN));
    });
  }

  return {
    descriptor,
    async embedDocuments(texts) {
      const starts = Array.from({ length: Math.ceil(texts.length / batchSize) }, (_, index) => index * batchSize);
      const vectors: Float32Array[] = [];
      await atOnce(MOST_AT_ONCE, starts, async (start) => {
        const batch = await embedBatch(texts.slice(start, start + batchSize), timeoutMs);
        for (const [index, vector] of batch.entries()) vectors[start + index] = vector;
      });
      return vectors;
    },
    async embedQuery(text) {
      const [vector] = await embedBatch([text], Math.min(timeoutMs, QUERY_TIMEOUT_MS));
      return vector ?? null;
    },
    async check(signal) {
      // not every server has it; a wrong key is refused all the same
      const call = { method: "GET", url: new URL(`${base}/models`), headers, timeoutMs, signal } as const;
      await askServer(call, SETTINGS, [404, 405]);
    },
  };
}
