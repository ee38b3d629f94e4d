/**
 * Text Embeddings Inference over HTTP: `POST /embed {inputs, truncate, normalize}` answers one array of numbers per
 * input; 429 means overloaded, 413 and 422 an input or batch it refuses, 424 a failed inference. `GET /info` tells the
 * model and the limits. https://huggingface.github.io/text-embeddings-inference/
 */
import { z } from "zod";
import { atOnce } from "../../platform/at-once.ts";
import { RetryableError } from "../../platform/errors.ts";
import { jsonIfAny } from "../../platform/json-client.ts";
import type { Embedder, EmbedderDescriptor } from "./embedder.ts";
import { joinParts, partsOf } from "./long-texts.ts";
import { askServer, unusableAnswer } from "./server-calls.ts";

export interface TeiOptions {
  url: string;
  /** Empty where the server wants none. */
  apiKey: string;
  descriptor: EmbedderDescriptor;
  timeoutMs: number;
  /** Texts per request, where the server takes as many. */
  batchSize: number;
  /** Whether the server is asked for vectors as long as the descriptor says. */
  shortened?: boolean;
}

const SETTINGS = { url: "TEI__URL", apiKey: "TEI__API_KEY", batchSize: "TEI__BATCH_SIZE" };
const answerSchema = z.array(z.array(z.number().nullable()));
const infoSchema = z.object({
  model_id: z.string(),
  max_input_length: z.int().min(1).optional(),
  max_client_batch_size: z.int().min(1).optional(),
  max_concurrent_requests: z.int().min(1).optional(),
});

interface Limits {
  batchSize: number;
  /** In tokens; undefined: not known. */
  inputLength: number | undefined;
  concurrency: number;
}

/** Requests of one batch of chunks; other containers ask the server too. */
const MOST_AT_ONCE = 4;
/** A person waits for it; whoever embeds chunks waits longer. */
const QUERY_TIMEOUT_MS = 10_000;
/** The retrieval instruction of the Qwen3-Embedding model card; documents carry none. */
const QWEN3_QUERY = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:";

export function createTeiEmbedder(options: TeiOptions): Embedder {
  const { url, apiKey, descriptor, timeoutMs, batchSize, shortened = false } = options;
  const base = url.replace(/\/+$/, "");
  const headers: Record<string, string> = apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
  const shape = shortened ? { dimensions: descriptor.dimension } : {};
  const queryPrefix = /qwen3.*embedding/i.test(descriptor.model) ? QWEN3_QUERY : "";

  let limits: Promise<Limits> | undefined;
  /** Asked for once, and again after the server was away: it may have come back as another. */
  function knownLimits(): Promise<Limits> {
    limits ??= readLimits().catch(forgetting);
    return limits;
  }

  function forgetting(error: unknown): never {
    limits = undefined;
    throw error;
  }

  /** @throws RetryableError EMBEDDER_MODEL_MISMATCH where the server runs another model than is configured */
  async function readLimits(signal?: AbortSignal): Promise<Limits> {
    const call = { method: "GET", url: new URL(`${base}/info`), headers, timeoutMs, signal } as const;
    const reply = await askServer(call, SETTINGS, [404]);
    const { data: info } = infoSchema.safeParse(jsonIfAny(reply));
    if (info !== undefined) checkModel(info.model_id, descriptor.model);
    return {
      batchSize: Math.min(batchSize, info?.max_client_batch_size ?? batchSize),
      inputLength: info?.max_input_length,
      concurrency: Math.min(MOST_AT_ONCE, info?.max_concurrent_requests ?? 1),
    };
  }

  async function embedBatch(inputs: readonly string[], limitMs: number): Promise<Float32Array[]> {
    const body = { inputs, truncate: true, normalize: true, ...shape };
    const call = { method: "POST", url: new URL(`${base}/embed`), headers, body, timeoutMs: limitMs } as const;
    const reply = await askServer(call, SETTINGS).catch(forgetting);
    const parsed = answerSchema.safeParse(jsonIfAny(reply));
    if (!parsed.success || parsed.data.length !== inputs.length) throw unusableAnswer(inputs.length);
    // JSON has no NaN: serde writes null for it, and validation then names the faulty position
    return parsed.data.map((vector) => Float32Array.from(vector, (value) => value ?? Number.NaN));
  }

  return {
    descriptor,
    async embedDocuments(texts) {
      const { batchSize: size, inputLength, concurrency } = await knownLimits();
      const parts = texts.map((text) => partsOf(text, inputLength));
      const inputs = parts.flat();
      const starts = Array.from({ length: Math.ceil(inputs.length / size) }, (_, index) => index * size);
      const vectors: Float32Array[] = [];
      await atOnce(concurrency, starts, async (start) => {
        const batch = await embedBatch(inputs.slice(start, start + size), timeoutMs);
        for (const [index, vector] of batch.entries()) vectors[start + index] = vector;
      });
      return joinParts(parts, vectors);
    },
    async embedQuery(text) {
      await knownLimits();
      const [vector] = await embedBatch([queryPrefix + text], Math.min(timeoutMs, QUERY_TIMEOUT_MS));
      if (vector === undefined) throw new Error("The embedding server gave no vector for one text");
      return vector;
    },
    async check(signal) {
      // unlike /health, it is not answered without the key
      await readLimits(signal);
    },
  };
}

/** A server that loaded its model from a folder names that folder, which may be called anything. */
function checkModel(served: string, configured: string): void {
  const nameOf = (model: string) => model.split("/").at(-1)?.toLowerCase();
  if (/^[./~]/.test(served) || nameOf(served) === nameOf(configured)) return;
  throw new RetryableError(
    `The embedding server runs ${served}, and the vectors are to be of ${configured}: start it with that model, or ` +
      "set TEI__EMBEDDING_MODEL and TEI__EMBEDDING_DIMENSION, by which all chunks are embedded anew",
    { code: "EMBEDDER_MODEL_MISMATCH" },
  );
}
