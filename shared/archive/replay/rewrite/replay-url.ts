/**
 * URLs of replay, as archives of the field have them: `/20260101120000/https://example.org/`, with a modifier behind
 * the time that says what the reader wants of it.
 */
import { timeOf } from "../timestamp.ts";

/**
 * `id_`: as sent. `mp_`: the page that is looked at. `if_`: a frame. `js_`, `cs_`, `im_`: a script, a style sheet, and
 * whatever else a page shows.
 */
export const MODIFIERS = ["", "id_", "mp_", "if_", "js_", "cs_", "im_"] as const;
export type Modifier = (typeof MODIFIERS)[number];

export interface ReplayTarget {
  /** As asked for; undefined: the newest. */
  timestamp: string | undefined;
  modifier: Modifier;
  /** Absolute, without fragment. */
  url: string;
}

/** Servers and clients on the way may have made one slash of two. */
const TARGET = /^\/(?:(\d{1,14})(\w{2}_)?\/)?(https?:)\/{1,2}(?!\/)(.*)$/is;

/**
 * @param path with the query
 * @returns undefined where it names no URL of the web, or no time
 */
export function readReplayPath(path: string): ReplayTarget | undefined {
  const [, digits, modifier = "", scheme, rest] = TARGET.exec(path) ?? [];
  if (scheme === undefined || !MODIFIERS.includes(modifier as Modifier)) return undefined;
  if (digits !== undefined && timeOf(digits) === undefined) return undefined;
  const url = URL.parse(`${scheme}//${rest}`);
  if (url === null || url.hostname === "") return undefined;
  url.hash = "";
  return { timestamp: digits, modifier: modifier as Modifier, url: url.href };
}

export const replayPath = (timestamp: string, modifier: Modifier, url: string): string =>
  `/${timestamp}${modifier}/${url}`;

/** What replayed content is rewritten for. */
export interface ReplayContext {
  timestamp: string;
  /** Of the content itself: what relative references are resolved against. */
  url: string;
}

/**
 * A reference of archived content as one into the archive.
 * @param base left out: that of the context
 * @returns undefined where it stays as it is: a fragment, or of a scheme that no web server answers
 */
export function archivedReference(
  { timestamp, url }: ReplayContext,
  reference: string,
  modifier: Modifier,
  base = url,
): string | undefined {
  const text = reference.trim();
  if (text === "" || text.startsWith("#")) return undefined;
  const absolute = URL.parse(text, base);
  if (absolute === null || !/^https?:$/.test(absolute.protocol)) return undefined;
  return replayPath(timestamp, modifier, absolute.href);
}
