/** A text as the words that a quoted phrase is compared with: capitals and accents apart, exactly as they stand. */
import { fold, normalizeText } from "./folding.ts";
import { EMOJI, PAIRED_UNIT, SPACED, THAI } from "./scripts.ts";

/** Characters of scripts without spaces stand for themselves, so that a phrase may begin anywhere. */
const PIECE = new RegExp(
  String.raw`${PAIRED_UNIT}|[${THAI}]\p{M}*|${EMOJI}|${SPACED}+(?:(?<=\p{L})(?:\+\+|#(?!${SPACED})))?`,
  "gv",
);

/** @returns the words with a space on both sides of each, so that a phrase is part of a text where its words are */
export function exactWords(text: string): string {
  const words = normalizeText(text).match(PIECE) ?? [];
  return ` ${words.map((word) => fold(word.toLowerCase())).join(" ")} `;
}
