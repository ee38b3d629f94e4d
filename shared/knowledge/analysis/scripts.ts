/** Classes of characters for regular expressions with the flag `v`, by how the words of a script are found. */

/** Read by pairs of characters. */
const IDEOGRAPHS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}ー`;
/** Read by pairs of clusters: a letter with its marks, and those below it. */
const CLUSTERED = String.raw`\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
/** One of what is read by pairs. */
export const PAIRED_UNIT = String.raw`(?:[${IDEOGRAPHS}]|[[${CLUSTERED}]--\p{M}](?:\p{M}|(?<=\u17d2)[${CLUSTERED}])*)`;
/** Read by a dictionary. */
export const THAI = String.raw`\p{Script=Thai}`;
/** A letter, digit or mark of a script that has spaces. */
export const SPACED = String.raw`[[\p{L}\p{N}\p{M}]--[${IDEOGRAPHS}${CLUSTERED}${THAI}]]`;
export const EMOJI = String.raw`(?:\p{RI}{2}|[\p{Extended_Pictographic}--[ -\u218f]])`;

const BEYOND_ASCII = /[\u0080-\uffff]/;
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}
