/**
 * Main content → clean HTML: the elements that carry meaning, and of their attributes only those that a reader needs.
 * What is left out is unwrapped, so that no text is lost; boxes go, and text that stood straight in them becomes
 * paragraphs.
 */
import { type ChildNode, isText } from "domhandler";
import { codeLanguage } from "../markdown/code.ts";
import { imageSource } from "../metadata/images.ts";
import { resolveUrl } from "../metadata/links.ts";
import { BLOCK_ELEMENTS, collapseSpace, isDataTable, preformattedText } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";

const BLOCKS = new Set(
  "h1 h2 h3 h4 h5 h6 p ul ol li dl dt dd blockquote figure figcaption table caption thead tbody tfoot tr th td".split(
    " ",
  ),
);
/** Blocks that hold blocks: text straight in them stays as it is, without a paragraph of its own. */
const HOLDS_TEXT = new Set("h1 h2 h3 h4 h5 h6 p li dt dd figure figcaption caption th td".split(" "));
const INLINE = new Set(
  "a abbr b bdi bdo cite code del dfn em i ins kbd mark q rp rt ruby s samp small strong sub sup time u var wbr".split(
    " ",
  ),
);

/** What MathML shows formulas with (MathML Core, section 3). */
const MATH = new Set(
  (
    "mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup " +
    "msup mtable mtd mtext mtr munder munderover"
  ).split(" "),
);

/** Links and images become absolute against `base`. Elements with `dropped` set are left out. */
export function renderHtml(roots: readonly ChildNode[], base: string): string {
  const renderer = new HtmlRenderer(base);
  renderer.flow(roots, true);
  return renderer.finish();
}

/** A text that was no HTML, as it stands. */
export const textAsHtml = (text: string): string => `<pre>${escapeText(text)}</pre>`;

class HtmlRenderer {
  private readonly base: string;
  private readonly parts: string[] = [];

  constructor(base: string) {
    this.base = base;
  }

  finish(): string {
    return this.parts.join("\n");
  }

  /** @param paragraphs whether inline runs become paragraphs */
  flow(nodes: readonly ChildNode[], paragraphs: boolean): void {
    let run = "";
    const flush = () => {
      const text = run.trim();
      run = "";
      if (text !== "") this.parts.push(paragraphs ? `<p>${text}</p>` : text);
    };
    for (const node of nodes) {
      if (!isBlock(node)) run += this.inline(node);
      else if (!node.dropped) {
        flush();
        this.block(node, paragraphs);
      }
    }
    flush();
  }

  private block(node: PageElement, paragraphs: boolean): void {
    const { name } = node;
    if (name === "pre") {
      const language = codeLanguage(node);
      const code = escapeText(preformattedText(node));
      if (code !== "") this.parts.push(`<pre><code${language && ` class="language-${language}"`}>${code}</code></pre>`);
    } else if (name === "hr") this.parts.push("<hr>");
    else if (name === "a") this.link(node, paragraphs);
    else if (!BLOCKS.has(name) || (isTablePart(name) && !isInDataTable(node))) this.flow(node.children, paragraphs);
    else this.wrapped(node);
  }

  /** A link around blocks stays around them. */
  private link(node: PageElement, paragraphs: boolean): void {
    const inner = new HtmlRenderer(this.base);
    inner.flow(node.children, paragraphs);
    const href = resolveUrl(node.attribs.href?.trim() ?? "", this.base);
    if (node.attribs.href === undefined || href === null || inner.parts.length === 0) this.parts.push(...inner.parts);
    else this.parts.push(`<a href="${escapeAttribute(href)}">\n${inner.finish()}\n</a>`);
  }

  /** Nothing is written for an element that holds nothing, except for the cells of a table. */
  private wrapped(node: PageElement): void {
    const { name } = node;
    const inner = new HtmlRenderer(this.base);
    inner.flow(node.children, !HOLDS_TEXT.has(name));
    const isCell = name === "td" || name === "th";
    if (inner.parts.length === 0 && !isCell) return;
    const separator = inner.parts.length > 1 ? "\n" : "";
    this.parts.push(`<${name}${attributesOf(node)}>${separator}${inner.finish()}${separator}</${name}>`);
  }

  private inline(node: ChildNode): string {
    if (isText(node)) return escapeText(collapseSpace(node.data));
    if (!(node instanceof PageElement) || node.dropped) return "";
    const { name } = node;
    if (name === "br") return "<br>";
    if (name === "img") return this.image(node);
    if (name === "math") return formula(node);
    const inner = node.children.map((child) => this.inline(child)).join("");
    if (name === "a") {
      const href = resolveUrl(node.attribs.href?.trim() ?? "", this.base);
      return node.attribs.href === undefined || href === null || inner.trim() === ""
        ? inner
        : `<a href="${escapeAttribute(href)}">${inner}</a>`;
    }
    if (!INLINE.has(name) || inner.trim() === "") return inner;
    return `<${name}${attributesOf(node)}>${inner}</${name}>`;
  }

  private image(node: PageElement): string {
    const source = imageSource(node, this.base);
    if (source === null) return "";
    const alt = collapseSpace(node.attribs.alt ?? "").trim();
    return `<img src="${escapeAttribute(source)}" alt="${escapeAttribute(alt)}">`;
  }
}

function formula(math: PageElement): string {
  const inner = mathMl(math.children).trim();
  if (inner === "") return "";
  return `<math${math.attribs.display === "block" ? ' display="block"' : ""}>${inner}</math>`;
}

/** Within formulas no HTML is left: what stands there is text. */
function mathMl(nodes: readonly ChildNode[]): string {
  return nodes
    .map((node) => {
      if (isText(node)) return escapeText(collapseSpace(node.data));
      if (!(node instanceof PageElement) || node.dropped) return "";
      const inner = mathMl(node.children);
      return MATH.has(node.name) ? `<${node.name}>${inner}</${node.name}>` : inner;
    })
    .join("");
}

function isBlock(node: ChildNode): node is PageElement {
  return node instanceof PageElement && (node.isBlock || BLOCK_ELEMENTS.has(node.name));
}

const isTablePart = (name: string): boolean => /^(table|caption|thead|tbody|tfoot|tr|th|td)$/.test(name);

/** Tables that only lay out the page are unwrapped with all their parts. */
function isInDataTable(part: PageElement): boolean {
  for (let node: unknown = part; node instanceof PageElement; node = node.parent) {
    if (node.name === "table") return isDataTable(node);
  }
  return false;
}

const NUMBERS: Record<string, readonly string[]> = {
  td: ["colspan", "rowspan"],
  th: ["colspan", "rowspan"],
  ol: ["start"],
};

function attributesOf({ name, attribs }: PageElement): string {
  let text = "";
  for (const attribute of NUMBERS[name] ?? []) {
    const value = attribs[attribute]?.trim() ?? "";
    if (/^\d{1,6}$/.test(value)) text += ` ${attribute}="${value}"`;
  }
  if (name === "time" && attribs.datetime) text += ` datetime="${escapeAttribute(attribs.datetime)}"`;
  return text;
}

const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const escapeAttribute = (text: string): string => escapeText(text).replaceAll('"', "&quot;");
