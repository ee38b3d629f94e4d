/** Recognises what stands in or around the main content without being part of it. */
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import { isTeaser, type PageHints } from "./page-hints.ts";

/** Characters from which a block that stands there twice is a repetition. */
const REPEATED = 60;
/** Prose from which a line is a paragraph. */
const SUBSTANCE = 50;
const TABLE_PARTS = new Set(["td", "th", "tr", "caption", "pre"]);
/** Substance whatever it says. */
const CONTENT = new Set(["pre", "table", "dl", "ul", "ol", "blockquote", "math"]);

/** Whole blocks that name what is around them. */
const LABEL =
  /^(?:advert|advertise?ment|anzeige|werbung|publicité|publicidad|pubblicità|реклама|sponsored|share(?: this| on .*)?|close|caption|print|comments?|loading.*|story continues below)[\s.:…]*$/i;
/** Openings of a line that is mostly a link to another page. */
const LEADS_AWAY =
  /^\W*(?:related|read (?:more|also|next|this)|see (?:also|more)|more(?: on| from|:)|also (?:read|on|see)|don['’]t miss|recommended|watch|up next|lire aussi|à lire|voir aussi|lesen sie|mehr (?:zum|dazu)|auch interessant|siehe auch|leggi anche|lee (?:también|más)|lea también|te puede|leia (?:também|mais)|veja também|lees ook|читайте|см\. также)/i;

/** Marks boilerplate inside the content as dropped. */
export function clean(element: PageElement, root: PageElement, hints: PageHints, prose: boolean): void {
  for (const child of element.children) {
    if (!(child instanceof PageElement) || child.dropped) continue;
    if (isBoilerplate(child, root, hints, prose)) child.dropped = true;
    else clean(child, root, hints, prose);
  }
}

function isBoilerplate(element: PageElement, root: PageElement, hints: PageHints, prose: boolean): boolean {
  if ((prose || !isTeaser(element)) && hints.applies(element, root.prose)) return true;
  if (!prose || !element.isBlock) return false;
  const { textLength, linkLength, name } = element;
  if (textLength === 0) return false;
  const density = linkLength / textLength;
  if (name === "ul" || name === "ol" || name === "div" || name === "section") {
    if (density > 0.5 && element.weight < 60) return true;
  }
  if (textLength <= 20 && LABEL.test(collapsedText(element))) return true;
  return textLength < 200 && density > 0.4 && LEADS_AWAY.test(collapsedText(element));
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
    if (isRepeat(element)) element.dropped = true;
  };
  for (const root of roots) visit(root);
}

/** Drops bylines, dates and buttons: the short lines before the first and after the last paragraph. Headings stay. */
export function trimEdges(roots: readonly PageElement[]): void {
  const lines: PageElement[] = [];
  const collect = (element: PageElement): void => {
    if (element.dropped || element.textLength === 0) return;
    const blocks = element.children.filter(
      (child): child is PageElement => child instanceof PageElement && child.isBlock && !child.dropped,
    );
    // Paragraphs that only line breaks set apart are its own.
    const own = blocks.reduce((prose, block) => prose - block.prose, element.prose);
    if (CONTENT.has(element.name) || blocks.length === 0 || own >= SUBSTANCE) lines.push(element);
    else blocks.forEach(collect);
  };
  for (const root of roots) collect(root);
  const first = lines.findIndex(isSubstance);
  if (first === -1) return;
  const last = lines.findLastIndex(isSubstance);
  lines.forEach((line, index) => {
    if (index >= first && index <= last) return;
    // What stands among the paragraphs themselves is a short paragraph.
    if (line.parent === lines[index < first ? first : last]?.parent) return;
    if (roots.includes(line) || (headingLevel(line.name) > 0 && index < first && !isLinked(line))) return;
    line.dropped = true;
  });
}

function isLinked({ textLength, linkLength }: PageElement): boolean {
  return linkLength > textLength / 2;
}

function isSubstance(line: PageElement): boolean {
  return CONTENT.has(line.name) || line.prose >= SUBSTANCE;
}
