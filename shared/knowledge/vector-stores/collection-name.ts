import type { EmbedderDescriptor } from "../embedders/embedder.ts";

/**
 * One collection per model and dimension, e.g. `strandline_qwen-qwen3-embedding-0-6b_1024`: vectors of two models do
 * not compare.
 */
export function collectionName(prefix: string, { model, dimension }: Pick<EmbedderDescriptor, "model" | "dimension">) {
  return `${prefix}_${model.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}_${dimension}`;
}
