/** Whether the vector store and the rows of a runtime say the same. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import { expect } from "vitest";
import { STATIC_DESCRIPTOR } from "../../../shared/knowledge/embedders/static/static-descriptor.ts";
import { compareStore } from "../../../shared/knowledge/embedding/store-comparison.ts";
import { collectionName } from "../../../shared/knowledge/vector-stores/collection-name.ts";
import { createSqliteVectorStore } from "../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import type { RunningInstance } from "../../services/instance.ts";

/** What both say of a visible chunk. */
interface Labelled {
  chunk: string;
  document: string;
  collection: string | null;
  /** Ids, parted by spaces. */
  tags: string;
}

/** Waits until no visible chunk waits for its vector, and compares. */
export async function expectEqualStores({ postgresUrl, home }: RunningInstance): Promise<void> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => {} });
  const path = join(home, "vectors.sqlite");
  const vectors = createSqliteVectorStore({ path, descriptor: STATIC_DESCRIPTOR });
  try {
    const waiting = () => sql`
      select from documents_active d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
      where e.state = 'pending'`;
    await expect.poll(async () => (await waiting()).length).toBe(0);
    const compared = await compareStore(sql, vectors, STATIC_DESCRIPTOR, null, () => true);
    // points of documents that are deleted may be left over; none may be lost
    expect(compared).toMatchObject({ lostChunks: 0, staleChunks: 0, next: null });
    const again = await compareStore(sql, vectors, STATIC_DESCRIPTOR, null, () => true);
    expect(again).toEqual({ removedPoints: 0, lostChunks: 0, staleChunks: 0, next: null });
    const rows = await sql<Labelled[]>`
      select c.id as chunk, d.id as document, d.collection_id as collection,
        coalesce((select string_agg(tag_id::text, ' ' order by tag_id::text) from document_tags t
          where t.document_id = d.id), '') as tags
      from documents_active d join chunks c on c.document_id = d.id order by c.id`;
    const points = pointsIn(path);
    expect(rows.map(({ chunk }) => points.get(chunk))).toEqual(rows.map((row) => ({ ...row })));
  } finally {
    await vectors.close();
    await sql.end();
  }
}

function pointsIn(path: string): Map<string, Labelled> {
  const file = new DatabaseSync(path, { readOnly: true });
  const points = file.prepare(`select chunk_id, document_id, collection_id, tags
    from "${collectionName("points", STATIC_DESCRIPTOR)}"`);
  const labelled = points.all().map(({ chunk_id, document_id, collection_id, tags }) => ({
    chunk: String(chunk_id),
    document: String(document_id),
    collection: collection_id === null ? null : String(collection_id),
    tags: String(tags).split(" ").toSorted().join(" "),
  }));
  file.close();
  return new Map(labelled.map((each) => [each.chunk, each]));
}
