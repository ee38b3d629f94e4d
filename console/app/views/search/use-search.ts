/** Asks while somebody types: the newest question counts, and its answer comes in pages. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiFault, call } from "../../api/client.ts";
import type { SearchResponse } from "../../api/types.ts";
import { faultOf } from "../../api/use-api.ts";

export type Mode = "hybrid" | "keyword" | "vector";

export const MODES: readonly { name: Mode; title: string; path: string }[] = [
  { name: "hybrid", title: "words and meaning", path: "/api/v1/search" },
  { name: "keyword", title: "words alone", path: "/api/v1/search/keyword" },
  { name: "vector", title: "meaning alone", path: "/api/v1/search/vector" },
];

/** By the name that they have in the address. */
export const FILTERS = ["domain", "language", "tag", "collection", "from", "to"] as const;

export type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

export function filtersOf(query: URLSearchParams): Filters {
  return Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));
}

/** As the API has them. A day is one of the reader's zone, from its first to its last moment. */
export function filterFields({ domain, language, tag, collection, from, to }: Filters): Record<string, unknown> {
  return {
    ...(domain === undefined ? {} : { domains: [domain] }),
    ...(language === undefined ? {} : { languages: [language] }),
    ...(tag === undefined ? {} : { tags: [tag] }),
    ...(collection === undefined ? {} : { collection_ids: [collection] }),
    ...(from === undefined ? {} : { date_from: new Date(`${from}T00:00:00`).toISOString() }),
    ...(to === undefined ? {} : { date_to: new Date(`${to}T23:59:59.999`).toISOString() }),
  };
}

const FACETS = ["domain", "language", "tag", "collection", "month"];

export interface Searched {
  answer: SearchResponse | undefined;
  fault: ApiFault | undefined;
  more: (() => void) | undefined;
  isLoading: boolean;
}

export function useSearch(query: string, mode: Mode, filters: Filters): Searched {
  const [answer, setAnswer] = useState<SearchResponse>();
  const [fault, setFault] = useState<ApiFault>();
  const [isLoading, setLoading] = useState(false);
  const current = useRef<AbortController>(null);
  const path = MODES.find(({ name }) => name === mode)?.path ?? "";
  const body = JSON.stringify({ query, facets: FACETS, explain: true, limit: 20, ...filterFields(filters) });

  const ask = async (signal: AbortSignal, before?: SearchResponse): Promise<void> => {
    setLoading(true);
    try {
      const fields = JSON.parse(body) as Record<string, unknown>;
      const cursor = before?.next_cursor;
      const found = await call<SearchResponse>(path, { body: cursor ? { ...fields, cursor } : fields, signal });
      if (signal.aborted) return;
      setFault(undefined);
      // counts come with the first page
      setAnswer(before ? { ...found, facets: before.facets, results: [...before.results, ...found.results] } : found);
    } catch (error) {
      if (signal.aborted) return;
      setAnswer(undefined);
      setFault(faultOf(error));
    }
    setLoading(false);
  };

  useEffect(() => {
    const gone = new AbortController();
    current.current = gone;
    if (query.trim() === "") {
      setAnswer(undefined);
      setFault(undefined);
      setLoading(false);
    } else void ask(gone.signal);
    return () => gone.abort();
  }, [path, body]);

  const more = answer?.next_cursor
    ? () => void ask(current.current?.signal ?? new AbortController().signal, answer)
    : undefined;
  return { answer, fault, more, isLoading };
}
