/**
 * How well questions find their paragraph in several languages: XQuAD's 1,190 questions over 240 paragraphs in each,
 * every language by itself. `--data DIR` names the folder that holds `xquad/`.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BenchOptions } from "../bench.ts";
import { type JudgedCollection, openSearchEngine } from "../judged-collection.ts";

export async function run({ data, scale }: BenchOptions): Promise<Record<string, number>> {
  if (data === undefined) throw new Error("Name the folder that holds xquad/ with --data DIR");
  const directory = join(data, "xquad");
  const files = (await readdir(directory)).filter((file) => /^xquad\.[a-z]+\.json$/.test(file)).sort();
  const figures: Record<string, number> = {};
  for (const file of files) {
    const collection = await readXquad(join(directory, file));
    const queries = collection.queries.slice(0, Math.ceil(collection.queries.length * scale));
    const engine = await openSearchEngine();
    try {
      await engine.index(collection.documents, collection.language);
      for (const mode of ["keyword", "hybrid"] as const) {
        figures[`${collection.language}_${mode}_ndcg10`] = await engine.ndcg10({ ...collection, queries }, mode);
      }
    } finally {
      await engine.close();
    }
  }
  return figures;
}

interface Xquad {
  data: { paragraphs: { context: string; qas: { id: string; question: string }[] }[] }[];
}

/** Each paragraph is a document, and the one that is relevant to its questions. Those that stand twice count once. */
export async function readXquad(file: string): Promise<JudgedCollection> {
  const { data }: Xquad = JSON.parse(await readFile(file, "utf8"));
  const documents = new Map<string, string>();
  const queries: JudgedCollection["queries"] = [];
  const relevant = new Map<string, Set<string>>();
  for (const { context, qas } of data.flatMap(({ paragraphs }) => paragraphs)) {
    const id = documents.get(context) ?? String(documents.size);
    documents.set(context, id);
    for (const { id: query, question } of qas) {
      queries.push({ id: query, text: question });
      relevant.set(query, new Set([id]));
    }
  }
  const language = /\.([a-z]+)\.json$/.exec(file)?.[1] ?? "und";
  return { language, documents: [...documents].map(([text, id]) => ({ id, title: "", text })), queries, relevant };
}
