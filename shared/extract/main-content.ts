/**
 * Finds the main content of a page.
 *
 * 1. Measure: text, links and punctuation below every element; from these, how much prose it holds.
 * 2. Descend from the body to the lowest element that still holds most of the prose.
 * 3. Clean what is left inside: hinted boilerplate, lists of links, empty shells.
 *
 * A page with hardly any prose (an index, a table, a form) keeps everything but its furniture.
 */
import { type ChildNode, isText } from "domhandler";
import { BLOCK_ELEMENTS, collapsedText, headingLevel } from "./element-kinds.ts";
import { HintReader } from "./hints.ts";
import { type Page, PageElement } from "./page-tree.ts";

/** Never content, wherever they stand. */
const NEVER = new Set(
  (
    "head title meta link noscript input select option optgroup datalist button textarea progress meter embed param " +
    "source track area map nav dialog"
  ).split(" "),
);

/** Elements that hold text rather than other containers: the descent stops above them. */
const LEAVES = new Set("p pre blockquote ul ol dl li table thead tbody tr figure h1 h2 h3 h4 h5 h6".split(" "));

/** The descent goes on while one child holds this share of its parent's prose. */
const DOMINANT = 0.75;
/** A hint is wrong about an element that holds this share of the page's prose. */
const REFUTES_BOILERPLATE = 0.4;
const REFUTES_COMMENTS = 0.85;
/** Prose behind a hint counts this much when it is compared with prose without one. */
const HINTED_WEIGHT = 0.1;
/** Characters of prose below which a page is no article. */
const ENOUGH_PROSE = 140;
/** Beside more teasers than this share allows, a little prose is a site's own description, unless it is much. */
const SHARE_OF_PROSE = 0.25;
const MUCH_PROSE = 1000;
/** Prose that one linked heading announces at most, if it is a teaser and not a section whose heading is a link. */
const TEASER_PROSE = 450;

/** Characters from which a block that stands there twice is a repetition. */
const REPEATED = 60;
const TABLE_PARTS = new Set(["td", "th", "tr", "caption", "pre"]);
/** Substance whatever it says. */
const CONTENT = new Set(["pre", "table", "dl", "ul", "ol", "blockquote", "math"]);

/** Whole blocks that name what is around them. */
const LABEL =
  /^(?:advert|advertise?ment|anzeige|werbung|publicité|publicidad|pubblicità|реклама|sponsored|share(?: this| on .*)?|close|caption|print|comments?|loading.*|story continues below)[\s.:…]*$/i;
/** Openings of a line that is mostly a link to another page. */
const LEADS_AWAY =
  /^\W*(?:related|read (?:more|also|next|this)|see (?:also|more)|more(?: on| from|:)|also (?:read|on|see)|don['’]t miss|recommended|watch|up next|lire aussi|à lire|voir aussi|lesen sie|mehr (?:zum|dazu)|auch interessant|siehe auch|leggi anche|lee (?:también|más)|lea también|te puede|leia (?:também|mais)|veja também|lees ook|читайте|см\. также)/i;

export interface MainContent {
  /** In document order; elements below them with `dropped` set are not content. */
  roots: ChildNode[];
}

export function findMainContent(page: Page): MainContent {
  const top = page.body ?? page.html ?? pseudoBody(page);
  const hints = new HintReader();
  measure(top);
  weigh(top, top.prose, hints);
  const isArticle =
    top.weight >= ENOUGH_PROSE && (top.weight >= MUCH_PROSE || top.weight >= top.prose * SHARE_OF_PROSE);
  const roots = isArticle ? descend(top) : [top];
  for (const root of roots) clean(root, root, hints, isArticle);
  if (isArticle) {
    dropRepeats(roots);
    trimEdges(roots);
  }
  if (roots.some(holdsText)) return { roots };
  // Every part was taken for boilerplate, so none of it is.
  restore(top);
  return { roots: [top] };
}

function holdsText(element: PageElement): boolean {
  return element.children.some((child) =>
    isText(child) ? child.data.trim() !== "" : child instanceof PageElement && !child.dropped && holdsText(child),
  );
}

function restore(element: PageElement): void {
  for (const child of element.children) {
    if (!(child instanceof PageElement)) continue;
    child.dropped = NEVER.has(child.name) || isHidden(child);
    if (!child.dropped) restore(child);
  }
}

function pseudoBody(page: Page): PageElement {
  const body = new PageElement("body", {});
  body.children = page.root.children;
  return body;
}

function isHidden({ attribs }: PageElement): boolean {
  if (attribs.hidden !== undefined && attribs.hidden !== "until-found") return true;
  if (attribs["aria-hidden"] === "true") return true;
  return attribs.style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attribs.style);
}

/** Sums figures from the leaves up; a run of text between two blocks counts as a paragraph of its block. */
function measure(element: PageElement): void {
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
    if (NEVER.has(child.name) || isHidden(child)) {
      child.dropped = true;
      continue;
    }
    measure(child);
    if (child.holdsImage) element.holdsImage = true;
    if (child.name === "a" && child.textLength <= 1 && isPermalink(child)) {
      child.dropped = true;
      continue;
    }
    const links = child.name === "a" ? child.textLength : child.linkLength;
    element.textLength += child.textLength;
    element.punctuation += child.punctuation;
    element.linkLength += links;
    element.linkedHeadings += child.linkedHeadings;
    if (child.isBlock) {
      holdsBlocks = true;
      endRun();
      element.prose += child.name === "a" ? 0 : child.prose;
    } else {
      runText += child.textLength;
      runLinks += links;
      runMarks += child.punctuation;
      if (child.name === "br" && runText > 0 && child.next instanceof PageElement && child.next.name === "br") endRun();
    }
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
function hasPageLink(element: PageElement): boolean {
  return element.children.some(
    (child) =>
      child instanceof PageElement &&
      ((child.name === "a" && child.attribs.href !== undefined && !child.attribs.href.startsWith("#")) ||
        hasPageLink(child)),
  );
}

/** Prose of one paragraph in characters: text outside links, if it reads like a sentence. */
function proseOf(text: number, links: number, marks: number): number {
  const own = text - links;
  if (own < 20 || links > text / 2) return 0;
  if (marks === 0) return own < 80 ? own * 0.1 : own * 0.4;
  return own;
}

const counted = { letters: 0, marks: 0 };

/** Non-white characters, and marks of punctuation in Latin, CJK, Arabic and Indic scripts. */
function countText(data: string): void {
  let letters = 0;
  let marks = 0;
  for (let index = 0; index < data.length; index++) {
    const code = data.charCodeAt(index);
    if (code <= 32 || code === 160) continue;
    letters++;
    if (
      code === 44 ||
      code === 46 ||
      code === 33 ||
      code === 63 ||
      (code >= 0x3001 && code <= 0x3002) ||
      code === 0xff0c ||
      code === 0x060c ||
      code === 0x0964
    ) {
      marks++;
    }
  }
  counted.letters = letters;
  counted.marks = marks;
}

/** Discounts prose behind hints that the amount of prose does not refute. `total` is the page's prose. */
function weigh(element: PageElement, total: number, hints: HintReader): void {
  let below = 0;
  let weighed = 0;
  let leaves = 0;
  let solid = 0;
  for (const child of element.children) {
    if (!(child instanceof PageElement) || child.dropped || !child.isBlock || child.prose === 0) continue;
    weigh(child, total, hints);
    below += child.prose;
    weighed += child.weight;
    if (child.isLeaf) leaves += child.prose;
    else solid = Math.max(solid, child.solid);
  }
  const own = Math.max(0, element.prose - below);
  element.isLeaf = below === 0;
  element.solid = Math.max(solid, own + leaves);
  element.weight = weighed + own;
  if (isHinted(element, total, hints)) element.weight *= HINTED_WEIGHT;
}

function isHinted(element: PageElement, total: number, hints: HintReader): boolean {
  const { name } = element;
  if (name === "body" || name === "html" || name === "main") return false;
  if (isTeaser(element) && element.prose < total * REFUTES_BOILERPLATE) return true;
  if (name === "figcaption") return element.parent instanceof PageElement && element.parent.holdsImage;
  const hint = name === "aside" || name === "footer" ? "boilerplate" : hints.hint(element);
  if (hint === "none") return false;
  return element.prose < total * (hint === "comments" ? REFUTES_COMMENTS : REFUTES_BOILERPLATE);
}

/** Linked headings with a few words each: a list of other articles, or one of them. */
function isTeaser({ linkedHeadings, prose, solid }: PageElement): boolean {
  return linkedHeadings > 0 && prose < linkedHeadings * TEASER_PROSE && solid < TEASER_PROSE;
}

function descend(top: PageElement): PageElement[] {
  let current = top;
  let extras: { before: PageElement[]; after: PageElement[] } = { before: [], after: [] };
  for (;;) {
    const dominant = current.children.find(
      (child): child is PageElement =>
        child instanceof PageElement &&
        !child.dropped &&
        !LEAVES.has(child.name) &&
        child.weight >= current.weight * DOMINANT,
    );
    if (dominant === undefined) return [...extras.before, current, ...extras.after];
    const before: PageElement[] = [];
    const after: PageElement[] = [];
    let side = before;
    for (const child of current.children) {
      if (child === dominant) side = after;
      else if (child instanceof PageElement && !child.dropped && isSiblingContent(child)) side.push(child);
    }
    extras = { before: [...extras.before, ...before], after: [...after, ...extras.after] };
    current = dominant;
  }
}

/** Prose beside the dominant element that belongs to it: a lead, or a part that stands in a box of its own. */
function isSiblingContent(element: PageElement): boolean {
  if (element.weight < 80) return false;
  return element.linkLength < element.textLength * 0.2 && element.weight > element.textLength * 0.7;
}

/** Marks as dropped what is boilerplate inside the content. */
function clean(element: PageElement, root: PageElement, hints: HintReader, prose: boolean): void {
  for (const child of element.children) {
    if (!(child instanceof PageElement) || child.dropped) continue;
    if (isBoilerplate(child, root, hints, prose)) child.dropped = true;
    else clean(child, root, hints, prose);
  }
}

function isBoilerplate(element: PageElement, root: PageElement, hints: HintReader, prose: boolean): boolean {
  if ((prose || !isTeaser(element)) && isHinted(element, root.prose, hints)) return true;
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

/** A page for two screens holds captions or whole paragraphs twice; readers see one. */
function dropRepeats(roots: readonly PageElement[]): void {
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

/** Before the first and after the last paragraph, short lines are bylines, dates and buttons. Headings stay. */
function trimEdges(roots: readonly PageElement[]): void {
  const lines: PageElement[] = [];
  const collect = (element: PageElement): void => {
    if (element.dropped || element.textLength === 0) return;
    if (CONTENT.has(element.name)) lines.push(element);
    else if (
      element.isBlock &&
      element.children.some((child) => child instanceof PageElement && child.isBlock && !child.dropped)
    ) {
      for (const child of element.children) if (child instanceof PageElement) collect(child);
    } else lines.push(element);
  };
  for (const root of roots) collect(root);
  const first = lines.findIndex(isSubstance);
  if (first === -1) return;
  const last = lines.findLastIndex(isSubstance);
  lines.forEach((line, index) => {
    if (index >= first && index <= last) return;
    // What stands among the paragraphs themselves is a short paragraph.
    if (line.parent === lines[index < first ? first : last]?.parent) return;
    if (!roots.includes(line) && headingLevel(line.name) !== 1) line.dropped = true;
  });
}

function isSubstance(line: PageElement): boolean {
  return CONTENT.has(line.name) || line.prose >= 50;
}
