/** Writes documents as lines of JSON, packed: part by part, each of which says where the next one begins. */
import { createGzip } from "node:zlib";
import type { EmbedderDescriptor } from "../../knowledge/embedders/embedder.ts";
import type { VectorStore } from "../../knowledge/vector-stores/vector-store.ts";
import type { Sql } from "../../platform/database/database.ts";
import { type DocumentFilter, documentsThatMatch } from "../stored-documents.ts";
import { encodeVectors, FORMAT, type LineVectors, type WrittenLine } from "./document-line.ts";

export interface ExportSource {
  sql: Sql;
  /** null where embeddings are switched off. */
  vectors(): Promise<Pick<VectorStore, "read"> | null>;
  /** Of the configured model; null where embeddings are switched off. */
  model: Pick<EmbedderDescriptor, "model" | "dimension"> | null;
}

export interface PartBounds {
  /** Packed; a part ends with the document that goes over it. */
  bytes: number;
  documents: number;
  /** By the clock of `performance`. */
  until: number;
}

export interface ExportedPart {
  /** A whole gzip member: parts that are put together are one gzip file. */
  gzip: Buffer;
  documents: number;
  /** Id of the last document; null where no other follows. */
  next: string | null;
}

/** Texts that are read at once, in characters. */
const READ_AT_ONCE = 4_000_000;
const MOST_AT_ONCE = 100;

/**
 * In the order of their ids, so that what is indexed meanwhile comes at the end.
 * @param after id of the last document of the part before
 */
export async function exportPart(
  source: ExportSource,
  filter: DocumentFilter,
  after: string | undefined,
  bounds: PartBounds,
): Promise<ExportedPart> {
  const gzip = createGzip();
  const pieces: Buffer[] = [];
  let bytes = 0;
  gzip.on("data", (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
  });
  const ended = new Promise<void>((resolve, reject) => gzip.on("end", resolve).on("error", reject));
  let documents = 0;
  let last = after;
  let more = true;
  while (more && bytes < bounds.bytes && documents < bounds.documents && performance.now() < bounds.until) {
    const room = Math.min(MOST_AT_ONCE, bounds.documents - documents);
    const found = await nextIds(source.sql, filter, last, room);
    for (const line of await readLines(source, found.ids)) {
      await new Promise<void>((written) => gzip.write(`${JSON.stringify(line)}\n`, () => written()));
      documents += 1;
    }
    last = found.ids.at(-1) ?? last;
    more = found.more;
  }
  gzip.end();
  await ended;
  return { gzip: Buffer.concat(pieces), documents, next: more ? (last ?? null) : null };
}

async function nextIds(sql: Sql, filter: DocumentFilter, after: string | undefined, limit: number) {
  const rows = await sql<{ id: string; characters: number }[]>`
    select d.id, (octet_length(d.content) + octet_length(d.markdown))::int as characters
    from ${documentsThatMatch(sql, filter)} ${after === undefined ? sql`` : sql`and d.id > ${after}`}
    order by d.id limit ${limit + 1}`;
  let characters = 0;
  const taken = rows.slice(0, limit).filter((row, at) => {
    characters += row.characters;
    return at === 0 || characters <= READ_AT_ONCE;
  });
  return { ids: taken.map(({ id }) => id), more: rows.length > taken.length };
}

type Row = Omit<WrittenLine, "format" | "chunks" | "vectors" | "crawled_at"> & { id: string; crawled_at: Date };

type ChunkRow = WrittenLine["chunks"][number] & {
  id: string;
  document_id: string;
  /** null: it never asked for a vector. */
  state: string | null;
  made_by: string | null;
};

async function readLines(source: ExportSource, ids: readonly string[]): Promise<WrittenLine[]> {
  if (ids.length === 0) return [];
  const { sql } = source;
  const [rows, chunks] = await Promise.all([
    sql<Row[]>`
      select d.id, d.url, d.parent_url, left(d.title, 1000) as title, d.language, d.source, d.crawled_at, d.metadata, d.links,
        array(select t.name from document_tags dt join tags t on t.id = dt.tag_id where dt.document_id = d.id order by 1) as tags,
        (select json_build_object('name', c.name, 'description', c.description) from collections c where c.id = d.collection_id)
          as collection, d.content, d.markdown, d.sections
      from documents d where d.id = any(${ids as string[]}::uuid[]) and d.generation_active and d.deleted_at is null
      order by d.id`,
    sql<ChunkRow[]>`
      select c.id, c.document_id, c.start_char as start, c.end_char as end, c.token_count as tokens, c.section,
        c.section_header, c.content_type, e.state, e.model || ' ' || e.dimension as made_by
      from chunks_serving c left join embeddings e on e.chunk_id = c.id
      where c.document_id = any(${ids as string[]}::uuid[]) order by c.document_id, c.chunk_index`,
  ]);
  const vectors = await readVectors(source, chunks);
  const byDocument = Map.groupBy(chunks, ({ document_id }) => document_id);
  return rows.map(({ id, crawled_at, ...row }) => {
    const own = byDocument.get(id) ?? [];
    return {
      format: FORMAT,
      ...row,
      crawled_at: crawled_at.toISOString(),
      chunks: own.map(({ start, end, tokens, section, section_header, content_type }) => ({
        ...{ start, end, tokens, section, section_header, content_type },
      })),
      vectors: lineVectors(source.model, own, vectors),
    };
  });
}

async function readVectors({ vectors, model }: ExportSource, chunks: readonly ChunkRow[]) {
  const ids = chunks.filter(({ made_by }) => isMadeBy(made_by, model)).map(({ id }) => id);
  const store = ids.length === 0 ? null : await vectors();
  return (await store?.read(ids)) ?? new Map<string, Float32Array>();
}

const isMadeBy = (madeBy: string | null, model: ExportSource["model"]): boolean =>
  model !== null && madeBy === `${model.model} ${model.dimension}`;

/** Of all chunks, or of none: a document that waits for some has all of them made anew. */
function lineVectors(
  model: ExportSource["model"],
  chunks: readonly ChunkRow[],
  vectors: ReadonlyMap<string, Float32Array>,
): LineVectors | null {
  if (model === null) return null;
  const found: (Float32Array | null)[] = [];
  for (const { id, state } of chunks) {
    const vector = state === "none" ? null : vectors.get(id);
    if (vector === undefined) return null;
    found.push(vector);
  }
  return encodeVectors(model, found);
}
