/**
 * Keeps answers of searches, in this container and where all find them. An answer is given again only while nothing
 * that searches can see has changed since the snapshot that it was read in, so it outlives neither a generation nor a
 * delete. Those who ask the same at the same time wait for one answer.
 */
import { LRUCache } from "lru-cache";
import type { Made, SharedCache } from "../../platform/aws/shared-cache.ts";
import { requestKey } from "./request-key.ts";
import { answerSearch, type SearchDependencies } from "./search.ts";
import type { SearchAnswer, SearchRequest } from "./search-request.ts";
import { readSearchVersion } from "./search-version.ts";

const MOST_BYTES = 16 * 1024 * 1024;

export interface AnswerCache {
  /** @returns `cached`: whether the answer was there, or was being made for somebody else */
  search(dependencies: SearchDependencies, request: SearchRequest): Promise<CachedAnswer>;
}

interface CachedAnswer {
  answer: SearchAnswer;
  cached: boolean;
}

/**
 * @param ttlS 0: nothing is kept
 * @param shared what containers share; null: each keeps its own answers
 */
export function createAnswerCache(ttlS: number, shared: SharedCache<SearchAnswer> | null = null): AnswerCache {
  const kept = new LRUCache<string, SearchAnswer>({
    maxSize: MOST_BYTES,
    sizeCalculation: bytesOf,
    ttl: Math.max(1, ttlS * 1000),
  });
  const underWay = new Map<string, Promise<CachedAnswer>>();
  const keyOf = (version: string, request: SearchRequest) => `${version} ${requestKey(request)}`;

  async function make(dependencies: SearchDependencies, request: SearchRequest): Promise<Made<SearchAnswer>> {
    const value = await answerSearch(dependencies, request);
    // what is missing now may be there in a moment
    return { value, keepAs: value.missing.length === 0 ? keyOf(value.version, request) : null };
  }

  async function findOrMake(
    dependencies: SearchDependencies,
    request: SearchRequest,
    key: string,
  ): Promise<CachedAnswer> {
    let keptAs: string | null = key;
    const made = async () => {
      const each = await make(dependencies, request);
      keptAs = each.keepAs;
      return each;
    };
    const found = shared === null ? { value: (await made()).value, until: null } : await shared.through(key, made);
    const { value: answer, until } = found;
    // kept no longer here than where it was found
    if (keptAs !== null) kept.set(keptAs, answer, until === null ? {} : { ttl: Math.max(1, until - Date.now()) });
    return { answer, cached: until !== null };
  }

  return {
    async search(dependencies, request) {
      if (ttlS === 0) return { answer: await answerSearch(dependencies, request), cached: false };
      const key = keyOf(await readSearchVersion(dependencies.sql), request);
      const known = kept.get(key);
      if (known !== undefined) return { answer: known, cached: true };
      const awaited = underWay.get(key);
      if (awaited !== undefined) return { answer: (await awaited).answer, cached: true };
      const asked = findOrMake(dependencies, request, key);
      underWay.set(key, asked);
      try {
        return await asked;
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
