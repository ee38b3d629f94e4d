/**
 * Knows pages that say the same, however many bytes of them differ: a site that makes ever new addresses for one page
 * puts tokens into its markup.
 */
import type { Capture } from "../../capture/capture.ts";
import { sha256 } from "../../platform/ids.ts";

/** A text of fewer characters may be that of many a page: a gallery's, a login's. Its title tells them apart. */
const LONG_TEXT = 100;

/** How long an answer took, and the time of day: what begins with digits. The 1890s are no seconds. */
const PASSING =
  /(?:\d+(?:[.,]\d+)?\s?(?:ms|sec|seconds?)|\d+(?:[.,]\d+)?\ss|\d+[.,]\d+s|\d{1,2}:\d\d:\d\d(?:\.\d+)?)(?![\w:])/y;
const DIGITS = /\d+/g;
const OF_WORD = /[\w-]/;
const LETTER = /[A-Za-z]/;
/** A longer word of digits and letters is a token: of a session, a UUID. */
const SHORTEST_TOKEN = 16;
/** Hexadecimal digits alone are one from this length, if some of them are letters and some are not. */
const HEXADECIMAL = /^(?=.*\d.*\d)(?=.*[a-f].*[a-f])[\da-f]{8,}$/i;
/** As base64 has it. A longer one is seen in pieces. */
const OF_BASE64 = /[\w+/=-]/;
const SHORTEST_BASE64 = 20;
const LONGEST_BASE64 = 200;
const NO_WORD = /[+/=]/;
/** Small letters, capitals and digits take turns: in paths and names they do so now and then. */
const TURN = /[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[a-zA-Z])/g;
const SHARE_OF_TURNS = 0.4;

const INSTANT = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])/y;
const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/;
const UNIX_TIME = /^\d{10}(?:\d{3})?$/;
/** An instant is that of the answer if it is no farther from it: clocks differ, and caches keep pages. */
const OF_ANSWER_MS = 3_600_000;
/** Where no zone is named it may be any. */
const ANY_ZONE_MS = 15 * 3_600_000;

/** Without what a server says anew with each answer. All of it holds digits, of which most texts have few. */
function withoutPassing(text: string, answeredMs: number): string {
  let kept = "";
  let from = 0;
  /** Up to where no base64 stands. */
  let plainUntil = 0;
  for (const { 0: digits, index } of text.matchAll(DIGITS)) {
    if (index < from) continue;
    let start = index;
    while (start > from && OF_WORD.test(text.charAt(start - 1))) start--;
    let end = index + digits.length;
    while (end < text.length && OF_WORD.test(text.charAt(end))) end++;
    const run = index < plainUntil ? { start, end } : runAround(text, from, start, end);
    plainUntil = Math.max(plainUntil, run.end);
    const passing = isBase64(text, run) ? run : passingAt(text, { start, index, end }, answeredMs);
    if (passing === null) kept += text.slice(from, end);
    else kept += text.slice(from, passing.start);
    from = passing === null ? end : Math.max(end, passing.end);
  }
  return kept + text.slice(from);
}

interface Place {
  /** Of the word that the digits stand in. */
  start: number;
  end: number;
  /** Of the digits. */
  index: number;
}

function passingAt(text: string, { start, index, end }: Place, answeredMs: number) {
  const word = text.slice(start, end);
  if (word.length >= SHORTEST_TOKEN && LETTER.test(word)) return { start, end };
  if (word.length < SHORTEST_TOKEN && HEXADECIMAL.test(word)) return { start, end };
  if (start === index) {
    const instant = instantAt(text, index, word, answeredMs);
    if (instant > 0) return { start, end: index + instant };
    PASSING.lastIndex = index;
    const passing = PASSING.exec(text)?.[0].length;
    if (passing !== undefined) return { start, end: index + passing };
  }
  return null;
}

/** @returns the length of an instant at which the answer may have been made; 0 where there is none */
function instantAt(text: string, index: number, word: string, answeredMs: number): number {
  if (UNIX_TIME.test(word)) {
    const ms = Number(word) * (word.length === 10 ? 1000 : 1);
    return Math.abs(ms - answeredMs) <= OF_ANSWER_MS ? word.length : 0;
  }
  INSTANT.lastIndex = index;
  const written = INSTANT.exec(text)?.[0];
  if (written === undefined) return 0;
  const hasZone = HAS_ZONE.test(written);
  const ms = Date.parse(`${written.replace(" ", "T")}${hasZone ? "" : "Z"}`);
  return Math.abs(ms - answeredMs) <= (hasZone ? OF_ANSWER_MS : ANY_ZONE_MS) ? written.length : 0;
}

interface Run {
  start: number;
  end: number;
}

function runAround(text: string, from: number, wordStart: number, wordEnd: number): Run {
  let [start, end] = [wordStart, wordEnd];
  while (start > from && end - start < LONGEST_BASE64 && OF_BASE64.test(text.charAt(start - 1))) start--;
  while (end < text.length && end - start < LONGEST_BASE64 && OF_BASE64.test(text.charAt(end))) end++;
  return { start, end };
}

function isBase64(text: string, { start, end }: Run): boolean {
  const length = end - start;
  if (length < SHORTEST_BASE64 || length > LONGEST_BASE64) return false;
  const run = text.slice(start, end);
  return NO_WORD.test(run) && (run.match(TURN)?.length ?? 0) >= length * SHARE_OF_TURNS;
}

/**
 * The page's own address in its text is no difference, nor is what passes.
 * @returns a key in hex that pages of one main text share; null where there is none to compare
 */
export function textKey({
  extraction,
  error,
  finalUrl,
  fetchedAt,
}: Pick<Capture, "extraction" | "error" | "finalUrl" | "fetchedAt">): string | null {
  if (error !== null || extraction === null) return null;
  const text = extraction.text.trim();
  if (text === "") return null;
  const lasting = withoutPassing(withoutOwnAddress(text, finalUrl), Date.parse(fetchedAt));
  return sha256(text.length < LONG_TEXT ? `${extraction.title ?? ""}\n${lasting}` : lasting)
    .subarray(0, 16)
    .toString("hex");
}

function withoutOwnAddress(text: string, url: string): string {
  const { href, pathname, search } = new URL(url);
  if (pathname.length < 2) return text;
  return text
    .replaceAll(encodeURIComponent(href), "")
    .replaceAll(encodeURIComponent(pathname + search), "")
    .replaceAll(pathname + search, "")
    .replaceAll(pathname, "");
}
