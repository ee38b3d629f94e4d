/**
 * The keyword side. Recall is an OR over the query's rarest lexemes, so that the work is bounded however common the
 * others are; the candidates are ranked by BM25. A required phrase or an excluded term filters candidates.
 */
import type { Transaction } from "../../platform/database/database.ts";
import { readCorpusStatistics } from "./corpus-statistics.ts";
import type { SideHit } from "./fusion.ts";
import type { ParsedQuery } from "./query-syntax.ts";

export interface SearchFilter {
  collectionIds?: string[];
  domains?: string[];
}

/** A query as PostgreSQL reads it. The strings are in the syntax of `tsquery`. */
export interface KeywordQuery {
  /** Rarest first; none that stands in no chunk. */
  terms: Term[];
  /** What every result must match, whichever side found it; null: anything. */
  condition: string | null;
  averageTokens: number;
}

interface Term {
  lexeme: string;
  /** Chunks that hold it, about. */
  chunks: number;
  /** Inverse document frequency. */
  idf: number;
}

const CANDIDATES = 800;
/** More lexemes than this add little beside the rarest of them, but each costs 2 µs a candidate. */
const MOST_TERMS = 16;
/** Counting stops here: whatever is more frequent is not rare. */
const COUNT_LIMIT = CANDIDATES + 1;
/** Common lexemes that are asked to stand together with the next rare one. */
const COMPANIONS = 3;
/**
 * Of the reasonable values (1.2 to 2, 0.5 to 0.8: Robertson, Zaragoza 2009) the best on both halves of Cranfield's
 * queries.
 */
const K1 = 2;
const B = 0.5;

/**
 * Reads a query with PostgreSQL's own analysis of English: stop words dropped, stems taken. Also sets what holds for
 * the rest of the transaction: candidates are few, so an index is always right, but the planner cannot know how few.
 */
export async function analyseQuery(
  tx: Transaction,
  { words, phrases, excluded }: ParsedQuery,
  timeoutMs: number,
): Promise<KeywordQuery> {
  const [analysed] = await tx<Analysed[]>`
    with asked as materialized (
      select array(select lexeme from unnest(
        to_tsvector('pg_catalog.english', search_text(${[...words, ...phrases].join(" ")})))) as lexemes
    )
    select lexemes, ${phraseQueries(tx, phrases)} as required, ${phraseQueries(tx, excluded)} as refused,
      (select coalesce(json_object_agg(lexeme, chunks), '{}') from lexeme_statistics where lexeme = any(lexemes)) as counts,
      set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
      set_config('statement_timeout', ${String(timeoutMs)}, true)
    from asked`;
  const { lexemes = [], required = [], refused = [], counts: known = {} } = analysed ?? {};
  const condition = [...required.map((each) => `(${each})`), ...refused.map((each) => `!(${each})`)].join(" & ");
  const statistics = await readCorpusStatistics(tx);
  const counts = await countUnknown(tx, lexemes, new Map(Object.entries(known)));
  const terms = [...counts]
    .filter(([, chunks]) => chunks > 0)
    .map(([lexeme, chunks]) => ({ lexeme, chunks, idf: inverseDocumentFrequency(statistics.chunks, chunks) }))
    .sort((a, b) => a.chunks - b.chunks || (a.lexeme < b.lexeme ? -1 : 1))
    .slice(0, MOST_TERMS);
  return { terms, condition: condition === "" ? null : condition, averageTokens: statistics.averageTokens };
}

interface Analysed {
  lexemes: string[];
  /** In the syntax of `tsquery`, as `refused`. */
  required: string[];
  refused: string[];
  /** By lexeme, where the statistics know it. */
  counts: Record<string, number>;
}

/** Stop words alone make an empty phrase, which asks for nothing. */
function phraseQueries(tx: Transaction, phrases: string[]) {
  return tx`array(
    select query::text from unnest(${phrases}::text[]) phrase, phraseto_tsquery('pg_catalog.english', search_text(phrase)) query
    where numnode(query) > 0)`;
}

/** What the statistics do not know is rare, new, or not there at all, and is counted. */
async function countUnknown(
  tx: Transaction,
  lexemes: string[],
  known: Map<string, number>,
): Promise<Map<string, number>> {
  const unknown = lexemes.filter((lexeme) => !known.has(lexeme));
  if (unknown.length === 0) return known;
  const counted = await tx<{ lexeme: string; chunks: number }[]>`
    select lexeme, (select count(*) from (select 1 from chunks where fts @@ query::tsquery limit ${COUNT_LIMIT}) few) as chunks
    from unnest(${unknown}::text[], ${unknown.map(quoteLexeme)}::text[]) as unknown (lexeme, query)`;
  return new Map([...known, ...counted.map(({ lexeme, chunks }) => [lexeme, chunks] as const)]);
}

/** As Lucene computes it: never negative, however common the term. */
function inverseDocumentFrequency(corpus: number, chunks: number): number {
  const holding = Math.min(chunks, corpus);
  return Math.log(1 + (corpus - holding + 0.5) / (holding + 0.5));
}

/** The best `limit` visible chunks by BM25, best first. */
export async function searchKeywords(
  tx: Transaction,
  { terms, condition, averageTokens }: KeywordQuery,
  limit: number,
  filter: SearchFilter = {},
): Promise<SideHit[]> {
  if (terms.length === 0) return [];
  const { rare, together, alone, furtherLimit } = recallQueries(terms, condition);
  const candidates = (query: string, most: number) => tx`
    select c.id, c.fts, ${K1}::float8 * (${1 - B}::float8 + ${B / averageTokens}::float8 * c.token_count) as saturation
    from chunks c
    cross join lateral (
      select from documents_active d where d.id = c.document_id ${filterDocuments(tx, filter)} limit 1) visible
    where c.fts @@ ${query}::tsquery limit ${most}`;
  // idf · tf (k1 + 1) / (tf + saturation), with the term frequency standing in it once
  const scores = terms.map(({ lexeme, idf }) => {
    const frequency = tx`term_frequency(fts, ${quoteLexeme(lexeme)}::tsquery)`;
    return tx`+ ${idf * (K1 + 1)}::float8 * (1 - saturation / (${frequency} + saturation))`;
  });
  return await tx<SideHit[]>`
    select id as "chunkId", max(score) as score
    from (
      select id, 0 ${scores} as score
      from (
        (${candidates(rare, CANDIDATES)})
        union all (${candidates(together, furtherLimit)})
        union all (${candidates(alone, furtherLimit)})
      ) candidates
    ) scored
    group by id order by score desc, id limit ${limit}`;
}

/**
 * Which chunks are looked at: all that hold a rare lexeme; then, of those that hold the rarest common one, first those
 * that hold another as well.
 */
export function recallQueries(
  terms: readonly Term[],
  condition: string | null,
): { rare: string; together: string; alone: string; furtherLimit: number } {
  let sum = 0;
  const rare = terms.filter(({ chunks }) => {
    sum += chunks;
    return sum <= CANDIDATES;
  });
  const held = rare.reduce((total, { chunks }) => total + chunks, 0);
  const [next, ...others] = terms.slice(rare.length);
  const anyOf = (some: readonly Term[]) => some.map(({ lexeme }) => quoteLexeme(lexeme)).join(" | ");
  const conditioned = (query: string) => (query === "" || condition === null ? query : `(${query}) & ${condition}`);
  const nextQuery = next === undefined ? "" : quoteLexeme(next.lexeme);
  const together = others.length === 0 ? "" : `${nextQuery} & (${anyOf(others.slice(0, COMPANIONS))})`;
  return {
    rare: conditioned(anyOf(rare)),
    together: conditioned(together),
    alone: conditioned(nextQuery),
    furtherLimit: Math.ceil(Math.max(CANDIDATES / 4, CANDIDATES - held) / 2),
  };
}

/** Conditions on a document named `d`. */
export function filterDocuments(tx: Transaction, { collectionIds, domains }: SearchFilter) {
  const collections = collectionIds === undefined ? tx`` : tx`and d.collection_id = any(${collectionIds}::uuid[])`;
  return domains === undefined ? collections : tx`${collections} and d.domain = any(${domains}::text[])`;
}

/** A lexeme in the syntax of `tsquery`. */
function quoteLexeme(lexeme: string): string {
  return `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
