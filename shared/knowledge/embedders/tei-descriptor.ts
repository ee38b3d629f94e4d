/** What must be known of the model behind Text Embeddings Inference. */
import type { EmbedderDescriptor } from "./embedder.ts";

/** A strong model: both sides of the fusion count alike. */
export function teiDescriptor(config: { teiModel: string; teiDimension: number }): EmbedderDescriptor {
  return {
    model: config.teiModel,
    dimension: config.teiDimension,
    // Qwen3-Embedding reads 32,768; chunks end at the chunker's own size long before
    maxTokens: 32_768,
    languages: null,
    cached: true,
    fusion: { method: "rrf", weights: { vector: 1, keyword: 1 } },
  };
}
