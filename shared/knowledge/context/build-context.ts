/**
 * Makes of what a search found one text for a language model: within a budget of tokens, each passage once, neighbours
 * as one, and the best of them at both ends, where a model reads most carefully (Liu et al. 2023: "Lost in the
 * Middle").
 */
import { estimateTokens, piecesOf } from "../../extract/chunks/tokens.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { SearchResult } from "../search/results.ts";

/** A hit with where it stands. */
export interface Evidence {
  documentId: string;
  chunkId: string;
  url: string;
  title: string | null;
  sectionHeader: string | null;
  /** Place of its section in the document; null where that has none. */
  section: number | null;
  content: string;
  /** Of the document's text, in UTF-16 code units. */
  start: number;
  end: number;
  /** Place among the chunks of the document. */
  index: number;
  capturedAt: Date;
  /** Whether the archive has a capture of it. */
  isCaptured: boolean;
  /** From 1 on, in the order of the search. */
  rank: number;
  score: number;
  source: SearchResult["source"];
  vectorRank: number | null;
  keywordRank: number | null;
  /** Words of the query that stand in it, as they do there. */
  words: string[];
  /** Passages behind it that say nearly the same. */
  duplicates: number;
}

/** What the context holds of one document in one stretch. */
export interface Passage {
  /** From 1 on, in the order of the context. */
  number: number;
  /** In the order of the document; the first of them all is what `best` names. */
  parts: Evidence[];
  best: Evidence;
  text: string;
  /** Whether its end was cut off so that it fits. */
  isCut: boolean;
}

export interface Context {
  text: string;
  /** Estimated; never more than the budget. */
  tokens: number;
  passages: Passage[];
  /** Hits that found no room. */
  leftOut: number;
}

/** The hits that are visible still, with where they stand in their documents. */
export async function readEvidence(sql: Sql, results: readonly SearchResult[]): Promise<Evidence[]> {
  const rows = await sql<
    Pick<Evidence, "chunkId" | "section" | "start" | "end" | "index" | "capturedAt" | "isCaptured">[]
  >`
    select c.id as "chunkId", c.section, c.start_char as start, c.end_char as end, c.chunk_index as index,
      d.crawled_at as "capturedAt", d.capture_id is not null as "isCaptured"
    from chunks c join documents_active d on d.id = c.document_id
    where c.id = any(${results.map(({ chunkId }) => chunkId)}::uuid[])`;
  const places = new Map(rows.map((row) => [row.chunkId, row]));
  return results.flatMap((result, at) => {
    const place = places.get(result.chunkId);
    if (place === undefined) return [];
    const { documentId, chunkId, url, title, sectionHeader, content, score, source, vectorRank, keywordRank } = result;
    const words = new Set(result.highlights.map(([start, end]) => content.slice(start, end).toLowerCase()));
    return {
      ...{ documentId, chunkId, url, title, sectionHeader, content, score, source, vectorRank, keywordRank },
      ...{ ...place, rank: at + 1, words: [...words], duplicates: result.duplicates.length },
    };
  });
}

/**
 * @param evidence best first
 * @param budget in tokens; of the best passage alone the end is cut off where it is longer
 */
export function buildContext(evidence: readonly Evidence[], budget: number): Context {
  let stretches: Evidence[][] = [];
  let leftOut = 0;
  const costs = new WeakMap<Evidence[], number>();
  const costOf = (stretch: Evidence[]): number => {
    const cost = costs.get(stretch) ?? estimateTokens(shown(headOf(stretch, 1), joined(stretch)));
    costs.set(stretch, cost);
    return cost;
  };
  for (const each of evidence) {
    const next = withEvidence(stretches, each);
    const cost = next.reduce((sum, stretch) => sum + costOf(stretch), 0);
    if (stretches.length === 0 || cost <= budget) stretches = next;
    else leftOut++;
  }
  const passages = inReadingOrder(stretches).map((parts, at) => passageOf(parts, at + 1, budget));
  const texts = passages.map(({ parts, number, text }) => shown(headOf(parts, number), text));
  const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  return { text: texts.join("\n\n"), tokens, passages, leftOut };
}

/** Stretches with one passage more: it joins those that it touches. */
function withEvidence(stretches: readonly Evidence[][], each: Evidence): Evidence[][] {
  const touching = stretches.filter((stretch) => stretch.some((other) => areNeighbours(other, each)));
  const others = stretches.filter((stretch) => !touching.includes(stretch));
  return [...others, [...touching.flat(), each].sort((a, b) => a.index - b.index)];
}

const areNeighbours = (a: Evidence, b: Evidence): boolean =>
  a.documentId === b.documentId && Math.abs(a.index - b.index) === 1;

/** The best first, the second best last, and so on towards the middle. */
function inReadingOrder(stretches: readonly Evidence[][]): Evidence[][] {
  const ranked = stretches.toSorted((a, b) => bestOf(a).rank - bestOf(b).rank);
  const isFront = (_: unknown, at: number): boolean => at % 2 === 0;
  return [...ranked.filter(isFront), ...ranked.filter((each, at) => !isFront(each, at)).reverse()];
}

const bestOf = (parts: readonly Evidence[]): Evidence =>
  parts.reduce((best, each) => (each.rank < best.rank ? each : best));

function passageOf(parts: Evidence[], number: number, budget: number): Passage {
  const whole = joined(parts);
  const room = budget - estimateTokens(headOf(parts, number));
  const text = estimateTokens(whole) <= room ? whole : cutTo(whole, room);
  return { number, parts, best: bestOf(parts), text, isCut: text !== whole };
}

/** The text of neighbours, without what they have in common. */
function joined(parts: readonly Evidence[]): string {
  let text = "";
  let end = -1;
  for (const part of parts) {
    const known = Math.max(0, end - part.start);
    text += (end < 0 || part.start <= end ? "" : "\n\n") + part.content.slice(known);
    end = Math.max(end, part.end);
  }
  return text;
}

function cutTo(text: string, tokens: number): string {
  const { count, ends, after } = piecesOf(text);
  let last = 0;
  while (last < count && (after[last] as number) <= tokens) last++;
  return last === 0 ? "" : text.slice(0, ends[last - 1]);
}

const shown = (head: string, text: string): string => `${head}\n${text}`;

function headOf(parts: readonly Evidence[], number: number): string {
  const { url, title, sectionHeader, capturedAt } = parts[0] as Evidence;
  const names = [title, sectionHeader].flatMap((name) => (name === null ? [] : [name.replace(/\s+/g, " ")]));
  return `[${number}] ${[...names, url, capturedAt.toISOString().slice(0, 10)].join(" | ")}`;
}
