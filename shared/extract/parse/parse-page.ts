/**
 * HTML text → the tree of page-tree.ts, built on htmlparser2's tokenizer.
 *
 * htmlparser2's own Parser keeps its open elements in an array that it shifts at the front, so that a page nested
 * n deep costs n², and its DomHandler materialises scripts and comments. This builder is linear in the input, closes
 * what HTML closes implicitly, and is at most `MAX_DEPTH` deep, so everything downstream may recurse.
 */
import { Document, Text } from "domhandler";
import { decodeHTML, decodeHTMLAttribute } from "entities";
import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";
import { hasten } from "./hasten.ts";
import {
  BACK_TO,
  BREAKS_OUT_OF_SVG,
  CLOSES,
  CLOSES_P,
  type CloseRule,
  HEAD_ELEMENTS,
  HOLDS_FALLBACK,
  IN_TABLE_FRAME,
  isShadowRoot,
  LINKED_BLOCKS,
  OPAQUE,
  P_RULE,
  RAW_TEXT,
  TABLE_FRAME,
  TABLE_PARTS,
  TABLE_SCOPE,
  VOID,
} from "./html-rules.ts";
import { OpaqueElement } from "./opaque-element.ts";
import { emptyPage, mergeAttributes, noteElement, type Page, PageElement } from "./page-tree.ts";

/** Deeper elements become siblings at this depth; Blink uses the same limit (kMaximumHTMLParserDOMTreeDepth). */
export const MAX_DEPTH = 512;

/** Attribute values beyond this many characters are cut: inline data, never something a reader sees. */
const MAX_ATTRIBUTE = 65_536;

/** How far up a start tag looks for what it closes; keeps the whole build linear. */
const SEARCH_LIMIT = 32;

/**
 * Parses any string; never throws on bad markup. Time is linear in `html.length`.
 * @param withUnshown for selectors, which count what is not shown: elements of `OPAQUE` stand in the tree, dropped, and
 *   `<title>` holds its text
 */
export function parsePage(html: string, { withUnshown = false } = {}): Page {
  const builder = new Builder(html, withUnshown);
  // without entities to look for, the tokenizer jumps to the end of a text or a value: half of all time
  const tokenizer = hasten(new Tokenizer({ decodeEntities: false }, builder));
  tokenizer.write(html);
  tokenizer.end();
  return builder.page;
}

/** Characters behind a start tag in which the end of an open link is looked for. */
const LINK_LIMIT = 4096;

/** What follows `</body>` and `</html>` is shown like what precedes them (HTML 13.2.6.4.19). */
const IGNORED_ENDS = new Set(["body", "html"]);

/** Shown as they are written, entities too (HTML 13.2.5.3 and 13.2.5.5). */
const LITERAL = new Set(["xmp", "plaintext"]);

class Builder implements TokenizerCallbacks {
  readonly page: Page;
  private readonly html: string;
  private readonly withUnshown: boolean;
  private readonly open: (Document | PageElement)[];
  /** Open elements by name, so that an end tag without a start tag costs nothing. */
  private readonly openCount = new Map<string, number>();
  /** Elements beyond MAX_DEPTH that are open but not on the stack. */
  private overflow = 0;
  private text: Text | null = null;
  private name = "";
  /** Behind the name of the last start tag. */
  private position = 0;
  private attributeName = "";
  private attributeValue = "";
  private attributes: Record<string, string> = {};
  /** What is being skipped. */
  private opaque: OpaqueElement | null = null;
  /** Names as they are written, each in lower case once: a page repeats a few of them thousands of times. */
  private readonly names = new Map<string, string>();

  constructor(html: string, withUnshown: boolean) {
    this.html = html;
    this.withUnshown = withUnshown;
    const root = new Document([]);
    this.open = [root];
    this.page = emptyPage(root);
  }

  ontext(start: number, end: number): void {
    if (this.opaque !== null) this.addOpaque(start, end);
    else {
      const data = this.html.slice(start, end);
      const { name } = this.open[this.open.length - 1] as PageElement;
      const isLiteral = LITERAL.has(name) && !this.isInForeignContext();
      this.addText(!isLiteral && data.includes("&") ? decodeHTML(data) : data);
    }
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.opaque !== null) this.addOpaque(start, end - endOffset);
    else this.addText(this.html.slice(start, end - endOffset));
  }

  private addOpaque(start: number, end: number): void {
    if (this.opaque !== null && this.opaque.text !== null) this.opaque.text += this.html.slice(start, end);
  }

  /** The tokenizer leaves entities to the builder. */
  ontextentity(): void {}
  onattribentity(): void {}

  onopentagname(start: number, end: number): void {
    this.name = this.nameAt(start, end);
    this.position = end;
    this.attributes = {};
  }

  private nameAt(start: number, end: number): string {
    const written = this.html.slice(start, end);
    let name = this.names.get(written);
    if (name === undefined) {
      name = written.toLowerCase();
      this.names.set(written, name);
    }
    return name;
  }

  onattribname(start: number, end: number): void {
    this.attributeName = this.nameAt(start, end);
    this.attributeValue = "";
  }

  onattribdata(start: number, end: number): void {
    const value = this.html.slice(start, Math.min(end, start + MAX_ATTRIBUTE));
    this.attributeValue = value.includes("&") ? decodeHTMLAttribute(value) : value;
  }

  onattribend(): void {
    if (!Object.hasOwn(this.attributes, this.attributeName)) this.attributes[this.attributeName] = this.attributeValue;
    this.attributeValue = "";
  }

  onopentagend(): void {
    this.start(false);
  }

  onselfclosingtag(): void {
    this.start(this.isInForeignContext());
  }

  onclosetag(start: number, end: number): void {
    const name = this.nameAt(start, end);
    if (this.opaque === null) {
      this.close(name);
      return;
    }
    const ended = this.opaque.close(name);
    if (ended === "itself") this.endOpaque();
    else if (ended === "outside" && this.isOpenAround(name)) {
      this.endOpaque();
      this.close(name);
    }
  }

  /** Whether an end tag ends an element around the opaque one, and so that, too. */
  private isOpenAround(name: string): boolean {
    if (this.opaque === null || RAW_TEXT.has(this.opaque.name) || IGNORED_ENDS.has(name)) return false;
    return (this.openCount.get(name) ?? 0) > 0;
  }

  /** Inside `<svg>`, `<script/>` and `<title/>` do close themselves. */
  isInForeignContext(): boolean {
    return this.opaque?.name === "svg" || (this.openCount.get("math") ?? 0) > 0;
  }

  oncomment(): void {
    this.text = null;
  }
  ondeclaration(): void {}
  onprocessinginstruction(): void {}

  onend(): void {
    if (this.opaque !== null) this.endOpaque();
  }

  private start(selfClosed: boolean): void {
    const name = this.name === "image" ? "img" : this.name;
    if (this.opaque !== null) {
      if (this.opaque.name === "svg" && name === "a") this.noteSvgLink();
      if (!(this.opaque.isBareSvg && BREAKS_OUT_OF_SVG.has(name))) {
        if (!selfClosed && !VOID.has(name)) this.opaque.open(name);
        return;
      }
      this.endOpaque();
    }
    const isUnshown = OPAQUE.has(name) && !isShadowRoot(name, this.attributes);
    if (isUnshown && !(this.withUnshown && HOLDS_FALLBACK.has(name))) {
      const element = new PageElement(name, this.attributes);
      if (name === "iframe") noteElement(this.page, element);
      if (this.withUnshown) {
        element.dropped = true;
        this.append(element);
      }
      if (selfClosed) return;
      const isData = name === "script" && /ld\+json/i.test(this.attributes.type ?? "");
      const tex = name === "script" ? /^\s*math\/tex(.*)/i.exec(this.attributes.type ?? "") : null;
      this.opaque = new OpaqueElement(name, isData || tex !== null ? "" : null);
      if (tex !== null) this.opaque.formula = /mode\s*=\s*display/i.test(tex[1] ?? "") ? "block" : "inline";
      return;
    }
    const { html, body } = this.page;
    if (name === "html" && html !== null) {
      mergeAttributes(html, this.attributes);
      return;
    }
    if (name === "body" && body !== null) {
      mergeAttributes(body, this.attributes);
      return;
    }
    if (name === "head" && body !== null) return;
    if (body === null && !HEAD_ELEMENTS.has(name)) this.beginBody();
    this.closeImplied(name);
    const { name: outer } = this.open[this.open.length - 1] as PageElement;
    const isInFrame = this.isTableFrame(outer);
    if (isInFrame && outer !== "tr" && (name === "td" || name === "th")) this.imply("tr");
    const element = new PageElement(name, this.attributes);
    element.dropped = isUnshown;
    if (isInFrame && !IN_TABLE_FRAME.has(name)) this.appendBeforeTable(element);
    else this.append(element);
    if (!isUnshown && !this.isInFallback()) noteElement(this.page, element);
    // rows and cells do not stand in a form
    if (VOID.has(name) || selfClosed || (isInFrame && name === "form")) return;
    this.push(element);
  }

  private isInFallback(): boolean {
    if (!this.withUnshown) return false;
    for (const name of HOLDS_FALLBACK) if ((this.openCount.get(name) ?? 0) > 0) return true;
    return false;
  }

  /** A link in a drawing leads somewhere, though nothing else of it is read (SVG 2, section 16.2). */
  private noteSvgLink(): void {
    const href = this.attributes.href ?? this.attributes["xlink:href"];
    if (href !== undefined) this.page.hrefs.push(href);
  }

  /** What is no part of a head ends it (HTML 13.2.6.4.4, "anything else"). */
  private beginBody(): void {
    if ((this.openCount.get("noscript") ?? 0) > 0) return;
    this.popTo(Math.max(1, this.open.indexOf(this.page.html as PageElement) + 1));
    if (this.page.html === null) this.imply("html");
    this.imply("body");
  }

  private imply(name: string): void {
    const element = new PageElement(name, {});
    this.append(element);
    noteElement(this.page, element);
    this.push(element);
  }

  private push(element: PageElement): void {
    const { name } = element;
    if (this.open.length > MAX_DEPTH) {
      this.overflow++;
      return;
    }
    this.open.push(element);
    this.openCount.set(name, (this.openCount.get(name) ?? 0) + 1);
  }

  private closeImplied(name: string): void {
    if (CLOSES_P.has(name) && (this.openCount.get("p") ?? 0) > 0) this.closeParagraph(name);
    const implied = CLOSES[name];
    if (implied !== undefined) this.closeUpwards(implied);
    if ((this.openCount.get("table") ?? 0) === 0) return;
    if (name === "table") this.closeFrame();
    const back = BACK_TO[name];
    if (back !== undefined)
      this.popTo(this.open.findLastIndex((element) => back.has((element as PageElement).name)) + 1);
  }

  /** A link that is open in the paragraph goes on around the block (HTML 13.2.4.3, active formatting elements). */
  private closeParagraph(name: string): void {
    const link = LINKED_BLOCKS.has(name) ? this.openLink() : null;
    this.closeUpwards(P_RULE);
    if (link === null || this.open.includes(link)) return;
    const copy = new PageElement("a", link.attribs);
    this.append(copy);
    if (!this.isInFallback()) noteElement(this.page, copy);
    this.push(copy);
  }

  /** The link that is open in the paragraph, if it ends before another one begins: some are never closed. */
  private openLink(): PageElement | null {
    if ((this.openCount.get("a") ?? 0) === 0) return null;
    const inner = this.open.slice(-SEARCH_LIMIT) as PageElement[];
    const link = inner.findLast(({ name }) => name === "a" || name === "p");
    if (link?.name !== "a" || link.attribs.href === undefined) return null;
    const behind = this.html.slice(this.position, this.position + LINK_LIMIT);
    return /<\/?a[\s>]/i.exec(behind)?.[0][1] === "/" ? link : null;
  }

  /** A table stands in a cell or a caption of another one, or ends it. */
  private closeFrame(): void {
    const frame = this.open.findLastIndex((element) => TABLE_SCOPE.has((element as PageElement).name));
    if ((this.open[frame] as PageElement).name === "table") this.popTo(frame);
  }

  /** Whether it is a part of a table, and not one that stands alone. */
  private isTableFrame(name: string): boolean {
    return TABLE_FRAME.has(name) && (this.openCount.get("table") ?? 0) > 0;
  }

  private closeUpwards({ closes, until }: CloseRule): void {
    const lowest = Math.max(1, this.open.length - SEARCH_LIMIT);
    for (let index = this.open.length - 1; index >= lowest; index--) {
      const { name } = this.open[index] as PageElement;
      if (closes.has(name)) {
        this.popTo(index);
        return;
      }
      if (until.has(name)) return;
    }
  }

  private close(name: string): void {
    if (IGNORED_ENDS.has(name)) return;
    if ((this.openCount.get(name) ?? 0) === 0) {
      if (this.overflow > 0) this.overflow--;
      else if (name === "br") this.append(new PageElement("br", {}));
      return;
    }
    if (this.overflow > 0) {
      this.overflow--;
      return;
    }
    const leavesTables = TABLE_PARTS.has(name);
    for (let index = this.open.length - 1; index > 0; index--) {
      const element = this.open[index] as PageElement;
      if (element.name === name) {
        this.popTo(index);
        return;
      }
      if (!leavesTables && TABLE_SCOPE.has(element.name)) return;
    }
  }

  private popTo(index: number): void {
    while (this.open.length > index) {
      const { name } = this.open.pop() as PageElement;
      this.openCount.set(name, (this.openCount.get(name) ?? 1) - 1);
    }
    this.text = null;
  }

  private endOpaque(): void {
    const { text, formula } = this.opaque ?? { text: null, formula: null };
    this.opaque = null;
    if (text === null) return;
    if (formula === null) this.page.jsonLd.push(text);
    else if (this.page.body !== null) {
      const element = new PageElement("math", { alttext: text, display: formula });
      this.append(element);
      noteElement(this.page, element);
    }
  }

  private addText(data: string): void {
    const { name, children } = this.open[this.open.length - 1] as PageElement;
    if (this.page.body === null && name !== "title" && data.trim() !== "") this.beginBody();
    if (name === "title") {
      if (this.withUnshown) children.push(new Text(data));
      if (this.page.title === null || this.text !== null) this.page.title = (this.page.title ?? "") + data;
      this.text ??= new Text("");
      return;
    }
    const isMoved = this.isTableFrame(name) && data.trim() !== "";
    if (this.text !== null && (!isMoved || this.text.parent !== this.open[this.open.length - 1])) {
      this.text.data += data;
      return;
    }
    const text = new Text(data);
    if (isMoved) this.appendBeforeTable(text, text);
    else this.append(text, text);
  }

  /** The innermost open table is the last child of its parent. */
  private appendBeforeTable(node: PageElement | Text, text: Text | null = null): void {
    const table = this.open.findLast((element) => (element as PageElement).name === "table") as PageElement;
    const { parent, prev } = table;
    if (parent === null) return;
    node.parent = parent;
    node.prev = prev;
    node.next = table;
    if (prev !== null) prev.next = node;
    table.prev = node;
    parent.children.splice(-1, 0, node);
    this.text = text;
  }

  private append(node: PageElement | Text, text: Text | null = null): void {
    const parent = this.open[this.open.length - 1] as PageElement;
    const previous = parent.children[parent.children.length - 1];
    if (previous !== undefined) {
      node.prev = previous;
      previous.next = node;
    }
    node.parent = parent;
    parent.children.push(node);
    this.text = text;
  }
}
