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
export function rowsOf(rows: readonly object[]): string {
  const json = JSON.stringify(rows);
  return UNSTORABLE.test(json)
    ? JSON.stringify(rows, (_, value) => (typeof value === "string" ? storable(value) : value))
    : json;
}
