/** The embedder and the store of its vectors, which only make sense together. */
import type { Sql } from "../../platform/database/database.ts";
import { onceMade } from "../../platform/once.ts";
import type { Embedder, EmbedderDescriptor } from "../embedders/embedder.ts";
import { type QueryVectors, rememberQueries } from "../embedders/query-cache.ts";
import { configOfModel, createEmbedder, type EmbedderConfig, embedderDescriptor } from "../embedders/registry.ts";
import { createVectorStore, type VectorStoreConfig } from "../vector-stores/registry.ts";
import type { VectorStore } from "../vector-stores/vector-store.ts";

export interface OpenVectorSide {
  embedder: Embedder;
  vectors: VectorStore;
}

/** null where embeddings are switched off. */
export type VectorSide = OpenVectorSide | null;

type VectorSideConfig = EmbedderConfig & VectorStoreConfig;
type StoredModel = Pick<EmbedderDescriptor, "model" | "dimension">;

/** Opens both at the first call and keeps them; a failure is not kept, so the next call tries again. */
export function openVectorSide(
  config: VectorSideConfig,
  queries: QueryVectors | null = null,
): () => Promise<VectorSide> {
  return onceMade(() => open(config, queries));
}

async function open(config: VectorSideConfig, queries: QueryVectors | null): Promise<VectorSide> {
  const descriptor = embedderDescriptor(config);
  if (descriptor === null) return null;
  const [embedder, vectors] = await Promise.all([createEmbedder(config), createVectorStore(config, descriptor)]);
  return { embedder: rememberQueries(embedder, queries), vectors };
}

/** How long a search may take to learn that another model answers. In ms. */
const SERVING_KNOWN_MS = 10_000;

/**
 * As `openVectorSide`, for searches: while vectors of the configured model are made, the model before it answers, as
 * long as the configuration still names what it runs on.
 * @param onChange called now and then while that is so
 * @param queries vectors of queries that containers share; null: each keeps its own
 */
export function openServingSide(
  config: VectorSideConfig,
  sql: Sql,
  onChange: () => Promise<void>,
  queries: QueryVectors | null = null,
): () => Promise<VectorSide> {
  const configured = embedderDescriptor(config);
  const openConfigured = openVectorSide(config, queries);
  if (configured === null) return openConfigured;
  const others = new Map<string, () => Promise<VectorSide>>();
  const readServing = async (): Promise<StoredModel> => {
    const [row] = await sql<StoredModel[]>`select model, dimension from embedding_models where state = 'serving'`;
    return row ?? configured;
  };
  const isConfigured = ({ model, dimension }: StoredModel): boolean =>
    model === configured.model && dimension === configured.dimension;
  let known: { model: Promise<StoredModel>; until: number } | undefined;
  return async () => {
    if (known === undefined || performance.now() >= known.until) {
      const model = readServing();
      known = { model, until: performance.now() + SERVING_KNOWN_MS };
      // the next one asks again
      model.catch(() => {
        known = undefined;
      });
      if (!isConfigured(await model)) await onChange();
    }
    const serving = await known.model;
    if (isConfigured(serving)) return await openConfigured();
    const name = `${serving.model} ${serving.dimension}`;
    const before = others.get(name) ?? openVectorSide(configOfModel(config, serving) ?? config, queries);
    others.set(name, before);
    return await before();
  };
}
