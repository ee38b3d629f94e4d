/** Writes the main content as GitHub-flavoured Markdown, in one pass. */
import { type ChildNode, isText } from "domhandler";
import { BLOCK_ELEMENTS, headingLevel, isDataTable, preformattedText } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import { codeLanguage, fenceFor } from "./code.ts";
import { escapeLineStarts, InlineRenderer } from "./inline.ts";
import { tableRows } from "./table.ts";

/** Quotes and lists nested deeper are written at this depth: each level is repeated on every line. */
const MAX_NESTING = 12;

/** Links and images become absolute against `base`. Elements with `dropped` set are left out. */
export function renderMarkdown(roots: readonly ChildNode[], base: string): string {
  const renderer = new MarkdownRenderer(base);
  for (const root of roots) renderer.render(root);
  return renderer.finish();
}

class MarkdownRenderer {
  private readonly writer = new LineWriter();
  private readonly inline: InlineRenderer;
  /** Inline nodes waiting to become one paragraph. */
  private run: ChildNode[] = [];
  /** Where a link leads that holds blocks, until one of them has it. */
  private link: string | null = null;

  constructor(base: string) {
    this.inline = new InlineRenderer(base);
  }

  finish(): string {
    this.flushRun();
    return this.writer.finish();
  }

  render(node: ChildNode): void {
    if (isText(node)) {
      this.run.push(node);
      return;
    }
    if (!(node instanceof PageElement) || node.dropped) return;
    if (!isBlockElement(node)) {
      this.run.push(node);
      return;
    }
    this.flushRun();
    this.renderBlock(node);
    this.flushRun();
  }

  private renderBlock(node: PageElement): void {
    const { name } = node;
    const level = headingLevel(name);
    if (level > 0) this.renderHeading(node, level);
    else if (name === "pre") this.renderCode(node);
    else if (name === "hr") this.writer.paragraph(["---"]);
    else if (name === "blockquote") this.writer.nested("> ", "> ", () => this.renderChildren(node));
    else if (name === "ul" || name === "ol" || name === "menu") this.renderList(node);
    else if (name === "li") this.renderItem(node, "- ");
    else if (name === "dd") this.writer.nested(": ", "  ", () => this.renderChildren(node), true);
    else if (name === "table" && isDataTable(node)) this.renderTable(node);
    else if (name === "a" && this.link === null) this.renderLink(node);
    else this.renderChildren(node);
  }

  /** A link around blocks: the first of them that has a text leads where all of it does. */
  private renderLink(node: PageElement): void {
    this.link = this.inline.target(node);
    this.renderChildren(node);
    this.link = null;
  }

  private linked(text: string): string {
    if (this.link === null || text === "") return text;
    const linked = `[${text}](${this.link})`;
    this.link = null;
    return linked;
  }

  private renderChildren(node: PageElement): void {
    for (const child of node.children) this.render(child);
    this.flushRun();
  }

  private renderHeading(node: PageElement, level: number): void {
    const text = this.linked(this.inline.line(node.children, this.link !== null).replace(/(#+)$/, "\\$1"));
    if (text !== "") this.writer.paragraph([`${"#".repeat(level)} ${text}`]);
  }

  private renderCode(node: PageElement): void {
    const code = preformattedText(node);
    if (code === "") return;
    const fence = fenceFor(code);
    this.writer.paragraph([`${fence}${codeLanguage(node)}`, ...code.split("\n"), fence]);
  }

  private renderList(node: PageElement): void {
    const ordered = node.name === "ol";
    let number = Number.parseInt(node.attribs.start ?? "1", 10);
    if (!Number.isSafeInteger(number) || number < 0 || number > 999_999_999) number = 1;
    this.writer.beginList();
    let width = 2;
    for (const child of node.children) {
      if (!(child instanceof PageElement) || child.dropped) {
        if (child instanceof PageElement || (isText(child) && child.data.trim() === "")) continue;
        this.run.push(child);
      } else if (child.name === "li") {
        this.flushRun();
        const marker = ordered ? `${number}. ` : "- ";
        this.renderItem(child, marker);
        width = marker.length;
        number++;
      } else if (child.name === "ul" || child.name === "ol" || child.name === "menu") {
        // A list straight inside a list belongs to the item before it.
        this.flushRun();
        this.writer.nested("", " ".repeat(width), () => this.renderList(child), true);
      } else this.render(child);
    }
    this.flushRun();
    this.writer.endList();
  }

  private renderItem(node: PageElement, marker: string): void {
    this.writer.nested(marker, " ".repeat(marker.length), () => this.renderChildren(node), true);
  }

  private renderTable(node: PageElement): void {
    for (const child of node.children) {
      if (!(child instanceof PageElement) || child.dropped || child.name !== "caption") continue;
      this.renderChildren(child);
    }
    const rows = tableRows(node, (cell) => this.inline.cell(cell.children));
    if (rows.length > 0) this.writer.paragraph(rows);
  }

  private flushRun(): void {
    if (this.run.length === 0) return;
    const run = this.run;
    this.run = [];
    const text = this.inline.paragraph(run, this.link !== null);
    if (text !== "") this.writer.paragraph(this.linked(escapeLineStarts(text)).split("\n"));
  }
}

/** Inline elements that hold blocks count as blocks, so that a card's heading stays a heading. */
function isBlockElement(node: PageElement): boolean {
  return node.isBlock || BLOCK_ELEMENTS.has(node.name);
}

/** Lines with the prefixes of the quotes and list items they stand in, and the blank lines between blocks. */
class LineWriter {
  private readonly lines: string[] = [];
  private prefix = "";
  /** Prefix of the very next line, where it starts a list item or quote. */
  private first: string | null = null;
  private depth = 0;
  private listDepth = 0;
  private blank: string | null = null;

  paragraph(lines: readonly string[]): void {
    if (this.lines.length > 0 && this.first === null && this.blank !== null) {
      const between = this.blank.length < this.prefix.length ? this.blank : this.prefix;
      this.lines.push(between.trimEnd());
    }
    for (const line of lines) {
      this.lines.push(line === "" ? (this.first ?? this.prefix).trimEnd() : (this.first ?? this.prefix) + line);
      this.first = null;
    }
    this.blank = this.prefix;
  }

  /** Puts `marker` before the first line that `render` writes and `rest` before the others. */
  nested(marker: string, rest: string, render: () => void, tight = false): void {
    if (this.depth >= MAX_NESTING) {
      render();
      return;
    }
    const before = this.prefix;
    const outerFirst = this.first;
    // The blank line that is due stands outside of what begins here.
    if (outerFirst === null && this.blank !== null && !tight && this.lines.length > 0) {
      const between = this.blank.length < before.length ? this.blank : before;
      this.lines.push(between.trimEnd());
      this.blank = null;
    }
    if (tight) this.blank = null;
    const written = this.lines.length;
    if (marker !== "") this.first = (outerFirst ?? before) + marker;
    this.prefix = before + rest;
    this.depth++;
    render();
    this.depth--;
    this.prefix = before;
    if (this.lines.length === written) this.first = outerFirst;
    this.blank = this.lines.length === 0 ? null : before;
  }

  beginList(): void {
    if (this.listDepth === 0 && this.blank !== null && this.first === null && this.lines.length > 0) {
      const between = this.blank.length < this.prefix.length ? this.blank : this.prefix;
      this.lines.push(between.trimEnd());
    }
    if (this.listDepth === 0 || this.first === null) this.blank = null;
    this.listDepth++;
  }

  endList(): void {
    this.listDepth--;
  }

  finish(): string {
    return this.lines.join("\n").trim();
  }
}
