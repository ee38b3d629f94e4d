/** What Memento puts into headers and lists (RFC 7089, sections 2 and 5; RFC 8288). */
import type { Memento, Neighbours } from "./mementos.ts";

/** Where the archive has what. */
export interface MementoAddresses {
  timeGateOf(url: string): string;
  timeMapOf(format: "link" | "json", url: string): string;
  mementoOf(memento: Memento): string;
}

const DAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun";
const MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
const RFC_1123 = new RegExp(`^(${DAYS}), \\d{2} (${MONTHS}) \\d{4} \\d{2}:\\d{2}:\\d{2} GMT$`);

/** The time of `Accept-Datetime`; undefined where it is none of RFC 1123, which alone is allowed (RFC 7089, 2.1.1). */
export function parseDatetime(text: string): Date | undefined {
  const time = new Date(text);
  return RFC_1123.test(text) && time.toUTCString().slice(5) === text.slice(5) ? time : undefined;
}

const quoted = (time: Date): string => `"${time.toUTCString()}"`;

/** The `Link` header of a TimeGate's answer, and of a memento. */
export function mementoLinks(
  addresses: MementoAddresses,
  original: string,
  { memento, first, last, previous, next }: Neighbours,
): string {
  const relations = new Map<string, { memento: Memento; rels: string[] }>();
  const named: [string, Memento | undefined][] = [
    ["first", first],
    ["prev", previous],
    ["", memento],
    ["next", next],
    ["last", last],
  ];
  for (const [rel, each] of named) {
    if (each === undefined) continue;
    const uri = addresses.mementoOf(each);
    const known = relations.get(uri) ?? { memento: each, rels: [] };
    if (rel !== "") known.rels.push(rel);
    relations.set(uri, known);
  }
  const mementos = [...relations].map(
    ([
      uri,
      {
        memento: { time },
        rels,
      },
    ]) => `<${uri}>; rel="${[...rels, "memento"].join(" ")}"; datetime=${quoted(time)}`,
  );
  return [
    `<${original}>; rel="original"`,
    `<${addresses.timeGateOf(original)}>; rel="timegate"`,
    `<${addresses.timeMapOf("link", original)}>; rel="timemap"; type="application/link-format"`,
    `<${addresses.timeMapOf("json", original)}>; rel="timemap"; type="application/json"`,
    ...mementos,
  ].join(", ");
}

interface TimeMap {
  addresses: MementoAddresses;
  original: string;
  first: Memento;
  last: Memento;
}

/** A TimeMap in application/link-format (RFC 6690). */
export async function* linkTimeMap(
  { addresses, original, first, last }: TimeMap,
  mementos: AsyncIterable<Memento>,
): AsyncGenerator<string> {
  const range = `from=${quoted(first.time)}; until=${quoted(last.time)}`;
  yield `<${original}>; rel="original",\n`;
  yield `<${addresses.timeGateOf(original)}>; rel="timegate",\n`;
  yield `<${addresses.timeMapOf("link", original)}>; rel="self"; type="application/link-format"; ${range}`;
  for await (const memento of mementos) {
    const uri = addresses.mementoOf(memento);
    const rels = [
      ...(uri === addresses.mementoOf(first) ? ["first"] : []),
      ...(uri === addresses.mementoOf(last) ? ["last"] : []),
      "memento",
    ];
    yield `,\n<${uri}>; rel="${rels.join(" ")}"; datetime=${quoted(memento.time)}`;
  }
  yield "\n";
}

/** A TimeMap in JSON, as other archives write it. */
export async function* jsonTimeMap(
  { addresses, original, first, last }: TimeMap,
  mementos: AsyncIterable<Memento>,
): AsyncGenerator<string> {
  const jsonOf = (memento: Memento) => ({
    datetime: memento.time.toISOString().replace(/\.\d+/, ""),
    uri: addresses.mementoOf(memento),
  });
  const head = {
    original_uri: original,
    self: addresses.timeMapOf("json", original),
    timegate_uri: addresses.timeGateOf(original),
    timemap_uri: {
      link_format: addresses.timeMapOf("link", original),
      json_format: addresses.timeMapOf("json", original),
    },
  };
  const ends = `"first":${JSON.stringify(jsonOf(first))},"last":${JSON.stringify(jsonOf(last))}`;
  yield `${JSON.stringify(head).slice(0, -1)},"mementos":{${ends},"list":[`;
  let separator = "\n";
  for await (const memento of mementos) {
    yield `${separator}${JSON.stringify(jsonOf(memento))}`;
    separator = ",\n";
  }
  yield "\n]}}\n";
}
