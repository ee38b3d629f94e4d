/** Finds who wrote a page, as far as it says so: in metadata, JSON-LD, then in what the page marks as its author. */
import { collapsedText } from "../parse/element-kinds.ts";
import { type Page, PageElement } from "../parse/page-tree.ts";
import type { StructuredData } from "./structured-data.ts";

const META_NAMES = [
  "author",
  "article:author",
  "citation_author",
  "dc.creator",
  "dcterms.creator",
  "parsely-author",
  "sailthru.author",
  "byl",
];

/** Longest text that can be names, in characters. */
const MAX_NAMES = 120;
const MAX_AUTHORS = 10;

/**
 * Finds the authors of a page.
 * @param meta values of `<meta>` by lower-case name
 * @returns their names as one text, or null where the page names none
 */
export function author(
  page: Page,
  meta: ReadonlyMap<string, readonly string[]>,
  structured: StructuredData,
): string | null {
  for (const name of META_NAMES) {
    const names = namesOf(meta.get(name) ?? []);
    if (names !== null) return names;
  }
  if (structured.author !== null) return namesOf([structured.author]);
  // each of these is as good as all later ones
  for (const isAuthor of [hasItemprop, hasRel, hasClass]) {
    const names = namesOf(page.marked.filter(isAuthor).slice(0, MAX_AUTHORS).map(nameIn));
    if (names !== null) return names;
  }
  return null;
}

const tokens = (text: string | undefined): string[] => text?.toLowerCase().split(/\s+/) ?? [];
const hasItemprop = ({ attribs }: PageElement): boolean => tokens(attribs.itemprop).includes("author");
/** A `<link>` leads to the author, and names nobody. */
const hasRel = ({ name, attribs }: PageElement): boolean => name === "a" && tokens(attribs.rel).includes("author");
const CLASSES = new Set(
  "byline byline-name author author-name post-author entry-author article-author p-author".split(" "),
);
const hasClass = ({ attribs }: PageElement): boolean => tokens(attribs.class).some((each) => CLASSES.has(each));

/** An author who is an item has a name of its own; others are their text. */
function nameIn(element: PageElement): string {
  const { content, title } = element.attribs;
  if (element.name === "meta" || element.name === "link") return content ?? title ?? "";
  const named = element.attribs.itemscope === undefined ? undefined : find(element, "name");
  return collapsedText(named ?? element) || (named?.attribs.content ?? "");
}

function find(element: PageElement, itemprop: string): PageElement | undefined {
  for (const child of element.children) {
    if (!(child instanceof PageElement)) continue;
    const found = tokens(child.attribs.itemprop).includes(itemprop) ? child : find(child, itemprop);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Names as one text, each once; null where none of the values is a name. */
function namesOf(values: readonly string[]): string | null {
  const names = values.map(cleaned).filter((name) => name !== "");
  return names.length === 0 ? null : [...new Set(names)].slice(0, MAX_AUTHORS).join(", ");
}

const BY = /^(?:(?:posted|written|published)\s+by|by|author|von|par|por|di|door)(?:\s*:\s*|\s+)/i;

function cleaned(value: string): string {
  const name = value.replace(/\s+/g, " ").trim().replace(BY, "").trim();
  // the address of a profile is no name, a whole sentence is none either, and a number is no one's
  return name.length > MAX_NAMES || /^(?:https?:|@|\d+$)/i.test(name) || !/\p{L}/u.test(name) ? "" : name;
}
