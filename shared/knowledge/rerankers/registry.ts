/** Which reranker the configuration asks for. */
import type { Config } from "../../platform/config.ts";
import type { Reranker } from "./reranker.ts";
import { createTeiReranker } from "./tei-reranker.ts";

export type RerankerConfig = Pick<Config, `rerank${"Url" | "ApiKey" | "TimeoutS" | "BatchSize"}`>;

/** null where none is configured. */
export function createReranker(config: RerankerConfig): Reranker | null {
  const { rerankUrl: url, rerankApiKey: apiKey, rerankTimeoutS, rerankBatchSize: batchSize } = config;
  return url === "" ? null : createTeiReranker({ url, apiKey, timeoutMs: rerankTimeoutS * 1000, batchSize });
}
