/** Drops what leads away from a text: lines amid its paragraphs that are links, and the labels that they leave bare. */
import { isText } from "domhandler";
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { type Page, PageElement } from "../parse/page-tree.ts";
import { linkDensity } from "./lines.ts";
import { hasPageLink } from "./prose.ts";

/** Prose from which links beside it are not the content. */
const ENOUGH_PROSE = 250;
/** A paragraph that is a link is one up to this length; a longer one is a paragraph that was made a link. */
const LONGEST_LINK = 250;
/** Characters of a label, and of a sentence that introduces a list. */
const LONGEST_LABEL = 60;
const SHORTEST_INTRODUCTION = 25;
const SHORTEST_SENTENCE = 40;
/** Characters of a label before a link, and of a title. */
const LONGEST_LABEL_OF_LINK = 30;
const SHORTEST_TITLE = 20;
const NO_PARAGRAPHS = new Set(["ul", "ol", "table", "dl", "pre", "blockquote"]);
const LINKED = 0.9;

/** Openings of a line that is mostly a link to another page, or of a heading above such links. */
export const LEADS_AWAY =
  /^\W*(?:related|read (?:more|also|next|this)|see (?:also|more)|more(?: on| from|:)|also (?:read|on|see)|don['’]t miss|recommended|watch|up next|lire aussi|à lire|voir aussi|lesen sie|mehr (?:zum|dazu)|auch interessant|siehe auch|leggi anche|lee (?:también|más)|lea también|te puede|leia (?:também|mais)|veja também|lees ook|читайте|см\. также)/i;

/** Marks lines as dropped; so is the page's own address, as printers want it. */
export function dropSeeAlso(lines: readonly PageElement[], page: Page): void {
  const prose = lines.reduce((sum, line) => (line.dropped ? sum : sum + line.prose), 0);
  if (prose < ENOUGH_PROSE) return;
  const addresses = addressesOf(page);
  lines.forEach((line) => {
    if (line.dropped) return;
    if (leadsAway(line)) line.dropped = true;
    else if (isAddress(line, addresses)) line.dropped = true;
  });
  for (let index = lines.length - 1; index >= 0; index--) {
    if (isBareLabel(lines, index)) (lines[index] as PageElement).dropped = true;
  }
}

/** Whether a line is a link, or several of them, to other pages. */
function leadsAway(line: PageElement): boolean {
  if (headingLevel(line.name) > 0 || NO_PARAGRAPHS.has(line.name) || line.textLength > LONGEST_LINK) return false;
  if (isLabelled(line)) return true;
  return linkDensity(line) > LINKED && hasPageLink(line) && !isLinkedSentence(line);
}

/** A linked sentence is the text itself; a linked title is another one's. */
export function isLinkedSentence(element: PageElement): boolean {
  return (
    element.textLength >= SHORTEST_SENTENCE &&
    element.textLength <= 1000 &&
    linkDensity(element) > LINKED &&
    /[.。!！?？]["”»’)]?$/.test(collapsedText(element))
  );
}

/** Whether it is a label, and a title that is a link to another page of the site. */
function isLabelled(line: PageElement): boolean {
  if (line.textLength - line.linkLength > LONGEST_LABEL_OF_LINK || linkDensity(line) < 0.5) return false;
  const parts = line.children.filter((child) => !isText(child) || child.data.trim() !== "");
  const [label, link, rest] = parts;
  if (label === undefined || rest !== undefined || !(link instanceof PageElement) || link.name !== "a") return false;
  const isMarked = isText(label)
    ? /[:：]\s*$/.test(label.data)
    : label instanceof PageElement && (/^(?:b|strong)$/.test(label.name) || /[:：]$/.test(collapsedText(label)));
  return isMarked && link.textLength >= SHORTEST_TITLE && leadsWithinSite(link.attribs.href ?? "");
}

/** A path, and no file to download. */
const leadsWithinSite = (href: string): boolean =>
  !/^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i.test(href) && !/\.(?!html?\b|php\b|aspx?\b)[a-z0-9]{2,4}(?:$|[?#])/i.test(href);

/** Whether a sentence announces a list, or a heading amid paragraphs does. */
export function isIntroduced(list: PageElement): boolean {
  const box = boxOf(list);
  const before = beside(box, "prev");
  if (before === null) return isAnnounced(textBefore(box));
  if (before.dropped) return false;
  if (headingLevel(before.name) > 0 && LEADS_AWAY.test(collapsedText(before))) return false;
  if (headingLevel(before.name) > 0) return isParagraph(beside(box, "next")) && isParagraph(beside(before, "prev"));
  if (before.textLength < SHORTEST_INTRODUCTION || before.textLength > 2000 || isBold(before)) return false;
  return isAnnounced(collapsedText(before));
}

const isAnnounced = (text: string): boolean => text.length >= SHORTEST_INTRODUCTION && /[:：]$/.test(text);

/** The outermost of the boxes that hold nothing but the list. */
function boxOf(list: PageElement): PageElement {
  let box = list;
  while (box.parent instanceof PageElement && box.parent.name === "div" && box.parent.textLength === box.textLength) {
    box = box.parent;
  }
  return box;
}

/** Text that stands straight before an element, without a box of its own. */
function textBefore({ prev }: PageElement): string {
  let node = prev;
  while (
    node !== null &&
    (isText(node) ? node.data.trim() === "" : node instanceof PageElement && node.name === "br")
  ) {
    node = node.prev;
  }
  return node !== null && isText(node) ? node.data.trim() : "";
}

/** Whether it holds nothing but a list that a sentence announces. */
export function isIntroducedList(element: PageElement): boolean {
  const inner = element.children.find((child) => child instanceof PageElement && child.textLength > 0);
  if (!(inner instanceof PageElement) || inner.textLength !== element.textLength) return false;
  if (inner.name === "ul" || inner.name === "ol") return isIntroduced(inner);
  return inner.name === "div" && isIntroducedList(inner);
}

const isParagraph = (element: PageElement | null): boolean => element?.name === "p" && element.prose > 0;

function beside(element: PageElement, side: "prev" | "next"): PageElement | null {
  let node = element[side];
  while (node !== null && !(node instanceof PageElement && node.textLength > 0)) {
    if (isText(node) && node.data.trim() !== "") return null;
    node = node[side];
  }
  return node;
}

function addressesOf({ linkTags, metas }: Page): Set<string | undefined> {
  const canonical = linkTags.find(({ attribs }) => attribs.rel?.toLowerCase() === "canonical")?.attribs.href;
  const shared = metas.find(({ attribs }) => attribs.property === "og:url")?.attribs.content;
  return new Set([canonical, shared]);
}

const isAddress = (line: PageElement, addresses: Set<string | undefined>): boolean =>
  line.textLength < 300 && line.isLeaf && line.linkLength === 0 && addresses.has(collapsedText(line));

/** Whether a heading or a label stands before nothing that is kept. */
function isBareLabel(lines: readonly PageElement[], index: number): boolean {
  const line = lines[index] as PageElement;
  if (line.dropped) return false;
  const level = headingLevel(line.name);
  if (level === 1 || (level === 0 && !isLabel(line))) return false;
  let next = index + 1;
  let links = false;
  for (; lines[next]?.dropped === true; next++) if (linkDensity(lines[next] as PageElement) > 0.4) links = true;
  if (!links) return false;
  const following = lines[next];
  if (following === undefined || level === 0 || LEADS_AWAY.test(collapsedText(line))) return true;
  const nextLevel = headingLevel(following.name);
  return nextLevel > 0 && nextLevel <= level;
}

function isLabel(line: PageElement): boolean {
  if (line.textLength > LONGEST_LABEL || line.name === "li") return false;
  return isBold(line) || /[:：]$/.test(collapsedText(line));
}

/** Whether all text of a line is bold. */
function isBold(line: PageElement): boolean {
  return line.children.every(
    (child) =>
      (isText(child) && child.data.trim() === "") ||
      (child instanceof PageElement && (/^(?:b|strong|br)$/.test(child.name) || isBold(child))),
  );
}
