/** Measures how much prose stands below every element of a page: text outside links that reads like sentences. */
import { isText } from "domhandler";
import { BLOCK_ELEMENTS, collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { isHidden } from "../parse/hidden.ts";
import { PageElement } from "../parse/page-tree.ts";

/** Never content, wherever they stand. */
const NEVER = new Set(
  (
    "head title meta link noscript input select option optgroup datalist button textarea progress meter embed param " +
    "source track area map nav dialog"
  ).split(" "),
);

const HEADS = new Set(["th", "dt", "summary", "legend"]);

/** Whether an element is not shown, or never holds content. */
export function isInvisible(element: PageElement): boolean {
  return (NEVER.has(element.name) && !isHeadingButton(element)) || isHidden(element);
}

/** Questions that unfold, and columns that sort, are buttons in headings. */
function isHeadingButton({ name, parent }: PageElement): boolean {
  if (name !== "button") return false;
  let around = parent;
  for (let levels = 0; levels < 3 && around instanceof PageElement; levels++) {
    if (headingLevel(around.name) > 0 || HEADS.has(around.name)) return true;
    if (/accordion|faq|question/i.test(around.attribs.class ?? "") && around.children.length < 8) return true;
    around = around.parent;
  }
  return false;
}

/** What is noted while a page is measured. */
export interface Notes {
  /** In document order. */
  headings: PageElement[];
  /** Outermost elements that are not shown, though they may hold text. */
  hidden: PageElement[];
  /** Outermost elements that are dropped, whether or not they are shown. */
  dropped: PageElement[];
}

/**
 * Sums the figures of elements from the leaves up. A run of text between two blocks counts as a paragraph of its block.
 * @param notes takes what is found
 */
export function measure(element: PageElement, notes: Notes = { headings: [], hidden: [], dropped: [] }): void {
  let runText = 0;
  let runLinks = 0;
  let runMarks = 0;
  let holdsBlocks = false;
  const endRun = (): void => {
    element.prose += proseOf(runText, runLinks, runMarks);
    runText = 0;
    runLinks = 0;
    runMarks = 0;
  };
  for (const child of element.children) {
    if (isText(child)) {
      countText(child.data);
      element.textLength += counted.letters;
      element.punctuation += counted.marks;
      runText += counted.letters;
      runMarks += counted.marks;
      continue;
    }
    if (!(child instanceof PageElement)) continue;
    if (child.name === "img") element.holdsImage = true;
    if (isInvisible(child)) {
      child.dropped = true;
      notes.dropped.push(child);
      if (!NEVER.has(child.name) || child.name === "noscript") notes.hidden.push(child);
      continue;
    }
    measure(child, notes);
    if (child.holdsImage) element.holdsImage = true;
    if (child.name === "a" && child.textLength <= 1 && isPermalink(child)) {
      child.dropped = true;
      notes.dropped.push(child);
      continue;
    }
    const isLink = leads(child);
    const links = isLink ? child.textLength : child.linkLength;
    element.textLength += child.textLength;
    element.punctuation += child.punctuation;
    element.linkLength += links;
    element.addressLength += isLink && isAddress(child) ? child.textLength : child.addressLength;
    element.headings += child.headings;
    element.linkedHeadings += child.name === "a" && leadsToPage(child) ? child.headings : child.linkedHeadings;
    if (child.isBlock) {
      holdsBlocks = true;
      endRun();
      element.prose += isLink ? 0 : child.prose;
    } else {
      runText += child.textLength;
      runLinks += links;
      runMarks += child.punctuation;
      if (child.name === "br" && runText > 0 && child.next instanceof PageElement && child.next.name === "br") endRun();
    }
  }
  if (headingLevel(element.name) > 0) {
    element.headings = 1;
    notes.headings.push(element);
  }
  if (headingLevel(element.name) > 1 && element.textLength > 8 && element.linkLength > element.textLength * 0.8) {
    if (hasPageLink(element)) element.linkedHeadings = 1;
  }
  element.isBlock = holdsBlocks || BLOCK_ELEMENTS.has(element.name);
  if (element.isBlock && headingLevel(element.name) === 0) endRun();
}

/** The "¶" or "#" beside a heading of documentation. */
function isPermalink(link: PageElement): boolean {
  return link.attribs.href?.startsWith("#") === true && /^[^\p{L}\p{N}]?$/u.test(collapsedText(link));
}

/** True where a link leads to another page: headings of documentation link to themselves. */
export function hasPageLink(element: PageElement): boolean {
  return element.children.some(
    (child) => child instanceof PageElement && ((child.name === "a" && leadsToPage(child)) || hasPageLink(child)),
  );
}

/** Whether it is a link, and not the mark of a place, which old pages do not close. */
function leads({ name, attribs }: PageElement): boolean {
  if (name !== "a") return false;
  return attribs.href !== undefined || (attribs.name === undefined && attribs.id === undefined);
}

/** A longer text calls to write. */
const LONGEST_ADDRESS = 60;

const isAddress = ({ attribs: { href }, textLength }: PageElement): boolean =>
  href !== undefined && textLength <= LONGEST_ADDRESS && PERSONAL.test(href);

const PERSONAL = /^\s*(?:mailto|tel):/i;

const leadsToPage = ({ attribs: { href } }: PageElement): boolean =>
  href !== undefined && !href.startsWith("#") && !PERSONAL.test(href);

/** Prose of one paragraph in characters: text outside links, if it reads like a sentence. */
function proseOf(text: number, links: number, marks: number): number {
  const own = text - links;
  if (own < 20 || links > text / 2) return 0;
  if (marks === 0) return own < 80 ? own * 0.1 : own * 0.4;
  return own;
}

const counted = { letters: 0, marks: 0 };

/** Beside those of Latin script and CJK: full-width, Arabic, Armenian, Indic, Myanmar, Ethiopic and Khmer ones. */
const MARKS = new Set([..."，！？；،؛؟۔։՝।॥၊။፡።፣៕។"].map((mark) => mark.charCodeAt(0)));

/**
 * Non-white characters, those of Chinese, Japanese and Korean twice, and marks of punctuation in any script; in Thai
 * and Lao, spaces end sentences.
 */
function countText(data: string): void {
  let letters = 0;
  let marks = 0;
  for (let index = 0; index < data.length; index++) {
    const code = data.charCodeAt(index);
    if (code <= 32 || code === 160) continue;
    letters++;
    // ASCII from "@" on: what nearly every character is
    if (code > 63 && code < 160) continue;
    // a character of these says what two letters say
    if (code >= 0x2e80 && code < 0xd800) letters++;
    if (
      code === 44 ||
      code === 46 ||
      code === 33 ||
      code === 63 ||
      (code >= 0x3001 && code <= 0x3002) ||
      (code > 0x0530 && (code < 0x2000 || code > 0xff00) && MARKS.has(code)) ||
      (code >= 0x0e00 && code <= 0x0eff && data.charCodeAt(index + 1) === 32)
    ) {
      marks++;
    }
  }
  counted.letters = letters;
  counted.marks = marks;
}
