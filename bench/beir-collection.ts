/** Judged collections as BEIR lays them out: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`. */
import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { JudgedCollection } from "./judged-collection.ts";

const documentSchema = z.object({ _id: z.string(), title: z.string().default(""), text: z.string() });
const querySchema = z.object({ _id: z.string(), text: z.string() });

/** Names of the folders in `data` that hold such a collection. */
export async function beirCollections(data: string): Promise<string[]> {
  const names: string[] = [];
  for (const { name } of await readdir(data, { withFileTypes: true })) {
    const found = await access(join(data, name, "qrels", "test.tsv")).then(
      () => true,
      () => false,
    );
    if (found) names.push(name);
  }
  return names.sort();
}

/** Queries without a relevant document are left out, as BEIR does. A score above 0 makes a document relevant. */
export async function readBeir(directory: string): Promise<JudgedCollection> {
  const read = async (name: string) => await readFile(join(directory, name), "utf8");
  const lines = async <T>(name: string, schema: z.ZodType<T>): Promise<T[]> =>
    (await read(name)).split("\n").flatMap((line) => (line.trim() === "" ? [] : [schema.parse(JSON.parse(line))]));
  const relevant = new Map<string, Set<string>>();
  for (const line of (await read(join("qrels", "test.tsv"))).split("\n").slice(1)) {
    const [query, document, score] = line.trim().split("\t");
    if (query === undefined || document === undefined || Number(score) <= 0) continue;
    relevant.set(query, (relevant.get(query) ?? new Set()).add(document));
  }
  const queries = await lines("queries.jsonl", querySchema);
  return {
    language: "en",
    documents: (await lines("corpus.jsonl", documentSchema)).map(({ _id: id, title, text }) => ({ id, title, text })),
    queries: queries.flatMap(({ _id: id, text }) => (relevant.has(id) ? [{ id, text }] : [])),
    relevant,
  };
}
