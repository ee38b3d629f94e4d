/** Trims what stands before the first and after the last paragraph. */
import { isText } from "domhandler";
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import { isLinked, isSubstance } from "./lines.ts";
import type { PageHints } from "./page-hints.ts";
import { isMeasured } from "./quantities.ts";

/** Characters up to which a line with many digits is a date. */
const LONGEST_DATE = 150;

/**
 * Drops bylines, dates and buttons: the short lines before the first and after the last paragraph. Headings stay.
 * @param hints of the page: the last lines may be a post of a forum
 */
export function trimEdges(
  lines: readonly PageElement[],
  roots: readonly PageElement[],
  headline: PageElement | null,
  hints: PageHints,
): void {
  const kept = lines.filter(({ dropped }) => !dropped);
  const first = kept.findIndex((line) => isSubstance(line) && !isDate(line));
  if (first === -1) return;
  const last = kept.findLastIndex(isSubstance);
  const end = hints.isForum
    ? kept.findLastIndex((line) => isSubstance(line) || hints.isOfPost(line))
    : lastOfText(kept, last);
  kept.forEach((line, index) => {
    if (index >= first && index <= end) return;
    // What stands among the paragraphs themselves is a short paragraph.
    const isAfterText = index > first && isSubstance(kept[index - 1] as PageElement);
    const isByline = isDate(line) && (index < first || isAfterText);
    if (line.parent === kept[index < first ? first : last]?.parent && !isByline && !isCredit(line)) return;
    if (line === headline || roots.includes(line)) return;
    if (index < first && !isLinked(line) && (headingLevel(line.name) > 0 || isSubtitle(line))) return;
    if (index < first && isSentence(line) && isBelowHeading(kept, index)) return;
    line.dropped = true;
  });
}

/** What a last line of a text names first: whose text or picture it is, in many languages. */
const CREDIT = new RegExp(
  `^\\W*(?:${[
    "sources?|quellen?|fuentes?|fontes?|fonti|bron(?:nen)?|kilder?|källor?|lähde|kaynak|źródło|zdroj|forrás|sursa|izvor",
    "photos?|fotos?|foto(?:grafie|graf)?|picture|images?|bild(?:er|quelle)?|crédits?|credits?|kép|kuva|via",
    "источники?|джерел[оа]|извор|фото|иллюстрация|πηγή|φωτο(?:γραφία)?|المصدر|مصدر|الصورة|منبع|מקור|צילום",
    "出典|出處|出处|来源|來源|资料来源|图片来源|写真|図|출처|사진|स्रोत|ที่มา|nguồn",
  ].join("|")})\\s*[:：]`,
  "iu",
);
const LONGEST_CREDIT = 80;

/** Names behind a label, and no sentence. */
export const isCredit = (line: PageElement): boolean =>
  line.textLength <= LONGEST_CREDIT && saysCredit(collapsedText(line));

export const saysCredit = (text: string): boolean => CREDIT.test(text) && !/[.!?。！？]\s+\S/.test(text);

/** Short sections and sentences may follow the last paragraph: opening hours, or a last word. */
function lastOfText(lines: readonly PageElement[], last: number): number {
  let end = last;
  for (let index = last + 1; index < lines.length; index++) {
    const line = lines[index] as PageElement;
    if (line.linkLength > (endsSentence(line) ? 0 : line.addressLength) || isLinked(line)) break;
    const below = lines[index + 1];
    if (headingLevel(line.name) > 0) {
      if (hasTextBehind(line)) {
        end = index;
        continue;
      }
      if (below === undefined || below.linkLength > below.addressLength || headingLevel(below.name) > 0) break;
      index++;
    } else if (!endsSentence(line) && !isMeasured(line)) {
      // further lines of a short section
      if (end === last || line.parent !== lines[end]?.parent) break;
    }
    end = index;
  }
  return end;
}

const endsSentence = (line: PageElement): boolean => /[.!?。！？…؟।]["”»’)]?$/.test(collapsedText(line));

/** A paragraph that is short, and no byline. */
const isSentence = (line: PageElement): boolean =>
  line.name === "p" && line.linkLength === 0 && !isDate(line) && endsSentence(line);

function isBelowHeading(lines: readonly PageElement[], index: number): boolean {
  for (let before = index - 1; before >= 0; before--) {
    const line = lines[before] as PageElement;
    if (headingLevel(line.name) > 0) return true;
    if (!isSentence(line)) return false;
  }
  return false;
}

/** Whether text without a box of its own, and without links, follows straight behind. */
function hasTextBehind({ next }: PageElement): boolean {
  let node = next;
  while (node !== null && isText(node) && node.data.trim() === "") node = node.next;
  if (node === null) return false;
  return isText(node) || (node instanceof PageElement && !node.isBlock && node.textLength > 0 && node.linkLength === 0);
}

/** Some words below the headline, most of them small: no name, no date, no button. */
export function isSubtitle(line: PageElement): boolean {
  let before = line.prev;
  while (before !== null && !(before instanceof PageElement && before.textLength > 0)) before = before.prev;
  if (!(before instanceof PageElement) || headingLevel(before.name) !== 1) return false;
  const text = collapsedText(line);
  if (text.length > 200 || /\d/.test(text)) return false;
  const words = text.match(/\p{L}+/gu) ?? [];
  const capitals = words.filter((word) => /^\p{Lu}/u.test(word)).length;
  return words.length >= 4 && capitals < words.length / 2;
}

/** Dates and times, with a few words that say what they are of. */
export function isDate(line: PageElement): boolean {
  if (line.textLength > LONGEST_DATE || line.children.length > 20) return false;
  const text = collapsedText(line);
  const digits = text.match(/\d/g)?.length ?? 0;
  return digits > line.textLength * 0.2 && /\b(?:19|20)\d\d/.test(text);
}
