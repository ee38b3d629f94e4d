/** Texts in which substrings are found however a reader spells them: small letters, without marks. */
import { fold, normalizeText } from "../../knowledge/analysis/folding.ts";

export const foldedText = (text: string): string => fold(normalizeText(text).toLowerCase()).replace(/\s+/g, " ").trim();

/** A pattern of `like` for what holds the text, whose own `%` and `_` are characters as any. */
export const holding = (text: string): string => `%${foldedText(text).replace(/[\\%_]/g, "\\$&")}%`;
