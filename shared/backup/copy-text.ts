/**
 * The text format of PostgreSQL's COPY: a line for each row, its fields parted by tabs.
 * https://www.postgresql.org/docs/current/sql-copy.html
 */

const NEWLINE = 0x0a;
const ESCAPED: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
};
const MEANT = Object.fromEntries(Object.entries(ESCAPED).map(([character, written]) => [written[1], character]));

/** Of one field; null is NULL. */
export const readField = (written: string): string | null =>
  written === "\\N" ? null : written.replace(/\\(.)/gs, (_, letter: string) => MEANT[letter] ?? letter);

export const writeField = (value: string | null): string =>
  value === null ? "\\N" : value.replace(/[\b\f\n\r\t\v\\]/g, (character) => ESCAPED[character] ?? character);

/**
 * Gives each row to `change` as the fields that stand in its line.
 * @param change null: the row is left out
 */
export async function* changeRows(
  chunks: AsyncIterable<Uint8Array>,
  change: (fields: string[]) => string[] | null,
): AsyncGenerator<Uint8Array> {
  for await (const lines of wholeLines(chunks)) {
    const kept = lines.map((line) => change(line.split("\t"))).filter((fields) => fields !== null);
    if (kept.length > 0) yield Buffer.from(kept.map((fields) => `${fields.join("\t")}\n`).join(""));
  }
}

async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let begun: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      begun.push(chunk);
      continue;
    }
    const text = Buffer.concat([...begun, chunk.subarray(0, end)]).toString("utf8");
    begun = [chunk.subarray(end + 1)];
    yield text.split("\n");
  }
  // COPY ends each line
  if (begun.some(({ length }) => length > 0)) throw new Error("The last row is cut off");
}
