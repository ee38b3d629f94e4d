/**
 * Arrays as PostgreSQL writes them, of the types that statements here use. The client can ask each new connection for
 * all of them instead; where the connection breaks meanwhile, that ends in a rejection that nobody can catch.
 */
import type { PostgresType } from "postgres";

type Parse = (text: string) => unknown;

/** The types of elements with the OIDs of their arrays, which no release of PostgreSQL changes. */
const ARRAYS: [oids: number[], parse: Parse][] = [
  // text, varchar, name, bpchar, uuid
  [[1009, 1015, 1003, 1014, 2951], (text) => text],
  // smallint, integer, bigint, oid, real, double precision
  [[1005, 1007, 1016, 1028, 1021, 1022], Number],
  [[1000], (text) => text === "t"],
  // date, timestamp, timestamptz
  [[1182, 1115, 1185], (text) => new Date(text)],
  // json, jsonb
  [[199, 3807], (text) => JSON.parse(text)],
];

export const arrayTypes: Record<string, PostgresType> = Object.fromEntries(
  ARRAYS.flatMap(([oids, parse]) =>
    oids.map((oid) => [
      `array${oid}`,
      { to: oid, from: [oid], parse: (text: string) => parseArray(text, parse), serialize: serializeArray },
    ]),
  ),
);

const ELEMENT = /"((?:[^"\\]|\\.)*)"|[^,{}"]+|[{}]/gs;

/** @throws SyntaxError where an element is none of its type */
export function parseArray(text: string, parse: Parse): unknown[] {
  const open: unknown[][] = [[]];
  for (const [written, quoted] of text.matchAll(ELEMENT)) {
    if (written === "{") {
      const inner: unknown[] = [];
      open.at(-1)?.push(inner);
      open.push(inner);
    } else if (written === "}") open.pop();
    else if (quoted !== undefined) open.at(-1)?.push(parse(quoted.replace(/\\(.)/gs, "$1")));
    else open.at(-1)?.push(written === "NULL" ? null : parse(written));
  }
  return open[0]?.[0] as unknown[];
}

export function serializeArray(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  const elements = value.map((each) => {
    if (each === null) return "NULL";
    if (Array.isArray(each)) return serializeArray(each);
    return `"${elementText(each).replace(/[\\"]/g, "\\$&")}"`;
  });
  return `{${elements.join(",")}}`;
}

function elementText(each: unknown): string {
  if (each === undefined) throw new TypeError("An array for PostgreSQL holds undefined");
  if (each instanceof Date) return each.toISOString();
  return typeof each === "object" ? JSON.stringify(each) : String(each);
}
