/** Weighs what the names of a page's elements say against what the elements hold. */
import { isText } from "domhandler";
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { type Page, PageElement } from "../parse/page-tree.ts";
import { isForum } from "./forum.ts";
import { findFurniture, holdsButton } from "./furniture.ts";
import { type Hint, type HintReader, isAmbiguous } from "./hints.ts";
import { isLinked } from "./lines.ts";
import { holdsMeasuredList } from "./quantities.ts";
import { saysReport } from "./report.ts";
import { isOfText } from "./text-flow.ts";

/** A hint is wrong about an element that holds this share of the page's prose. */
const REFUTES = { unsure: 0.4, sure: 0.6, comments: 0.85 };
/** A word is wrong about a page that has hardly any prose without it, if much stands behind the word. */
const WITHOUT_HINTS = 0.3;
const BEHIND_WORD = 0.3;
/** Teasers are the content of a page that says little else. */
const TEASER = "teaser heading";
const BESIDE_TEASERS = 500;
/** Comments may be many: their word is wrong only where next to nothing stands before them. */
const BEFORE_COMMENTS = 250;
/** Prose that one linked heading announces at most, if it is a teaser and not a section whose heading is a link. */
const TEASER_PROSE = 450;
const EXHIBITS = new Set(["pre", "code", "table", "blockquote", "math", "ul", "ol", "p"]);
/** Never the content, however much they hold. */
const NEVER_CONTENT = new Set("role cookie cookies consent gdpr gprd footer sidebar newsletter newsletters".split(" "));

/** Words for what stands below a picture; prose of a story, and the share of it that captions have. */
const CAPTIONS = new Set(["caption", "captions", "figcaption"]);
const STORY_PROSE = 400;
const STORY_IN_CAPTIONS = 0.6;

/** Words for other pages. */
const OTHER_PAGES = new Set("related relateds recommendation recommendations recirculation yarpp".split(" "));

/** Most prose of a notice: a few sentences beside a button or a link. */
const NOTICE_PROSE = 400;
/** Prose beside the headline from which what holds both is no furniture. */
const HEADED_PROSE = 140;
/** Prose beside which a footer is one, however much it holds: imprints are long. */
const BESIDE_FOOTER = 140;
/** Text outside links beside which a short footer is one, and its share of what the footer holds. */
const FACTS = 40;
const SHARE_OF_FACTS = 0.5;
/** Text that a form has for each of its fields at most. */
const TEXT_OF_FIELD = 400;
const MOST_CHAPTERS = 100;
/** Elements around a line of a post. */
const MOST_LEVELS = 8;
/** Text without links from which a menu is one of dishes. */
const TEXT_OF_DISHES = 25;
/** Share of links from which a part under a heading leads away. */
const LINKS_OF_FURNITURE = 0.3;
/** Prose below which a name is believed in any case. */
const BELIEVED_PROSE = 25;

/**
 * Which hints are not believed, each with those before it: none; names that hold a topic beside the hint; all names;
 * what elements and roles say.
 */
export const DISBELIEF = { none: 0, topics: 1, names: 2, elements: 3 };

export class PageHints {
  /** One of `DISBELIEF`. */
  disbelief = DISBELIEF.none;
  /** Whether comments are among the names that are not believed. */
  disbelievesComments = false;
  /** Whether every post of the page is its content. */
  readonly isForum: boolean;
  /** Whether the page says that it is a report of its day. */
  readonly isReport: boolean;
  private readonly reader: HintReader;
  private readonly refuted = new Set<string>();
  /** Whether a menu of the page is one of dishes. */
  private holdsDishes = false;
  /** What holds the headline and a text below it. */
  private readonly headed = new Set<PageElement>();
  /** By shape, whatever the names. */
  private readonly furniture: ReadonlySet<PageElement>;
  private readonly total: number;
  /** Text outside links. */
  private readonly plain: number;

  /**
   * @param body measured
   * @param headline what it stands in is no furniture
   */
  constructor(body: PageElement, page: Page, reader: HintReader, headline: PageElement | null) {
    this.reader = reader;
    this.total = body.prose;
    this.plain = body.textLength - body.linkLength;
    this.isForum = isForum(page, headline);
    this.isReport = saysReport(page);
    if (this.isForum) this.refuted.add("comment");
    this.furniture = findFurniture(body, page, reader, headline, this.isForum);
    for (let node = headline?.parent; node instanceof PageElement; node = node.parent) {
      if (node.prose >= HEADED_PROSE) this.headed.add(node);
    }
    this.refuteWords(body);
    this.refuteBoxes(body, headline);
    this.refuteCaptions(headline);
  }

  /**
   * Whether the name of an element calls it boilerplate, and what it holds does not speak against that.
   * @param total prose of which the element is a part
   */
  applies(element: PageElement, total = this.total): boolean {
    return this.suggests(element, total) && !holdsMeasuredList(element);
  }

  private suggests(element: PageElement, total: number): boolean {
    const { name } = element;
    if (name === "body" || name === "html" || name === "main" || this.headed.has(element)) return false;
    if (this.furniture.has(element)) return true;
    if (isTeaser(element) && element.prose < total * REFUTES.unsure && !this.refuted.has(TEASER)) return true;
    if (name === "figcaption") return isPictureCaption(element) && !this.refuted.has(name);
    if (name === "form" && element.prose < total * REFUTES.unsure && isFilledIn(element)) return true;
    const isNamed = name === "aside" || name === "footer";
    const hint = this.reader.hint(element);
    const { kind, sure, word } = hint;
    if (this.disbelieves(element, hint, isNamed)) return false;
    if (!isNamed && kind !== "none" && this.isChapter(element, kind)) return false;
    if (!isNamed && kind !== "none" && isOfText(element, hint, this.reader, this.total)) return false;
    if (!isNamed) {
      if (kind === "none" || this.refuted.has(word)) return false;
      if (word === "menu" && this.holdsDishes && element.linkLength === 0) return false;
      if (sure ? isWithinSentence(element) : isWithinLine(element) || !isSupported(element)) return false;
    }
    if (element.prose < total * REFUTES[kind === "comments" ? kind : sure ? "sure" : "unsure"]) return true;
    if (name !== "footer" && word !== "footer") return false;
    return total - element.prose >= BESIDE_FOOTER || this.isBesideFacts(element);
  }

  /** Whether it is a post of a thread, or stands in one, and is no link. */
  isOfPost(element: PageElement): boolean {
    if (isLinked(element)) return false;
    let node: unknown = element;
    for (let levels = 0; levels < MOST_LEVELS && node instanceof PageElement; levels++, node = node.parent) {
      if (this.reader.hint(node).kind === "comments" || node.attribs.itemprop === "comment") return true;
    }
    return false;
  }

  /** Whether text stands beside it that may be all that the page has to say. */
  private isBesideFacts({ textLength, linkLength }: PageElement): boolean {
    const own = textLength - linkLength;
    const beside = this.plain - own;
    return beside >= FACTS && beside >= own * SHARE_OF_FACTS;
  }

  /** Whether it is named as other pages that are related to this one. */
  leadsToOthers(element: PageElement): boolean {
    return OTHER_PAGES.has(this.reader.hint(element).word) && this.isBesideFacts(element);
  }

  private disbelieves(element: PageElement, { kind, topical, word }: Hint, isNamed: boolean): boolean {
    const { disbelief } = this;
    if (disbelief === DISBELIEF.none || (kind === "comments" && !this.disbelievesComments)) return false;
    const needed = isNamed || word === "role" ? DISBELIEF.elements : topical ? DISBELIEF.topics : DISBELIEF.names;
    return disbelief >= needed && element.prose >= BELIEVED_PROSE && !isNotice(element);
  }

  /**
   * Whether its id only says what its heading says, as documentation has it: `#cookies` above what cookies are. What
   * is furniture says so by what it holds.
   */
  private isChapter(element: PageElement, kind: Hint["kind"]): boolean {
    const { id } = element.attribs;
    if (id === undefined || element.headings === 0 || this.reader.ofNames(element.attribs.class ?? "").kind !== "none")
      return false;
    const heading = firstHeading(element);
    if (heading === null || !saysWord(collapsedText(heading), id)) return false;
    if (leadsTo(heading, `#${id}`)) return true;
    if (element.linkLength > element.textLength * LINKS_OF_FURNITURE || countFields(element) > 0) return false;
    if (holdsButton(element)) return false;
    return kind !== "comments" || (this.isBesideChapter(element) && !this.holdsComments(element));
  }

  /** Whether the id of a part beside it is its heading, too, and no hint. */
  private isBesideChapter(element: PageElement): boolean {
    const siblings = element.parent?.children ?? [];
    return siblings.slice(0, MOST_CHAPTERS).some((other) => {
      if (!(other instanceof PageElement) || other.name !== element.name || other.attribs.id === undefined)
        return false;
      const heading = other.headings === 0 ? null : firstHeading(other);
      if (heading === null || this.reader.hint(other).kind !== "none") return false;
      return saysWord(collapsedText(heading), other.attribs.id);
    });
  }

  /** Whether each of several has a name or a time of its own. */
  private holdsComments(element: PageElement): boolean {
    return element.children.some(
      (child) =>
        child instanceof PageElement &&
        (child.name === "time" || this.reader.hint(child).kind === "comments" || this.holdsComments(child)),
    );
  }

  /**
   * Finds the words that the boxes of a page builder bear, whatever they hold: one of them holds the headline. A menu
   * of dishes has no links.
   */
  private refuteBoxes(body: PageElement, headline: PageElement | null): void {
    for (let node: unknown = headline; node instanceof PageElement && node !== body; node = node.parent) {
      const { kind, word } = this.reader.hint(node);
      if (kind === "boilerplate" && isAmbiguous(word)) this.refuted.add(word);
    }
    const visit = (element: PageElement): void => {
      for (const child of element.children) {
        if (!(child instanceof PageElement) || child.dropped || child.textLength < TEXT_OF_DISHES) continue;
        const isMenu = this.reader.hint(child).word === "menu" && child.linkLength === 0 && !holdsButton(child);
        if (isMenu) this.holdsDishes = true;
        else visit(child);
      }
    };
    visit(body);
  }

  /** Captions are the text of a story in pictures: the part around the headline has hardly any other prose. */
  private refuteCaptions(headline: PageElement | null): void {
    let part: unknown = headline?.parent;
    while (part instanceof PageElement && !this.headed.has(part)) part = part.parent;
    if (!(part instanceof PageElement)) return;
    const words = new Set<string>();
    const captioned = (element: PageElement): number =>
      element.children.reduce((sum, child) => {
        if (!(child instanceof PageElement) || child.dropped || child.prose === 0) return sum;
        const word = child.name === "figcaption" ? child.name : this.reader.hint(child).word;
        if (!CAPTIONS.has(word)) return sum + captioned(child);
        words.add(word);
        return sum + child.prose;
      }, 0);
    if (part.prose >= STORY_PROSE && captioned(part) >= part.prose * STORY_IN_CAPTIONS)
      for (const word of words) this.refuted.add(word);
  }

  /** Finds the words that most of the page's prose stands behind. */
  private refuteWords(body: PageElement): void {
    const { total } = this;
    const behind = new Map<string, number>();
    /** Prose of the topmost elements that a hint applies to, and of those that are named as comments. */
    let hinted = 0;
    let comments = 0;
    let teasers = 0;
    const visit = (element: PageElement, inHinted: boolean, inComments: boolean): void => {
      for (const child of element.children) {
        if (!(child instanceof PageElement) || child.dropped || child.prose === 0) continue;
        const { kind, word, sure } = this.reader.hint(child);
        if (!inHinted && isTeaser(child) && child.prose < total * REFUTES.unsure) {
          teasers += child.prose;
          continue;
        }
        const counts =
          kind !== "none" &&
          child.prose < total * REFUTES.comments &&
          (sure || isSupported(child)) &&
          !this.isChapter(child, kind);
        if (counts) {
          if (!inHinted) hinted += child.prose;
          // Of nested elements the inner ones count again: an upper bound is enough.
          if (kind === "boilerplate") behind.set(word, (behind.get(word) ?? 0) + child.prose);
          else if (!inComments) comments += child.prose;
        }
        visit(child, inHinted || counts, inComments || (counts && kind === "comments"));
      }
    };
    visit(body, false, false);
    if (total - comments < Math.min(BEFORE_COMMENTS, total * 0.1)) this.refuted.add("comment");
    const rest = total - hinted - teasers;
    if (teasers > total / 2 && rest < BESIDE_TEASERS) this.refuted.add(TEASER);
    if (total - hinted >= total * WITHOUT_HINTS) return;
    for (const [word, prose] of behind) {
      if (prose >= total * BEHIND_WORD && !NEVER_CONTENT.has(word)) this.refuted.add(word);
    }
  }
}

/** The heading that an element begins with. */
function firstHeading(element: PageElement): PageElement | null {
  const first = element.children.find((child) => !isText(child) || child.data.trim() !== "");
  if (!(first instanceof PageElement)) return null;
  if (headingLevel(first.name) > 0) return first;
  return first.name === "div" || first.name === "header" ? firstHeading(first) : null;
}

/** Whether a heading says the word that an id is, alone or before others. */
function saysWord(heading: string, id: string): boolean {
  const said =
    heading
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join("-") ?? "";
  const word = id.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  return said === word || said.startsWith(`${word}-`) || said.endsWith(`-${word}`);
}

const leadsTo = (element: PageElement, href: string): boolean =>
  element.children.some(
    (child) => child instanceof PageElement && (child.attribs.href === href || leadsTo(child, href)),
  );

/** Linked headings with a few words each: a list of other articles, or one of them. */
export function isTeaser(element: PageElement): boolean {
  const { linkedHeadings, prose, solid } = element;
  if (linkedHeadings > 0 && headingLevel(element.name) > 0 && headsProse(element)) return false;
  return linkedHeadings > 0 && prose < linkedHeadings * TEASER_PROSE && solid < TEASER_PROSE;
}

/** Whether a paragraph stands between a heading and the next one. */
function headsProse(heading: PageElement): boolean {
  for (let after = heading.next; after !== null; after = after.next) {
    if (!(after instanceof PageElement)) continue;
    if (after.headings > 0) return false;
    if (after.prose >= BELIEVED_PROSE && after.linkLength < after.textLength * 0.3) return true;
  }
  return false;
}

/** Whether it is a notice or navigation whatever the rest of the page is: a few sentences with buttons, or links. */
export function isNotice(element: PageElement): boolean {
  const { linkLength, prose, textLength } = element;
  if (linkLength > textLength * 0.3) return true;
  return prose < NOTICE_PROSE && (linkLength > 0 || holdsButton(element));
}

/** A word among other words of a line. */
function isWithinLine({ isBlock, prev, next }: PageElement): boolean {
  return (
    !isBlock &&
    ((prev !== null && isText(prev) && /\S/.test(prev.data)) || (next !== null && isText(next) && /\S/.test(next.data)))
  );
}

/** Words of a sentence: with a hole in it, it would say something else. */
function isWithinSentence({ isBlock, prev, next }: PageElement): boolean {
  if (isBlock || prev === null || next === null || !isText(prev) || !isText(next)) return false;
  return /[\p{L}\p{N},;:]["”»’)]?\s*$/u.test(prev.data) && /^\s*["“«‘(]?[\p{L}\p{N}.,;:!?)…]/u.test(next.data);
}

/** Whether a form is there to be filled in, and does not only stand around a page. */
function isFilledIn(form: PageElement): boolean {
  const fields = form.textLength === 0 ? 0 : countFields(form);
  return fields > 0 && form.textLength < fields * TEXT_OF_FIELD;
}

const NO_FIELD = new Set("hidden submit button image reset checkbox radio".split(" "));

function countFields(element: PageElement): number {
  let fields = 0;
  for (const child of element.children) {
    if (!(child instanceof PageElement)) continue;
    if (child.name === "textarea" || (child.name === "input" && !NO_FIELD.has(child.attribs.type ?? ""))) fields++;
    else fields += countFields(child);
  }
  return fields;
}

/** Links or a lack of sentences bear an unsure hint out. */
function isSupported({ textLength, linkLength, prose, headings }: PageElement): boolean {
  return linkLength > textLength * 0.3 || (headings === 0 && prose < Math.min(60, textLength * 0.5));
}

/** Pictures are often put in by a script: a caption is of one, unless its figure holds code, a table or a quote. */
function isPictureCaption(caption: PageElement): boolean {
  if (caption.headings > 0) return false;
  let figure = caption.parent;
  for (let levels = 0; levels < 3 && figure instanceof PageElement && figure.name !== "figure"; levels++) {
    figure = figure.parent;
  }
  return figure instanceof PageElement && figure.name === "figure" && !holdsExhibit(figure, 3);
}

function holdsExhibit(element: PageElement, levels: number): boolean {
  return element.children.some(
    (child) =>
      child instanceof PageElement &&
      ((EXHIBITS.has(child.name) && child.textLength > 0) ||
        (levels > 0 && child.name !== "figcaption" && holdsExhibit(child, levels - 1))),
  );
}
