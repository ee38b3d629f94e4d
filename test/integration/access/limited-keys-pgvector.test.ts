import { afterAll, beforeAll, it } from "vitest";
import type { TestAws } from "../../services/index.ts";
import { testAws } from "../../services/index.ts";
import { type PgVectorDatabase, pgVectorDatabase } from "../../services/pgvector-database.ts";
import { findsNothingForeign } from "./limited-searches.ts";

let database: PgVectorDatabase;
let aws: TestAws;
beforeAll(async () => {
  [database, aws] = await Promise.all([pgVectorDatabase(), testAws()]);
  Object.assign(process.env, aws.env, {
    DATABASE__POSTGRES_URL: database.url,
    EMBEDDER__PROVIDER: "static",
    LOG_LEVEL: "error",
    VECTOR_STORE: "pgvector",
  });
});
afterAll(async () => {
  await Promise.all([database.close(), aws.close()]);
});

it("a limited key finds nothing foreign where the database keeps the vectors", () =>
  findsNothingForeign(database.sql, aws));
