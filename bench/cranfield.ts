/** The Cranfield collection in SMART's own format: `cran.all.1400`, `cran.qry`, `cranqrel`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JudgedCollection } from "./judged-collection.ts";

/** A document is relevant where it is graded 1 to 4. */
export async function readCranfield(directory: string): Promise<JudgedCollection> {
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
  const relevant = new Map<string, Set<string>>();
  for (const line of (await read("cranqrel")).split("\n")) {
    const [query, document, grade] = line.trim().split(/\s+/);
    if (query === undefined || document === undefined || Number(grade) <= 0) continue;
    relevant.set(query, (relevant.get(query) ?? new Set()).add(document));
  }
  return { language: "en", documents, queries, relevant };
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
