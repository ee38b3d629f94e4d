import { afterAll, beforeAll, it } from "vitest";
import type { ApiSetup } from "../functions/api-setup.ts";
import { setUpQdrantApi } from "../functions/qdrant-setup.ts";
import { findsNothingForeign } from "./limited-searches.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpQdrantApi();
});
afterAll(() => setup.close());

it("a limited key finds nothing foreign where Qdrant keeps the vectors", () =>
  findsNothingForeign(setup.database.sql, setup.aws));
