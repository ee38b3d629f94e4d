/** The API over Qdrant, whose vectors are those of the embedded model. */
import { startQdrant } from "../../services/qdrant-server.ts";
import { type ApiSetup, setUpApi } from "./api-setup.ts";

/** The server's key, which it asks for. */
const KEY = "secret of the store";

export async function setUpQdrantApi(): Promise<ApiSetup> {
  const qdrant = await startQdrant(KEY);
  const setup = await setUpApi({
    EMBEDDER__PROVIDER: "static",
    QDRANT__API_KEY: KEY,
    QDRANT__URL: qdrant.url,
    VECTOR_STORE: "qdrant",
  });
  return {
    ...setup,
    async close() {
      qdrant.close();
      await setup.close();
    },
  };
}
