/** The heads of WARC records and of HTTP messages: lines of fields, up to an empty one. */

export interface HeadEnd {
  /** Of the head, without the end of its last line. */
  end: number;
  /** Where what follows the empty line begins. */
  next: number;
}

const [LF, CR] = [0x0a, 0x0d];

/**
 * Lines end in CRLF; some archivers write LF alone, or too many CR.
 * @param most bytes within which the head ends
 * @returns undefined where it does not
 */
export function headEnd(bytes: Buffer, most: number): HeadEnd | undefined {
  const searched = bytes.subarray(0, most);
  for (let at = searched.indexOf(LF); at >= 0; ) {
    let next = at + 1;
    while (searched[next] === CR) next += 1;
    if (searched[next] === LF) return { end: withoutCr(searched, at), next: next + 1 };
    at = searched.indexOf(LF, next);
  }
  return undefined;
}

function withoutCr(bytes: { [index: number]: unknown }, end: number, cr: unknown = CR): number {
  let length = end;
  while (length > 0 && bytes[length - 1] === cr) length -= 1;
  return length;
}

/** Without their ends. */
export const headLines = (head: string): string[] =>
  head.split("\n").map((line) => line.slice(0, withoutCr(line, line.length, "\r")));

/** Fields as written; a line that begins with a blank goes on with the field before it. */
export function fieldsOf(lines: readonly string[]): [string, string][] {
  const fields: [string, string[]][] = [];
  for (const line of lines) {
    const last = fields.at(-1);
    if (last !== undefined && /^[ \t]/.test(line)) {
      last[1].push(line.trim());
      continue;
    }
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim();
    if (name !== "") fields.push([name, [line.slice(colon + 1).trim()]]);
  }
  return fields.map(([name, values]) => [name, values.filter((value) => value !== "").join(" ")]);
}

/** Names in lower case; of a repeated field the first. */
export function warcFields(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of fieldsOf(lines)) {
    const known = name.toLowerCase();
    if (!fields.has(known)) fields.set(known, value);
  }
  return fields;
}

const HTTP_START = Buffer.from("HTTP/");

/**
 * Whether the block of a record is an HTTP message.
 * @param block its first bytes, or all of it
 */
export function holdsHttp(fields: ReadonlyMap<string, string>, block: Buffer): boolean {
  const type = fields.get("content-type");
  if (type !== undefined && /^application\/http\b/i.test(type)) return true;
  // some archivers leave the type out, or give that of the page
  const isAnswer = /^(response|revisit)$/i.test(fields.get("warc-type") ?? "");
  return isAnswer && block.subarray(0, HTTP_START.length).equals(HTTP_START);
}
