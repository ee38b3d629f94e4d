/** The lines of the main content: its paragraphs, headings, lists and tables, in document order. */
import { PageElement } from "../parse/page-tree.ts";

/** Substance whatever it says. */
const WHOLE = new Set(["pre", "table", "dl", "ul", "ol", "blockquote", "math"]);
/** Prose from which a line is a paragraph. */
const SUBSTANCE = 50;

/** Collects the lines below the roots. A part that is dropped already is one line, for what it leaves behind. */
export function linesOf(roots: readonly PageElement[]): PageElement[] {
  const lines: PageElement[] = [];
  const collect = (element: PageElement): void => {
    if (element.textLength === 0) return;
    if (element.dropped || WHOLE.has(element.name)) {
      lines.push(element);
      return;
    }
    let own = element.prose;
    let holdsBlocks = false;
    for (const child of element.children) {
      if (!(child instanceof PageElement) || !child.isBlock || child.textLength === 0) continue;
      holdsBlocks = true;
      own -= child.prose;
    }
    // Paragraphs that only line breaks set apart are its own.
    if (!holdsBlocks || own >= SUBSTANCE) lines.push(element);
    else for (const child of element.children) if (child instanceof PageElement && child.isBlock) collect(child);
  };
  for (const root of roots) collect(root);
  return lines;
}

/** Whether a line is substance by itself, and not a byline, a date or a button. */
export function isSubstance(line: PageElement): boolean {
  return WHOLE.has(line.name) || line.prose >= SUBSTANCE;
}

/** The part of a text that is links to pages, from 0 to 1. */
export function linkDensity({ textLength, linkLength, addressLength }: PageElement): number {
  return textLength === 0 ? 0 : (linkLength - addressLength) / textLength;
}

/** Whether a line is a link, or stands in one. */
export function isLinked(line: PageElement): boolean {
  if (linkDensity(line) > 0.5) return true;
  for (let node: unknown = line, levels = 0; node instanceof PageElement && levels < 4; node = node.parent, levels++) {
    if (node.name === "a") return true;
  }
  return false;
}
