/** What a query says: words, "quoted phrases" that must stand, and -words or -"phrases" that must not. */
import { tokensOf } from "../analysis/tokens.ts";

export interface ParsedQuery {
  /** Words that should stand in a result; the more the better. */
  words: string[];
  /** Each must stand in every result, as it is quoted. */
  phrases: string[];
  /** None may stand in any result; a phrase as a whole. */
  excluded: string[];
  /** What is asked for, without syntax: the text to embed. Empty where the query only excludes. */
  text: string;
}

/** The most a query may hold, in UTF-16 code units. */
export const MAX_QUERY_LENGTH = 4_000;

/** A text with more words outside of its quotation marks was pasted: what it quotes need not stand in a result. */
const MOST_WORDS_BESIDE_PHRASES = 20;

/** As word processors and other languages have them. */
const QUOTATION_MARK = /[\u00ab\u00bb\u201c-\u201f\u301d-\u301f\uff02]/g;
/** With which names begin: `/etc/passwd`, `.env`, `~/.ssh`, `@types/node`, `$HOME`, `_private`. */
const MARKS = String.raw`[/\\.~@#$%&_(\[{]`;
// a minus counts only at the start of what it excludes, and not where it begins a line of several, as in a list:
// "state-of-the-art", "a - b" and "--flag" exclude nothing
const PART = new RegExp(
  String.raw`(?<minus>(?<=^|\s)-(?=["\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]|${MARKS}+[\p{L}\p{N}]))?` +
    String.raw`(?:"(?<phrase>[^"]*)"?|(?<word>[^\s"]+))`,
  "gu",
);
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
const SOMETHING = /[\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]/u;

export function parseQuery(query: string): ParsedQuery {
  const text = cleanText(query);
  const lines = LINE_BREAK.test(text.trim());
  const parts = [...text.matchAll(PART)].flatMap(({ groups = {}, index }) => {
    const { minus, phrase, word } = groups;
    const quoted = phrase !== undefined;
    const part = (phrase ?? word ?? "").trim();
    if (!SOMETHING.test(part)) return [];
    const excludes = minus !== undefined && !(lines && beginsLine(text, index));
    return [{ part: minus !== undefined && !excludes && !quoted ? `-${part}` : part, quoted, excludes }];
  });
  const excluded = parts.filter(({ excludes }) => excludes).map(({ part }) => part);
  const asked = parts.filter(({ excludes }) => !excludes);
  const beside = asked.filter(({ quoted }) => !quoted).map(({ part }) => part);
  const pasted = tokensOf(beside.join(" ")).places > MOST_WORDS_BESIDE_PHRASES;
  return {
    words: pasted ? asked.map(({ part }) => part) : beside,
    phrases: pasted ? [] : asked.filter(({ quoted }) => quoted).map(({ part }) => part),
    excluded,
    text: asked.map(({ part }) => part).join(" "),
  };
}

function beginsLine(text: string, at: number): boolean {
  const before = text.slice(0, at).trimEnd();
  return before === "" || LINE_BREAK.test(text.slice(before.length, at));
}

/** PostgreSQL's text holds no NUL, and UTF-8 no half of a surrogate pair. */
function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", " ").normalize("NFC").replace(QUOTATION_MARK, '"');
}
