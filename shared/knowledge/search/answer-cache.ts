/**
 * Keeps answers of searches in this container. An answer is given again only while nothing that searches can see has
 * changed since the snapshot that it was read in, so it outlives neither a generation nor a delete. Those who ask the
 * same at the same time wait for one answer.
 */
import { LRUCache } from "lru-cache";
import { requestKey } from "./request-key.ts";
import { answerSearch, type SearchDependencies } from "./search.ts";
import type { SearchAnswer, SearchRequest } from "./search-request.ts";
import { readSearchVersion } from "./search-version.ts";

const MOST_BYTES = 16 * 1024 * 1024;

export interface AnswerCache {
  /** @returns `cached`: whether the answer was there, or was being made for somebody else */
  search(dependencies: SearchDependencies, request: SearchRequest): Promise<{ answer: SearchAnswer; cached: boolean }>;
}

/** @param ttlS 0: nothing is kept */
export function createAnswerCache(ttlS: number): AnswerCache {
  const kept = new LRUCache<string, SearchAnswer>({
    maxSize: MOST_BYTES,
    sizeCalculation: bytesOf,
    ttl: Math.max(1, ttlS * 1000),
  });
  const underWay = new Map<string, Promise<SearchAnswer>>();
  return {
    async search(dependencies, request) {
      if (ttlS === 0) return { answer: await answerSearch(dependencies, request), cached: false };
      const keyOf = (version: string) => `${version} ${requestKey(request)}`;
      const key = keyOf(await readSearchVersion(dependencies.sql));
      const known = kept.get(key);
      if (known !== undefined) return { answer: known, cached: true };
      const awaited = underWay.get(key);
      if (awaited !== undefined) return { answer: await awaited, cached: true };
      const made = answerSearch(dependencies, request);
      underWay.set(key, made);
      try {
        const answer = await made;
        // what is missing now may be there in a moment
        if (answer.missing.length === 0) kept.set(keyOf(answer.version), answer);
        return { answer, cached: false };
      } finally {
        underWay.delete(key);
      }
    },
  };
}

/** About: two bytes a character, and the rest. */
function bytesOf({ results, next }: SearchAnswer): number {
  return results.reduce(
    (sum, { content, url, title, beside, duplicates }) => {
      const texts = [
        content,
        url,
        title ?? "",
        ...beside,
        ...duplicates.flatMap((each) => [each.url, each.title ?? ""]),
      ];
      return sum + texts.reduce((own, { length }) => own + 2 * length, 1_000);
    },
    1_000 + (next?.length ?? 0),
  );
}
