import { expect, test, vi } from "vitest";
import { createJobFlags } from "../../../../shared/crawl/tasks/job-flags.ts";
import { ageEmbeddingCache } from "../../../../shared/knowledge/documents/maintenance.ts";
import { testAws, testDatabase } from "../../../services/index.ts";

test("cached embeddings go after a week", async () => {
  const { sql } = await testDatabase();
  await sql`
    insert into embedding_cache (model, content_hash, vector, created_at)
    select 'm', sha256(n::text::bytea), '\\x00', now() - n * interval '1 day' from generate_series(0, 20) n`;
  expect(await ageEmbeddingCache(sql, () => true)).toBe(14);
  expect(await sql`select from embedding_cache`).toHaveLength(7);
});

test("maintenance leaves the database alone while no job marks the system as active, and runs once one does", async () => {
  const [{ sql, url }, aws] = await Promise.all([testDatabase(), testAws()]);
  const environment = { ...aws.env, DATABASE__POSTGRES_URL: url, EMBEDDER__PROVIDER: "none" };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { handler } = await import("../../../../functions/maintain/handler.ts");
  const context = { getRemainingTimeInMillis: () => 300_000 };
  const refreshed = async () => (await sql`select from corpus_statistics`).length;
  await handler({}, context);
  expect(await refreshed()).toBe(0);
  await createJobFlags(aws.dynamo, aws.stateTable).markActive();
  await handler({}, context);
  expect(await refreshed()).toBe(1);
});
