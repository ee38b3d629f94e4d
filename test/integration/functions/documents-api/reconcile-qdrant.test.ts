import { afterAll, beforeAll, it } from "vitest";
import type { EmbedderDescriptor } from "../../../../shared/knowledge/embedders/embedder.ts";
import { embedderDescriptor } from "../../../../shared/knowledge/embedders/registry.ts";
import { createVectorStore } from "../../../../shared/knowledge/vector-stores/registry.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { type QdrantServer, startQdrant } from "../../../services/qdrant-server.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";
import { isRebuilt } from "./rebuilt-store.ts";

let setup: ApiSetup;
let qdrant: QdrantServer;
beforeAll(async () => {
  qdrant = await startQdrant("secret of the store");
  setup = await setUpApi({
    EMBEDDER__PROVIDER: "static",
    QDRANT__API_KEY: "secret of the store",
    QDRANT__URL: qdrant.url,
    VECTOR_STORE: "qdrant",
  });
});
afterAll(async () => {
  qdrant.close();
  await setup.close();
});

it("one request has the vectors of an emptied Qdrant made again", () =>
  isRebuilt(setup, async () => {
    const config = loadConfig();
    const store = await createVectorStore(config, embedderDescriptor(config) as EmbedderDescriptor);
    await store.drop();
    await store.close();
  }));
