/** Writes the main content as clean text, with its section tree and its blocks in exact ranges. */
import { type ChildNode, isText } from "domhandler";
import type { Block, Extraction, Section } from "../extraction.ts";
import { BLOCK_ELEMENTS, collapseSpace, headingLevel, isDataTable, preformattedText } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";

type TextParts = Pick<Extraction, "text" | "sections" | "blocks">;

/**
 * Paragraphs are separated by an empty line; list items, table rows and `<br>` by a newline; table cells by " | ".
 * Preformatted text keeps its white space. Dropped elements are left out.
 */
export function renderText(roots: readonly ChildNode[]): TextParts {
  const writer = new TextWriter();
  for (const root of roots) {
    writer.separate(2);
    renderNode(root, writer);
  }
  return writer.finish();
}

/** Gives a text without markup the same shape: one section, one block of prose. */
export function plainTextParts(text: string): TextParts {
  const writer = new TextWriter();
  for (const paragraph of text.split(/\n[^\S\n]*\n/)) {
    writer.separate(2);
    for (const line of paragraph.split("\n")) {
      writer.separate(1);
      writer.write(line);
    }
  }
  return writer.finish();
}

function renderNode(node: ChildNode, writer: TextWriter): void {
  if (isText(node)) {
    writer.write(node.data);
    return;
  }
  if (!(node instanceof PageElement) || node.dropped) return;
  const { name } = node;
  const level = headingLevel(name);
  if (level > 0) {
    renderHeading(node, level, writer);
    return;
  }
  switch (name) {
    case "br":
      writer.separate(1);
      return;
    case "hr":
      writer.separate(2);
      return;
    case "pre":
      writer.separate(2);
      writer.within("code", () => writer.writePreformatted(preformattedText(node)));
      writer.separate(2);
      return;
    case "ul":
    case "ol":
    case "menu":
    case "dl":
      writer.separate(writer.kind === "list" ? 1 : 2);
      writer.within("list", () => renderChildren(node, writer));
      writer.separate(writer.kind === "list" ? 1 : 2);
      return;
    case "li":
    case "dt":
    case "dd":
      writer.separate(1);
      renderChildren(node, writer);
      writer.separate(1);
      return;
    case "table":
      if (isDataTable(node)) {
        writer.separate(2);
        writer.within("table", () => renderTable(node, writer));
        writer.separate(2);
        return;
      }
      break;
  }
  if (BLOCK_ELEMENTS.has(name)) {
    const gap = writer.kind === "list" || writer.kind === "table" ? 1 : 2;
    writer.separate(gap);
    renderChildren(node, writer);
    writer.separate(gap);
    return;
  }
  renderChildren(node, writer);
}

function renderChildren(node: PageElement, writer: TextWriter): void {
  for (const child of node.children) renderNode(child, writer);
}

function renderHeading(node: PageElement, level: number, writer: TextWriter): void {
  if (writer.kind === "table" || writer.inHeading) {
    writer.separate(1);
    renderChildren(node, writer);
    writer.separate(1);
    return;
  }
  writer.separate(2);
  const { kind } = writer;
  writer.within("prose", () => writer.heading(level, () => renderChildren(node, writer)));
  writer.separate(kind === "list" ? 1 : 2);
}

function renderTable(node: PageElement, writer: TextWriter): void {
  for (const child of node.children) {
    if (!(child instanceof PageElement) || child.dropped) continue;
    if (child.name === "tr") {
      writer.separate(1);
      let first = true;
      for (const cell of child.children) {
        if (!(cell instanceof PageElement) || cell.dropped) continue;
        if (!first) writer.cellBreak();
        first = false;
        writer.inline(() => renderChildren(cell, writer));
      }
      writer.separate(1);
    } else if (child.name === "caption") {
      writer.separate(1);
      renderChildren(child, writer);
      writer.separate(1);
    } else renderTable(child, writer);
  }
}

class TextWriter {
  kind: Block["kind"] = "prose";
  private parts: string[] = [];
  private length = 0;
  /** Newlines outstanding before the next character; a space where 0 and `space`. */
  private newlines = 0;
  private space = false;
  private cells = 0;
  private inlineDepth = 0;
  /** Changes with each code block or table, so that neighbours stay apart. */
  private owner = 0;
  private owners = 0;
  private lastOwner = -1;
  private readonly blocks: Block[] = [];
  private readonly headings: { level: number; start: number; end: number }[] = [];
  private openHeading: { level: number; start: number; end: number } | null = null;

  separate(newlines: number): void {
    if (this.inlineDepth > 0) this.space = true;
    else if (newlines > this.newlines) this.newlines = newlines;
  }

  cellBreak(): void {
    this.cells++;
  }

  /** Everything written inside stays on one line. */
  inline(render: () => void): void {
    this.inlineDepth++;
    render();
    this.inlineDepth--;
  }

  within(kind: Block["kind"], render: () => void): void {
    const before = { kind: this.kind, owner: this.owner };
    this.kind = kind;
    if (kind === "code" || kind === "table") this.owner = ++this.owners;
    else this.owner = 0;
    render();
    this.kind = before.kind;
    this.owner = before.owner;
  }

  get inHeading(): boolean {
    return this.openHeading !== null;
  }

  heading(level: number, render: () => void): void {
    const heading = { level, start: -1, end: -1 };
    this.openHeading = heading;
    this.inline(render);
    this.openHeading = null;
    if (heading.start >= 0) this.headings.push(heading);
  }

  write(data: string): void {
    const collapsed = collapseSpace(data);
    if (collapsed === "") return;
    if (collapsed === " ") {
      this.space = true;
      return;
    }
    const from = collapsed.startsWith(" ") ? 1 : 0;
    const to = collapsed.endsWith(" ") ? collapsed.length - 1 : collapsed.length;
    if (from === 1) this.space = true;
    this.put(collapsed.slice(from, to));
    this.space = to < collapsed.length;
  }

  writePreformatted(data: string): void {
    if (data !== "") this.put(this.inlineDepth > 0 ? data.replace(/\s+/g, " ").trim() : data);
    this.space = false;
  }

  private put(data: string): void {
    if (data === "") return;
    if (this.length > 0) {
      if (this.newlines > 0) this.append("\n".repeat(this.newlines));
      else if (this.cells > 0) this.append(" | ".repeat(this.cells));
      else if (this.space) this.append(" ");
    }
    this.newlines = 0;
    this.cells = 0;
    this.space = false;
    const start = this.length;
    this.append(data);
    const last = this.blocks[this.blocks.length - 1];
    if (last !== undefined && last.kind === this.kind && this.lastOwner === this.owner) last.end = this.length;
    else this.blocks.push({ kind: this.kind, start, end: this.length });
    this.lastOwner = this.owner;
    if (this.openHeading !== null) {
      if (this.openHeading.start < 0) this.openHeading.start = start;
      this.openHeading.end = this.length;
    }
  }

  private append(data: string): void {
    this.parts.push(data);
    this.length += data.length;
  }

  finish(): TextParts {
    const text = this.parts.join("");
    return { text, sections: sectionTree(text, this.headings), blocks: this.blocks };
  }
}

/** Sections cover the text without gaps: each one reaches to the next heading. */
function sectionTree(text: string, headings: readonly { level: number; start: number; end: number }[]): Section[] {
  const sections: Section[] = [];
  if (text === "") return sections;
  const firstHeading = headings[0]?.start ?? text.length;
  if (firstHeading > 0) sections.push({ heading: null, level: 0, start: 0, end: firstHeading, parent: null });
  const ancestors: number[] = [];
  headings.forEach((heading, index) => {
    while (ancestors.length > 0 && (sections[ancestors.at(-1) as number]?.level ?? 0) >= heading.level) ancestors.pop();
    sections.push({
      heading: text.slice(heading.start, heading.end),
      level: heading.level,
      start: heading.start,
      end: headings[index + 1]?.start ?? text.length,
      parent: ancestors.at(-1) ?? null,
    });
    ancestors.push(sections.length - 1);
  });
  return sections;
}
