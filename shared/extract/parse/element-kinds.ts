/** Says what the names of HTML elements mean for rendering. */
import { type ChildNode, isText } from "domhandler";
import { HOLDS_FALLBACK } from "./html-rules.ts";
import { PageElement } from "./page-tree.ts";

export const BLOCK_ELEMENTS = new Set(
  (
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure " +
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search " +
    "section summary table tbody td tfoot th thead tr ul"
  ).split(" "),
);

/**
 * Reads the level of a heading from its name.
 * @returns 1 to 6, or 0 for what is no heading
 */
export function headingLevel(name: string): number {
  if (name.length !== 2 || name.charCodeAt(0) !== 104) return 0;
  const level = name.charCodeAt(1) - 48;
  return level >= 1 && level <= 6 ? level : 0;
}

const CELL_BLOCKS = new Set("p div ul ol dl pre blockquote h1 h2 h3 h4 h5 h6 table section article form".split(" "));

/** Whether a table holds data, and does not only lay out the page. */
export function isDataTable(table: PageElement): boolean {
  const role = table.attribs.role;
  if (role === "presentation" || role === "none") return false;
  let rows = 0;
  let widest = 0;
  let headers = false;
  let heavyCells = 0;
  const visit = (node: PageElement): boolean => {
    for (const child of node.children) {
      if (!(child instanceof PageElement) || child.dropped) continue;
      if (child.name === "tr") {
        rows++;
        let cells = 0;
        for (const cell of child.children) {
          if (!(cell instanceof PageElement)) continue;
          if (cell.name === "th") headers = true;
          cells++;
          const weight = cellWeight(cell);
          if (weight === 2) return false;
          heavyCells += weight;
        }
        widest = Math.max(widest, cells);
      } else if (child.name === "caption" || child.name === "thead") {
        headers = true;
        if (!visit(child)) return false;
      } else if (child.name === "tbody" || child.name === "tfoot") {
        if (!visit(child)) return false;
      }
    }
    return true;
  };
  if (!visit(table)) return false;
  if (rows === 0) return false;
  if (headers) return true;
  return rows > 1 && widest > 1 && heavyCells * 4 <= rows * widest;
}

/** 0 for an ordinary cell, 1 for one of several blocks, 2 for one that holds a table of its own or a whole article. */
function cellWeight(cell: PageElement): number {
  let blocks = 0;
  for (const child of cell.children) {
    if (!(child instanceof PageElement) || child.dropped) continue;
    if (child.name === "table" || child.name === "article" || child.name === "form") return 2;
    if (CELL_BLOCKS.has(child.name)) {
      blocks++;
      for (const inner of child.children) if (inner instanceof PageElement && inner.name === "table") return 2;
    }
  }
  return blocks > 4 ? 2 : blocks > 1 ? 1 : 0;
}

/** Text of a `<pre>` as it stands, without the blank lines around it; `<br>` is a newline. */
export function preformattedText(pre: PageElement): string {
  const parts: string[] = [];
  const visit = (node: ChildNode): void => {
    if (isText(node)) parts.push(node.data);
    else if (node instanceof PageElement && !node.dropped) {
      if (node.name === "br") parts.push("\n");
      // Highlighters that put each line into an element of its own leave no newline between them.
      const line =
        (node.name === "div" || node.name === "li" || node.name === "tr" || node.name === "p") && node !== pre;
      if (line && parts.length > 0 && !parts[parts.length - 1]?.endsWith("\n")) parts.push("\n");
      const written = parts.length;
      for (const child of node.children) visit(child);
      const isEmpty = line && written > 0 && parts.length === written;
      if (isEmpty && !(node.next !== null && isText(node.next) && node.next.data.startsWith("\n"))) parts.push("\n");
    }
  };
  visit(pre);
  return parts
    .join("")
    .replace(/\r\n?/g, "\n")
    .replace(INVISIBLE, "")
    .replace(/^(?:[^\S\n]*\n)+/, "")
    .trimEnd();
}

const UNTIDY = / {2}|[\t-\r\u00a0\u00ad\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]/;

/** Says where a line may be broken, or may not be: no part of a word. */
export const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;
const HOLDS_INVISIBLE = new RegExp(INVISIBLE.source);
/** Scripts without spaces, whose words a zero-width space keeps apart. */
const WORD_BREAK =
  /(?<=[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}])\u200b+(?=[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}])/gu;

/** White space as single spaces; soft hyphens and joiners gone. Most text has neither: looking is cheaper. */
export function collapseSpace(text: string): string {
  if (!UNTIDY.test(text)) return text;
  const seen = HOLDS_INVISIBLE.test(text) ? text.replace(WORD_BREAK, " ").replace(INVISIBLE, "") : text;
  return seen.replace(/\s+/g, " ");
}

/** All text below a node, white space collapsed; without what stands in its place where it cannot be shown. */
export function collapsedText(node: PageElement): string {
  const parts: string[] = [];
  const visit = (child: ChildNode): void => {
    if (isText(child)) parts.push(child.data);
    else if (child instanceof PageElement && !HOLDS_FALLBACK.has(child.name)) {
      if (child.name === "br" || BLOCK_ELEMENTS.has(child.name)) parts.push(" ");
      for (const inner of child.children) visit(inner);
    }
  };
  for (const child of node.children) visit(child);
  return collapseSpace(parts.join("")).trim();
}
