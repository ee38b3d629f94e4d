/** Recognises what stands in or around the main content without being part of it. */
import { collapsedText, headingLevel, isDataTable } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import { isTeaser, type PageHints } from "./page-hints.ts";
import { isMeasuredList } from "./quantities.ts";
import { isIntroduced, isIntroducedList, isLinkedSentence, LEADS_AWAY } from "./see-also.ts";

/** Characters from which a block that stands there twice is a repetition. */
const REPEATED = 60;
/** Prose of a cell that holds a text. */
const TEXT_OF_CELL = 250;
const TABLE_PARTS = new Set(["td", "th", "tr", "caption", "pre"]);

/** Whole blocks that name what is around them. */
const LABEL =
  /^(?:advert|advertise?ment|anzeige|werbung|publicité|publicidad|pubblicità|реклама|sponsored|share(?: this| on .*)?|close|caption|print|comments?|loading.*|story continues below)[\s.:…]*$/i;

/** Marks boilerplate inside the content as dropped. */
export function clean(element: PageElement, root: PageElement, hints: PageHints, prose: boolean): void {
  cleanWithin(element, false);

  function cleanWithin(outer: PageElement, isOfTable: boolean): void {
    for (const child of outer.children) {
      if (!(child instanceof PageElement) || child.dropped) continue;
      // one cell less would put all behind it under the heading of another
      const isPart = isOfTable && CELLS.has(child.name);
      if (!isPart && isBoilerplate(child, root, hints, prose)) child.dropped = true;
      else cleanWithin(child, isPart ? ROWS.has(child.name) : child.name === "table" && isDataTable(child));
    }
  }
}

const ROWS = new Set(["thead", "tbody", "tfoot", "tr"]);
const CELLS = new Set([...ROWS, "td", "th"]);

function isBoilerplate(element: PageElement, root: PageElement, hints: PageHints, prose: boolean): boolean {
  const isListed = !prose && isTeaser(element);
  if (isListed ? hints.leadsToOthers(element) : hints.applies(element, root.prose)) return true;
  if (!prose || !element.isBlock) return false;
  const { textLength, linkLength, name } = element;
  if (textLength === 0) return false;
  const density = linkLength / textLength;
  if (density > 0.5 && element.weight < 60) {
    if ((name === "ul" || name === "ol") && !isIntroduced(element) && !isMeasuredList(element)) return true;
    if ((name === "div" || name === "section") && !isLinkedSentence(element) && !isIntroducedList(element)) return true;
  }
  if (name === "td" && density > 0.8 && isBesideText(element)) return true;
  if (textLength <= 20 && headingLevel(name) === 0 && LABEL.test(collapsedText(element))) return true;
  return textLength < 200 && density > 0.4 && LEADS_AWAY.test(collapsedText(element));
}

/** Whether a cell stands beside one that holds a text: the table is a layout. */
function isBesideText({ parent }: PageElement): boolean {
  const cells = parent?.children ?? [];
  return cells.length < 20 && cells.some((cell) => cell instanceof PageElement && cell.prose >= TEXT_OF_CELL);
}

/** Drops captions and paragraphs that stand twice, as on a page for two screens: readers see one. */
export function dropRepeats(roots: readonly PageElement[]): void {
  /** By length first: most blocks are told apart without putting their text together. */
  const seen = new Map<number, { first: PageElement; texts: Set<string> | null }>();
  const isRepeat = (element: PageElement): boolean => {
    const known = seen.get(element.textLength);
    if (known === undefined) {
      seen.set(element.textLength, { first: element, texts: null });
      return false;
    }
    // A refrain stands among the same paragraphs.
    if (known.first.parent === element.parent) return false;
    known.texts ??= new Set([collapsedText(known.first)]);
    const text = collapsedText(element);
    if (known.texts.has(text)) return true;
    known.texts.add(text);
    return false;
  };
  const visit = (element: PageElement): void => {
    let holdsBlocks = false;
    for (const child of element.children) {
      if (!(child instanceof PageElement) || child.dropped) continue;
      if (child.isBlock) holdsBlocks = true;
      visit(child);
    }
    if (holdsBlocks || !element.isBlock || element.textLength < REPEATED || TABLE_PARTS.has(element.name)) return;
    if (isRepeat(element) && !isAnswer(element)) element.dropped = true;
  };
  for (const root of roots) visit(root);
}

/** Under a heading of its own, and as a step of a list, a text may be what another one is. */
function isAnswer(element: PageElement): boolean {
  if (element.name === "li") return true;
  let before = element.prev;
  while (before !== null && !(before instanceof PageElement && before.textLength > 0)) before = before.prev;
  return before !== null && before instanceof PageElement && headingLevel(before.name) > 0;
}
