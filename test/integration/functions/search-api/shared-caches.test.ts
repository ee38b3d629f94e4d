/** Two containers of the search function, as AWS runs them: each builds its own dependencies. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { searchDependencies } from "../../../../functions/search-api/dependencies.ts";
import type { SearchRequest } from "../../../../shared/knowledge/search/search-request.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { type EmbeddingServer, startEmbeddingServer } from "../../../services/embedding-server.ts";
import { addPages } from "../../knowledge/search/corpus.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
let server: EmbeddingServer;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline-shared-caches-"));
  server = await startEmbeddingServer();
  const env = { ...server.env, VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite"), CACHE__QUERY_SHARED: "true" };
  setup = await setUpApi(env);
});
afterAll(async () => {
  server.close();
  await setup.close();
  await rm(directory, { recursive: true, force: true });
});

test("containers share answers, and the vectors of queries that a server makes", async () => {
  const [chunkId = ""] = await addPages(setup.database.sql, [{ url: "https://site.example/", chunks: ["the tide"] }]);
  const [one, other] = [searchDependencies(), searchDependencies()];
  const side = await one.vectorSide();
  const [vector] = (await side?.embedder.embedDocuments(["tide"])) ?? [];
  const payload = { documentId: uuidv7(), generationId: uuidv7(), collectionId: null, domain: "site.example", url: "" };
  const rest = { title: null, source: "crawl" as const, language: "en", tags: [], crawledAt: "2026-01-01T00:00:00Z" };
  await side?.vectors.upsert([{ chunkId, vector: vector ?? new Float32Array(), payload: { ...payload, ...rest } }]);
  const request: SearchRequest = { query: "tide", mode: "hybrid", limit: 5 };
  const first = await one.answers.search(one, request);
  expect(first).toMatchObject({
    cached: false,
    answer: { results: [{ chunkId }], missing: [], queryRemembered: false },
  });
  expect(await other.answers.search(other, request)).toMatchObject({ cached: true, answer: first.answer });
  const narrower = await other.answers.search(other, { ...request, limit: 4 });
  expect(narrower).toMatchObject({ cached: false, answer: { results: [{ chunkId }], queryRemembered: true } });
});
