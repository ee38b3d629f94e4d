/**
 * Replay as Memento has it (RFC 7089): a URL without a time is its TimeGate, and what is replayed names the captures
 * around it.
 */
import { jsonTimeMap, linkTimeMap, type MementoAddresses, mementoLinks, parseDatetime } from "../cdx/memento-links.ts";
import { aroundMemento, findMementos, listMementos, type Memento, nearestMemento } from "../cdx/mementos.ts";
import { withheldUrl } from "../exclusions/is-shown.ts";
import type { Archive } from "./payload.ts";
import type { ReplayAnswer, ReplayRequest } from "./replay-answers.ts";
import { replayPath } from "./rewrite/replay-url.ts";
import { timestampOf } from "./timestamp.ts";

/** Of one list: more are asked of the API, which streams them. */
const MOST_MEMENTOS = 50_000;
const TIMEMAP = /^\/timemap\/(link|json)\/(https?:)\/{1,2}(?!\/)(.*)$/is;

const addressesAt = (origin: string): MementoAddresses => ({
  timeGateOf: (url) => `${origin}/${url}`,
  timeMapOf: (format, url) => `${origin}/timemap/${format}/${url}`,
  mementoOf: ({ url, time }) => `${origin}${replayPath(timestampOf(time), "", url)}`,
});

/** The `Link` header of a memento; of what the index does not know, its original alone. */
export async function linksAround({ sql }: Archive, origin: string, url: string, memento: Memento): Promise<string> {
  const set = await findMementos(sql, url);
  const around = set && (await aroundMemento(sql, set, memento));
  return around === undefined ? `<${url}>; rel="original"` : mementoLinks(addressesAt(origin), url, around);
}

/** The memento to which a TimeGate leads, and its `Link` header; undefined where the index knows none. */
export async function timeGate(
  { sql }: Archive,
  origin: string,
  url: string,
  at: Date | null,
): Promise<{ memento: Memento; link: string } | undefined> {
  const set = await findMementos(sql, url);
  if (set === undefined) return undefined;
  const around = await nearestMemento(sql, set, at);
  return { memento: around.memento, link: mementoLinks(addressesAt(origin), url, around) };
}

/** The time that a client asks a TimeGate for; null where it is none of RFC 1123. */
export function wantedTime({ header }: Pick<ReplayRequest, "header">): Date | undefined | null {
  const asked = header("accept-datetime");
  return asked === undefined ? undefined : (parseDatetime(asked.trim()) ?? null);
}

/** @returns undefined where the path is none of a TimeMap */
export async function timeMap({ sql }: Archive, { origin, path }: ReplayRequest): Promise<ReplayAnswer | undefined> {
  const [, format, scheme, rest] = TIMEMAP.exec(path) ?? [];
  const url = format === undefined ? null : URL.parse(`${scheme}//${rest}`);
  if (url === null) return undefined;
  const common = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  const refused = (status: number, body: string): ReplayAnswer => ({
    status,
    headers: { ...common, "content-type": "text/plain; charset=utf-8" },
    body: `${body}\n`,
  });
  const withheld = await withheldUrl(sql, url.href);
  if (withheld === "excluded") return refused(451, "This URL is excluded from the archive's readers");
  const set = await findMementos(sql, url.href);
  if (set === undefined && withheld !== undefined)
    return refused(403, "Captures of this URL are shown as they grow older");
  if (set === undefined) return refused(404, "No capture of this URL is in the archive");
  const { first, last } = await nearestMemento(sql, set, null);
  const isLink = format?.toLowerCase() === "link";
  const write = isLink ? linkTimeMap : jsonTimeMap;
  const map = { addresses: addressesAt(origin), original: set.original, first, last };
  const parts: string[] = [];
  for await (const part of write(map, listMementos(sql, set, new AbortController().signal))) {
    parts.push(part);
    if (parts.length <= MOST_MEMENTOS) continue;
    return refused(413, `There are more than ${MOST_MEMENTOS} captures: ask the API, at /timemap/${format}/URL`);
  }
  const type = isLink ? "application/link-format" : "application/json";
  return { status: 200, headers: { ...common, "content-type": type }, body: parts.join("") };
}
