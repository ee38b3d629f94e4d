/**
 * Which vector store the configuration asks for; imported when used, so that a Lambda bundle carries no SQLite
 * extension.
 */
import type { Config } from "../../platform/config.ts";
import type { EmbedderDescriptor } from "../embedders/embedder.ts";
import type { VectorStore } from "./vector-store.ts";

export type VectorStoreConfig = Pick<Config, "qdrantUrl" | "qdrantApiKey" | "qdrantCollection" | "sqliteVectorsPath">;

/**
 * The store for this model's vectors.
 * @throws Error where neither QDRANT__URL nor VECTORS__SQLITE_PATH is set
 */
export async function createVectorStore(
  config: VectorStoreConfig,
  descriptor: EmbedderDescriptor,
): Promise<VectorStore> {
  if (config.qdrantUrl !== "") {
    const { createQdrantStore } = await import("./qdrant.ts");
    const { qdrantUrl: url, qdrantApiKey: apiKey, qdrantCollection: collection } = config;
    return createQdrantStore({ url, apiKey, collection, descriptor });
  }
  if (config.sqliteVectorsPath === "") {
    throw new Error("No vector store is configured: set QDRANT__URL, or VECTORS__SQLITE_PATH for the embedded one");
  }
  const { createSqliteVectorStore } = await import("./sqlite-vec.ts");
  return createSqliteVectorStore({ path: config.sqliteVectorsPath, descriptor });
}
