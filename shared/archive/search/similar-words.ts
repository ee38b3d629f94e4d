/** Words of the archive that a misspelt one may stand for. */
import type { Queryable } from "../../platform/database/database.ts";
import { foldedText } from "./folded-text.ts";

const MOST_CANDIDATES = 200;
const MOST_WORDS = 5;
const SHORTEST = 4;

/** @returns the nearest ones; none for a word that the archive has, and for what is too short to tell */
export async function similarWords(sql: Queryable, word: string): Promise<string[]> {
  const key = foldedText(word);
  if (key.length < SHORTEST || !/^\p{L}[\p{L}\p{M}]*$/u.test(key)) return [];
  const most = key.length < 6 ? 1 : key.length < 10 ? 2 : 3;
  const [known] = await sql<{ known: boolean; trigrams: boolean }[]>`
    select exists (select from archive_words where word = ${key}) as known,
      exists (select from pg_extension where extname = 'pg_trgm') as trigrams`;
  if (known?.known) return [];
  const candidates = await sql<{ word: string }[]>`
    select word from archive_words
    where ${known?.trigrams ? sql`word % ${key}` : sql`length(word) between ${key.length - most} and ${key.length + most}`}
    order by ${known?.trigrams ? sql`similarity(word, ${key}) desc,` : sql``} word limit ${known?.trigrams ? MOST_CANDIDATES : null}`;
  const near = candidates
    .map((each) => ({ word: each.word, distance: distance(key, each.word, most) }))
    .filter((each) => each.distance <= most)
    .sort((a, b) => a.distance - b.distance);
  return near
    .filter((each) => each.distance === near[0]?.distance)
    .slice(0, MOST_WORDS)
    .map((each) => each.word);
}

/**
 * Letters that were left out, added, taken for another, or swapped with the next (optimal string alignment).
 * @returns at least `most + 1` where there are more
 */
export function distance(one: string, other: string, most: number): number {
  const [a, b] = [[...one], [...other]];
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let [before, last] = [[] as number[], b.map((_, at) => at).concat(b.length)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      row.push(best);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? most + 1;
}
