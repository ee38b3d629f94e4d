/**
 * How good the order of results is: Cranfield's 225 queries over 1,400 abstracts, through the product's own analysis,
 * chunking, embedding, storing and searching. A document ranks where its best chunk does.
 */
import { join } from "node:path";
import type { BenchOptions } from "../bench.ts";
import { readCranfield } from "../cranfield.ts";
import { openSearchEngine } from "../judged-collection.ts";

export async function run({ data, scale }: BenchOptions): Promise<Record<string, number>> {
  if (data === undefined) throw new Error("Name the folder that holds cranfield/ with --data DIR");
  const cranfield = await readCranfield(join(data, "cranfield"));
  const queries = cranfield.queries.slice(0, Math.ceil(cranfield.queries.length * scale));
  const engine = await openSearchEngine();
  try {
    await engine.index(cranfield.documents, cranfield.language);
    const figures: Record<string, number> = {};
    for (const mode of ["keyword", "vector", "hybrid"] as const) {
      figures[`${mode}_ndcg10`] = await engine.ndcg10({ ...cranfield, queries }, mode);
    }
    return figures;
  } finally {
    await engine.close();
  }
}
