/**
 * Scores how much a URL, a title or the text of a link has to do with some keywords, from 0 to 1. It needs no
 * statistics, so that a page can be scored before anybody has fetched it.
 *
 * For a keyword k: found(k) = 1 − ∏ over the fields f of (1 − weight(f) · match(k, f)). `match` is 1 where f holds the
 * word, 0.75 where one of its words begins with k or k with it (four letters or more: price, prices), else 0. So every
 * field that speaks of a keyword adds to what the others say. The score is the mean of found(k) over all keywords.
 */

/** A text that speaks of a page. */
export interface RelevanceField {
  text: string;
  /** What a keyword found in it alone is worth: 0 to 1. */
  weight: number;
}

/** Of a title, or the text of a link. */
export const TITLE_WEIGHT = 0.7;
const PATH_WEIGHT = 0.6;
const QUERY_WEIGHT = 0.4;
const HOST_WEIGHT = 0.3;

const SHORTEST_STEM = 4;
const STEM_MATCH = 0.75;
/** Of one field, in UTF-16 code units: more says nothing more of the page. */
const LONGEST_FIELD = 4096;
const MOST_KEYWORDS = 64;

/** Words that say nothing of what is looked for. */
const STOP_WORDS = new Set(
  (
    "a an and are as at be by for from how in into is it its of on or " +
    "that the this to was what when where which with"
  ).split(" "),
);

/** The distinct words of a query, lower case; without stop words, unless it holds nothing else. At most 64. */
export function keywordsOf(query: string): string[] {
  const words = [...new Set(wordsOf(query))];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : words).slice(0, MOST_KEYWORDS);
}

/**
 * @param keywords as `keywordsOf` gives them
 * @returns 0 to 1; 0 without keywords
 */
export function relevanceOf(keywords: readonly string[], fields: readonly RelevanceField[]): number {
  if (keywords.length === 0) return 0;
  const read = fields.map(({ text, weight }) => ({ words: new Set(wordsOf(text)), weight }));
  let sum = 0;
  for (const keyword of keywords) {
    let missed = 1;
    for (const { words, weight } of read) missed *= 1 - weight * matchOf(keyword, words);
    sum += 1 - missed;
  }
  return sum / keywords.length;
}

/** What a URL says of its page by itself: the words of its path, its query and its host. */
export function urlFields(url: URL): RelevanceField[] {
  return [
    { text: readable(url.pathname), weight: PATH_WEIGHT },
    { text: readable(url.search), weight: QUERY_WEIGHT },
    { text: url.hostname, weight: HOST_WEIGHT },
  ];
}

function matchOf(keyword: string, words: ReadonlySet<string>): number {
  if (words.has(keyword)) return 1;
  for (const word of words) {
    if (Math.min(word.length, keyword.length) < SHORTEST_STEM) continue;
    if (word.startsWith(keyword) || keyword.startsWith(word)) return STEM_MATCH;
  }
  return 0;
}

/** Runs of letters and digits, lower case; `camelCase` is two. */
function wordsOf(text: string): string[] {
  const spaced = text
    .slice(0, LONGEST_FIELD)
    .normalize("NFKC")
    .replace(/(\p{Ll})(?=\p{Lu})/gu, "$1 ");
  return spaced.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Percent-encoding undone where it stands for UTF-8. */
function readable(encoded: string): string {
  const text = encoded.slice(0, LONGEST_FIELD).replaceAll("+", " ");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Share of its page's relevance that a link inherits before it is fetched, as in the shark-search of Hersovici et al.
 * (1998): score = own + (1 − own) · 0.2 · parent.
 */
const INHERITED = 0.2;

export interface LinkScorer {
  /**
   * What a page that links to others says of the keywords, 0 to 1.
   * @param text its beginning is enough
   */
  page(title: string | null, text: string): number;
  /**
   * @param anchor empty where the link has no text
   * @param parent as `page` gives it
   */
  link(url: URL, anchor: string, parent: number): number;
}

/** @param phrases words or phrases, each word of which counts */
export function linkScorer(phrases: readonly string[]): LinkScorer {
  const keywords = keywordsOf(phrases.join(" "));
  return {
    page(title, text) {
      const fields = [{ text, weight: 1 }];
      if (title !== null) fields.push({ text: title, weight: 1 });
      return relevanceOf(keywords, fields);
    },
    link(url, anchor, parent) {
      const own = relevanceOf(keywords, [...urlFields(url), { text: anchor, weight: TITLE_WEIGHT }]);
      return own + (1 - own) * INHERITED * parent;
    },
  };
}
