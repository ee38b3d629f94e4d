/**
 * Text Embeddings Inference with a reranker: `POST /rerank {query, texts, raw_scores, truncate}` answers
 * `[{index, score}]`, the best first; scores are probabilities unless they are asked for raw. `GET /info` tells the
 * kind of the model and the limits. https://huggingface.github.io/text-embeddings-inference/
 */
import { z } from "zod";
import { atOnce } from "../../platform/at-once.ts";
import { RetryableError } from "../../platform/errors.ts";
import { jsonIfAny } from "../../platform/json-client.ts";
import { askServer, type ServerSettings } from "../embedders/server-calls.ts";
import type { Reranker } from "./reranker.ts";

export interface TeiRerankerOptions {
  url: string;
  /** Empty where the server wants none. */
  apiKey: string;
  /** For one ranking, with all its requests. */
  timeoutMs: number;
  /** Texts per request, where the server takes as many. */
  batchSize: number;
}

const SETTINGS: ServerSettings = {
  ...{ server: "reranking server", code: "RERANKER" },
  ...{ url: "TEI__RERANK_URL", apiKey: "TEI__RERANK_API_KEY", batchSize: "TEI__RERANK_BATCH_SIZE" },
};
/** Requests of one ranking; other containers ask the server too. */
const MOST_AT_ONCE = 4;

const infoSchema = z.object({
  model_id: z.string(),
  model_type: z.record(z.string(), z.unknown()).optional(),
  max_client_batch_size: z.int().min(1).optional(),
  max_concurrent_requests: z.int().min(1).optional(),
});
const answerSchema = z.array(z.object({ index: z.int().min(0), score: z.number() }));

interface Limits {
  batchSize: number;
  concurrency: number;
}

export function createTeiReranker({ url, apiKey, timeoutMs, batchSize }: TeiRerankerOptions): Reranker {
  const base = url.replace(/\/+$/, "");
  const headers: Record<string, string> = apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };

  let limits: Limits | undefined;

  /** Asked for again after the server was away: it may have come back as another. */
  async function readLimits(leftMs: number, signal?: AbortSignal): Promise<Limits> {
    const call = { method: "GET", url: new URL(`${base}/info`), headers, timeoutMs: leftMs, signal } as const;
    const { data: info } = infoSchema.safeParse(jsonIfAny(await askServer(call, SETTINGS, [404])));
    if (info?.model_type !== undefined && !("reranker" in info.model_type)) throw noReranker(info.model_id);
    return {
      batchSize: Math.min(batchSize, info?.max_client_batch_size ?? batchSize),
      concurrency: Math.min(MOST_AT_ONCE, info?.max_concurrent_requests ?? 1),
    };
  }

  async function rerankBatch(query: string, texts: readonly string[], leftMs: number): Promise<number[]> {
    const body = { query, texts, raw_scores: false, return_text: false, truncate: true };
    const call = { method: "POST", url: new URL(`${base}/rerank`), headers, body, timeoutMs: leftMs } as const;
    const parsed = answerSchema.safeParse(jsonIfAny(await askServer(call, SETTINGS)));
    const scores = new Map(parsed.data?.map(({ index, score }) => [index, score]));
    return texts.map((_, index) => scores.get(index) ?? unusable(texts.length));
  }

  return {
    async rerank(query, texts) {
      const until = performance.now() + timeoutMs;
      const leftMs = (): number => Math.max(1, until - performance.now());
      try {
        limits ??= await readLimits(leftMs());
        const { batchSize: size, concurrency } = limits;
        const starts = Array.from({ length: Math.ceil(texts.length / size) }, (_, index) => index * size);
        const scores: number[] = [];
        await atOnce(concurrency, starts, async (start) => {
          const batch = await rerankBatch(query, texts.slice(start, start + size), leftMs());
          for (const [index, score] of batch.entries()) scores[start + index] = score;
        });
        return scores;
      } catch (error) {
        limits = undefined;
        throw error;
      }
    },
    async check(signal) {
      // unlike /health, it is not answered without the key
      await readLimits(timeoutMs, signal);
    },
  };
}

function noReranker(model: string): RetryableError {
  return new RetryableError(
    `The reranking server runs ${model}, which is no reranker: start it with one, or set TEI__RERANK_URL to one`,
    { code: "RERANKER_MODEL_MISMATCH" },
  );
}

function unusable(texts: number): never {
  throw new RetryableError(`The reranking server's answer has no score for each of ${texts} texts`, {
    code: "RERANKER_ANSWER_INVALID",
  });
}
