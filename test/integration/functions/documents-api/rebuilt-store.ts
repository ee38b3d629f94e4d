/** A store that has lost its vectors, and the request that has them made again. */
import { expect } from "vitest";
import { api } from "../../../../functions/documents-api/handler.ts";
import { api as searchApi } from "../../../../functions/search-api/handler.ts";
import { settleJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { embedTaskSchema } from "../../../../shared/knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../../../shared/knowledge/embedding/embed-worker.ts";
import { openVectorSide } from "../../../../shared/knowledge/search/vector-side.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { callApi } from "../../../services/api.ts";
import type { ApiSetup } from "../api-setup.ts";

/** @param lose takes all vectors away */
export async function isRebuilt(setup: ApiSetup, lose: () => Promise<void>): Promise<void> {
  const call = (path: string, json: object, key = setup.keys.admin) =>
    callApi(api, { method: "POST", path: `/api/v1/documents${path}`, json, key });
  const embed = async () => {
    const vectorSide = await openVectorSide(loadConfig())();
    const log = createLogger({}, "error", () => {});
    for (const queue of ["embed-high", "embed-low"]) {
      for (const message of await setup.aws.receive(queue, 0)) {
        await embedChunks({ sql: setup.database.sql, vectorSide, settleJob, log }, embedTaskSchema.parse(message));
      }
    }
    return vectorSide;
  };
  const documents = Array.from({ length: 6 }, (_, at) => ({
    content: `# Note ${at}\n\nHigh water comes twice a day to the harbour, as note ${at} says.\n\n## More\n\nIt is so.`,
    url: `https://notes.example/${at}`,
  }));
  const { items } = (await call("/batch", { documents })).body;
  const ids = items.map((each: { document_id: string }) => each.document_id) as string[];
  await (await embed())?.vectors.close();
  const same = {
    orphaned_points: 0,
    lost_chunks: 0,
    stale_chunks: 0,
    waiting_chunks: 0,
    next_cursor: null,
    has_more: false,
  };

  await lose();
  const deleted = ids.pop() ?? "";
  await callApi(api, { method: "DELETE", path: `/api/v1/documents/${deleted}`, key: setup.keys.admin });
  const orphan = await openVectorSide(loadConfig())();
  const payload = { documentId: uuidv7(), generationId: uuidv7(), collectionId: null, domain: "gone.example" };
  const vector = (await orphan?.embedder.embedQuery("harbour")) as Float32Array;
  await orphan?.vectors.upsert([
    {
      ...{ chunkId: uuidv7(), vector },
      payload: {
        ...{ ...payload, url: "https://gone.example/", title: null, source: "crawl", language: "en", tags: [] },
        crawledAt: new Date().toISOString(),
      },
    },
  ]);
  await orphan?.vectors.close();

  const [chunks] = await setup.database.sql<{ count: number }[]>`
    select count(*)::int from chunks c join documents d on d.id = c.document_id where d.deleted_at is null`;
  const lost = { ...same, orphaned_points: 1, lost_chunks: chunks?.count };
  expect((await call("/reconcile", { dry_run: true })).body).toEqual(lost);
  expect((await call("/reconcile", {})).body).toEqual({ ...lost, waiting_chunks: chunks?.count });
  expect((await call("/reconcile", {})).body).toEqual({ ...same, waiting_chunks: chunks?.count });
  await (await embed())?.vectors.close();
  expect((await call("/reconcile", { dry_run: true })).body).toEqual(same);
  const json = { query: "high water harbour", min_score: -1, limit: 50 };
  const { body } = await callApi(searchApi, { path: "/api/v1/search/vector", json, key: setup.keys.read });
  expect(new Set(body.results.map((each: { document_id: string }) => each.document_id))).toEqual(new Set(ids));
  // a deleted document gets its vectors when it is restored
  await call(`/${deleted}/restore`, {});
  await (await embed())?.vectors.close();
  expect((await call("/reconcile", { dry_run: true })).body).toEqual(same);

  // a point that says what does not hold: filters would find it wrongly, or not at all
  const planted = await openVectorSide(loadConfig())();
  const [row] = await setup.database.sql<{ id: string; documentId: string; url: string; crawledAt: Date }[]>`
    select c.id, d.id as "documentId", d.url, d.crawled_at as "crawledAt"
    from chunks c join documents_active d on d.id = c.document_id order by c.id limit 1`;
  if (row === undefined) throw new Error("There are no chunks");
  const { id: chunkId, documentId, crawledAt } = row;
  const right = {
    ...{ documentId, generationId: uuidv7(), collectionId: null, domain: "notes.example", url: row.url, title: null },
    ...{ source: "upload" as const, language: "en", tags: [], crawledAt: crawledAt.toISOString() },
  };
  for (const wrong of [
    { tags: [uuidv7()] },
    { collectionId: uuidv7() },
    { domain: "other.example" },
    { language: "de" },
    { source: "crawl" as const },
  ]) {
    await planted?.vectors.upsert([{ chunkId, vector, payload: { ...right, ...wrong } }]);
    const stale = { ...same, stale_chunks: 1 };
    expect((await call("/reconcile", { dry_run: true })).body, JSON.stringify(wrong)).toEqual(stale);
    expect((await call("/reconcile", {})).body).toEqual({ ...stale, waiting_chunks: 1 });
    await (await embed())?.vectors.close();
    expect((await call("/reconcile", { dry_run: true })).body).toEqual(same);
  }
  await planted?.vectors.close();

  expect((await call("/reconcile", {}, setup.keys.write)).status).toBe(403);
  expect((await call("/reconcile", { cursor: "none" })).body).toMatchObject({ code: "VALIDATION_ERROR" });
}
