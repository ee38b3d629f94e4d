/** Rows as one parameter: bulk inserts and updates read them with `json_to_recordset`, so a batch is one round trip. */
import { storable } from "../text.ts";

/**
 * JSON escapes of what a PostgreSQL text cannot hold: NUL and lone surrogates (pairs are not escaped by
 * JSON.stringify).
 */
const UNSTORABLE = /\\u(0000|d[89a-f][0-9a-f]{2})/;

/**
 * JSON text for `json_to_recordset(${rowsOf(rows)}::text::json)`. What a PostgreSQL text cannot hold becomes U+FFFD;
 * lengths in UTF-16 code units do not change, so character offsets stay exact.
 */
export const rowsOf = (rows: readonly object[]): string => storableJson(rows);

/** JSON text for `${storableJson(value)}::text::jsonb`, with the same in place of what cannot be held. */
export function storableJson(value: object): string {
  const json = JSON.stringify(value);
  return UNSTORABLE.test(json)
    ? JSON.stringify(value, (_, each) => (typeof each === "string" ? storable(each) : each))
    : json;
}
