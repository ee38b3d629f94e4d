/** Rows whose pages are put together at once: as many as fit into memory by what is known of them beforehand. */
import { BOUNDS } from "../../extract/bounds.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { ResultRow } from "./rows.ts";

/** Of the texts and links of one portion, but for a page that is larger by itself. */
const PORTION_BYTES = 8 * 1024 * 1024;
/** Bytes of text that a byte of a body gives at the most, in practice: bodies are compressed, and links absolute. */
const EXPANSION = 10;
const LINK_EXPANSION = 100;

/**
 * The rows in their order, each in one portion.
 * @param asked `texts`: whether what was extracted is read; `contentBytes`: the most of a body, 0 where none is read
 */
export async function portionsOf(
  sql: Queryable,
  generationId: string,
  rows: readonly ResultRow[],
  asked: { texts: boolean; contentBytes: number },
): Promise<ResultRow[][]> {
  const known = asked.texts ? await documentSizes(sql, generationId, rows) : NONE;
  const portions: ResultRow[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const payload = Math.max(0, ...row.captures.map(({ payloadBytes }) => payloadBytes));
    const guessed = EXPANSION * payload + Math.min(BOUNDS.allLinks, LINK_EXPANSION * payload);
    const text = asked.texts ? (known.get(row.captures[0]?.finalUrlHash ?? "") ?? guessed) : 0;
    const size = text + Math.min(asked.contentBytes, EXPANSION * payload);
    const last = portions.at(-1);
    if (last === undefined || bytes + size > PORTION_BYTES) {
      portions.push([row]);
      bytes = size;
    } else {
      last.push(row);
      bytes += size;
    }
  }
  return portions;
}

const NONE: ReadonlyMap<string, number> = new Map();

/** By the hash of their URLs. The texts' lengths are known without reading them. */
async function documentSizes(
  sql: Queryable,
  generationId: string,
  rows: readonly ResultRow[],
): Promise<ReadonlyMap<string, number>> {
  const hashes = rows.flatMap(({ captures: [capture] }) => capture?.finalUrlHash ?? []);
  if (hashes.length === 0) return NONE;
  const sizes = await sql<{ hash: string; bytes: number }[]>`
    select encode(d.url_hash, 'hex') as hash,
      octet_length(d.content) + octet_length(d.markdown) + octet_length(array_to_string(d.links, '')) as bytes
    from unnest(${hashes}::text[]) h join documents d on d.url_hash = decode(h, 'hex')
    where d.generation_id = ${generationId}`;
  return new Map(sizes.map(({ hash, bytes }) => [hash, bytes]));
}
