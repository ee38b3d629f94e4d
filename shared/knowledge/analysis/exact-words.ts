/** A text as the words that a quoted phrase is compared with: capitals and accents apart, exactly as they stand. */
import { fold, normalizeText } from "./folding.ts";
import { EMOJI, PAIRED_UNIT, SPACED, THAI } from "./scripts.ts";

/** What joins the digits on both sides of it. */
const JOINING = String.raw`[.,:'\u2019\-\u2010-\u2015\u2212]`;
const DASH = /[\u2010-\u2015\u2212]/;

/**
 * Characters of scripts without spaces stand for themselves, so that a phrase may begin anywhere. Marks between digits
 * are words, too: 2.1 is not 2-1.
 */
const PIECE = new RegExp(
  String.raw`${PAIRED_UNIT}|[${THAI}]\p{M}*|${EMOJI}|(?<=\p{Nd})${JOINING}(?=\p{Nd})|` +
    String.raw`${SPACED}+(?:(?<=\p{L})(?:\+\+|#(?!${SPACED})))?`,
  "gv",
);

/** @returns the words with a space on both sides of each, so that a phrase is part of a text where its words are */
export function exactWords(text: string): string {
  const words = normalizeText(text).match(PIECE) ?? [];
  return ` ${words.map(exactWord).join(" ")} `;
}

function exactWord(word: string): string {
  if (DASH.test(word)) return "-";
  return word === "\u2019" ? "'" : fold(word.toLowerCase());
}

/** Whether it is what joins digits, and no word of its own. */
export function isJoiningMark(word: string): boolean {
  return word === "-" || word === "." || word === "," || word === ":" || word === "'";
}

/** The ranges whose characters may fold to others: Latin, Greek, Cyrillic, Hebrew and Arabic, digits, forms. */
const FOLDED_RANGES = [
  ...[
    [0xaa, 0x24f],
    [0x370, 0x52f],
    [0x5d0, 0x6ff],
    [0x966, 0x96f],
    [0x9e6, 0x9ef],
    [0xa66, 0xa6f],
    [0xae6, 0xaef],
  ],
  ...[
    [0xbe6, 0xbef],
    [0xc66, 0xc6f],
    [0xce6, 0xcef],
    [0xd66, 0xd6f],
    [0xe50, 0xe59],
    [0xed0, 0xed9],
    [0x1040, 0x1049],
  ],
  ...[
    [0x17e0, 0x17e9],
    [0x1e00, 0x1fff],
    [0x2070, 0x209c],
    [0x2126, 0x212b],
    [0xfb00, 0xfb06],
    [0xfb1d, 0xfeff],
    [0xff01, 0xff5e],
  ],
] as [number, number][];

/** By what they fold to: characters. */
let folded: Map<string, string[]> | undefined;

function charactersThatFold(): Map<string, string[]> {
  const byFolded = new Map<string, string[]>();
  for (const [first, last] of FOLDED_RANGES) {
    for (let code = first; code <= last; code++) {
      const character = String.fromCharCode(code);
      const to = fold(normalizeText(character).toLowerCase());
      if (to === "" || to === character || /\s/.test(to)) continue;
      byFolded.set(to, [...(byFolded.get(to) ?? []), character]);
    }
  }
  return byFolded;
}

/** What may stand within a word beside its letters: marks of accents and vowels, and what is not seen. */
const WITHIN =
  "[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u00ad\u200c\u200d\u2060\ufe0e\ufe0f\ufeff]*";
/** Between two words, for PostgreSQL whatever its locale. */
const BETWEEN = "[^a-zA-Z0-9]{1,20}";
const JOINED_FORMS: Record<string, string> = {
  "-": "[\u2010-\u2015\u2212-]",
  "'": "['\u2019]",
  ".": "\\.",
  ",": ",",
  ":": ":",
};
const LETTER_OR_DIGIT = /[a-z0-9]/;
const WITHOUT_SPACES = new RegExp(`${PAIRED_UNIT}|[${THAI}]`, "v");

/**
 * What a text matches that holds the words, and some others do, too: capitals, accents and what folds alike.
 * @param words as `exactWords` gives them
 * @returns a regular expression of PostgreSQL
 */
export function phrasePattern(words: string): string {
  const all = words.trim().split(" ");
  const parts = all.map((word, at) => {
    const before = all[at - 1];
    if (before === undefined) return patternOf(word);
    if (isJoiningMark(word) || isJoiningMark(before)) return patternOf(word);
    const together = WITHOUT_SPACES.test(word) || WITHOUT_SPACES.test(before);
    return (together ? `${BETWEEN.replace("1,", "0,")}` : BETWEEN) + patternOf(word);
  });
  const first = LETTER_OR_DIGIT.test(words.trim().at(0) ?? "") ? "(?<![a-zA-Z0-9])" : "";
  const last = LETTER_OR_DIGIT.test(words.trim().at(-1) ?? "") ? "(?![a-zA-Z0-9])" : "";
  return first + parts.join("") + last;
}

function patternOf(word: string): string {
  if (isJoiningMark(word)) return JOINED_FORMS[word] ?? word;
  folded ??= charactersThatFold();
  const characters = [...word];
  let pattern = "";
  for (let at = 0; at < characters.length; at++) {
    const one = characters[at] ?? "";
    const single = [one, one.toUpperCase(), ...(folded.get(one) ?? [])].filter((form) => [...form].length === 1);
    const choices = [`${classOf(single)}${WITHIN}`];
    for (const length of [3, 2]) {
      const several = characters.slice(at, at + length);
      const forms = several.length === length ? folded.get(several.join("")) : undefined;
      if (forms === undefined) continue;
      // the letters one by one, or the character that stands for all of them
      const each = several.map(
        (letter) => classOf([letter, letter.toUpperCase(), ...(folded?.get(letter) ?? [])]) + WITHIN,
      );
      choices.splice(0, 1, each.join(""), `${classOf(forms)}${WITHIN}`);
      at += length - 1;
      break;
    }
    pattern += choices.length === 1 ? choices[0] : `(?:${choices.join("|")})`;
  }
  return pattern;
}

function classOf(forms: readonly string[]): string {
  const single = [...new Set(forms)].filter((form) => [...form].length === 1);
  if (single.length === 1) return (single[0] ?? "").replaceAll(/[\\^$.*+?()[\]{}|#]/g, "\\$&");
  return `[${single.join("").replaceAll(/[\\\]^-]/g, "\\$&")}]`;
}
