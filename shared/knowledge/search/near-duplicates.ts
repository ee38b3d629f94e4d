/**
 * Passages that say nearly the same: those of which the sets of two words in a row have most in common (resemblance,
 * Broder 1997). It is computed of the texts themselves, and so is no estimate.
 */
import type { Queryable } from "../../platform/database/database.ts";
import { exactWords } from "../analysis/exact-words.ts";
import type { ListedHit } from "./listed-hit.ts";

/** Words in a row; of scripts without spaces, characters. */
const SHINGLE = 2;
/** |A ∩ B| / |A ∪ B|: about one word of eight may be another. */
export const SIMILAR = 0.6;
/** The best hits; those behind stand as they are. */
export const MOST_COMPARED = 200;

/** Lists under each hit those behind it that say nearly the same. */
export async function collapseNearDuplicates(tx: Queryable, hits: readonly ListedHit[]): Promise<ListedHit[]> {
  const compared = hits.slice(0, MOST_COMPARED);
  const rows = await tx<{ id: string; content: string }[]>`
    select id, content from chunks where id = any(${compared.map(({ chunkId }) => chunkId)}::uuid[])`;
  const texts = new Map(rows.map(({ id, content }) => [id, content]));
  const similar = firstSimilar(compared.map(({ chunkId }) => texts.get(chunkId) ?? ""));
  const listed = compared.map((hit): ListedHit & Required<Pick<ListedHit, "collapsed">> => ({ ...hit, collapsed: [] }));
  for (const [index, first] of similar.entries()) {
    const { chunkId, score } = compared[index] as ListedHit;
    if (first !== null) listed[first.index]?.collapsed.push({ chunkId, score, similarity: first.similarity });
  }
  return [...listed.filter((_, index) => similar[index] === null), ...hits.slice(MOST_COMPARED)];
}

interface Similar {
  index: number;
  similarity: number;
}

/** @returns for each text the most similar one before it that is itself like none before it; null: there is none */
export function firstSimilar(texts: readonly string[]): (Similar | null)[] {
  const kept = new Map<string, number[]>();
  const sizes: number[] = [];
  return texts.map((text, index) => {
    const shingles = shinglesOf(text);
    sizes.push(shingles.size);
    const shared = new Map<number, number>();
    for (const shingle of shingles) {
      for (const other of kept.get(shingle) ?? []) shared.set(other, (shared.get(other) ?? 0) + 1);
    }
    let best: Similar | null = null;
    for (const [other, count] of shared) {
      const similarity = count / (shingles.size + (sizes[other] ?? 0) - count);
      if (similarity >= SIMILAR && similarity > (best?.similarity ?? 0)) best = { index: other, similarity };
    }
    if (best === null) for (const shingle of shingles) kept.set(shingle, [...(kept.get(shingle) ?? []), index]);
    return best;
  });
}

function shinglesOf(text: string): Set<string> {
  const words = exactWords(text).trim().split(" ");
  const starts = Math.max(1, words.length - SHINGLE + 1);
  return new Set(Array.from({ length: starts }, (_, at) => words.slice(at, at + SHINGLE).join(" ")));
}
