/** What a CDX query asks for: which keys, which time, and what of it. */
import { surtOf, urlKey } from "../../crawl/urls/surt.ts";
import { daysOf } from "../../platform/calendar.ts";
import { type CdxField, fieldOf } from "./cdx-line.ts";

export const MATCH_TYPES = ["exact", "prefix", "host", "domain"] as const;
export type MatchType = (typeof MATCH_TYPES)[number];

/** Keys from `from` up to `to`, which is none of them. */
export interface KeyRange {
  from: string;
  to: string;
}

export interface TimeRange {
  /** Both belong to it; null: no bound. */
  from: Date | null;
  to: Date | null;
}

/** Characters: longer ones are cut in keys, see `urlKey`. */
const LONGEST_PREFIX = 1_900;

/**
 * The keys of the captures that a URL stands for, in their order.
 * @param url with `*` in the place that archives know: `example.org/*`, `*.example.org`
 * @throws TypeError where the URL and `matchType` fit no key
 */
export function keyRanges(url: string, matchType: MatchType | undefined): KeyRange[] {
  const { plain, type } = spelled(url, matchType);
  if (type === "exact") {
    const key = urlKey(plain);
    // no character of a key comes before this one
    return [{ from: key, to: `${key}!` }];
  }
  const key = surtOf(plain);
  if (key.length > LONGEST_PREFIX) throw new TypeError(`is longer than the ${LONGEST_PREFIX} characters of a prefix`);
  if (type === "prefix") {
    const prefix = /\/$/.test(plain) && !key.endsWith("/") ? `${key}/` : key;
    return [{ from: prefix, to: next(prefix) }];
  }
  const host = key.slice(0, key.indexOf(")"));
  if (type === "host") return [{ from: `${host})`, to: next(`${host})`) }];
  const domain = host.replace(/:\d*$/, "");
  // its own pages, those of its subdomains, and both at other ports
  return [")", ",", ":"].map((after) => ({ from: `${domain}${after}`, to: next(`${domain}${after}`) }));
}

/** The text behind all that begin with this one; of ASCII. */
const next = (text: string): string => text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);

function spelled(url: string, matchType: MatchType | undefined): { plain: string; type: MatchType } {
  if (matchType !== undefined) return { plain: url, type: matchType };
  const withoutScheme = url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "");
  if (withoutScheme.startsWith("*.")) {
    return { plain: withoutScheme.slice(2).replace(/\/?\*?$/, ""), type: "domain" };
  }
  if (url.endsWith("*")) return { plain: url.slice(0, -1), type: "prefix" };
  return { plain: url, type: "exact" };
}

const TIMESTAMP = /^\d{1,14}$/;

/**
 * The first or the last moment that the digits `yyyyMMddhhmmss`, or the first of them, stand for.
 * @returns undefined where they name no time
 */
export function parseTimestamp(digits: string, which: "first" | "last"): Date | undefined {
  if (!TIMESTAMP.test(digits)) return undefined;
  const filler = which === "first" ? "00000101000000" : "99991231235959";
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(digits + filler.slice(digits.length));
  if (parts === null) return undefined;
  const [of = 0, month = 1, day = 1, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map(Number);
  // there is no year 0, but there are years that begin so
  const year = digits.length < 4 ? Math.max(of, 1) : of;
  if (year < 1 || month < 1 || month > 12 || day < 1 || hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const last = daysOf(year, month);
  if (day > last && (digits.length > 6 || which === "first")) return undefined;
  const ms = which === "first" ? 0 : 999;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, Math.min(day, last));
  date.setUTCHours(hours, minutes, seconds, ms);
  return date;
}

/** A field whose value, or its first characters, makes captures that follow each other one. */
export interface Collapse {
  field: CdxField;
  /** Characters; undefined: all. */
  length: number | undefined;
}

/** @throws UnknownCdxField, TypeError */
export function parseCollapse(text: string): Collapse {
  const [name = "", digits] = text.split(":", 2);
  const field = fieldOf(name);
  if (digits === undefined) return { field, length: undefined };
  if (!/^[1-9]\d{0,3}$/.test(digits)) throw new TypeError(`${text} has no number of characters behind its colon`);
  return { field, length: Number(digits) };
}

/** @throws UnknownCdxField */
export function parseFields(list: string): CdxField[] {
  return list.split(",").map((name) => fieldOf(name.trim()));
}
