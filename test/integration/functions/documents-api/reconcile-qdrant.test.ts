import { afterAll, beforeAll, it } from "vitest";
import type { EmbedderDescriptor } from "../../../../shared/knowledge/embedders/embedder.ts";
import { embedderDescriptor } from "../../../../shared/knowledge/embedders/registry.ts";
import { createVectorStore } from "../../../../shared/knowledge/vector-stores/registry.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import type { ApiSetup } from "../api-setup.ts";
import { setUpQdrantApi } from "../qdrant-setup.ts";
import { isRebuilt } from "./rebuilt-store.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpQdrantApi();
});
afterAll(() => setup.close());

it("one request has the vectors of an emptied Qdrant made again", () =>
  isRebuilt(setup, async () => {
    const config = loadConfig();
    const store = await createVectorStore(config, embedderDescriptor(config) as EmbedderDescriptor);
    await store.drop();
    await store.close();
  }));
