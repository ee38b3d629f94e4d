/**
 * A corpus of made-up words whose frequencies follow Zipf's law, the same at every run: as hard for an index as prose
 * is.
 */
import { ANALYSIS, chunkVectors, keywordText } from "../shared/knowledge/analysis/keyword-vectors.ts";
import type { Sql } from "../shared/platform/database/database.ts";
import { uuidv7 } from "../shared/platform/ids.ts";

const VOCABULARY = 60_000;
const CHUNKS_PER_DOCUMENT = 5;
const WORDS_PER_CHUNK = 200;
const CHUNKS_PER_INSERT = 1_000;

export interface ZipfCorpus {
  chunkIds: string[];
  documentOf: Map<string, string>;
  /** A word by its rank: 0 is the most frequent. */
  word(rank: number): string;
  /** A rank drawn as the corpus draws it. */
  drawRank(): number;
}

/** Mulberry32: a small generator with a seed, so that two runs measure the same corpus. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Fills `documents` and `chunks` of an empty database with one active generation. */
export async function loadZipfCorpus(sql: Sql, chunks: number): Promise<ZipfCorpus> {
  const random = seededRandom(1);
  const words = Array.from({ length: VOCABULARY }, (_, rank) => pseudoWord(rank));
  const cumulative = new Float64Array(VOCABULARY);
  let sum = 0;
  for (let rank = 0; rank < VOCABULARY; rank++) {
    // the shift flattens the head, as in English text without its stop words
    sum += 1 / (rank + 8);
    cumulative[rank] = sum;
  }
  const drawRank = (): number => lowerBound(cumulative, random() * sum);
  const word = (rank: number): string => words[rank] ?? "";
  const text = (length: number): string => Array.from({ length }, () => word(drawRank())).join(" ");

  const generationId = uuidv7();
  const chunkIds: string[] = [];
  const documentOf = new Map<string, string>();
  await sql`insert into document_languages values ('en')`;
  await sql`drop index chunks_fts`;
  for (let start = 0; start < chunks; start += CHUNKS_PER_INSERT) {
    const documents: { id: string; url: string; title: string }[] = [];
    const rows: { id: string; document_id: string; chunk_index: number; content: string }[] = [];
    for (let index = start; index < Math.min(chunks, start + CHUNKS_PER_INSERT); index++) {
      const position = index % CHUNKS_PER_DOCUMENT;
      if (position === 0 || documents.length === 0) {
        documents.push({ id: uuidv7(), url: `https://bench.example/${index}`, title: text(6) });
      }
      const documentId = documents.at(-1)?.id ?? "";
      const id = uuidv7();
      rows.push({ id, document_id: documentId, chunk_index: position, content: text(WORDS_PER_CHUNK) });
      chunkIds.push(id);
      documentOf.set(id, documentId);
    }
    const titles = new Map(documents.map(({ id, title }) => [id, title]));
    const vectors = await chunkVectors(
      sql,
      rows.map(({ document_id, content }) => ({
        text: keywordText(titles.get(document_id) ?? null, null, content),
        language: "en",
      })),
    );
    await sql`
      insert into documents (id, generation_id, generation_active, url, url_hash, domain, title, content, markdown,
        content_hash, language, crawled_at)
      select id, ${generationId}::uuid, true, url, sha256(url::bytea), 'bench.example', title, '', '', sha256(url::bytea), 'en', now()
      from jsonb_to_recordset(${sql.json(documents)}) as d (id uuid, url text, title text)`;
    await sql`
      insert into chunks (id, document_id, chunk_index, content, content_hash, start_char, end_char, token_count,
        content_type, fts, analysis)
      select c.id, document_id, chunk_index, c.content, sha256(c.content::bytea), 0, length(c.content), ${WORDS_PER_CHUNK},
        'prose', c.fts::tsvector, ${ANALYSIS}
      from jsonb_to_recordset(${sql.json(rows.map((row, at) => ({ ...row, fts: vectors[at] ?? "" })))})
        as c (id uuid, document_id uuid, chunk_index int, content text, fts text)`;
  }
  await sql`create index chunks_fts on chunks using gin (fts)`;
  await sql`vacuum analyze documents`;
  await sql`vacuum analyze chunks`;
  return { chunkIds, documentOf, word, drawRank };
}

/** Distinct letters-only words; frequent ones are short, as in a language. */
export function pseudoWord(rank: number): string {
  const syllables = ["ka", "lo", "mi", "ra", "tu", "ve", "no", "pe", "su", "di", "fo", "ga", "hu", "ji", "be", "zo"];
  let word = "";
  for (let rest = rank + 16; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16] ?? "";
  // an ending that no stemmer cuts
  return `${word}x`;
}

function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
