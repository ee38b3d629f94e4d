/** Counts the words of a text. */

/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Counts words between white space; in scripts without spaces, the words that a dictionary finds. */
export function countWords(text: string): number {
  let words = 0;
  for (const [run] of text.matchAll(/\S+/g)) words += UNSPACED.test(run) ? segmented(run) : 1;
  return words;
}

let segmenter: Intl.Segmenter | undefined;

function segmented(run: string): number {
  segmenter ??= new Intl.Segmenter("und", { granularity: "word" });
  let words = 0;
  for (const { isWordLike } of segmenter.segment(run)) if (isWordLike) words++;
  return words;
}
