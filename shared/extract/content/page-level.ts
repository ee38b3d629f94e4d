/** What is kept of a page as a whole, and what hints and elements that hold no content have taken from it. */
import { isHidden } from "../parse/hidden.ts";
import { PageElement } from "../parse/page-tree.ts";
import { show } from "./hidden-text.ts";
import { DISBELIEF, isNotice, type PageHints } from "./page-hints.ts";
import { measure, type Notes } from "./prose.ts";

/** Less than this share of a page's prose is too little, unless it is much. */
const TOO_LITTLE = 0.3;
/** Less disbelief is enough where it gives this share of what more would give. */
const ENOUGH = 0.6;
const MUCH_PROSE = 1000;
/** Prose below the headline from which an article is one, and the share of its article that is kept. */
const HEADED_PROSE = 140;
const MOST_OF_ARTICLE = 0.6;
/** Prose of elements that hold no content by their kind, from which they are looked at. */
const ENOUGH_PROSE = 25;
/** Comments may be most of a page: they are its content only where next to nothing else is. */
const BEFORE_COMMENTS = 250;
const BESIDE_COMMENTS = 0.1;

/**
 * Selects the content of a page; where that is too little of its prose, selects it again with less and less belief in
 * hints, up to the least disbelief that gives enough.
 * @param notes of the measure of `top`
 * @param select marks what is no content as dropped
 */
export function selectEnough(
  top: PageElement,
  notes: Notes,
  hints: PageHints,
  headline: PageElement | null,
  select: () => PageElement[],
): PageElement[] {
  let roots = select();
  const measured = new Set(notes.dropped.filter(({ dropped }) => dropped));
  const atFirst = kept(roots, measured, proseOf);
  if (atFirst >= MUCH_PROSE || isHeadedArticle(roots, atFirst, headline)) return roots;
  const unkept = [...measured].filter((element) => isContainer(element) && !isInDropped(element));
  for (const element of unkept) measure(element);
  const texts = unkept.filter((element) => element.prose >= ENOUGH_PROSE && !isNotice(element));
  const total = texts.reduce((sum, { prose }) => sum + prose, top.prose);
  if (atFirst >= total * TOO_LITTLE) return roots;
  const plain = plainOf(top) + total - top.prose;
  if (kept(roots, measured, plainOf) >= plain * TOO_LITTLE) return roots;
  hints.disbelievesComments = atFirst < Math.min(BEFORE_COMMENTS, top.prose * BESIDE_COMMENTS);
  const tryWith = (disbelief: number): number => {
    hints.disbelief = disbelief;
    restore(top, measured);
    roots = select();
    return kept(roots, measured, proseOf);
  };
  let best = { disbelief: DISBELIEF.none, prose: atFirst };
  for (const disbelief of [DISBELIEF.topics, DISBELIEF.names, DISBELIEF.elements]) {
    if (disbelief === DISBELIEF.elements) {
      for (const element of texts) {
        measured.delete(element);
        show(element, top, notes.headings);
      }
    }
    const prose = tryWith(disbelief);
    if (best.prose < prose * ENOUGH) best = { disbelief, prose };
    if (best.prose >= total * ENOUGH) break;
  }
  if (best.disbelief !== hints.disbelief) {
    if (best.disbelief !== DISBELIEF.elements) for (const element of texts) measured.add(element);
    tryWith(best.disbelief);
  }
  return roots;
}

/** Whether most of the article that the headline stands in is kept: what stands beside an article is none of it. */
function isHeadedArticle(roots: readonly PageElement[], prose: number, headline: PageElement | null): boolean {
  let article: unknown = headline?.parent;
  while (article instanceof PageElement && article.name !== "article") article = article.parent;
  if (!(article instanceof PageElement) || prose < HEADED_PROSE || prose < article.prose * MOST_OF_ARTICLE)
    return false;
  const within = article;
  return roots.every((root) => root === within || isWithin(root, within) || isWithin(within, root));
}

function isWithin({ parent }: PageElement, around: PageElement): boolean {
  for (let node: unknown = parent; node instanceof PageElement; node = node.parent) if (node === around) return true;
  return false;
}

/** A list of links, or a dialog that is shown. */
const isContainer = (element: PageElement): boolean =>
  (element.name === "nav" || (element.name === "dialog" && element.attribs.open !== undefined)) && !isHidden(element);

function isInDropped({ parent }: PageElement): boolean {
  for (let node = parent; node instanceof PageElement; node = node.parent) if (node.dropped) return true;
  return false;
}

const proseOf = ({ prose }: PageElement): number => prose;
/** Facts are no prose: dates, prices, addresses. */
const plainOf = ({ textLength, linkLength }: PageElement): number => textLength - linkLength;

/**
 * Sums a figure of what is kept.
 * @param measured dropped before the measure, which left them out of all sums
 */
function kept(
  roots: readonly PageElement[],
  measured: ReadonlySet<PageElement>,
  figure: (element: PageElement) => number,
): number {
  const lost = (element: PageElement): number => {
    let sum = 0;
    for (const child of element.children) {
      if (!(child instanceof PageElement) || child.textLength === 0 || measured.has(child)) continue;
      sum += child.dropped ? figure(child) : lost(child);
    }
    return sum;
  };
  return roots.reduce((sum, root) => (root.dropped ? sum : sum + figure(root) - lost(root)), 0);
}

/** Takes back what a selection dropped. */
function restore(element: PageElement, measured: ReadonlySet<PageElement>): void {
  for (const child of element.children) {
    if (!(child instanceof PageElement)) continue;
    child.dropped = measured.has(child);
    if (!child.dropped) restore(child, measured);
  }
}
