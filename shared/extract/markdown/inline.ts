/** Writes inline Markdown: emphasis, code, links, images, and escapes only where the text would mean something else. */
import { type ChildNode, isText } from "domhandler";
import { imageSource } from "../metadata/images.ts";
import { resolveUrl } from "../metadata/links.ts";
import { BLOCK_ELEMENTS, collapsedText, collapseSpace, INVISIBLE } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import { longestTickRun } from "./code.ts";

const STRONG = new Set(["strong", "b"]);
const EMPHASIS = new Set(["em", "i", "cite", "var", "dfn"]);
const CODE = new Set(["code", "kbd", "samp", "tt"]);
const STRUCK = new Set(["del", "s", "strike"]);

interface Context {
  lineBreak: string;
  inLink: boolean;
  inStrong: boolean;
  inEmphasis: boolean;
}

/** Writes the inline content of one page. */
export class InlineRenderer {
  private readonly base: string;

  constructor(base: string) {
    this.base = base;
  }

  /** One paragraph; `<br>` is a hard line break. */
  paragraph(nodes: readonly ChildNode[], inLink = false): string {
    return tidy(this.render(nodes, { ...context("  \n"), inLink }));
  }

  /** One line, for a heading. */
  line(nodes: readonly ChildNode[], inLink = false): string {
    return tidy(this.render(nodes, { ...context(" "), inLink }));
  }

  /** @returns where a link leads, as Markdown writes it; null where it leads nowhere */
  target({ attribs: { href } }: PageElement): string | null {
    const url = href === undefined ? null : /^mailto:/i.test(href.trim()) ? href.trim() : resolveUrl(href, this.base);
    return url === null ? null : destination(url);
  }

  /** One table cell: a line with its pipes escaped. */
  cell(nodes: readonly ChildNode[]): string {
    return tidy(this.render(nodes, context("<br>")))
      .replace(/^(?:<br>)+|(?:<br>)+$/g, "")
      .replaceAll("|", "\\|");
  }

  private render(nodes: readonly ChildNode[], context: Context): string {
    const parts: string[] = [];
    // The end of what is written, kept apart: reading it off the joined text would be quadratic.
    let tail = "";
    for (const node of nodes) {
      const piece = isText(node)
        ? escapeText(collapseSpace(node.data), context.inLink)
        : node instanceof PageElement && !node.dropped
          ? this.renderElement(node, context)
          : "";
      if (piece === "") continue;
      const joined = join(parts, tail, piece);
      tail = (joined.length < 4 ? tail + joined : joined).slice(-4);
    }
    return parts.join("");
  }

  private renderElement(node: PageElement, context: Context): string {
    const { name, children } = node;
    if (name === "br") return context.lineBreak;
    if (name === "img") return this.image(node);
    if (CODE.has(name)) return codeSpan(node);
    if (name === "a") return this.link(node, context);
    if (name === "math") return formula(node);
    if (name === "q") return `“${this.render(children, context).trim()}”`;
    if (STRONG.has(name) && !context.inStrong) return wrap("**", this.render(children, { ...context, inStrong: true }));
    if (EMPHASIS.has(name) && !context.inEmphasis) {
      return wrap("*", this.render(children, { ...context, inEmphasis: true }));
    }
    if (STRUCK.has(name)) return wrap("~~", this.render(children, context));
    const text = this.render(children, context);
    // Blocks inside a cell or heading: kept apart by a line break.
    return BLOCK_ELEMENTS.has(name) && text.trim() !== ""
      ? `${context.lineBreak}${text.trim()}${context.lineBreak}`
      : text;
  }

  private link(node: PageElement, context: Context): string {
    if (context.inLink) return this.render(node.children, context);
    const text = this.render(node.children, { ...context, inLink: true });
    const target = this.target(node);
    if (target === null || text.trim() === "") return text;
    const label = text.trim().replaceAll(/\s*\n/g, " ");
    const [before, after] = outerSpace(text);
    return `${before}[${label}](${target})${after}`;
  }

  private image(node: PageElement): string {
    const source = imageSource(node, this.base);
    if (source === null) return "";
    const alt = (node.attribs.alt ?? "").replace(/\s+/g, " ").trim().slice(0, 500);
    return `![${escapeText(alt, true)}](${destination(source)})`;
  }
}

function context(lineBreak: string): Context {
  return { lineBreak, inLink: false, inStrong: false, inEmphasis: false };
}

/** WHATWG serialisation leaves no spaces, but parentheses would end the destination. */
function destination(url: string): string {
  return /[()<>\s]/.test(url) ? `<${url.replaceAll("<", "%3C").replaceAll(">", "%3E").replace(/\s/g, "%20")}>` : url;
}

/** TeX stands as it is: between dollar signs nothing is escaped. */
function formula(node: PageElement): string {
  const tex = collapsedText(node);
  if (tex === "") return "";
  return node.attribs.display === "block" ? `$$${tex}$$` : `$${tex}$`;
}

function codeSpan(node: PageElement): string {
  const parts: string[] = [];
  const collect = (child: ChildNode): void => {
    if (isText(child)) parts.push(child.data);
    else if (child instanceof PageElement && !child.dropped) for (const inner of child.children) collect(inner);
  };
  collect(node);
  const code = parts.join("").replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
  if (code === "") return "";
  const fence = "`".repeat(longestTickRun(code) + 1);
  const space = code.startsWith("`") || code.endsWith("`") ? " " : "";
  return fence + space + code + space + fence;
}

/** White space moves out of the markers: `** a **` is no emphasis. */
function wrap(marker: string, text: string): string {
  const inner = text.trim();
  if (inner === "") return text === "" ? "" : " ";
  if (inner.includes("\n\n")) return text;
  const [before, after] = outerSpace(text);
  return before + marker + inner + marker + after;
}

function outerSpace(text: string): [string, string] {
  return [/^\s/.test(text) ? " " : "", /\s$/.test(text) ? " " : ""];
}

const MARKED_END = /(?![*~])[\p{P}\p{S}](?:\*{1,3}|~~)$/u;
const MARKED_START = /^(?:\*{1,3}|~~)(?=[^\s*~])[\p{P}\p{S}]/u;

const LAST_MARKS = /(?<=[\p{L}\p{N}])[.,;:!?…»”’"'。，：；！？]{1,8}$/u;
const FIRST_MARKS = /^(\*{1,3}|~~)([.,;:…«“‘"'(¡¿\s]{1,8})(?=[\p{L}\p{N}])/u;

/**
 * `**Note:**text` is no emphasis in CommonMark (6.2: a closing run after punctuation needs a space or punctuation
 * behind it), so the marks go out of the emphasis; where they cannot, a space goes between.
 * @returns the piece as it was written
 */
function join(parts: string[], tail: string, piece: string): string {
  let written = piece;
  const head = piece.slice(0, 4);
  if (/^[\p{L}\p{N}]/u.test(head)) {
    if (MARKED_END.test(tail) && !tail.startsWith("\\")) {
      const last = marksBehind(parts.at(-1) ?? "");
      if (last === null) parts.push(" ");
      else parts[parts.length - 1] = last;
    }
  } else if (head.startsWith("[") && tail.endsWith("!") && parts.at(-1)?.endsWith("!")) {
    // a link that is no image
    parts[parts.length - 1] = `${parts.at(-1)?.slice(0, -1)}\\!`;
  } else if (/[\p{L}\p{N}]$/u.test(tail) && MARKED_START.test(head)) {
    const first = FIRST_MARKS.exec(piece.slice(0, 16));
    if (first === null) parts.push(" ");
    else written = `${first[2]}${first[1]}${piece.slice(first[0].length)}`;
  }
  parts.push(written);
  return written;
}

/** @returns the text with the last punctuation of an emphasis behind it; null where something else stands there */
function marksBehind(text: string): string | null {
  const marker = /(?:\*{1,3}|~~)$/.exec(text.slice(-3))?.[0] ?? "";
  const inner = text.slice(0, text.length - marker.length);
  const marks = LAST_MARKS.exec(inner.slice(-10))?.[0];
  return marks === undefined ? null : inner.slice(0, -marks.length) + marker + marks;
}

function tidy(text: string): string {
  if (!/\n| {2}|<br>/.test(text)) return text.trim();
  return text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ *\n */g, "\n")
    .replace(/^\s+|\s+$/g, "")
    .replace(/\n{2,}/g, "\n")
    .replace(/ *(?:<br> *)+/g, "<br>")
    .replace(/\n/g, "  \n");
}

const SPECIAL = /[\\*_`[\]<&~]/;
/** What the end of a text may be the first half of, goes on in the next element. */
const ESCAPES =
  /\\(?=[!-/:-@[-`{-~]|$)|`|\*(?!\s)|(?<=\S)\*|(?<![\p{L}\p{N}])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}])|<(?=[a-z/!?]|$)|&(?=#?\w{1,31};)|&#?$|~(?=~)|(?<=~)~|\[(?=[^\]\n]{0,200}\](?:\(|\[|:))/giu;

/** Escapes what Markdown would read as markup in running text; `a * b`, `snake_case` and `[1]` stay as they are. */
function escapeText(text: string, inBrackets: boolean): string {
  if (!SPECIAL.test(text)) return text;
  const escaped = text.replace(ESCAPES, "\\$&");
  return inBrackets ? escaped.replace(/(?<!\\)[[\]]/g, "\\$&") : escaped;
}

/** Escapes what would start a heading, list, quote, rule, fence or definition at the beginning of a line. */
export function escapeLineStarts(text: string): string {
  if (!/^[#>\d=~+*|:_[-]/.test(text) && !text.includes("\n")) return text;
  return (
    text
      // the target of links, a note, or a task
      .replace(/^\[(?=(?:\\.|[^[\]\\]){1,999}\]:|[ x]\]\s)/is, "\\[")
      .replace(/^(#{1,6})(?=\s|$)/gm, "\\$1")
      .replace(/^([-+*])(?=\s|$)/gm, "\\$1")
      .replace(/^(\d{1,9})([.)])(?=\s|$)/gm, "$1\\$2")
      .replace(/^>/gm, "\\>")
      // a rule, what makes a heading of the line before, or a table of it
      .replace(/^(?=(?:-{2,}|=+|_(?:[^\S\n]*_){2,})[^\S\n]*$)/gm, "\\")
      .replace(/^(?=[|:-][|: -]*$)(?=.*[|:])/gm, "\\")
      .replace(/^~~~/gm, "\\~~~")
  );
}
