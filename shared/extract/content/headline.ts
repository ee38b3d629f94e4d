/** Finds the headline of a page by its title, and the lead that stands between it and the content. */
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { type Page, PageElement } from "../parse/page-tree.ts";
import { isDate, isSubtitle } from "./edges.ts";
import { findFacts } from "./facts.ts";
import type { PageHints } from "./page-hints.ts";
import { saysReport } from "./report.ts";

/** Characters of a headline. */
const SHORTEST = 8;
const LONGEST = 300;
/** Prose of a lead. */
const LEAD_PROSE = 60;
/** Characters of a subtitle. */
const LONGEST_SUBTITLE = 80;
/** Elements that are looked at between headline and content. */
const MAX_BETWEEN = 200;
/** Between the headline of a page and the name of its site. */
const SEPARATOR = /\s+[|–—\-·•»«:/]+\s+|\s*\|\s*/;

/**
 * Finds the heading that says what the page's title says.
 * @param headings of the page, in document order
 */
export function findHeadline(page: Page, headings: readonly PageElement[]): PageElement | null {
  const titles = titlesOf(page);
  if (titles.length === 0) return null;
  let found: PageElement | null = null;
  for (const heading of headings) {
    if (heading.textLength < SHORTEST || heading.textLength > LONGEST) continue;
    if (found !== null && headingLevel(heading.name) >= headingLevel(found.name)) continue;
    const text = comparable(collapsedText(heading));
    if (titles.some((title) => says(title, text))) found = heading;
  }
  return found;
}

/** What `<title>` and `og:title` say: as a whole, and without the name of the site. */
function titlesOf({ title, metas }: Page): string[] {
  const shared = metas.find(({ attribs }) => attribs.property === "og:title")?.attribs.content;
  const found: string[] = [];
  for (const whole of [shared, title]) {
    if (whole === undefined || whole === null) continue;
    const parts = whole.slice(0, 1000).split(SEPARATOR);
    const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), "");
    for (const text of [whole, longest]) if (text.trim().length >= SHORTEST) found.push(comparable(text));
  }
  return found;
}

/** Letters and digits only: quotes and spaces differ between a title and its headline. */
const comparable = (text: string): string =>
  text
    .slice(0, 1000)
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "");

function says(title: string, text: string): boolean {
  if (text === title) return true;
  const [short, long] = text.length < title.length ? [text, title] : [title, text];
  return short.length >= 12 && short.length > long.length * 0.5 && long.startsWith(short);
}

/** A headline is no teaser of another page, though it may be a link. */
export function acquitHeadline(headline: PageElement): void {
  const { linkedHeadings } = headline;
  for (let node: unknown = headline; node instanceof PageElement; node = node.parent) {
    node.linkedHeadings -= linkedHeadings;
  }
}

/**
 * Puts the headline, the lead and the facts before roots that do not hold them.
 * @param headline by title, or null where none says what the title says
 * @param facts takes those of the roots that hold facts
 */
export function withHeadline(
  roots: PageElement[],
  headline: PageElement | null,
  page: Page,
  hints: PageHints,
  facts: Set<PageElement>,
): PageElement[] {
  const [root] = roots;
  const { h1 } = page;
  if (root === undefined) return roots;
  const isShown = h1 !== null && isHeaded(root, h1);
  const head = isShown ? h1 : (headline ?? h1);
  if (head === null || head.dropped || head.textLength === 0) return roots;
  const around = ancestors(head);
  if (roots.some((candidate) => candidate === head || around.has(candidate))) return roots;
  const between = elementsBetween(head, around, root);
  if (between === null) return roots;
  const { headed, beside } = findFacts(head, root, between, hints);
  for (const element of headed === null ? beside : [headed, ...beside]) facts.add(element);
  const lead: PageElement[] = [];
  for (const element of between) {
    if (beside.includes(element)) lead.push(element);
    else if (!isBelow(element, headed) && (isShown || headline !== null)) collectLead(element, hints, lead);
  }
  const before = roots.filter((candidate) => !facts.has(candidate));
  if (headed !== null) return [headed, ...lead, ...before];
  return isShown || beside.length > 0 || (headline !== null && !isReport(page, between))
    ? [head, ...lead, ...before]
    : [...lead, ...before];
}

/** Whether the page says that it is a report of its day, or a date stands above its text. */
const isReport = (page: Page, between: readonly PageElement[]): boolean => saysReport(page) || between.some(holdsDate);

const holdsDate = (element: PageElement): boolean =>
  element.textLength > 0 &&
  ((element.isLeaf && isDate(element)) ||
    element.children.some((child) => child instanceof PageElement && !child.dropped && holdsDate(child)));

function isBelow(element: PageElement, around: PageElement | null): boolean {
  return around !== null && (element === around || ancestors(element).has(around));
}

/** An `<h1>` heads what stands in the same article or main part. */
function isHeaded(root: PageElement, h1: PageElement): boolean {
  const around = ancestors(h1);
  let shared: unknown = root.parent;
  while (shared instanceof PageElement && !around.has(shared)) shared = shared.parent;
  return shared instanceof PageElement && (shared.name === "main" || shared.name === "article");
}

function ancestors(element: PageElement): Set<PageElement> {
  const found = new Set<PageElement>();
  for (let node = element.parent; node instanceof PageElement; node = node.parent) found.add(node);
  return found;
}

/** @returns the topmost elements after `head` and before `root`; null where `head` comes after `root` */
function elementsBetween(head: PageElement, around: Set<PageElement>, root: PageElement): PageElement[] | null {
  const before: PageElement[] = [];
  let branch = root;
  while (branch.parent instanceof PageElement && !around.has(branch.parent)) {
    before.unshift(...elementsBefore(branch, null));
    branch = branch.parent;
  }
  const shared = branch.parent;
  let side = head;
  const after: PageElement[] = [];
  while (side.parent instanceof PageElement && side.parent !== shared) {
    after.push(...elementsAfter(side));
    side = side.parent;
  }
  if (shared !== side.parent) return null;
  for (let node = branch.prev; node !== side; node = node.prev) if (node === null) return null;
  return [...after, ...elementsBefore(branch, side), ...before].slice(0, MAX_BETWEEN);
}

function elementsBefore(element: PageElement, end: PageElement | null): PageElement[] {
  const found: PageElement[] = [];
  for (let node = element.prev; node !== end && node !== null; node = node.prev) {
    if (node instanceof PageElement) found.push(node);
    if (found.length >= MAX_BETWEEN) break;
  }
  return found.reverse();
}

function elementsAfter(element: PageElement): PageElement[] {
  const found: PageElement[] = [];
  for (let node = element.next; node !== null && found.length < MAX_BETWEEN; node = node.next) {
    if (node instanceof PageElement) found.push(node);
  }
  return found;
}

function collectLead(element: PageElement, hints: PageHints, lead: PageElement[]): void {
  if (element.dropped || !element.isBlock || element.textLength < SHORTEST || lead.length >= 8) return;
  if (element.name === "figure" || element.linkLength > element.textLength * 0.3 || hints.applies(element)) return;
  if (headingLevel(element.name) > 0) {
    if (element.linkLength === 0 && element.textLength < LONGEST_SUBTITLE) lead.push(element);
  } else if (element.isLeaf) {
    if ((element.prose >= LEAD_PROSE && !isDate(element)) || isSubtitle(element)) lead.push(element);
  } else {
    for (const child of element.children) if (child instanceof PageElement) collectLead(child, hints, lead);
  }
}
