import type { EmbedderDescriptor } from "../embedder.ts";

/**
 * Rows of potion-base-8M for English, of multilingual-e5-small for 15 other languages (see
 * `layers/embedding-model/LICENCES.md`).
 */
export const STATIC_DESCRIPTOR: EmbedderDescriptor = {
  model: "strandline-static-16-languages",
  dimension: 256,
  maxTokens: 8_192,
  languages: ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "tr", "ru", "ar", "fa", "ja", "zh", "ko"],
  cached: false,
  // chosen on Cranfield and on XQuAD's English and Spanish
  fusion: { method: "linear", weights: { vector: 0.3, keyword: 0.7 } },
};
