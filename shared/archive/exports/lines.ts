/** Rows as lines of JSON, or of CSV (RFC 4180). */
import type { Cell, Row } from "./rows.ts";

export async function* jsonLines(rows: AsyncIterable<Row>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}

export async function* csvLines(columns: readonly string[], rows: AsyncIterable<Row>): AsyncGenerator<string> {
  yield `${columns.join(",")}\r\n`;
  for await (const row of rows) yield `${columns.map((column) => csvCell(row[column] ?? null)).join(",")}\r\n`;
}

/** What spreadsheets take for the beginning of a formula. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/;
const QUOTED = /[",\r\n]|^\s|\s$/;

/** An apostrophe before a formula makes a text of it. */
export function csvCell(cell: Cell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
