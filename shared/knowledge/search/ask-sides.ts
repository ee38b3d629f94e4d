/**
 * What each side of a search finds: chunks by words, and chunks by meaning as far as searches may see them. The vector
 * side searches while PostgreSQL is at work, and joins its hits with the rows afterwards.
 */
import { limitStatements, type Transaction } from "../../platform/database/database.ts";
import { exactWords } from "../analysis/exact-words.ts";
import type { Embedder, RememberedVector } from "../embedders/embedder.ts";
import { embedQuery } from "../embedders/validation.ts";
import type { VectorFilter } from "../vector-stores/vector-store.ts";
import { explainNoHits } from "./expected-vectors.ts";
import type { SideHit } from "./fusion.ts";
import { analyseQuery, type KeywordQuery, searchKeywords } from "./keyword-search.ts";
import type { ParsedQuery } from "./query-syntax.ts";
import { LONGEST_TITLE, visibleChunks, visibleHits } from "./results.ts";
import { isFiltered, type SearchFilter } from "./search-filter.ts";
import type { SearchRequest } from "./search-request.ts";
import type { Snapshot } from "./search-version.ts";
import { outcomeOf, type Patience, type SideOutcome, unlessResting } from "./sides.ts";
import { keywordTotal, type Total } from "./totals.ts";
import type { OpenVectorSide, VectorSide } from "./vector-side.ts";

/**
 * Hits of replaced or unfinished generations are joined away, so more are asked for; again and again up to this many.
 */
const MOST_VECTOR_HITS = 4_000;
/** Of hits of the index, to compare word by word where a query quotes. */
const EXACT_DEPTH = 400;

export interface AskedSearch {
  query: ParsedQuery;
  mode: SearchRequest["mode"];
  /** Of the page that is asked for. */
  limit: number;
  /** Hits of each side. */
  depth: number;
  filter: SearchFilter;
  /** The same for the vector store. */
  vectorFilter: VectorFilter;
  snapshot: Snapshot;
  patience: Patience;
  /** For each statement that a search by vectors alone only wants for its highlights. */
  marksWaitMs: number;
  /** Resolves once PostgreSQL is at work for the keyword side, or that has come to its end. */
  keywordsAsked: Promise<void>;
  afterAsking(): void;
}

export interface FoundByWords {
  keywords: KeywordQuery;
  hits: SideHit[];
  total: Total;
}

export interface FoundByMeaning {
  hits: SideHit[];
  /** Whether the store has no more. */
  whole: boolean;
  /** Whether the query had its vector from an earlier search. */
  remembered: boolean;
}

export async function askKeywords(
  tx: Transaction,
  { query, mode, limit, depth, filter, vectorFilter, snapshot, marksWaitMs, afterAsking }: AskedSearch,
): Promise<FoundByWords> {
  try {
    if (mode === "vector" && !isBound(query)) await limitStatements(tx, marksWaitMs);
    const keywords = await analyseQuery(tx, query, snapshot, filter.languages);
    if (mode === "vector") return { keywords, hits: [], total: { count: 0, exact: true } };
    const exactly = isExact(keywords);
    const most = exactly ? EXACT_DEPTH : depth;
    const bounds = { limit: most, enough: exactly ? most : limit };
    const asked = searchKeywords(tx, keywords, bounds, filter, vectorFilter.documentIds);
    // the driver writes to its socket when the event loop comes round
    setImmediate(() => setImmediate(afterAsking));
    const ranked = await asked;
    const exact = await exactHits(tx, ranked.hits, keywords);
    const found = { query: keywords, ranked, limit: most, found: exact.length, filtered: isFiltered(filter) };
    return { keywords, hits: exact.slice(0, depth), total: keywordTotal(found) };
  } finally {
    afterAsking();
  }
}

/**
 * Joins hits with the rows once the keyword side has come to its end, whatever that is: a statement that fails undoes
 * what stands beside it.
 */
export async function askVectors(
  tx: Transaction,
  open: () => Promise<VectorSide>,
  side: VectorSide,
  asked: AskedSearch,
  keyword: Promise<SideOutcome<FoundByWords>>,
): Promise<SideOutcome<FoundByMeaning>> {
  const nearest = async () => (side === null ? null : await firstHits(side, asked));
  const first = await outcomeOf("vector", asked.mode === "hybrid" ? unlessResting(open, nearest) : nearest());
  const words = await keyword;
  if ("missing" in first) return first;
  const { value } = first;
  if (side === null || value === null) return { value: { hits: [], whole: true, remembered: false } };
  if ("missing" in words && isBound(asked.query)) return { missing: { ...words.missing, side: "vector" } };
  const keywords = "value" in words ? words.value.keywords : null;
  const joined = tx.savepoint((own) => visibleVectors(own, side, asked, value, keywords));
  return await outcomeOf("vector", joined);
}

/** Whether only words tell which hits of the vector store are results. */
const isBound = ({ phrases, excluded }: ParsedQuery): boolean => phrases.length + excluded.length > 0;

async function vectorOfQuery(embedder: Embedder, text: string): Promise<RememberedVector> {
  if (embedder.recallQuery !== undefined) return await embedder.recallQuery(text);
  return { vector: await embedQuery(embedder, text), remembered: false };
}

interface NearestHits {
  vector: Float32Array;
  remembered: boolean;
  hits: SideHit[];
}

/**
 * The embedded store works on this thread: it begins once PostgreSQL does, so that both work at the same time.
 * @returns null where the model knows nothing of the query
 */
async function firstHits(
  { embedder, vectors }: OpenVectorSide,
  { query, depth, vectorFilter, patience, keywordsAsked }: AskedSearch,
): Promise<NearestHits | null> {
  const { vector, remembered } = await patience.wait(vectorOfQuery(embedder, query.text));
  await keywordsAsked;
  return vector && { vector, remembered, hits: await patience.wait(vectors.search(vector, 2 * depth, vectorFilter)) };
}

async function visibleVectors(
  tx: Transaction,
  { embedder, vectors }: OpenVectorSide,
  { depth, filter, vectorFilter, patience }: AskedSearch,
  { vector, hits: first, remembered }: NearestHits,
  keywords: KeywordQuery | null,
): Promise<FoundByMeaning> {
  if (first.length === 0) await explainNoHits(tx, embedder.descriptor, filter);
  let hits = first;
  for (let asked = 2 * depth; ; asked *= 2) {
    const whole = hits.length < asked;
    const see = async (some: SideHit[]): Promise<SideHit[]> => {
      const joined = await visibleHits(tx, some, keywords?.condition ?? null, filter);
      return keywords === null ? joined : await exactHits(tx, joined, keywords);
    };
    // as a rule none is hidden, and the best are enough
    let visible = await see(whole ? hits : hits.slice(0, depth));
    if (!whole && visible.length < depth) visible = [...visible, ...(await see(hits.slice(depth)))];
    if (visible.length >= depth || whole || asked >= MOST_VECTOR_HITS) {
      return { hits: visible.slice(0, depth), whole: whole && visible.length <= depth, remembered };
    }
    hits = await patience.wait(vectors.search(vector, 2 * asked, vectorFilter));
  }
}

export function isExact({ exactly }: KeywordQuery): boolean {
  return exactly.required.length + exactly.refused.length > 0;
}

/** Those of the hits whose texts hold each required phrase word by word, and none of the refused ones. */
async function exactHits(tx: Transaction, hits: SideHit[], query: KeywordQuery): Promise<SideHit[]> {
  if (!isExact(query) || hits.length === 0) return hits;
  const rows = await tx<{ id: string; title: string | null; header: string | null; content: string }[]>`
    select c.id, left(d.title, ${LONGEST_TITLE}) as title, left(c.section_header, ${LONGEST_TITLE}) as header, c.content
    from ${visibleChunks(
      tx,
      hits.map(({ chunkId }) => chunkId),
    )}`;
  const { required, refused } = query.exactly;
  const matching = new Set<string>();
  for (const { id, title, header, content } of rows) {
    const texts = [title, header, content].map((text) => exactWords(text ?? ""));
    const holds = (phrase: string) => texts.some((text) => text.includes(phrase));
    if (required.every(holds) && !refused.some(holds)) matching.add(id);
  }
  return hits.filter(({ chunkId }) => matching.has(chunkId));
}
