/**
 * Rewrites what a reader sees only by its shape into text that says the same: raised and lowered characters, readings
 * above words, formulas.
 */
import { type ChildNode, isText, Text } from "domhandler";
import { below, textsOf } from "./descendants.ts";
import { formulaOf } from "./formulas.ts";
import { hiddenBy } from "./hidden.ts";
import { type Page, PageElement } from "./page-tree.ts";

/** To be called before anything of the page is measured. */
export function writeNotation(page: Page): void {
  for (const element of page.notations) {
    if (element.name === "sup") raise(element);
    else if (element.name === "sub") lower(element);
    else if (element.name === "ruby") writeReading(element);
    else if (element.name === "math") writeFormula(element);
    else showDrawn(element);
  }
}

const digits = (zero: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 10 }, (_, digit) => [String(digit), String.fromCodePoint(zero + digit)]));
const RAISED: Record<string, string> = {
  ...digits(0x2070),
  "1": "¹",
  "2": "²",
  "3": "³",
  ...{ "+": "⁺", "-": "⁻", "−": "⁻", "–": "⁻", "=": "⁼", "(": "⁽", ")": "⁾", n: "ⁿ", i: "ⁱ" },
};
const LOWERED: Record<string, string> = {
  ...digits(0x2080),
  ...{ "+": "₊", "-": "₋", "−": "₋", "=": "₌", "(": "₍", ")": "₎" },
};

/** Numbers, signs and what there is of letters; commas between marks of notes stay. */
const RAISABLE = /^(?:[\d+\-−–=()ni,;\s]*[\d+\-−–][\d+\-−–=()ni,;\s]*|[ni])$/;
const LOWERABLE = /^[\d+\-−=()]+$/;
/** Ends of ordinals and abbreviations: they stand in the line as well. */
const ENDING = /^(?:st|nd|rd|th|[eé]r?s?|[eè]me|res?|os?|as?|mes?|mlle|lle|gr|le|ne|to|ta|do|da|tm|sm|mc|md|®|™|℠)$/iu;
const LONGEST = 40;

function raise(element: PageElement): void {
  const { texts, text } = textsOf(element);
  if (text === "" || text.length > LONGEST) return;
  if (RAISABLE.test(text)) {
    each(texts, RAISED);
    // emphasis would part it from what stands before it
    if (below(element, "a").length === 0)
      setText(
        element,
        texts
          .map(({ data }) => data)
          .join("")
          .trim(),
      );
    return;
  }
  const before = charBefore(element);
  if (!/[\p{L}\p{N})\]]/u.test(before) || !/^[\p{L}\p{N}(+−-]/u.test(text)) return;
  const word = /^\p{L}+$/u.test(text);
  const abbreviates = word && (/\d/.test(before) || /\p{Lu}/u.test(before) || text.length > 1) && ENDING.test(text);
  // letters behind a letter are the end of a word, as in M<sup>me</sup>; one alone is a mark or an exponent
  if (abbreviates || (word && text.length > 1 && /\p{L}/u.test(before))) return;
  wrap(texts, /^[\p{L}\p{N}.]+$/u.test(text) ? ["^", ""] : ["^(", ")"]);
}

/** Behind a letter an index reads well in the line: H2O. Before a number it would be a part of that. */
function lower(element: PageElement): void {
  const { texts, text } = textsOf(element);
  const before = charBefore(element);
  const { next } = element;
  if (text.length <= LONGEST && LOWERABLE.test(text) && next !== null && isText(next) && /^\d/.test(next.data)) {
    each(texts, LOWERED);
    return;
  }
  if (text === "" || text.length > LONGEST || !/[\d/⁄\u2070-\u2079¹²³]/.test(before)) return;
  if (LOWERABLE.test(text)) each(texts, LOWERED);
  else if (/^[\p{L}\p{N}]/u.test(text)) wrap(texts, ["_", ""]);
}

function each(texts: readonly Text[], by: Record<string, string>): void {
  for (const text of texts) text.data = text.data.replace(/\S/g, (char) => by[char] ?? char);
}

function wrap(texts: readonly Text[], [before, after]: [string, string]): void {
  const [first, last] = [
    texts.find(({ data }) => data.trim() !== ""),
    texts.findLast(({ data }) => data.trim() !== ""),
  ];
  if (last !== undefined) last.data = last.data.trimEnd() + after;
  if (first !== undefined) first.data = before + first.data.trimStart();
}

/** One reading of a whole word stands behind it in brackets, as `<rp>` has it; those of single characters go. */
function writeReading(ruby: PageElement): void {
  const readings = below(ruby, "rt");
  const brackets = below(ruby, "rp");
  if (readings.length === 1) {
    if (brackets.length === 0) wrap(textsOf(readings[0] as PageElement).texts, ["(", ")"]);
    return;
  }
  for (const element of [...readings, ...brackets]) element.children = [];
}

/** TeX where the page has it, else the formula in one line. The element of a formula in TeX stays `math`. */
function writeFormula(math: PageElement): void {
  const { text, tex } = formulaOf(math);
  math.children = [];
  if (text === "") return;
  if (!tex) math.name = "span";
  setText(math, text);
  showAlone(math, text);
}

/** Keeps of each formula the MathML, or where there is none its TeX between the marks that MathJax and KaTeX read. */
export function keepFormulas(page: Page): void {
  for (const math of page.notations) {
    if (math.name === "span") showDrawn(math);
    if (math.name !== "math") continue;
    const { text } = formulaOf(math);
    for (const annotation of [...below(math, "annotation"), ...below(math, "annotation-xml")]) annotation.children = [];
    if (text !== "" && textsOf(math).text === "") {
      math.name = "span";
      setText(math, math.attribs.display === "block" ? `\\[${text}\\]` : `\\(${text}\\)`);
    }
    if (text !== "") showAlone(math, text);
  }
}

/** Shows what KaTeX has drawn of a formula where nothing else of it is there. */
function showDrawn(drawn: PageElement): void {
  const { parent } = drawn;
  if (!(parent instanceof PageElement) || parent.children.some((child) => child !== drawn && isWritten(child))) return;
  for (const attribute of hiddenBy(drawn)) delete drawn.attribs[attribute];
}

/** Whether a formula is there, and not only room for one. */
const isWritten = (node: ChildNode): boolean =>
  isText(node) ? node.data.trim() !== "" : node instanceof PageElement && textsOf(node).text !== "";

/** Shows a formula, and drops the other forms of it that stand beside it. */
function showAlone(math: PageElement, text: string): void {
  // what is read aloud is hidden from those who see a picture of it
  let outer = math;
  for (let parent = math.parent; parent instanceof PageElement && isShell(parent, outer); parent = outer.parent) {
    for (const attribute of hiddenBy(parent)) delete parent.attribs[attribute];
    outer = parent;
  }
  for (const attribute of hiddenBy(math)) delete math.attribs[attribute];
  for (let node = outer.prev; node !== null && isDrawn(node); node = node.prev) {
    if (node instanceof PageElement) node.children = [];
  }
  const siblings = outer.parent?.children ?? [];
  for (const sibling of siblings) {
    if (sibling instanceof PageElement && sibling.name === "img" && isPictureOf(sibling, text))
      sibling.attribs.hidden = "";
  }
}

/** What MathJax has drawn before the script that it read: a preview, and the formula. */
const isDrawn = (node: ChildNode): boolean =>
  isText(node)
    ? node.data.trim() === ""
    : node instanceof PageElement && /^(?:MathJax|mjx-)/.test(node.attribs.class ?? "");

const isShell = (parent: PageElement, child: PageElement): boolean =>
  /^(?:span|mjx-|semantics)/.test(parent.name) &&
  parent.children.every((node) => node === child || (isText(node) && node.data.trim() === ""));

const isPictureOf = ({ attribs }: PageElement, formula: string): boolean =>
  /math-fallback|\b(?:tex|latex)\b/i.test(attribs.class ?? "") ||
  (attribs.alt ?? "").replace(/^\{\\displaystyle\s*|\s*\}$/g, "").trim() === formula;

function setText(element: PageElement, text: string): void {
  const node = new Text(text);
  node.parent = element;
  element.children = [node];
}

const INLINE_AROUND = /^(?:a|b|i|em|strong|span|u|small|font|var|cite|abbr|code|mark|dfn|bdi)$/;

/** @returns the character in front of an element, within its block; "" where it is the first or behind a space */
function charBefore(element: PageElement): string {
  let node: ChildNode = element;
  for (;;) {
    while (node.prev !== null) {
      node = node.prev;
      const text = isText(node) ? node.data : node instanceof PageElement ? lastText(node) : "";
      if (text !== "") return /\s$/.test(text) ? "" : ([...text.slice(-2)].at(-1) ?? "");
    }
    if (!(node.parent instanceof PageElement) || !INLINE_AROUND.test(node.parent.name)) return "";
    node = node.parent;
  }
}

function lastText(element: PageElement): string {
  for (const child of element.children.toReversed()) {
    const text = isText(child) ? child.data : child instanceof PageElement ? lastText(child) : "";
    if (text !== "") return text;
  }
  return "";
}
