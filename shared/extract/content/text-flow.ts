/** Tells a paragraph of a text from furniture by where it stands and how it reads, whatever its name. */
import { isText } from "domhandler";
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import { holdsButton } from "./furniture.ts";
import type { Hint, HintReader } from "./hints.ts";

/** Prose of the shortest paragraph that is told by how it reads, and of one beside it. */
const PARAGRAPH = 40;
const NEIGHBOUR = 25;
/** Prose of the longest that is: time stays linear where they are nested. */
const LONGEST = 4000;
/** Prose of a page up to which a box amid its paragraphs is one of them: a long page says more by its boxes. */
const SMALL_PAGE = 2500;
/** Share of links up to which a neighbour is text. */
const LINKS_OF_TEXT = 0.3;
/** Siblings that are looked at on each side. */
const MOST_SIBLINGS = 8;

const PARAGRAPHS = new Set("p li blockquote dd".split(" "));
const ITEMS = new Set(["li", "dd"]);
const FLOW = new Set("p blockquote ul ol pre".split(" "));
const BOXES = new Set("div section article ul ol".split(" "));
/** Words for what lies over a page: it stands at either end. */
const LAYERS = new Set("cookie cookies consent gdpr gprd popup modal overlay".split(" "));
const CAPTIONS = new Set(["caption", "captions", "credit"]);
const COPYRIGHT = /^(?:©|\(c\)|copyright\b)/iu;
const SENTENCE_END = /[.!?。！？…؟।]["”»’)]?$/u;

/**
 * Whether an element with a name of furniture is a paragraph among others, or, on a small page, a box amid paragraphs:
 * whole sentences without a link, a picture or a button. A box at either end must bear a topic in its name.
 * @param total prose of the page
 */
export function isOfText(element: PageElement, hint: Hint, reader: HintReader, total: number): boolean {
  const { name, prose, linkLength, holdsImage } = element;
  if (prose < PARAGRAPH || prose > LONGEST || linkLength > 0 || holdsImage) return false;
  if (!BOXES.has(name) && !PARAGRAPHS.has(name)) return false;
  const isParagraph = PARAGRAPHS.has(name);
  if (!isParagraph && total > SMALL_PAGE) return false;
  const isAlike = ITEMS.has(name) ? (other: PageElement) => other.name === name : isOfFlow(element);
  const before = stands(element, "prev", reader, isAlike);
  const after = stands(element, "next", reader, isAlike);
  if (!before && !after) return false;
  if (!(before && after)) {
    if (LAYERS.has(hint.word) || (hint.kind === "comments" && !after)) return false;
    if (!isParagraph && !hint.topical) return false;
  }
  if (CAPTIONS.has(hint.word) && isBesidePicture(element)) return false;
  const text = collapsedText(element);
  return SENTENCE_END.test(text) && !COPYRIGHT.test(text) && !holdsButton(element);
}

/** Paragraphs, and parts that begin with a heading as the element does. */
function isOfFlow(element: PageElement): (other: PageElement) => boolean {
  const level = levelOf(element);
  return (other) => FLOW.has(other.name) || (level > 0 && other.name === element.name && levelOf(other) === level);
}

/** Whether a text of the kind asked for, without a hint in its name, stands on one side of an element. */
function stands(
  element: PageElement,
  side: "prev" | "next",
  reader: HintReader,
  isAlike: (other: PageElement) => boolean,
): boolean {
  let node = element[side];
  for (let looked = 0; node !== null && looked < MOST_SIBLINGS; node = node[side]) {
    if (!(node instanceof PageElement) || node.dropped || node.textLength === 0) continue;
    looked++;
    if (node.prose < NEIGHBOUR || node.linkLength > node.textLength * LINKS_OF_TEXT || !isAlike(node)) continue;
    if (reader.hint(node).kind === "none") return true;
  }
  return false;
}

function levelOf({ children }: PageElement): number {
  const first = children.find((child) => !isText(child) || child.data.trim() !== "");
  return first instanceof PageElement ? headingLevel(first.name) : 0;
}

function isBesidePicture({ prev, next }: PageElement): boolean {
  const [before, behind] = [prev, next].map((side, at) => {
    let node = side;
    while (node !== null && isText(node) && node.data.trim() === "") node = at === 0 ? node.prev : node.next;
    return node;
  });
  return [before, behind].some(
    (node) => node instanceof PageElement && (node.holdsImage || /^(?:img|picture|video|svg|iframe)$/.test(node.name)),
  );
}
