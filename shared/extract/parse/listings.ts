/** Makes code of what is only laid out as code, and empties the gutters of line numbers beside it. */
import { type ChildNode, isText } from "domhandler";
import { below, textsOf } from "./descendants.ts";
import { type Page, PageElement } from "./page-tree.ts";

/** To be called before anything of the page is measured. */
export function writeListings(page: Page): void {
  for (const element of page.listings) writeListing(element);
  for (const element of page.gutters) {
    if (element.name === "a") emptyNumber(element);
    else emptyGutter(element);
  }
}

const NUMBERS = /^[\d\s.:]*$/;
const CODE_AROUND = /highlight|code|rouge|chroma|syntax|hljs|prism|blob|listing|source/i;

/** A gutter holds nothing but numbers, and stands in code or in the table that lays it out. */
function emptyGutter(element: PageElement): void {
  if (!NUMBERS.test(textsOf(element).text)) return;
  let table: PageElement | undefined;
  for (let node = element.parent, steps = 0; node instanceof PageElement && steps < 8; node = node.parent, steps++) {
    if (node.name === "table") table ??= node;
    if (node.name === "pre" || node.name === "code" || CODE_AROUND.test(node.attribs.class ?? "")) {
      element.children = [];
      dropSpaceBehind(element);
      // a row for each line, with no element of code in it: the rows are the lines
      if (table !== undefined && table.name === "table" && below(table, "pre").length === 0) makeCode(table);
      return;
    }
  }
}

function makeCode(table: PageElement): void {
  table.name = "pre";
  for (const part of [table, ...below(table, "tbody"), ...below(table, "tr")]) dropSpace(part);
}

/** Doxygen writes each line of code into a box of its own, and what is shown over its names behind them. */
function writeListing(box: PageElement): void {
  if (box.name !== "div") return;
  dropSpace(box);
  if (box.children.length === 0 || !box.children.every(isLine)) return;
  box.name = "pre";
  box.children = box.children.filter((child) => child instanceof PageElement && LINE.test(child.attribs.class ?? ""));
  for (const fold of box.children) if (fold instanceof PageElement && !isNamedLine(fold)) dropSpace(fold);
}

const LINE = /^(?:line|foldopen)(?:\s|$)/;
const isNamedLine = ({ attribs }: PageElement): boolean => /^line(?:\s|$)/.test(attribs.class ?? "");
const isLine = (node: ChildNode): boolean =>
  node instanceof PageElement && node.name === "div" && /^(?:line|foldopen|ttc)(?:\s|$)/.test(node.attribs.class ?? "");

function dropSpace(element: PageElement): void {
  element.children = element.children.filter((child) => !(isText(child) && child.data.trim() === ""));
}

/** A hard space parts a number from its line. */
function dropSpaceBehind({ next }: PageElement): void {
  if (next !== null && isText(next)) next.data = next.data.replace(/^\u00a0/, "");
}

/** The mark of a line says its number, and so does what stands behind it. */
function emptyNumber(mark: PageElement): void {
  if (!isInCode(mark)) return;
  const { next } = mark;
  const digits = (mark.attribs.name ?? "").slice(1);
  if (next instanceof PageElement && next.name === "a" && textsOf(next).text === digits) {
    next.children = [];
    if (next.next !== null && isText(next.next)) next.next.data = next.next.data.replace(/^ /, "");
  } else if (next !== null && isText(next) && next.data.startsWith(digits)) {
    next.data = next.data.slice(digits.length).replace(/^ /, "");
  }
}

function isInCode(element: PageElement): boolean {
  for (let node = element.parent, steps = 0; node instanceof PageElement && steps < 8; node = node.parent, steps++) {
    if (node.name === "pre") return true;
  }
  return false;
}
