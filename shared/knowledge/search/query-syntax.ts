/** What a query says: words, "quoted phrases" that must stand, and -words or -"phrases" that must not. */

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

// a minus counts only before a word, at the start of one: "state-of-the-art" and "a - b" exclude nothing
const PART = /(?<minus>(?<=^|\s)-)?(?:"(?<phrase>[^"]*)"?|(?<word>[^\s"]+))/gu;
const SOMETHING = /[\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]/u;

export function parseQuery(query: string): ParsedQuery {
  const parsed: ParsedQuery = { words: [], phrases: [], excluded: [], text: "" };
  const asked: string[] = [];
  for (const { groups = {} } of cleanText(query).matchAll(PART)) {
    const { minus, phrase, word } = groups;
    const part = (phrase ?? word ?? "").trim();
    if (!SOMETHING.test(part)) continue;
    if (minus !== undefined) parsed.excluded.push(part);
    else {
      (phrase === undefined ? parsed.words : parsed.phrases).push(part);
      asked.push(part);
    }
  }
  parsed.text = asked.join(" ");
  return parsed;
}

/** PostgreSQL's text holds no NUL, and UTF-8 no half of a surrogate pair. */
function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", " ").normalize("NFC");
}
