/** Spellings that a reader takes for the same word become one: accents, ß, Arabic letters and vowel signs, digits. */
import { isAscii } from "./scripts.ts";

const COMPATIBLE = /[\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc\uff01-\uffee\u00b2\u00b3\u00b9\u2070-\u209c]+/g;
/** Soft hyphens, joiners and selectors of a variant. */
const IGNORED = /\u00ad|\u200c|\u200d|\u2060|\ufe0e|\ufe0f|\ufeff/g;

/**
 * Composed characters, full width and presentation forms as plain letters, and without what is not seen. It is what the
 * words of a text and those of a query are taken from.
 */
export function normalizeText(text: string): string {
  if (isAscii(text)) return text;
  return text
    .replace(COMPATIBLE, (form) => form.normalize("NFKC"))
    .replace(IGNORED, "")
    .normalize("NFC");
}

const MARKED = /(?<=[\p{Script=Latin}\p{Script=Greek}]\p{Mn}*)\p{Mn}/gu;
/** Arabic vowel signs and tatweel, Hebrew points. */
const UNWRITTEN = /[\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]/g;
const LETTERS: Record<string, string> = {
  ...{ ß: "ss", ẞ: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", ı: "i", þ: "th", ħ: "h", ŧ: "t", ŋ: "ng" },
  ...{ ς: "σ", ё: "е", أ: "ا", إ: "ا", آ: "ا", ٱ: "ا", ی: "ي", ک: "ك", ؤ: "و", ئ: "ي" },
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "gu");
/** The zeros of the decimal digits of scripts in use. */
const ZEROS = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0x17e0, 0x1040,
];
const OTHER_DIGIT = /[^\P{Nd}0-9]/gu;

/** Endings, which a stemmer must see as they are. */
const ENDINGS: Record<string, string> = { ة: "ه", ى: "ي" };

/** @param word in small letters, normalised, or its stem */
export function fold(word: string): string {
  return isAscii(word) ? word : foldSpelling(word).replace(/[ةى]/g, (letter) => ENDINGS[letter] ?? letter);
}

/** The same for a stemmer to read. */
export function foldSpelling(word: string): string {
  if (isAscii(word)) return word;
  return word
    .normalize("NFD")
    .replace(MARKED, "")
    .normalize("NFC")
    .replace(UNWRITTEN, "")
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter)
    .replace(OTHER_DIGIT, (digit) => {
      const code = digit.codePointAt(0) ?? 0;
      const zero = ZEROS.find((each) => code >= each && code < each + 10);
      return zero === undefined ? digit : String(code - zero);
    });
}
