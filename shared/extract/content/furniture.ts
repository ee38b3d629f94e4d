/**
 * Finds furniture by its shape, whatever its names and its language: notices with buttons, boxes to sign in or up,
 * boxes about the author.
 */
import { isText } from "domhandler";
import { collapsedText } from "../parse/element-kinds.ts";
import { type Page, PageElement } from "../parse/page-tree.ts";
import type { HintReader } from "./hints.ts";

/** Prose of the longest notice that does not speak of cookies; at least half as much follows the headline. */
const PROSE_OF_NOTICE = 700;
const SHARE_BELOW = 0.5;
/** Characters in which a notice speaks of cookies, and the share of the page's text that stands where it does. */
const OPENING_OF_NOTICE = 300;
const SHARE_OF_PAGE = 0.8;
/** Characters of the longest notice that is read. */
const LONGEST_NOTICE = 4000;
/** A box holds at most this many times the prose beside it. */
const PROSE_BESIDE_BOX = 2;
/** Text of a box around fields, and the prose that one element around them adds, at most. */
const TEXT_AROUND_FIELDS = 600;
const ADDED_PROSE = 250;
/** Fields of a box to sign in or up. */
const FIELDS = 4;
const HEADINGS = 3;
/** Text of a box about an author, its prose, and the prose before it. */
const TEXT_OF_AUTHOR = 600;
const PROSE_OF_AUTHOR = 25;
const BEFORE_AUTHOR = 300;
/** Text of an offer, and the prose before it, and before comments. */
const TEXT_OF_OFFER = 350;
const BEFORE_OFFER = 200;
/** Times that comments have. */
const TIMES = 2;
/** Pages with more such boxes are about their authors. */
const AUTHORS = 2;

/** Fields and links that are looked at, elements around a link, and elements within a box: time stays linear. */
const MOST_LOOKED_AT = 50;
const MOST_LEVELS = 12;
const MOST_WITHIN = 300;

const COOKIE = new RegExp(
  [
    "cookie|\\bçerez|\\bciasteczk|eväste|\\bkolačić|\\bpiškotk|\\bsüti|\\bsīkdat|\\bslapuk|\\bküpsis",
    "informasjonskaps|vafrakök|куки|бисквитк|колачић|クッキー|쿠키|ملفات تعريف الارتباط|کوکی|עוגיות|คุกกี้|कुकी",
  ].join("|"),
  "iu",
);
/** Where one subscribes, signs in, gives or installs an app, as addresses say it in several languages. */
const OFFER =
  /[/.](?:subscri(?:be|ption|ptions)|abos?|abonn\w*|suscri\w*|log-?in|sign-?in|sign-?up|donate|donations?|spenden?|donaciones|paywall)(?:[/?#.]|$)|^https?:\/\/(?:(?:apps|itunes)\.apple\.com|play\.google\.com\/store|appgallery\.huawei\.com)\//i;
const AUTHOR_PAGE = /\/(?:authors?|autor(?:en|es|i)?|auteurs?)\//i;

/**
 * @param top measured
 * @param headline what it stands in is no furniture
 * @param isForum where answers are the content
 */
export function findFurniture(
  top: PageElement,
  page: Page,
  hints: HintReader,
  headline: PageElement | null,
  isForum: boolean,
): Set<PageElement> {
  const furniture = new Set<PageElement>();
  const around = new Set<PageElement>(["main", "article"].includes(top.name) ? [top] : []);
  for (let node = headline; node instanceof PageElement; node = parentOf(node)) around.add(node);
  findNotices(top, headline, furniture);
  for (const field of page.fields.slice(0, MOST_LOOKED_AT)) addBoxOfFields(field, { top, around, hints }, furniture);
  for (const box of authorBoxes(page, top, around)) furniture.add(box);
  for (const box of offers(page, top, around)) furniture.add(box);
  if (!isForum) for (const area of page.areas.slice(0, MOST_LOOKED_AT)) addComments(area, top, around, furniture);
  return furniture;
}

/** Notices stand beside what holds the headline: before it, or, where they speak of cookies, behind it, too. */
function findNotices(top: PageElement, headline: PageElement | null, found: Set<PageElement>): void {
  const below = proseBelow(headline, top);
  const judge = (node: PageElement, isBefore: boolean): void => {
    const { prose, textLength, name } = node;
    if (node.dropped || prose === 0 || textLength > LONGEST_NOTICE || name === "main" || name === "article") return;
    if (!holdsButton(node)) return;
    const isShort = isBefore && prose < PROSE_OF_NOTICE && below >= prose * SHARE_BELOW;
    if (isShort || COOKIE.test(collapsedText(node).slice(0, OPENING_OF_NOTICE))) found.add(node);
  };
  for (let node = headline; node !== null && node !== top; node = parentOf(node)) {
    for (let side = node.prev; side !== null; side = side.prev) if (side instanceof PageElement) judge(side, true);
    if ((parentOf(node) ?? top).textLength < top.textLength * SHARE_OF_PAGE) continue;
    for (let side = node.next; side !== null; side = side.next) if (side instanceof PageElement) judge(side, false);
  }
}

function proseBelow(headline: PageElement | null, top: PageElement): number {
  let prose = 0;
  for (let node = headline; node !== null && node !== top; node = parentOf(node)) {
    for (let side = node.next; side !== null; side = side.next) if (side instanceof PageElement) prose += side.prose;
  }
  return prose;
}

/** Whether it holds a button, or a link that only a script makes one. */
export function holdsButton(element: PageElement): boolean {
  return element.children.some((child) => {
    if (!(child instanceof PageElement)) return false;
    const { name, attribs } = child;
    if (name === "button" || name === "input" || attribs.role === "button") return true;
    if (name === "a" && isScripted(attribs.href) && /btn|button/i.test(attribs.class ?? "")) return true;
    return holdsButton(child);
  });
}

const isScripted = (href: string | undefined): boolean =>
  href === undefined || href.startsWith("#") || href.startsWith("javascript:");

/** The outermost element around a field that holds little but the form, what it is for, and its terms. */
function addBoxOfFields(
  field: PageElement,
  { top, around, hints }: { top: PageElement; around: ReadonlySet<PageElement>; hints: HintReader },
  found: Set<PageElement>,
): void {
  let box: PageElement | null = null;
  let prose = 0;
  for (let node = parentOf(field); node !== null && node !== top; node = parentOf(node)) {
    if (found.has(node)) return;
    if (around.has(node) || node.dropped || node.name === "main" || node.name === "article") break;
    if (node.prose > (top.prose - node.prose) * PROSE_BESIDE_BOX) break;
    // a name says furniture, and nothing but an account has a password
    if (field.attribs.type === "password" && hints.hint(node).kind === "boilerplate") {
      box = node;
      continue;
    }
    if (node.textLength > TEXT_AROUND_FIELDS || node.headings > HEADINGS || node.prose - prose > ADDED_PROSE) break;
    if (!hasFewFields(node)) break;
    prose = node.prose;
    box = node;
  }
  if (box !== null) found.add(box);
}

function hasFewFields(element: PageElement): boolean {
  let fields = 0;
  let elements = 0;
  const count = (node: PageElement): boolean =>
    node.children.every((child) => {
      if (!(child instanceof PageElement)) return true;
      if (++elements > MOST_WITHIN) return false;
      if (child.name === "textarea") return false;
      if (child.name === "input" && !/^(?:hidden|submit|checkbox|radio|button)$/i.test(child.attribs.type ?? ""))
        fields++;
      return fields <= FIELDS && count(child);
    });
  return count(element);
}

/** A picture, some sentences, and a link to the author's page, below a text. */
function authorBoxes({ anchors }: Page, top: PageElement, around: ReadonlySet<PageElement>): PageElement[] {
  const boxes = new Set<PageElement>();
  const links = anchors.filter(({ attribs }) => attribs.rel === "author" || isAuthorPage(attribs.href ?? ""));
  for (const { parent } of links.slice(0, MOST_LOOKED_AT)) {
    let box: PageElement | null = null;
    let node = parent;
    for (let level = 0; level < MOST_LEVELS && node instanceof PageElement && node !== top; level++) {
      if (around.has(node) || node.textLength > TEXT_OF_AUTHOR || node.name === "article") break;
      if (node.isBlock && node.name !== "p" && node.holdsImage && node.prose >= PROSE_OF_AUTHOR) box = node;
      node = node.parent;
    }
    if (box !== null) boxes.add(box);
    if (boxes.size > AUTHORS) return [];
  }
  return [...boxes].filter((box) => proseBefore(box, top) >= BEFORE_AUTHOR);
}

/** Some sentences and a line that leads to where one subscribes, signs in, gives or installs, below a text. */
function offers({ anchors }: Page, top: PageElement, around: ReadonlySet<PageElement>): PageElement[] {
  const boxes = new Set<PageElement>();
  const links = anchors.filter(({ attribs }) => OFFER.test(attribs.href ?? ""));
  for (const link of links.slice(-MOST_LOOKED_AT)) {
    let node = link.parent;
    let isLine = standsAlone(link);
    let box: PageElement | null = null;
    for (let level = 0; level < MOST_LEVELS && node instanceof PageElement && node !== top; level++) {
      if (around.has(node) || node.textLength > TEXT_OF_OFFER || /^(?:article|main|li|td)$/.test(node.name)) break;
      isLine ||= node.textLength > 0 && node.linkLength >= node.textLength * 0.5;
      if (isLine && node.isBlock && node.name !== "p" && node.prose > 0 && node.headings <= 1) box = node;
      if (node.isBlock && !isLine && node.name === "p") break;
      node = node.parent;
    }
    if (box !== null) boxes.add(box);
  }
  return [...boxes].filter((box) => proseBefore(box, top) >= BEFORE_OFFER);
}

/** Whether no text stands beside a link, only blocks and other links do. */
function standsAlone({ prev, next }: PageElement): boolean {
  const [before, behind] = [prev, next].map((side, at) => {
    let node = side;
    while (node !== null && (isText(node) ? node.data.trim() === "" : node instanceof PageElement && node.name === "a"))
      node = at === 0 ? node.prev : node.next;
    return node;
  });
  return [before, behind].every((node) => node == null || (node instanceof PageElement && node.isBlock));
}

/** What stands around a field to write a comment, below a text, and has buttons or times for each of them. */
function addComments(
  area: PageElement,
  top: PageElement,
  around: ReadonlySet<PageElement>,
  found: Set<PageElement>,
): void {
  let box: PageElement | null = null;
  let node = parentOf(area);
  for (let level = 0; level < MOST_LEVELS && node !== null && node !== top; level++) {
    if (around.has(node) || node.dropped || node.name === "main" || node.name === "article") break;
    box = node;
    node = parentOf(node);
  }
  if (box === null || box.prose === 0 || proseBefore(box, top) < BEFORE_OFFER) return;
  if (countTimes(box) >= TIMES) found.add(box);
}

function countTimes(element: PageElement): number {
  let times = 0;
  for (const child of element.children) {
    if (!(child instanceof PageElement) || times >= TIMES) continue;
    times += child.name === "time" ? 1 : countTimes(child);
  }
  return times;
}

/** Most links are told apart without the expression. */
const isAuthorPage = (href: string): boolean => href.includes("/aut") && AUTHOR_PAGE.test(href);

function proseBefore(element: PageElement, top: PageElement): number {
  let prose = 0;
  for (let node: PageElement | null = element; node !== null && node !== top; node = parentOf(node)) {
    for (let side = node.prev; side !== null && prose < BEFORE_AUTHOR; side = side.prev) {
      if (side instanceof PageElement) prose += side.prose;
    }
  }
  return prose;
}

const parentOf = ({ parent }: PageElement): PageElement | null => (parent instanceof PageElement ? parent : null);
