/** What must be known of the models behind servers of embeddings. */
import type { EmbedderDescriptor } from "./embedder.ts";

/** Qwen3-Embedding reads as many; chunks end at the chunker's own size long before. */
const MAX_TOKENS = 32_768;

/** Strong models: both sides of the fusion count alike. */
function serverDescriptor(model: string, dimension: number): EmbedderDescriptor {
  return {
    model,
    dimension,
    maxTokens: MAX_TOKENS,
    languages: null,
    cached: true,
    fusion: { method: "rrf", weights: { vector: 1, keyword: 1 } },
  };
}

export const teiDescriptor = (config: { teiModel: string; teiDimension: number }): EmbedderDescriptor =>
  serverDescriptor(config.teiModel, config.teiDimension);

export const openAiDescriptor = (config: { openAiModel: string; openAiDimension: number }): EmbedderDescriptor =>
  serverDescriptor(config.openAiModel, config.openAiDimension);
