/**
 * The keyword side: a query becomes weighted terms, an index finds the chunks that can score most, and BM25 ranks
 * these. A required phrase or an excluded term filters candidates.
 */
import type { Transaction } from "../../platform/database/database.ts";
import type { SideHit } from "./fusion.ts";
import type { Marks } from "./highlight.ts";
import { countChunks, knowCorpus } from "./known-corpus.ts";
import { type AskedWord, type ExactParts, lexemeQuery, readQuery } from "./query-reading.ts";
import type { ParsedQuery } from "./query-syntax.ts";
import { MOST_CANDIDATES, type RecallQuery, recallQueries, type Term } from "./recall.ts";
import { filterDocuments, isFiltered, type SearchFilter } from "./search-filter.ts";
import type { Snapshot } from "./search-version.ts";

/** A query as it is asked of the index. */
export interface KeywordQuery {
  /** The most valuable first; none that stands in no chunk. */
  terms: Term[];
  /** What every result must match, whichever side found it, in the syntax of `tsquery`; null: anything. */
  condition: string | null;
  /** What is compared word by word, where the index does not tell. */
  exactly: ExactParts;
  /** Regular expressions that every result matches: phrases of stop words. */
  patterns: string[];
  corpus: number;
  averageTokens: number;
}

/** A pasted paragraph has some 60 that count. Each costs 2 µs a candidate. */
const MOST_TERMS = 48;
/** A phrase that no index knows is looked for in the texts; this many are enough. */
export const MOST_SCANNED = 200;
/** The standard values (Robertson, Zaragoza 2009). */
const K1 = 1.2;
const B = 0.75;

/** Reads a query as texts are read, and weighs its words by how rare they are. */
export async function analyseQuery(tx: Transaction, query: ParsedQuery, snapshot: Snapshot): Promise<KeywordQuery> {
  const known = await knowCorpus(tx, snapshot);
  const { languages, outdated, statistics } = known;
  const { words, condition, exactly, unindexed } = await readQuery(tx, query, languages, outdated);
  const counts = await countChunks(tx, known, [...new Set(words.flatMap((word) => word.lexemes))]);
  const terms = words
    .flatMap((word) => termOf(word, counts, statistics.chunks))
    .sort((a, b) => b.weight - a.weight || (a.query < b.query ? -1 : 1))
    .slice(0, MOST_TERMS);
  const { chunks: corpus, averageTokens } = statistics;
  return { terms, condition, exactly, patterns: unindexed, corpus, averageTokens };
}

/** What a text is marked by. */
export function marksOfQuery({ terms, exactly }: KeywordQuery): Marks {
  return { lexemes: new Set(terms.flatMap(({ lexemes }) => lexemes)), phrases: exactly.required };
}

/** Without the lexemes that stand nowhere. */
function termOf({ lexemes, times }: AskedWord, counts: ReadonlyMap<string, number>, corpus: number): Term[] {
  const held = lexemes.filter((lexeme) => (counts.get(lexeme) ?? 0) > 0);
  if (held.length === 0) return [];
  const chunks = held.reduce((sum, lexeme) => sum + (counts.get(lexeme) ?? 0), 0);
  const queries = held.map(lexemeQuery);
  const query = queries.length === 1 ? queries.join("") : `(${queries.join(" | ")})`;
  return [{ query, lexemes: held, chunks, weight: times * inverseDocumentFrequency(corpus, chunks) }];
}

/** As Lucene computes it: never negative, however common the term. */
function inverseDocumentFrequency(corpus: number, chunks: number): number {
  const holding = Math.min(chunks, corpus);
  return Math.log(1 + (corpus - holding + 0.5) / (holding + 0.5));
}

export interface KeywordHits {
  /** Best first. */
  hits: SideHit[];
  /** That were looked at. */
  candidates: number;
  /** Whether these are all visible. */
  visible: boolean;
}

/** The best `limit` visible chunks by BM25. */
export async function searchKeywords(
  tx: Transaction,
  query: KeywordQuery,
  limit: number,
  filter: SearchFilter = {},
): Promise<KeywordHits> {
  // as a rule few are hidden, and it is enough to look at the best
  if (!isFiltered(filter)) {
    const ranked = await rankCandidates(tx, query, limit, null);
    const candidates = ranked[0]?.candidates ?? MOST_CANDIDATES;
    if (ranked.length === limit || candidates < MOST_CANDIDATES) return { hits: ranked, candidates, visible: false };
  }
  const ranked = await rankCandidates(tx, query, limit, filter);
  return { hits: ranked, candidates: ranked[0]?.candidates ?? 0, visible: true };
}

/** A hit, and how many were ranked with it. */
interface RankedHit extends SideHit {
  candidates: number;
}

/** @param filter null: hidden chunks are left out after ranking, so that they take the place of others */
async function rankCandidates(
  tx: Transaction,
  { terms, condition, patterns, corpus, averageTokens }: KeywordQuery,
  limit: number,
  filter: SearchFilter | null,
): Promise<RankedHit[]> {
  const visible = (document: string, asked: SearchFilter) => tx`
    cross join lateral (
      select from documents_active d where d.id = ${tx(document)} ${filterDocuments(tx, asked)} limit 1) visible`;
  // weight · tf (k1 + 1) / (tf + saturation), with the term frequency standing in it once
  const scores = terms.map(({ lexemes, weight }) => {
    const frequencies = lexemes.map((lexeme) => tx`, term_frequency(c.fts, ${lexemeQuery(lexeme)}::tsquery)`);
    return tx`+ ${weight * (K1 + 1)}::float8 * (1 - saturation / (greatest(0::float8 ${frequencies}) + saturation))`;
  });
  const candidates = ({ query, limit: most, scanned }: RecallQuery) => tx`
    union all (
      select c.id, c.document_id, 0::float8 ${scores.length === 0 ? tx`` : scores} as score
      from chunks c
      cross join lateral (
        select ${K1}::float8 * (${1 - B}::float8 + ${B / averageTokens}::float8 * c.token_count) as saturation) length
      ${filter === null ? tx`` : visible("c.document_id", filter)}
      where ${matching(tx, query, scanned)} ${matchingPatterns(tx, patterns)}
      ${scanned ? tx`order by c.id desc` : tx``} limit ${most})`;
  const selective = patterns.length > 0 || (filter !== null && isFiltered(filter));
  const queries = recallQueries(terms, corpus, condition, selective);
  if (queries.length === 0 && patterns.length > 0) queries.push(phraseOfStopWords(condition));
  if (queries.length === 0) return [];
  return await tx<RankedHit[]>`
    select ranked.id as "chunkId", score, candidates::int
    from (
      select id, document_id, score, count(*) over () as candidates
      from (
        (select null::uuid as id, null::uuid as document_id, 0::float8 as score where false)
        ${queries.map(candidates)}
      ) found
      order by score desc, id
    ) ranked ${filter === null ? visible("ranked.document_id", {}) : tx``}
    order by score desc, ranked.id limit ${limit}`;
}

/** Looks for a phrase that no index knows in the texts. */
function phraseOfStopWords(condition: string | null): RecallQuery {
  return { query: condition, limit: MOST_SCANNED, scanned: false };
}

/** Of a chunk named `c`. The function is the operator, but no index is looked at for it. */
export function matching(tx: Transaction, query: string | null, scanned: boolean) {
  if (query === null) return tx`true`;
  return scanned ? tx`ts_match_vq(c.fts, ${query}::tsquery)` : tx`c.fts @@ ${query}::tsquery`;
}

/** Conditions on a chunk named `c`. */
export function matchingPatterns(tx: Transaction, patterns: readonly string[]) {
  return patterns.length === 0
    ? tx``
    : tx`and concat_ws(' ', c.section_header, c.content) ~ all(${[...patterns]}::text[])`;
}
