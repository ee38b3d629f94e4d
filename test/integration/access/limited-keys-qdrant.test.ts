import { afterAll, beforeAll, it } from "vitest";
import { type QdrantServer, startQdrant } from "../../services/qdrant-server.ts";
import { type ApiSetup, setUpApi } from "../functions/api-setup.ts";
import { findsNothingForeign } from "./limited-searches.ts";

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

it("a limited key finds nothing foreign where Qdrant keeps the vectors", () =>
  findsNothingForeign(setup.database.sql, setup.aws));
