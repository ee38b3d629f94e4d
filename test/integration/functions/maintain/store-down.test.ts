import { expect, test, vi } from "vitest";
import { createJobFlags } from "../../../../shared/crawl/tasks/job-flags.ts";
import { testAws, testDatabase } from "../../../services/index.ts";
import { addPages } from "../../knowledge/search/corpus.ts";

test("a vector store that is down keeps maintenance from nothing but the vectors", async () => {
  const [{ sql, url }, aws] = await Promise.all([testDatabase(), testAws()]);
  const environment = {
    ...aws.env,
    DATABASE__POSTGRES_URL: url,
    EMBEDDER__PROVIDER: "static",
    QDRANT__URL: "http://127.0.0.1:9",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { handler } = await import("../../../../functions/maintain/handler.ts");
  await createJobFlags(aws.dynamo, aws.stateTable).markActive();
  await addPages(sql, [{ url: "https://a.example/", chunks: ["replaced"] }], { active: false });
  await sql`update chunks set analysis = 0`;
  await sql`insert into embedding_cache values ('m', sha256('a'), '\\x00', now() - interval '8 days')`;
  const maintained = handler({}, { getRemainingTimeInMillis: () => 300_000 });
  await expect(maintained).rejects.toThrow("could not do all its steps: removed_documents, compared_vectors");
  expect(await sql`select from documents`).toHaveLength(1);
  expect(await sql`select from embedding_cache`).toHaveLength(0);
  expect(await sql`select from chunks where analysis = 0`).toHaveLength(0);
  expect(await sql`select from corpus_statistics`).toHaveLength(1);
});
