import { afterAll, beforeAll, expect, test } from "vitest";
import { carryOver, findActiveDocuments } from "../../../../shared/knowledge/embedding/carry-over.ts";
import { sha256, uuidv7 } from "../../../../shared/platform/ids.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";
import { addPages } from "../search/corpus.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

test("chunks that are carried over need no other analysis than those they are copies of", async () => {
  const { sql } = database;
  const url = "https://site.example/a";
  await addPages(sql, [{ url, chunks: ["ebb", "flood"] }]);
  const [jobId, generationId] = [uuidv7(), uuidv7()];
  await sql`
    insert into jobs (id, kind, status, generation_id, settings)
    values (${jobId}, 'pages', 'running', ${generationId}, '{}')`;
  const copied = await sql.begin(async (tx) => {
    const found = await findActiveDocuments(tx, null, [sha256(url).toString("hex")]);
    const [document] = found.values();
    if (document === undefined) throw new Error("the page is not active");
    const target = { generationId, jobId, collectionId: null, tags: [], wantsVectors: false };
    const carried = [{ document, parentUrl: null, crawledAt: new Date().toISOString() }];
    return await carryOver(tx, target, carried);
  });
  const rows = await sql<{ copy: boolean; analysis: number; words: string }[]>`
    select id = any(${copied.chunkIds}::uuid[]) as copy, analysis, fts::text as words from chunks
    order by copy, chunk_index`;
  expect(rows.map(({ copy }) => copy)).toEqual([false, false, true, true]);
  const [first, second, ...copies] = rows.map(({ analysis, words }) => ({ analysis, words }));
  expect(copies).toEqual([first, second]);
});
