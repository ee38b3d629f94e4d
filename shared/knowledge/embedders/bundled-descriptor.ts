import type { EmbedderDescriptor } from "./embedder.ts";

/**
 * Universal Sentence Encoder Lite, as npm ships it: small and offline, and weaker than BM25 (see
 * `bench/suites/relevance.ts`).
 */
export const BUNDLED_DESCRIPTOR: EmbedderDescriptor = {
  model: "universal-sentence-encoder-lite",
  dimension: 512,
  maxTokens: 128,
  // best of 0.1 to 1 on both halves of Cranfield's queries: hybrid 0.392, keyword alone 0.385, vectors alone 0.191
  fusionWeights: { vector: 0.1, keyword: 1 },
};
