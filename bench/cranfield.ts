/** The Cranfield collection in SMART's own format: `cran.all.1400`, `cran.qry`, `cranqrel`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Cranfield {
  documents: { id: string; title: string; text: string }[];
  queries: { id: string; text: string }[];
  /** Grades 1 to 4 by document, by query; higher is more relevant. */
  judgements: Map<string, Map<string, number>>;
}

export async function readCranfield(directory: string): Promise<Cranfield> {
  const read = async (name: string) => await readFile(join(directory, name), "utf8");
  const documents = records(await read("cran.all.1400")).map((fields) => ({
    id: field(fields, "I"),
    title: field(fields, "T"),
    text: field(fields, "W"),
  }));
  // judgements count the queries from 1 in the order of the file, whatever number stands there
  const queries = records(await read("cran.qry")).map((fields, index) => ({
    id: String(index + 1),
    text: field(fields, "W"),
  }));
  const judgements = new Map<string, Map<string, number>>();
  for (const line of (await read("cranqrel")).split("\n")) {
    const [query, document, grade] = line.trim().split(/\s+/);
    if (query === undefined || document === undefined || Number(grade) <= 0) continue;
    const judged = judgements.get(query) ?? new Map<string, number>();
    judgements.set(query, judged.set(document, Number(grade)));
  }
  return { documents, queries, judgements };
}

function records(file: string): Map<string, string>[] {
  return file
    .split(/^\.I/m)
    .slice(1)
    .map((record) => {
      const fields = new Map<string, string>();
      for (const part of `.I${record}`.split(/^\./m).slice(1)) fields.set(part.charAt(0), part.slice(1).trim());
      return fields;
    });
}

const field = (fields: Map<string, string>, name: string): string => (fields.get(name) ?? "").replaceAll(/\s+/g, " ");

/** Normalised discounted cumulative gain of the first ten, with the grade as the gain (Järvelin, Kekäläinen 2002). */
export function ndcg10(ranked: readonly string[], grades: ReadonlyMap<string, number>): number {
  const gain = (values: readonly number[]) =>
    values.slice(0, 10).reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0);
  const ideal = gain([...grades.values()].toSorted((a, b) => b - a));
  return ideal === 0 ? 0 : gain(ranked.slice(0, 10).map((id) => grades.get(id) ?? 0)) / ideal;
}
