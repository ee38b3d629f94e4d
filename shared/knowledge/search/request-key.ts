/** Names what a search asks for: equal requests have equal names, in whatever order they name things. */
import type { SearchRequest } from "./search-request.ts";

export function requestKey({ query, ...rest }: Partial<SearchRequest>): string {
  return JSON.stringify([query, sorted(rest)]);
}

/** Values of what is asked for, by name; sets of texts in one order. Undefined is as nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value)].sort();
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => [name, sorted(each)]);
}
