/**
 * What the keyword side must know of the corpus to read a query. It is read in the snapshot of the search that first
 * asks for it, and kept in this container for as long as searches see the same.
 */
import type { Sql, Transaction } from "../../platform/database/database.ts";
import { ANALYSIS } from "../analysis/keyword-vectors.ts";
import { isSingleUnit } from "../analysis/tokens.ts";
import { type CorpusStatistics, readCorpusStatistics } from "./corpus-statistics.ts";
import { lexemeQuery } from "./query-reading.ts";
import type { Snapshot } from "./search-version.ts";

export interface KnownCorpus {
  /** ISO 639-1, or "und". */
  languages: readonly string[];
  /** Whether rows are left that an analysis made which knew only English. */
  outdated: boolean;
  /** Whether all words that stand out in their chunks have their grades. */
  graded: boolean;
  statistics: CorpusStatistics;
  /** In how many chunks a lexeme stands, of those that were asked for. */
  counts: Map<string, number>;
}

/** The state that was seen last, by database. */
const known = new WeakMap<Sql, { version: string; corpus: KnownCorpus }>();

/** Words of a query that are counted where the statistics do not know them, and so are rare. */
const MOST_COUNTED = 300;
/** Counting stops here: whatever is more frequent is not rare. */
const COUNT_LIMIT = 801;
/** Counts that are kept: some 2 MB. */
const MOST_KEPT = 20_000;

export async function knowCorpus(tx: Transaction, { sql, version }: Snapshot): Promise<KnownCorpus> {
  const last = known.get(sql);
  if (last?.version === version) return last.corpus;
  const [[row], statistics] = await Promise.all([
    tx<{ languages: string[]; oldest: number | null }[]>`
      select array(select language from document_languages) as languages,
        (select min(analysis) from chunks where analysis < ${tx.unsafe(String(ANALYSIS))}) as oldest`,
    readCorpusStatistics(tx),
  ]);
  const { languages = [], oldest = null } = row ?? {};
  const corpus = {
    languages: languages.length === 0 ? ["en"] : languages,
    outdated: oldest === 0,
    graded: oldest === null,
    statistics,
    counts: new Map(),
  };
  // what the planner believes changes by itself
  if (statistics.refreshed) known.set(sql, { version, corpus });
  return corpus;
}

/**
 * In how many chunks each lexeme stands. What the statistics do not know is rare, new, or not there at all: it is
 * counted.
 */
export async function countChunks(
  tx: Transaction,
  { counts: kept }: KnownCorpus,
  lexemes: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map(lexemes.map((lexeme) => [lexeme, kept.get(lexeme)] as const));
  const asked = lexemes.filter((lexeme) => counts.get(lexeme) === undefined);
  const found = asked.length === 0 ? [] : await readCounts(tx, asked);
  if (kept.size + found.length > MOST_KEPT) kept.clear();
  for (const { lexeme, chunks } of found) {
    counts.set(lexeme, chunks);
    kept.set(lexeme, chunks);
  }
  return new Map([...counts].map(([lexeme, chunks = 0]) => [lexeme, chunks]));
}

interface LexemeCount {
  lexeme: string;
  chunks: number;
}

async function readCounts(tx: Transaction, lexemes: readonly string[]): Promise<LexemeCount[]> {
  const rows = await tx<LexemeCount[]>`
    select lexeme, chunks from lexeme_statistics where lexeme = any(${lexemes.filter((each) => !isSingleUnit(each))}::text[])`;
  const frequent = new Set(rows.map(({ lexeme }) => lexeme));
  const unknown = lexemes.filter((lexeme) => !frequent.has(lexeme)).slice(0, MOST_COUNTED);
  if (unknown.length === 0) return rows;
  const counted = await tx<LexemeCount[]>`
    select lexeme, (select count(*) from (select 1 from chunks_serving where fts @@ query::tsquery limit ${COUNT_LIMIT}) few) as chunks
    from unnest(${unknown}::text[], ${unknown.map(lexemeQuery)}::text[]) as unknown (lexeme, query)`;
  return [...rows, ...counted];
}
