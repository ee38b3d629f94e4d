/** Asks the three questions of the crawled pages. */
import type { ApiClient } from "../cli/api-client.ts";
import type { SearchResult } from "../cli/search-view.ts";
import { QUESTIONS, type Question } from "./questions.ts";

export interface Answered {
  question: Question;
  /** Best first, of this site only. */
  results: SearchResult[];
  /** Of keyword search alone; read only where the question claims to share no word. */
  keywordHits: number;
  latencyMs: number;
}

/** How far down the list an answer may stand. */
export const SHOWN_RESULTS = 3;

interface SearchAnswer {
  results: SearchResult[];
  latency_ms: number;
}

/** @param host of the site; other sites may have been crawled into the same archive */
export async function askQuestions(api: ApiClient, host: string): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (const question of QUESTIONS) {
    const request = { query: question.query, limit: SHOWN_RESULTS, domains: [host] };
    const { results, latency_ms } = await api<SearchAnswer>("POST", "/api/v1/search", request);
    const keyword = question.sharesNoWord
      ? await api<SearchAnswer>("POST", "/api/v1/search/keyword", request)
      : { results: [] };
    answered.push({ question, results, keywordHits: keyword.results.length, latencyMs: latency_ms });
  }
  return answered;
}

/** Position of the first result that answers, from 1; undefined where none does. */
export function rankOfAnswer({ question, results }: Pick<Answered, "question" | "results">): number | undefined {
  const rank = results.findIndex(({ url }) => question.answeredBy.includes(new URL(url).pathname));
  return rank === -1 ? undefined : rank + 1;
}
