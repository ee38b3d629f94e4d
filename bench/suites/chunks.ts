/**
 * How large a chunk should be: questions whose answer stands in pages of thousands of words. For each size of chunks,
 * how often the answer is in the first five hits, and in the hits that make up the first 6,000 characters, which
 * compares sizes at equal cost to who reads them. `--data DIR` names the folder that holds `xquad/`.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { search } from "../../shared/knowledge/search/search.ts";
import type { BenchOptions } from "../bench.ts";
import { openSearchEngine, type SearchEngine } from "../judged-collection.ts";

/** In tokens; an overlap and a minimum of a tenth of it. */
const SIZES = [128, 256, 512, 1024];
const LANGUAGE = "en";
const PARAGRAPHS_PER_PAGE = 20;
const HITS = 40;
const READ_CHARACTERS = 6_000;

/** Where it stands in its page's text. */
interface Chunk {
  id: string;
  start: number;
  end: number;
}

interface Page {
  id: string;
  title: string;
  text: string;
  /** `at` is where its answer begins in the text. */
  questions: { text: string; at: number }[];
}

export async function run({ data, scale }: BenchOptions): Promise<Record<string, number>> {
  if (data === undefined) throw new Error("Name the folder that holds xquad/ with --data DIR");
  const pages = await readPages(join(data, "xquad", `xquad.${LANGUAGE}.json`));
  const figures: Record<string, number> = {};
  for (const size of SIZES) {
    const engine = await openSearchEngine();
    try {
      await engine.index(pages, LANGUAGE, { vectors: true, chunkSize: size });
      const rows = await engine.sql<Chunk[]>`select id, start_char as "start", end_char as "end" from chunks`;
      const chunks = new Map(rows.map((chunk) => [chunk.id, chunk]));
      Object.assign(figures, { [`chunks_${size}`]: chunks.size }, await measure(engine, chunks, pages, size, scale));
    } finally {
      await engine.close();
    }
  }
  return figures;
}

async function measure(
  { sql, vectorSide }: SearchEngine,
  chunks: ReadonlyMap<string, Chunk>,
  pages: readonly Page[],
  size: number,
  scale: number,
) {
  let [questions, amongFive, amongRead] = [0, 0, 0];
  const started = performance.now();
  for (const page of pages) {
    for (const { text, at } of page.questions.slice(0, Math.ceil(page.questions.length * scale))) {
      const request = { query: text, mode: "hybrid" as const, limit: HITS };
      const hits = await search({ sql, vectorSide: async () => vectorSide }, request);
      let read = 0;
      let [place, rank] = [Number.POSITIVE_INFINITY, 0];
      let isRead = false;
      for (const { url, chunkId } of hits) {
        const { start, end } = chunks.get(chunkId) as Chunk;
        if (url.endsWith(`/${page.id}`) && start <= at && at < end && place > rank) {
          place = rank;
          isRead = read < READ_CHARACTERS;
        }
        rank += 1;
        read += end - start;
      }
      questions += 1;
      if (place < 5) amongFive += 1;
      if (isRead) amongRead += 1;
    }
  }
  return {
    [`recall_5_hits_${size}`]: amongFive / questions,
    [`recall_${READ_CHARACTERS}_characters_${size}`]: amongRead / questions,
    [`search_ms_${size}`]: (performance.now() - started) / questions,
  };
}

interface Xquad {
  data: { paragraphs: { context: string; qas: { question: string; answers: { answer_start: number }[] }[] }[] }[];
}

async function readPages(file: string): Promise<Page[]> {
  const { data }: Xquad = JSON.parse(await readFile(file, "utf8"));
  const paragraphs = data.flatMap((article) => article.paragraphs);
  return Array.from({ length: Math.ceil(paragraphs.length / PARAGRAPHS_PER_PAGE) }, (_, number) => {
    const page: Page = { id: String(number), title: "", text: "", questions: [] };
    for (const { context, qas } of paragraphs.slice(number * PARAGRAPHS_PER_PAGE, (number + 1) * PARAGRAPHS_PER_PAGE)) {
      for (const { question, answers } of qas) {
        page.questions.push({ text: question, at: page.text.length + (answers[0]?.answer_start ?? 0) });
      }
      page.text += `${context}\n\n`;
    }
    return page;
  });
}
