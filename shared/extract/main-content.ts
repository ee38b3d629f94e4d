/** Finds the main content of a page: scores what reads like prose, picks its container, drops the boilerplate in it. */
import { type ChildNode, isText } from "domhandler";
import { BLOCK_ELEMENTS, headingLevel } from "./element-kinds.ts";
import { type Page, PageElement } from "./page-tree.ts";

/** Never content, wherever they stand. */
const NEVER = new Set(
  "head title meta link noscript input select option optgroup datalist button textarea progress meter embed param source track area map base nav dialog".split(
    " ",
  ),
);

const UNLIKELY =
  /(?:^|[\s_-])(?:ad|ads|advert(?:isement)?s?|banner|breadcrumbs?|byline|comments?|disqus|cookies?|consent|gdpr|footer|foot|masthead|menu|modal|nav|navbar|navigation|newsletter|pager|pagination|popup|promo|recirc|recommended|recommendations?|related|share|sharing|social|sidebar|sponsored?|subscribe|subscription|signup|tags|toolbar|tooltip|widget|outbrain|taboola|skip)(?:$|[\s_-])/i;
const LIKELY = /article|body|content|main|post|entry|story|text|column/i;
const POSITIVE = /article|body|content|entry|hentry|h-entry|main|page|post|text|blog|story|prose|markdown/i;
const NEGATIVE =
  /-ad-|hidden|^hid$| hid$| hid |^hid |banner|combx|comment|com-|contact|footer|gdpr|masthead|media|meta|outbrain|promo|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping|tags|widget/i;

export interface MainContent {
  /** In document order; elements below them with `dropped` set are not content. */
  roots: ChildNode[];
}

export function findMainContent(page: Page): MainContent {
  const top = page.body ?? page.html;
  const roots: ChildNode[] = top !== null ? [top] : page.root.children;
  for (const root of roots) if (root instanceof PageElement) measure(root, true);
  let best: PageElement | null = null;
  const candidates: PageElement[] = [];
  for (const root of roots) if (root instanceof PageElement) collect(root, candidates);
  let bestScore = 0;
  for (const candidate of candidates) {
    const score = candidate.score * (1 - linkDensity(candidate));
    if (score > bestScore) {
      bestScore = score;
      best = candidate;
    }
  }
  if (best === null || best.textLength < 100) return { roots };
  return { roots: [best] };
}

function collect(element: PageElement, into: PageElement[]): void {
  if (element.dropped) return;
  if (element.score > 0) into.push(element);
  for (const child of element.children) if (child instanceof PageElement) collect(child, into);
}

export function linkDensity(element: PageElement): number {
  return element.textLength === 0 ? 0 : element.linkLength / element.textLength;
}

function isHidden({ attribs }: PageElement): boolean {
  if (attribs.hidden !== undefined && attribs.hidden !== "until-found") return true;
  if (attribs["aria-hidden"] === "true") return true;
  return attribs.style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attribs.style);
}

function measure(element: PageElement, top: boolean): void {
  const { name, attribs } = element;
  if (!top) {
    const hint = `${attribs.class ?? ""} ${attribs.id ?? ""}`;
    if (
      NEVER.has(name) ||
      name === "footer" ||
      name === "aside" ||
      isHidden(element) ||
      (hint.length > 1 && name !== "article" && name !== "main" && UNLIKELY.test(hint) && !LIKELY.test(hint))
    ) {
      element.dropped = true;
      return;
    }
  }
  let blocks = false;
  for (const child of element.children) {
    if (isText(child)) {
      const { data } = child;
      let length = 0;
      let marks = 0;
      for (let index = 0; index < data.length; index++) {
        const code = data.charCodeAt(index);
        if (code > 32) length++;
        if (code === 44 || code === 0x3001 || code === 0x3002 || code === 0xff0c) marks++;
      }
      element.textLength += length;
      element.punctuation += marks;
    } else if (child instanceof PageElement) {
      measure(child, false);
      if (child.dropped) continue;
      if (BLOCK_ELEMENTS.has(child.name)) blocks = true;
      element.textLength += child.textLength;
      element.punctuation += child.punctuation;
      element.linkLength += child.name === "a" ? child.textLength : child.linkLength;
    }
  }
  if (
    element.textLength >= 25 &&
    (name === "p" ||
      name === "pre" ||
      name === "td" ||
      (!blocks && BLOCK_ELEMENTS.has(name) && headingLevel(name) === 0))
  ) {
    const score = 1 + element.punctuation + Math.min(element.textLength / 100, 3);
    let level = 0;
    for (let parent = element.parent; parent instanceof PageElement && level < 5; parent = parent.parent, level++) {
      if (parent.score === 0) parent.score = classWeight(parent);
      parent.score += score / (level === 0 ? 1 : level === 1 ? 2 : level * 3);
    }
  }
}

function classWeight({ name, attribs }: PageElement): number {
  let weight = name === "div" ? 5 : name === "article" || name === "main" ? 10 : 0;
  for (const value of [attribs.class, attribs.id]) {
    if (value === undefined) continue;
    if (NEGATIVE.test(value)) weight -= 25;
    if (POSITIVE.test(value)) weight += 25;
  }
  return weight;
}
