/**
 * Knows pages that say the same, however many bytes of them differ: a site that makes ever new addresses for one page
 * puts tokens into its markup.
 */
import type { Capture } from "../../capture/capture.ts";
import { sha256 } from "../../platform/ids.ts";

/** A text of fewer characters may be that of many a page: a gallery's, a login's. Its title tells them apart. */
const LONG_TEXT = 100;

/** How long an answer took, and the time of day: what begins with digits. */
const PASSING = /(?:\d+(?:[.,]\d+)?\s?(?:ms|s|sec|seconds?)|\d{1,2}:\d\d:\d\d(?:\.\d+)?)(?![\w:])/y;
const DIGITS = /\d+/g;
const OF_WORD = /[\w-]/;
const LETTER = /[A-Za-z]/;
/** A longer word of digits and letters is a token: of a session, a UUID. */
const SHORTEST_TOKEN = 16;

/** Without what a server says anew with each answer. All of it holds digits, of which most texts have few. */
function withoutPassing(text: string): string {
  let kept = "";
  let from = 0;
  for (const { 0: digits, index } of text.matchAll(DIGITS)) {
    if (index < from) continue;
    let start = index;
    while (start > from && OF_WORD.test(text.charAt(start - 1))) start--;
    let end = index + digits.length;
    while (end < text.length && OF_WORD.test(text.charAt(end))) end++;
    const isToken = end - start >= SHORTEST_TOKEN && LETTER.test(text.slice(start, end));
    PASSING.lastIndex = index;
    const passing = isToken || start < index ? null : PASSING.exec(text);
    if (isToken || passing !== null) kept += text.slice(from, start);
    else kept += text.slice(from, end);
    from = passing === null ? end : Math.max(end, index + passing[0].length);
  }
  return kept + text.slice(from);
}

/**
 * The page's own address in its text is no difference, nor is what passes.
 * @returns a key in hex that pages of one main text share; null where there is none to compare
 */
export function textKey({
  extraction,
  error,
  finalUrl,
}: Pick<Capture, "extraction" | "error" | "finalUrl">): string | null {
  if (error !== null || extraction === null) return null;
  const text = extraction.text.trim();
  if (text === "") return null;
  const lasting = withoutPassing(withoutOwnPath(text, finalUrl));
  return sha256(text.length < LONG_TEXT ? `${extraction.title ?? ""}\n${lasting}` : lasting)
    .subarray(0, 16)
    .toString("hex");
}

function withoutOwnPath(text: string, url: string): string {
  const { pathname, search } = new URL(url);
  return pathname.length < 2 ? text : text.replaceAll(pathname + search, "").replaceAll(pathname, "");
}
