/**
 * Which vector store the configuration asks for; imported when used, so that a Lambda bundle carries no SQLite
 * extension.
 */
import type { Config } from "../../platform/config.ts";
import { connectDatabase } from "../../platform/database/database.ts";
import type { EmbedderDescriptor } from "../embedders/embedder.ts";
import type { VectorStore } from "./vector-store.ts";

export type VectorStoreConfig = Pick<Config, "qdrantUrl" | "qdrantApiKey" | "qdrantCollection" | "sqliteVectorsPath"> &
  Partial<Pick<Config, "vectorStore" | `postgres${"Url" | "ConnectTimeoutS" | "Auth"}`>>;

/** Of one container for its vectors, beside that of its rows. */
const CONNECTIONS = 1;

/**
 * The store for this model's vectors.
 * @throws Error where what the store needs is not set
 */
export async function createVectorStore(
  config: VectorStoreConfig,
  descriptor: EmbedderDescriptor,
): Promise<VectorStore> {
  const { vectorStore = config.qdrantUrl === "" ? "sqlite" : "qdrant" } = config;
  if (vectorStore === "pgvector") {
    const { createPgVectorStore } = await import("./pgvector.ts");
    const { postgresUrl: url = "", postgresConnectTimeoutS: connectTimeoutS, postgresAuth: auth } = config;
    return createPgVectorStore({
      sql: connectDatabase({ url, poolSize: CONNECTIONS, connectTimeoutS, auth }),
      descriptor,
    });
  }
  if (vectorStore === "qdrant") {
    if (config.qdrantUrl === "") throw new Error("VECTOR_STORE is qdrant: set QDRANT__URL to one");
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
