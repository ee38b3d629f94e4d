/**
 * The keyword side: a query becomes weighted terms, an index finds the chunks that can score most, and BM25 ranks
 * these. A required phrase or an excluded term filters candidates.
 */
import type { Transaction } from "../../platform/database/database.ts";
import type { SideHit } from "./fusion.ts";
import { countedLexemes, gradedQueries } from "./graded-recall.ts";
import type { Marks } from "./highlight.ts";
import { countChunks, type KnownCorpus, knowCorpus } from "./known-corpus.ts";
import { type AskedWord, type ExactParts, lexemeQuery, readQuery } from "./query-reading.ts";
import type { ParsedQuery } from "./query-syntax.ts";
import { MOST_CANDIDATES, type RecallQuery, type RecallStep, recallSteps, type Term } from "./recall.ts";
import { LONGEST_TITLE } from "./results.ts";
import { filterDocuments, isFiltered, type SearchFilter, visibleDocument } from "./search-filter.ts";
import type { Snapshot } from "./search-version.ts";

/** A query as it is asked of the index. */
export interface KeywordQuery {
  /** The most valuable first; none that stands in no chunk. */
  terms: Term[];
  /** What every result must match, whichever side found it, in the syntax of `tsquery`; null: anything. */
  condition: string | null;
  /** What is compared word by word, where the index does not tell. */
  exactly: ExactParts;
  /** Regular expressions that every result matches: phrases with stop words. */
  patterns: string[];
  /** Whether the index tells nothing of what must stand, so that the texts are read. */
  unindexed: boolean;
  /** Whether a phrase may stand where none of its words was found. */
  divided: boolean;
  known: KnownCorpus;
}

/** A pasted paragraph has some 60 that count. Each costs 2 µs a candidate. */
const MOST_TERMS = 48;
/** A phrase that no index knows is looked for in the texts; this many are enough. */
const MOST_SCANNED = 200;
/** The standard values (Robertson, Zaragoza 2009). */
const K1 = 1.2;
const B = 0.75;

/**
 * Reads a query as texts are read, and weighs its words by how rare they are.
 * @param asked the languages of texts that are wanted; those of all where it is left out
 */
export async function analyseQuery(
  tx: Transaction,
  query: ParsedQuery,
  snapshot: Snapshot,
  asked?: readonly string[],
): Promise<KeywordQuery> {
  const known = await knowCorpus(tx, snapshot);
  const { outdated, statistics } = known;
  const wanted = known.languages.filter((language) => asked?.includes(language) ?? true);
  const languages = wanted.length === 0 ? known.languages : wanted;
  const { words, ...requirements } = await readQuery(tx, query, languages, outdated);
  const counts = await countChunks(tx, known, [...new Set(words.flatMap((word) => word.lexemes))]);
  const terms = words
    .flatMap((word) => termOf(word, counts, statistics.chunks))
    .sort((a, b) => b.weight - a.weight || (a.query < b.query ? -1 : 1))
    .slice(0, MOST_TERMS);
  return { terms, ...requirements, known };
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
  /** Whether these are all that match. */
  whole: boolean;
  /** Whether these are all visible. */
  visible: boolean;
}

/** So many rows are tested in one step for what the index does not know, and in steps behind the first one: 0.2 s. */
const MOST_TESTED = 20_000;
/** Up to so many documents are read one after the other, where words find too many chunks or too few. */
const FEW_DOCUMENTS = 500;
/** In all, words find so many chunks that those of few documents are read sooner. */
const MANY_CHUNKS = 5_000;

/**
 * The best `limit` visible chunks by BM25.
 * @param enough so many hits, of `limit`, are no reason to look at what holds less
 * @param documentIds those that the filter lets through, where they are known
 */
export async function searchKeywords(
  tx: Transaction,
  query: KeywordQuery,
  { limit, enough }: { limit: number; enough: number },
  filter: SearchFilter = {},
  documentIds?: readonly string[],
): Promise<KeywordHits> {
  const filtered = isFiltered(filter);
  const plain = stepsOf(query, filtered, null);
  if (plain[0] === undefined) return { hits: [], candidates: 0, whole: true, visible: true };
  const expected = plain[0].queries.reduce((sum, each) => sum + each.expected, 0);
  let few: readonly string[] | null | undefined;
  if (filtered && expected > MANY_CHUNKS) {
    few = await fewDocuments(tx, filter, documentIds);
    if (few !== null) return await searchDocuments(tx, query, limit, filter, few);
  }
  const best = expected > MOST_CANDIDATES ? await bestFirst(tx, query) : null;
  const steps = best === null ? plain : [best.step, ...stepsOf(query, filtered, best.found)];
  const [first] = steps;
  const found: KeywordHits = { hits: [], candidates: 0, whole: false, visible: true };
  for (const step of steps) {
    if (step !== first && filtered && few === undefined) {
      few = await fewDocuments(tx, filter, documentIds);
      if (few !== null) return await searchDocuments(tx, query, limit, filter, few);
    }
    const next = await rankStep(tx, query, step, limit, filter, step !== first);
    found.hits = [...found.hits, ...next.hits].sort(byScore).slice(0, limit);
    found.candidates += next.candidates;
    found.visible &&= next.visible;
    found.whole = next.whole;
    if (found.hits.length >= enough) break;
  }
  return found;
}

const byScore = (a: SideHit, b: SideHit): number => b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1);

/** Those that can score most, where more match than are ranked. */
async function bestFirst(
  tx: Transaction,
  { terms, condition, patterns, unindexed, known }: KeywordQuery,
): Promise<{ step: RecallStep; found: string } | null> {
  if (!known.graded || (patterns.length > 0 && unindexed)) return null;
  const counts = await countChunks(tx, known, countedLexemes(terms));
  const graded = gradedQueries(terms, known.statistics.chunks, counts, condition);
  return graded && { step: { queries: graded.queries, last: false }, found: graded.found };
}

/** @param found what is ranked before */
function stepsOf(
  { terms, condition, patterns, unindexed, divided, known }: KeywordQuery,
  filtered: boolean,
  found: string | null,
): RecallStep[] {
  const inTexts = patterns.length > 0;
  if (!(inTexts && unindexed)) {
    const steps = recallSteps(terms, known.statistics.chunks, condition, inTexts || filtered, found);
    if (divided && steps.length > 0)
      return [...steps.map((step) => ({ ...step, last: false })), restOf(terms, condition)];
    if (steps.length > 0 || !inTexts) return steps;
  }
  return [{ queries: [{ query: condition, limit: MOST_SCANNED, scanned: false, expected: 0 }], last: true }];
}

/** What holds none of the terms. */
function restOf(terms: readonly Term[], condition: string | null): RecallStep {
  const none = `!(${terms.map(({ query }) => query).join(" | ")})`;
  const query = condition === null ? none : `${none} & ${condition}`;
  return { queries: [{ query, limit: MOST_SCANNED, scanned: true, expected: 0 }], last: true };
}

/** The documents that the filter lets through; null: they are not few, or no index tells. */
async function fewDocuments(
  tx: Transaction,
  filter: SearchFilter,
  known: readonly string[] | undefined,
): Promise<readonly string[] | null> {
  if (known !== undefined) return known.length <= FEW_DOCUMENTS ? known : null;
  if (filter.domains === undefined && filter.tags?.match !== "any") return null;
  const rows = await tx<{ id: string }[]>`
    select id from documents_active d where true ${filterDocuments(tx, filter)} limit ${FEW_DOCUMENTS + 1}`;
  return rows.length <= FEW_DOCUMENTS ? rows.map(({ id }) => id) : null;
}

/** Ranks all chunks of these documents that match. */
async function searchDocuments(
  tx: Transaction,
  query: KeywordQuery,
  limit: number,
  filter: SearchFilter,
  documentIds: readonly string[],
): Promise<KeywordHits> {
  const any = query.unindexed ? "" : query.terms.map((term) => term.query).join(" | ");
  const parts = [any, query.condition ?? ""].filter((part) => part !== "").map((part) => `(${part})`);
  const all: RecallQuery = { query: parts.join(" & ") || null, limit: MOST_TESTED, scanned: true, expected: 0 };
  const ranked = await rankCandidates(tx, query, [all], limit, { filter, documentIds });
  const candidates = ranked[0]?.candidates ?? 0;
  return { hits: ranked, candidates, whole: candidates < MOST_TESTED, visible: true };
}

/** @param bounded whether rows that the filter leaves out count against what is tested */
async function rankStep(
  tx: Transaction,
  query: KeywordQuery,
  { queries, last }: RecallStep,
  limit: number,
  filter: SearchFilter,
  bounded: boolean,
): Promise<KeywordHits> {
  const most = Math.min(...queries.map((each) => each.limit));
  // as a rule few are hidden, and it is enough to look at the best
  if (!isFiltered(filter)) {
    const hits = await rankCandidates(tx, query, queries, limit, { filter: null });
    const candidates = hits[0]?.candidates ?? most;
    if (hits.length === limit || candidates < most) {
      return { hits, candidates, whole: last && candidates < most, visible: false };
    }
  }
  const hits = await rankCandidates(tx, query, queries, limit, { filter, bounded });
  const candidates = hits[0]?.candidates ?? 0;
  return { hits, candidates, whole: last && !bounded && candidates < most, visible: true };
}

/** A hit, and how many were ranked with it. */
interface RankedHit extends SideHit {
  candidates: number;
}

interface Candidates {
  /** null: hidden chunks are left out after ranking, so that they take the place of others. */
  filter: SearchFilter | null;
  /** Of which chunks are read one after the other. */
  documentIds?: readonly string[];
  bounded?: boolean;
}

async function rankCandidates(
  tx: Transaction,
  { terms, patterns, known }: KeywordQuery,
  queries: readonly RecallQuery[],
  limit: number,
  { filter, documentIds, bounded = false }: Candidates,
): Promise<RankedHit[]> {
  const visible = (document: string, asked: SearchFilter) => tx`
    cross join lateral (select from ${visibleDocument(tx, document, asked)}) visible`;
  // weight · tf (k1 + 1) / (tf + saturation), with the term frequency standing in it once
  const scores = terms.map(({ lexemes, weight }) => {
    const frequencies = lexemes.map((lexeme) => tx`, term_frequency(c.fts, ${lexemeQuery(lexeme)}::tsquery)`);
    return tx`+ ${weight * (K1 + 1)}::float8 * (1 - saturation / (greatest(0::float8 ${frequencies}) + saturation))`;
  });
  const within = documentIds === undefined ? tx`` : tx`c.document_id = any(${[...documentIds]}::uuid[]) and`;
  const chunks = ({ query, scanned }: RecallQuery) =>
    bounded
      ? tx`(select * from chunks_serving c where ${matching(tx, query, scanned)} limit ${MOST_TESTED}) c`
      : tx`chunks_serving c`;
  const candidates = (each: RecallQuery) => tx`
    union all (
      select c.id, c.document_id, 0::float8 ${scores.length === 0 ? tx`` : scores} as score
      from ${chunks(each)}
      cross join lateral (
        select ${K1}::float8 * (${1 - B}::float8 + ${B / known.statistics.averageTokens}::float8 * c.token_count) as saturation) length
      ${filter === null ? tx`` : visible("c.document_id", filter)}
      where ${within} ${bounded ? tx`true` : matching(tx, each.query, each.scanned)} ${matchingPatterns(tx, patterns)}
      ${each.scanned && documentIds === undefined ? tx`order by c.id desc` : tx``} limit ${each.limit})`;
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

/** Of a chunk named `c`. The function is the operator, but no index is looked at for it. */
export function matching(tx: Transaction, query: string | null, scanned: boolean) {
  if (query === null) return tx`true`;
  return scanned ? tx`ts_match_vq(c.fts, ${query}::tsquery)` : tx`c.fts @@ ${query}::tsquery`;
}

/** Conditions on a chunk named `c`. */
export function matchingPatterns(tx: Transaction, patterns: readonly string[]) {
  return patterns.length === 0
    ? tx``
    : tx`and concat_ws(' ', (select left(title, ${LONGEST_TITLE}) from documents where id = c.document_id),
        left(c.section_header, ${LONGEST_TITLE}), c.content) ~ all(${[...patterns]}::text[])`;
}
