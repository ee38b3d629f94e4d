/**
 * How good the order of results is: Cranfield's 225 queries over 1,400 abstracts, through the product's own analysis,
 * chunking, embedding, storing and searching. A document ranks where its best chunk does. With `--distractors N`, again
 * among N documents of other subjects: what is found may not depend on how much there is. Collections that lie beside
 * Cranfield in BEIR's layout are measured too, each by itself: rules that Cranfield alone bears out are seen there.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beirCollections, readBeir } from "../beir-collection.ts";
import type { BenchOptions } from "../bench.ts";
import { readCranfield } from "../cranfield.ts";
import { type JudgedDocument, openSearchEngine } from "../judged-collection.ts";
import { pseudoWord, seededRandom } from "../zipf-corpus.ts";

const PER_ROUND = 5_000;
/** Words that the added documents have in common with the collection: half of all that stand in a text. */
const SHARED_WORDS = 100;

export async function run({ data, scale, distractors }: BenchOptions): Promise<Record<string, number>> {
  if (data === undefined) {
    throw new Error("Name the folder that holds cranfield/, or collections in BEIR's layout, with --data DIR");
  }
  const others: Record<string, number> = {};
  for (const name of await beirCollections(data)) {
    const engine = await openSearchEngine();
    try {
      const collection = await readBeir(join(data, name));
      await engine.index(collection.documents, collection.language);
      for (const mode of ["keyword", "vector", "hybrid"] as const) {
        others[`${name}_${mode}_ndcg10`] = await engine.ndcg10(collection, mode);
      }
    } finally {
      await engine.close();
    }
  }
  if (!(await readdir(data)).includes("cranfield")) return others;
  const cranfield = await readCranfield(join(data, "cranfield"));
  const queries = cranfield.queries.slice(0, Math.ceil(cranfield.queries.length * scale));
  const engine = await openSearchEngine();
  try {
    await engine.index(cranfield.documents, cranfield.language);
    const figures: Record<string, number> = { ...others };
    for (const mode of ["keyword", "vector", "hybrid"] as const) {
      figures[`${mode}_ndcg10`] = await engine.ndcg10({ ...cranfield, queries }, mode);
    }
    if (distractors === 0) return figures;
    const generate = distractorsLike(cranfield.documents);
    for (let left = distractors; left > 0; left -= PER_ROUND) {
      await engine.index(generate(Math.min(left, PER_ROUND)), cranfield.language);
    }
    for (const mode of ["keyword", "hybrid"] as const) {
      const started = performance.now();
      figures[`${mode}_ndcg10_among_${distractors}`] = await engine.ndcg10({ ...cranfield, queries }, mode);
      const perQuery = (performance.now() - started) / queries.length;
      figures[`${mode}_ms_among_${distractors}`] = Math.round(perQuery * 10) / 10;
    }
    return figures;
  } finally {
    await engine.close();
  }
}

/**
 * Makes documents as long as the given ones, of other subjects: of the commonest words as often as they have them, and
 * made-up ones in place of all others.
 */
function distractorsLike(documents: readonly JudgedDocument[]): (count: number) => JudgedDocument[] {
  const random = seededRandom(3);
  const words = documents.flatMap(({ text }) => text.split(" ")).filter((word) => word !== "");
  const times = new Map<string, number>();
  for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
  const byTimes = [...times].toSorted(([, a], [, b]) => b - a).map(([word]) => word);
  const shared = new Set(byTimes.slice(0, SHARED_WORDS));
  const madeUp = new Map(byTimes.map((word, rank) => [word, shared.has(word) ? word : pseudoWord(rank)]));
  const lengths = documents.map(({ text }) => text.split(" ").length);
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const some = (count: number): string =>
    Array.from({ length: count }, () => madeUp.get(pick(words) ?? "") ?? "").join(" ");
  let made = 0;
  return (count) =>
    Array.from({ length: count }, () => ({
      id: `generated-${made++}`,
      title: some(10),
      text: some(pick(lengths) ?? 0),
    }));
}
