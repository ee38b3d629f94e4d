import type { EmbedderDescriptor } from "../embedder.ts";

/** Universal Sentence Encoder Lite, as npm ships it: small and offline, and weaker than BM25 (see `bench/suites/relevance.ts`). */
export const BUNDLED_DESCRIPTOR: EmbedderDescriptor = {
  model: "universal-sentence-encoder-lite",
  dimension: 512,
  maxTokens: 128,
  fusionWeights: { vector: 0.3, keyword: 1 },
};
