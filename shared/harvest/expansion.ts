/** Turns relative dates into days: by the clock, in UTC. */
import { DAYS_AGO, isPlaceholder } from "./placeholders.ts";
import type { NeutralQuery } from "./query-schema.ts";

const DAY_MS = 24 * 3600 * 1000;

/** A query whose dates are days: `YYYY-MM-DD`. */
export type ExpandedQuery = NeutralQuery & { readonly expanded: true };

export class LeftoverPlaceholder extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "LeftoverPlaceholder";
  }
}

/**
 * @param now epoch ms
 * @throws LeftoverPlaceholder where a brace is left anywhere, or the days are in the wrong order
 */
export function expandPlaceholders(query: NeutralQuery, now: number): ExpandedQuery {
  const { filters } = query;
  const expanded = {
    ...query,
    filters: {
      ...filters,
      ...(filters.date_after !== undefined && { date_after: dayOf(filters.date_after, now) }),
      ...(filters.date_before !== undefined && { date_before: dayOf(filters.date_before, now) }),
    },
    expanded: true as const,
  };
  const left = /\{[^{}]*\}?|\}/.exec(JSON.stringify(Object.values(expanded.filters)).concat(...expanded.keywords));
  if (left !== null) throw new LeftoverPlaceholder(`placeholder ${left[0]} is left after the expansion`);
  const { date_after, date_before } = expanded.filters;
  if (date_after !== undefined && date_before !== undefined && date_after > date_before) {
    throw new LeftoverPlaceholder(`date_after (${date_after}) is later than date_before (${date_before})`);
  }
  return expanded;
}

function dayOf(text: string, now: number): string {
  if (!isPlaceholder(text)) return text;
  return new Date(now - DAYS_AGO[text as keyof typeof DAYS_AGO] * DAY_MS).toISOString().slice(0, 10);
}
