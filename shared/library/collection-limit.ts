/** What a key that is limited to collections may reach: documents of these, and nothing that is in none. */
import type { Queryable } from "../platform/database/database.ts";

/** null: no limit. */
export type CollectionLimit = readonly string[] | null;

/** A condition on a document named `d`. */
export function withinLimit(sql: Queryable, limit: CollectionLimit) {
  return limit === null ? sql`` : sql`and d.collection_id = any(${[...limit]}::uuid[])`;
}

export function isWithin(collectionId: string | null, limit: CollectionLimit): boolean {
  return limit === null || (collectionId !== null && limit.includes(collectionId.toLowerCase()));
}
