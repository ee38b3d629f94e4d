/** How the matches of a search are spread over domains, languages, collections, months and tags. */
import type { Transaction } from "../../platform/database/database.ts";
import { type KeywordQuery, matching, matchingPatterns } from "./keyword-search.ts";
import { type SearchFilter, visibleDocument } from "./search-filter.ts";

export const FACETS = ["domain", "language", "collection", "month", "tag"] as const;
export type Facet = (typeof FACETS)[number];

export interface FacetValue {
  /** null: documents of no collection, or without a tag. */
  value: string | null;
  /** Passages. */
  count: number;
}

export interface Facets {
  /** Passages that were counted. */
  counted: number;
  /** Whether these are all that match. */
  exact: boolean;
  /** Of those that were asked for, the most frequent values first. */
  values: Partial<Record<Facet, FacetValue[]>>;
}

/** As many matches are counted at the most; to find and join one takes some 10 µs. */
export const MOST_COUNTED = 10_000;
const MOST_VALUES = 100;

export function noFacets(asked: readonly Facet[]): Facets {
  return { counted: 0, exact: true, values: Object.fromEntries(asked.map((facet) => [facet, []])) };
}

export interface CountedMatches {
  /** Hits that are counted in any case. */
  chunkIds: readonly string[];
  /** Whether these are all that match. */
  whole: boolean;
  /** Counts what holds any word of it, too; null: nothing else. */
  query: KeywordQuery | null;
  filter: SearchFilter;
}

export async function countFacets(
  tx: Transaction,
  asked: readonly Facet[],
  { chunkIds, whole, query, filter }: CountedMatches,
): Promise<Facets> {
  const rows = await tx<{ facet: Facet | null; value: string | null; count: number }[]>`
    with found as materialized (
      select id, document_id from chunks where id = any(${[...chunkIds]}::uuid[])
      ${query === null ? tx`` : tx`union (${holdingAnyWord(tx, query, filter)})`}),
    documents as (select document_id, count(*) as chunks from found group by document_id)
    select facet, value, sum(chunks)::int as count
    from documents f join documents_active d on d.id = f.document_id
    cross join lateral (values
      (null, null), ('domain', d.domain), ('language', d.language), ('collection', d.collection_id::text),
      ('month', to_char(d.crawled_at at time zone 'UTC', 'YYYY-MM'))
      ${asked.includes("tag") ? namesOfTags(tx) : tx``}) as facets (facet, value)
    where facet is null or facet = any(${[...asked]}::text[])
    group by facet, value order by facet, count desc, value`;
  const valuesOf = (of: Facet): FacetValue[] =>
    rows.filter(({ facet }) => facet === of).map(({ value, count }) => ({ value, count }));
  const values = asked.map((facet) => [facet, valuesOf(facet).slice(0, MOST_VALUES)]);
  const counted = rows.find(({ facet }) => facet === null)?.count ?? 0;
  return {
    counted,
    exact: query === null ? whole : counted <= MOST_COUNTED,
    values: Object.fromEntries(values),
  };
}

/** Of a document named `d`. */
function namesOfTags(tx: Transaction) {
  return tx`union all (
    select 'tag', t.name from (select) always
    left join (document_tags dt join tags t on t.id = dt.tag_id) on dt.document_id = d.id)`;
}

function holdingAnyWord(tx: Transaction, { terms, condition, patterns }: KeywordQuery, filter: SearchFilter) {
  const any = terms.length === 0 ? null : `(${terms.map(({ query }) => query).join(" | ")})`;
  const query = [any, condition].filter((part) => part !== null).join(" & ");
  return tx`
    select c.id, c.document_id from chunks_serving c
    cross join lateral (select from ${visibleDocument(tx, "c.document_id", filter)}) visible
    where ${query === "" ? tx`false` : matching(tx, query, false)} ${matchingPatterns(tx, patterns)}
    limit ${MOST_COUNTED + 1}`;
}
