/** Makes headings of the buttons that unfold the parts of a text: questions with their answers, above all. */
import { type ChildNode, isText } from "domhandler";
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";

/** Characters of a label, and of a text that it heads, at least; and of a label at most. */
const SHORTEST = 3;
const TEXT_OF_PANEL = 20;
const LONGEST = 200;
/** Share of links from which a panel is a menu. */
const LINKS_OF_MENU = 0.5;
/** Characters and nodes of a panel that are looked at, and buttons of a page. */
const MOST_TEXT = 400;
const MOST_NODES = 400;
const MOST_BUTTONS = 1000;
/** Elements around a button that hold nothing else, and those around it that say what it is. */
const MOST_WRAPPERS = 3;
const MOST_LEVELS = 12;
/** What its button is no heading in. */
const NO_TEXT = new Set(
  "nav menu form dialog table th dt summary legend header footer aside label h1 h2 h3 h4 h5 h6".split(" "),
);
const NO_TEXT_ROLE = /^(?:navigation|menu|menubar|toolbar|dialog|search|banner|contentinfo|tree|listbox|heading)$/;
const ACCORDION = /accordion|faq|question/i;
const QUESTION = /[?？؟;]$/u;

interface Fold {
  /** The button, or what stands around it and holds nothing else. */
  label: PageElement;
  panel: PageElement;
  text: string;
  isNamed: boolean;
}

/**
 * Puts each label of an accordion in a heading, one level below the one above it. One button alone is one only where
 * it asks or its name says so: "Read more" heads nothing.
 * @param buttons that unfold something, in document order
 */
export function headPanels(buttons: readonly PageElement[], top: PageElement): void {
  const folds = buttons.slice(0, MOST_BUTTONS).flatMap((button) => foldOf(button) ?? []);
  const texts = new Set(folds.map(({ text }) => text));
  const labels = folds.filter(({ text, isNamed }) => isNamed || QUESTION.test(text) || texts.size > 1);
  if (labels.length === 0) return;
  const panels = new Set(labels.map(({ panel }) => panel));
  const heads = new Map(labels.map(({ label }) => [label, 0]));
  setLevels(top, panels, heads);
  for (const [label, level] of heads) if (level > 0) wrap(label, `h${level}`);
}

function foldOf(button: PageElement): Fold | null {
  const text = collapsedText(button);
  if (text.length < SHORTEST || text.length > LONGEST || button.attribs["aria-haspopup"] !== undefined) return null;
  let isNamed = ACCORDION.test(button.attribs.class ?? "");
  let node = button.parent;
  for (let level = 0; level < MOST_LEVELS && node instanceof PageElement; level++, node = node.parent) {
    if (NO_TEXT.has(node.name) || NO_TEXT_ROLE.test(node.attribs.role ?? "")) return null;
    if (level < MOST_WRAPPERS) isNamed ||= ACCORDION.test(node.attribs.class ?? "");
  }
  let label = button;
  for (let level = 0; level < MOST_WRAPPERS; level++) {
    const panel = following(label);
    if (panel !== null) return isPanel(panel, button) ? { label, panel, text, isNamed } : null;
    const { parent } = label;
    if (!(parent instanceof PageElement) || !isAlone(label)) return null;
    label = parent;
  }
  return null;
}

/** The element that follows, if no text stands between. */
function following({ next }: PageElement): PageElement | null {
  let node = next;
  while (node !== null && isText(node) && node.data.trim() === "") node = node.next;
  return node instanceof PageElement ? node : null;
}

const isAlone = (element: PageElement): boolean =>
  element.parent?.children.every((child) => child === element || (isText(child) && child.data.trim() === "")) === true;

/** Whether it is the part that the button names, if it names one, and holds a text. */
function isPanel(panel: PageElement, { attribs }: PageElement): boolean {
  const named = attribs["aria-controls"];
  if (panel.name === "button" || headingLevel(panel.name) > 0) return false;
  if (named !== undefined && panel.attribs.id !== named && !holdsId(panel, named)) return false;
  const { text, links } = textOf(panel);
  return text >= TEXT_OF_PANEL && links < text * LINKS_OF_MENU;
}

const holdsId = (panel: PageElement, id: string): boolean =>
  panel.children.some((child) => child instanceof PageElement && child.attribs.id === id);

/** Characters at the beginning of a part, and those of links among them. */
function textOf(panel: PageElement): { text: number; links: number } {
  const found = { text: 0, links: 0 };
  let nodes = 0;
  const visit = (node: ChildNode, isInLink: boolean): void => {
    if (++nodes > MOST_NODES || found.text > MOST_TEXT) return;
    if (isText(node)) {
      const { length } = node.data.trim();
      found.text += length;
      if (isInLink) found.links += length;
    } else if (node instanceof PageElement) {
      for (const child of node.children) visit(child, isInLink || node.name === "a");
    }
  };
  visit(panel, false);
  return found;
}

/** Headings within a panel are below its label's, and say nothing about the next one. */
function setLevels(top: PageElement, panels: ReadonlySet<PageElement>, heads: Map<PageElement, number>): void {
  const visit = (element: PageElement, above: number): number => {
    let current = above;
    for (const child of element.children) {
      if (!(child instanceof PageElement)) continue;
      if (heads.has(child)) heads.set(child, Math.min(6, current + 1));
      else if (panels.has(child)) visit(child, Math.min(6, current + 1));
      else current = headingLevel(child.name) || visit(child, current);
    }
    return current;
  };
  visit(top, 1);
}

function wrap(element: PageElement, name: string): void {
  const { parent, prev, next } = element;
  if (parent === null) return;
  const heading = new PageElement(name, {});
  Object.assign(heading, { parent, prev, next, children: [element] });
  if (prev !== null) prev.next = heading;
  if (next !== null) next.prev = heading;
  parent.children[parent.children.indexOf(element)] = heading;
  Object.assign(element, { parent: heading, prev: null, next: null });
}
