/** Which documents a search may find. */
import type { Queryable, Transaction } from "../../platform/database/database.ts";
import type { VectorFilter } from "../vector-stores/vector-store.ts";

export interface AskedTags {
  ids: string[];
  /** Lower case. */
  names: string[];
  match: "any" | "all";
}

export interface SearchFilter extends Pick<VectorFilter, "collectionIds" | "domains" | "languages" | "sources"> {
  /** When the page was crawled, both ends included. ISO 8601. */
  dateFrom?: string;
  dateTo?: string;
  urlPrefix?: string;
  tags?: AskedTags;
}

/** So many documents a vector store is asked for by their ids; for more than these, by what its points say of them. */
const MOST_NAMED = 10_000;

export function isFiltered(filter: SearchFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** Conditions on a document named `d`. */
export function filterDocuments(tx: Transaction, filter: SearchFilter) {
  const { collectionIds, domains, languages, sources, dateFrom, dateTo, urlPrefix, tags } = filter;
  return [
    tx``,
    ...(collectionIds === undefined ? [] : [tx`and d.collection_id = any(${collectionIds}::uuid[])`]),
    ...(domains === undefined ? [] : [tx`and d.domain = any(${domains}::text[])`]),
    ...(languages === undefined ? [] : [tx`and d.language = any(${languages}::text[])`]),
    ...(sources === undefined ? [] : [tx`and d.source = any(${sources}::text[])`]),
    ...(dateFrom === undefined ? [] : [tx`and d.crawled_at >= ${dateFrom}::timestamptz`]),
    ...(dateTo === undefined ? [] : [tx`and d.crawled_at <= ${dateTo}::timestamptz`]),
    ...(urlPrefix === undefined ? [] : [urlBeginsWith(tx, urlPrefix), onHostOf(tx, urlPrefix)]),
    ...(tags === undefined ? [] : [taggedAs(tx, tags)]),
  ];
}

/** A condition on a document named `d`, as an index orders URLs: no URL holds the last character that there is. */
export function urlBeginsWith(sql: Queryable, prefix: string) {
  return sql`and d.url ~>=~ ${prefix} and d.url ~<~ ${`${prefix}\u{10ffff}`}`;
}

/** Follows from the prefix: the same index begins with the host. */
function onHostOf(tx: Transaction, prefix: string) {
  const host = hostOfPrefix(prefix);
  return host === undefined ? tx`` : tx`and d.domain = ${host}`;
}

/**
 * The document of this id as `d`, where it is visible and passes. It is found by its key, whatever indexes the filter
 * could use.
 */
export function visibleDocument(tx: Transaction, id: string, filter: SearchFilter) {
  return tx`
    (select * from documents_active where id = ${tx(id)} offset 0) d where true ${filterDocuments(tx, filter)} limit 1`;
}

function taggedAs(tx: Transaction, { ids, names, match }: AskedTags) {
  if (match === "any") {
    return tx`and exists (
      select from document_tags dt join tags t on t.id = dt.tag_id
      where dt.document_id = d.id and (t.id = any(${ids}::uuid[]) or t.name = any(${names}::text[])))`;
  }
  return tx`and not exists (
    select from (
      select id, null as name from unnest(${ids}::uuid[]) asked (id)
      union all select null, name from unnest(${names}::text[]) asked (name)) asked
    where not exists (
      select from document_tags dt join tags t on t.id = dt.tag_id
      where dt.document_id = d.id and (t.id = asked.id or t.name = asked.name)))`;
}

/** What a vector store knows of the filter; of few documents their ids, so that none of their chunks is cut off. */
export async function vectorFilter(tx: Transaction, filter: SearchFilter): Promise<VectorFilter> {
  const { domains, ...unknown } = filter;
  if (!isFiltered(unknown)) return domains === undefined ? {} : { domains };
  // what a point says of collections, tags and the rest is as old as the point: ids are better
  const rows = await tx<{ id: string }[]>`
    select id from documents_active d where true ${filterDocuments(tx, filter)} limit ${MOST_NAMED + 1}`;
  if (rows.length <= MOST_NAMED) return { documentIds: rows.map(({ id }) => id) };
  const { collectionIds, languages, sources, dateFrom, dateTo, urlPrefix, tags } = filter;
  const host = urlPrefix === undefined ? undefined : hostOfPrefix(urlPrefix);
  return {
    ...(collectionIds && { collectionIds }),
    ...(domains ? { domains } : host && { domains: [host] }),
    ...(languages && { languages }),
    ...(sources && { sources }),
    ...(dateFrom && { dateFrom: inMs(dateFrom) }),
    ...(dateTo && { dateTo: inMs(dateTo) }),
    ...(tags && (await knownTags(tx, tags))),
  };
}

/** Points have their time in whole ms, cut off as this cuts it off. */
const inMs = (date: string): string => new Date(date).toISOString();

/** Of a prefix that holds all of it, as documents have it. */
function hostOfPrefix(prefix: string): string | undefined {
  return /^https?:\/\/[^/]+\//i.test(prefix) ? URL.parse(prefix)?.host : undefined;
}

/** There are documents that have them, so each that must be there is. */
async function knownTags(tx: Transaction, { ids, names, match }: AskedTags): Promise<VectorFilter> {
  const rows = await tx<{ id: string }[]>`
    select id from tags where id = any(${ids}::uuid[]) or name = any(${names}::text[])`;
  const known = rows.map(({ id }) => id);
  return match === "any" ? { anyTag: known } : { allTags: known };
}
