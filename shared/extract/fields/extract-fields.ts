/** Takes named fields from a page, as a schema of CSS selectors says. */
import type { AnyNode } from "domhandler";
import { storable } from "../../platform/text.ts";
import { renderHtml } from "../content/main-html.ts";
import { findAll, type Matcher, selectorsOfPage } from "../content/selectors.ts";
import { baseUrl, resolveUrl } from "../metadata/links.ts";
import { completeTree } from "../parse/complete-tree.ts";
import { collapsedText } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import { parsePage } from "../parse/parse-page.ts";
import type { ExtractionSchema, Field } from "./field-schema.ts";

export type Value = string | null | Value[] | { [name: string]: Value };

/** The page holds more than an answer may. */
export class TooMuchError extends Error {
  override name = "TooMuchError";
}

const ADDRESSES = new Set(["href", "src", "action", "cite", "poster", "formaction", "data", "data-src"]);

/**
 * @param url of the page: addresses become absolute
 * @param maxChars of all values and names together, in UTF-16 code units
 * @returns an object with the names of the schema: null for what is not there, an empty list for what is nowhere
 * @throws SelectorLimitError where the page makes the selectors take too long, TooMuchError beyond `maxChars`
 * @example
 * const schema = { fields: { title: { selector: "h1", type: "text", multiple: false } } };
 * extractFields("<h1>A <b>chair</b>", "https://example.org/", schema, 1_000) // => { title: "A chair" }
 */
export function extractFields(html: string, url: string, { fields }: ExtractionSchema, maxChars: number): Value {
  const page = parsePage(storable(html), { withUnshown: true });
  completeTree(page);
  return new FieldReader(baseUrl(page, url), maxChars).object(page.root, fields);
}

class FieldReader {
  readonly #base: string;
  readonly #compile = selectorsOfPage();
  readonly #matchers = new Map<string, Matcher>();
  readonly #maxChars: number;
  #left: number;

  constructor(base: string, maxChars: number) {
    this.#base = base;
    this.#maxChars = maxChars;
    this.#left = maxChars;
  }

  object(node: AnyNode, fields: Record<string, Field>): Value {
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => {
        this.#spend(name);
        return [name, this.#field(node, field)];
      }),
    );
  }

  #field(node: AnyNode, field: Field): Value {
    const { selector, multiple } = field;
    if (selector === undefined) return this.#value(node, field);
    const matches = this.#matcher(selector);
    if (multiple) return findAll(node, matches).map((element) => this.#value(element, field));
    const first = findFirst(node, matches);
    return first === null ? null : this.#value(first, field);
  }

  #value(node: AnyNode, { type, attribute = "", fields }: Field): Value {
    if (type === "nested") return this.object(node, fields ?? {});
    if (type === "html") return this.#spend(renderHtml(node instanceof PageElement ? [node] : [], this.#base));
    if (!(node instanceof PageElement)) return null;
    if (type === "text") return this.#spend(collapsedText(node));
    const name = attribute.toLowerCase();
    const value = Object.hasOwn(node.attribs, name) ? node.attribs[name] : undefined;
    if (value === undefined) return null;
    return this.#spend(ADDRESSES.has(name) ? (resolveUrl(value.trim(), this.#base) ?? value) : value);
  }

  #matcher(selector: string): Matcher {
    const known = this.#matchers.get(selector);
    if (known !== undefined) return known;
    const matches = this.#compile(selector);
    this.#matchers.set(selector, matches);
    return matches;
  }

  #spend(text: string): string {
    // each value stands between quotes and commas
    this.#left -= text.length + 4;
    if (this.#left < 0) throw new TooMuchError(`The fields hold more than ${this.#maxChars} characters: select less`);
    return text;
  }
}

function findFirst(node: AnyNode, matches: Matcher): PageElement | null {
  for (const child of "children" in node ? node.children : []) {
    if (!(child instanceof PageElement)) continue;
    const found = matches(child) ? child : findFirst(child, matches);
    if (found !== null) return found;
  }
  return null;
}
