/** Blocks of a text as they are stored beside it, so that it can be cut anew. */
import type { Block } from "../extraction.ts";

const KINDS = ["prose", "code", "table", "list"] as const satisfies readonly Block["kind"][];
/** A text of more is cut as if it was prose behind the last of them. */
const MOST_BLOCKS = 10_000;

/** Kind, start and end of each block, one after the other. */
export function packBlocks(blocks: readonly Block[]): number[] {
  return blocks.slice(0, MOST_BLOCKS).flatMap(({ kind, start, end }) => [KINDS.indexOf(kind), start, end]);
}

export function unpackBlocks(packed: readonly number[]): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at + 2 < packed.length; at += 3) {
    const [kind = 0, start = 0, end = 0] = packed.slice(at, at + 3);
    blocks.push({ kind: KINDS[kind] ?? "prose", start, end });
  }
  return blocks;
}
