/** The embedder and the store of its vectors, which only make sense together. */
import { onceMade } from "../../platform/once.ts";
import type { Embedder } from "../embedders/embedder.ts";
import { rememberQueries } from "../embedders/query-cache.ts";
import { createEmbedder, type EmbedderConfig, embedderDescriptor } from "../embedders/registry.ts";
import { createVectorStore, type VectorStoreConfig } from "../vector-stores/registry.ts";
import type { VectorStore } from "../vector-stores/vector-store.ts";

export interface OpenVectorSide {
  embedder: Embedder;
  vectors: VectorStore;
}

/** null where embeddings are switched off. */
export type VectorSide = OpenVectorSide | null;

/** Opens both at the first call and keeps them; a failure is not kept, so the next call tries again. */
export function openVectorSide(config: EmbedderConfig & VectorStoreConfig): () => Promise<VectorSide> {
  return onceMade(() => open(config));
}

async function open(config: EmbedderConfig & VectorStoreConfig): Promise<VectorSide> {
  const descriptor = embedderDescriptor(config);
  if (descriptor === null) return null;
  const [embedder, vectors] = await Promise.all([createEmbedder(config), createVectorStore(config, descriptor)]);
  return { embedder: rememberQueries(embedder), vectors };
}
