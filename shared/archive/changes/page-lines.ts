/**
 * The main text of a page as lines that can be compared: without white space that nobody sees, and without what a
 * server says anew with each answer.
 */
import type { PageText } from "../snapshots/stored-text.ts";

export interface Line {
  /** As it is shown. */
  text: string;
  /** Equal for lines that say the same. */
  key: string;
  /** Under which heading: the same words say something else below another one. */
  heading: string;
}

export interface PageLines {
  lines: readonly Line[];
  /** In the order of the page; the part before the first heading, and that of the page's title, are one. */
  sections: readonly { heading: string; lines: readonly Line[] }[];
}

export function pageLines({ text, sections }: Pick<PageText, "text" | "sections">): PageLines {
  const parts = sections.length === 0 ? [{ heading: null, level: 0, start: 0, end: text.length }] : sections;
  const found: { heading: string; lines: Line[] }[] = [];
  for (const { heading, level, start, end } of parts) {
    const name = level <= 1 ? "" : keyOf(heading ?? "");
    const lines = linesOf(text.slice(start, end), name);
    const top = name === "" ? found.find((each) => each.heading === "") : undefined;
    if (top === undefined) found.push({ heading: name, lines });
    else for (const line of lines) top.lines.push(line);
  }
  return { lines: found.flatMap(({ lines }) => lines), sections: found };
}

function linesOf(text: string, heading: string): Line[] {
  return text.split(/[\n\r\u2028\u2029]+/).flatMap((each) => {
    const shown = visible(each);
    const key = withoutPassing(shown);
    return key === "" ? [] : [{ text: shown, key, heading }];
  });
}

const keyOf = (text: string): string => withoutPassing(visible(text));

/** Soft hyphens, zero-width characters, marks of direction. */
const UNSEEN = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

const visible = (text: string): string => text.normalize("NFC").replace(UNSEEN, "").replace(/\s+/g, " ").trim();

const LONG_WORD = /[A-Za-z0-9_-]{16,}/g;
const TIME_OF_DAY = /\b\d{1,2}:\d\d:\d\d(?:\.\d+)?\b/g;

/** Tokens and the seconds of a clock. Numbers stay: of a dose, of a price. */
function withoutPassing(text: string): string {
  if (!/\d/.test(text)) return text;
  const left = text.replace(LONG_WORD, (word) => (isToken(word) ? "" : word)).replace(TIME_OF_DAY, "");
  return left === text ? text : left.replace(/\s+/g, " ").trim();
}

const SHORTEST_BASE64 = 20;

/**
 * Of hexadecimal digits, as UUIDs are, letters among them: the number of a bank account begins with its letters. Or of
 * both cases, with digits here and there, as base64 has them.
 */
function isToken(word: string): boolean {
  if (!/\d/.test(word) || !/[A-Za-z]/.test(word)) return false;
  if (/^[0-9A-Fa-f-]+$/.test(word)) return (word.match(/[A-Fa-f]+/g) ?? []).length >= 2;
  if (word.length < SHORTEST_BASE64 || !/[a-z]/.test(word) || !/[A-Z]/.test(word)) return false;
  return (word.match(/\d+/g) ?? []).length >= 3;
}
