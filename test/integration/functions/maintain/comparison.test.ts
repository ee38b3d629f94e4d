import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createJobFlags } from "../../../../shared/crawl/tasks/job-flags.ts";
import { STATIC_DESCRIPTOR } from "../../../../shared/knowledge/embedders/static/static-descriptor.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import { createStateTable } from "../../../../shared/platform/aws/state-table.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { testAws, testDatabase } from "../../../services/index.ts";
import { addPages } from "../../knowledge/search/corpus.ts";

test("the vector store is compared with the rows once an hour, and at once where it is empty", async () => {
  const [{ sql, url }, aws] = await Promise.all([testDatabase(), testAws()]);
  const directory = await mkdtemp(join(tmpdir(), "strandline-maintain-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, "vectors.sqlite");
  const environment = {
    ...aws.env,
    DATABASE__POSTGRES_URL: url,
    EMBEDDER__PROVIDER: "static",
    QDRANT__URL: "",
    VECTORS__SQLITE_PATH: path,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { handler } = await import("../../../../functions/maintain/handler.ts");
  await createJobFlags(aws.dynamo, aws.stateTable).markActive();
  const store = createSqliteVectorStore({ path, descriptor: STATIC_DESCRIPTOR });
  const [chunkId = ""] = await addPages(sql, [{ url: "https://a.example/", chunks: ["tide"] }]);
  const held = async () => (await store.scan(null, 10)).ids;
  const payload = {
    documentId: uuidv7(),
    generationId: uuidv7(),
    collectionId: null,
    domain: "",
    url: "",
    title: null,
  };
  const put = (id: string) =>
    store.upsert([
      {
        chunkId: id,
        vector: new Float32Array(STATIC_DESCRIPTOR.dimension).fill(1),
        payload: { ...payload, source: "crawl", language: "en", tags: [], crawledAt: "" },
      },
    ]);
  await put(chunkId);
  await put(uuidv7());
  await handler({}, { getRemainingTimeInMillis: () => 300_000 });
  expect(await held()).toEqual([chunkId]);
  const orphan = uuidv7();
  await put(orphan);
  await handler({}, { getRemainingTimeInMillis: () => 300_000 });
  expect(await held()).toHaveLength(2);
  const state = createStateTable(aws.dynamo, aws.stateTable);
  await state.put("vectors#compared", { after: null, finished_at: Date.now() - 3_700_000 });
  await handler({}, { getRemainingTimeInMillis: () => 300_000 });
  expect(await held()).toEqual([chunkId]);

  await store.drop();
  const [jobId, generationId] = [uuidv7(), uuidv7()];
  await sql`
    insert into jobs (id, kind, status, generation_id, settings) values (${jobId}, 'pages', 'completed', ${generationId}, '{}')`;
  await sql`update documents set job_id = ${jobId}, generation_id = ${generationId}`;
  await sql`
    insert into embeddings (chunk_id, state, model, dimension)
    values (${chunkId}, 'done', ${STATIC_DESCRIPTOR.model}, ${STATIC_DESCRIPTOR.dimension})`;
  await handler({}, { getRemainingTimeInMillis: () => 300_000 });
  expect(await sql`select state from embeddings`).toEqual([{ state: "pending" }]);
  expect(await sql`select unembedded_chunks as chunks from jobs`).toEqual([{ chunks: 1 }]);
  await store.close();
});
