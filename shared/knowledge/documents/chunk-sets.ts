/**
 * Chunk sets: the chunks of all documents in one size. One set answers searches, and another may be made, or kept,
 * beside it. Whoever writes documents writes their chunks for each set that is not dropped, so both sides stay right.
 */
import { BOUNDS } from "../../extract/bounds.ts";
import type { ChunkLimits } from "../../extract/chunks/chunk.ts";
import { unpackBlocks } from "../../extract/chunks/stored-blocks.ts";
import type { Block, Section } from "../../extract/extraction.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { type CutText, cutIntoChunks, type NewChunk } from "./chunks.ts";

export type ChunkSetState = "serving" | "coming" | "leaving" | "dropped";

export interface ChunkSet {
  id: number;
  /** In tokens; null: each document by the settings that it was crawled or uploaded with. */
  chunkSize: number | null;
  state: ChunkSetState;
}

/** Any constant: states change when nobody is writing chunks who has read the former ones. */
const CHUNK_SETS_LOCK = 7_263_491;

/**
 * The sets that want chunks, whose states stay as they are until the transaction ends. To be called after rows of jobs
 * are locked, and before activations are.
 */
export async function holdChunkSets(tx: Transaction): Promise<ChunkSet[]> {
  const [, sets] = await Promise.all([
    tx`select pg_advisory_xact_lock_shared(${CHUNK_SETS_LOCK})`,
    tx<ChunkSet[]>`
      select id, chunk_size as "chunkSize", state from chunk_sets where state <> 'dropped' order by id`,
  ]);
  return sets;
}

/** For who changes states: waits for all who write chunks. To be called before any row is locked. */
export async function lockChunkSets(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${CHUNK_SETS_LOCK})`;
}

/** Of 512 tokens, overlap and minimum have 50 where nobody says otherwise. */
const PART = 50 / 512;

export function limitsOfSize(size: number): ChunkLimits {
  const part = Math.floor(size * PART);
  return { size, overlap: part, minimum: part, most: BOUNDS.chunks };
}

/** A chunk as far as another cut needs it. */
export interface EarlierChunk {
  start_char: number;
  end_char: number;
  content_type: string;
}

interface CutDocument {
  row: Pick<CutText, "id" | "title" | "language"> & { content: string; sections: Section[]; blocks: number[] | null };
  /** As the settings of its job have it. */
  chunks: NewChunk[];
}

/** The chunks of a new document in one of the sets. */
export function chunksOfSet({ row, chunks }: CutDocument, { chunkSize }: Pick<ChunkSet, "chunkSize">): NewChunk[] {
  if (chunkSize === null) return chunks;
  const { id, title, language, sections, content: text } = row;
  const stored = chunks.map((chunk) => chunk.row);
  const blocks = blocksOfText(row.blocks, stored, text.length);
  return cutIntoChunks({ id, text, title, language, sections, blocks }, limitsOfSize(chunkSize));
}

/**
 * The blocks of a text; where they are not stored, as far as its chunks tell.
 * @param packed see `packBlocks`
 * @param chunks in their order
 */
export function blocksOfText(packed: number[] | null, chunks: readonly EarlierChunk[], length: number): Block[] {
  if (packed !== null) return unpackBlocks(packed);
  const blocks: Block[] = [];
  let covered = 0;
  const cover = (kind: Block["kind"], end: number) => {
    if (end > covered) blocks.push({ kind, start: covered, end });
    covered = Math.max(covered, end);
  };
  for (const { start_char, end_char, content_type } of chunks) {
    if (content_type === "prose") continue;
    cover("prose", start_char);
    cover(content_type as Block["kind"], end_char);
  }
  cover("prose", length);
  return blocks;
}
