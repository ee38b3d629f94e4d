/** The tree of a page: its elements, and what is noted of them while it is built. */
import { type Document, Element } from "domhandler";
import { refreshTarget } from "./refresh.ts";

/** Page elements carry the figures that scoring sums up, so that no second tree or map is needed. */
export class PageElement extends Element {
  /** Set when the element and all below it is not content. */
  dropped = false;
  /** Non-white characters of text below, without what is dropped. */
  textLength = 0;
  /** Of these, the characters inside links. */
  linkLength = 0;
  /** Of these, the characters of addresses to write to or to call: facts as much as links. */
  addressLength = 0;
  /** Commas and sentence ends below, in any script: prose has them, menus do not. */
  punctuation = 0;
  /** Characters below that read like sentences and stand outside links. */
  prose = 0;
  /** `prose`, with what stands behind hints of boilerplate discounted. */
  weight = 0;
  /** `textLength` without what stands behind hints of boilerplate, and of that what is outside links. */
  shown = 0;
  plain = 0;
  /** Headings below. */
  headings = 0;
  /** Of these, the ones that are links to other pages. */
  linkedHeadings = 0;
  /** Most prose that stands together below, in one element and its paragraphs. */
  solid = 0;
  holdsImage = false;
  /** Its prose is its own, not that of blocks below. */
  isLeaf = true;
  /** A block by name, or an inline element that holds one. */
  isBlock = false;
}

/** What is noted while the tree is built, in document order, so that nobody walks the tree again for it. */
export interface Page {
  root: Document;
  html: PageElement | null;
  body: PageElement | null;
  /** First `<base href>`, unresolved. */
  baseHref: string | null;
  /** Where the page leads: `href` of `<a>` and `<area>`, what its frames show, and where it refreshes to. */
  hrefs: string[];
  /** `<a>` and `<area>` with an `href`. */
  anchors: PageElement[];
  metas: PageElement[];
  linkTags: PageElement[];
  times: PageElement[];
  /** What `rel`, `itemprop` or a customary class marks as author, and what `itemprop` marks as date of publication. */
  marked: PageElement[];
  /** What says something by its shape: raised and lowered text, readings, formulas. */
  notations: PageElement[];
  /** What is named as line numbers of code, and marks of numbered lines. */
  gutters: PageElement[];
  /** What is named as code, each line in a box. */
  listings: PageElement[];
  /** Fields for a password or an address. */
  fields: PageElement[];
  /** Fields for a text. */
  areas: PageElement[];
  /** Buttons that say whether what they unfold is shown. */
  unfolding: PageElement[];
  jsonLd: string[];
  /** Types of schema.org that elements are of. */
  types: string[];
  title: string | null;
  h1: PageElement | null;
}

/** Makes a page of which nothing is noted yet. */
export function emptyPage(root: Document): Page {
  return {
    root,
    html: null,
    body: null,
    baseHref: null,
    hrefs: [],
    anchors: [],
    metas: [],
    linkTags: [],
    times: [],
    marked: [],
    notations: [],
    gutters: [],
    listings: [],
    fields: [],
    areas: [],
    unfolding: [],
    jsonLd: [],
    types: [],
    title: null,
    h1: null,
  };
}

/** Notes an element that has begun, with its attributes. */
export function noteElement(page: Page, element: PageElement): void {
  const { name, attribs } = element;
  // the whole page names no author
  if (isMark(attribs) && name !== "body" && name !== "html") page.marked.push(element);
  if (isGutter(attribs)) page.gutters.push(element);
  if (attribs.class === "katex-html") page.notations.push(element);
  if (attribs.itemtype !== undefined) page.types.push(attribs.itemtype);
  switch (name) {
    case "sup":
    case "sub":
    case "ruby":
    case "math":
      page.notations.push(element);
      break;
    case "a":
    case "area":
      if (attribs.href !== undefined) {
        page.hrefs.push(attribs.href);
        page.anchors.push(element);
      } else if (attribs.name !== undefined && LINE_MARK.test(attribs.name)) page.gutters.push(element);
      break;
    case "div":
      if (attribs.class !== undefined && LISTING.test(attribs.class)) page.listings.push(element);
      break;
    case "base":
      if (page.baseHref === null && attribs.href !== undefined) page.baseHref = attribs.href;
      break;
    case "meta":
      page.metas.push(element);
      noteRefresh(page, attribs);
      break;
    case "frame":
    case "iframe":
      if (attribs.src !== undefined) page.hrefs.push(attribs.src);
      break;
    case "link":
      page.linkTags.push(element);
      break;
    case "time":
      page.times.push(element);
      break;
    case "html":
      page.html ??= element;
      break;
    case "body":
      page.body ??= element;
      break;
    case "h1":
      page.h1 ??= element;
      break;
    case "textarea":
      page.areas.push(element);
      break;
    case "button":
      if (attribs["aria-expanded"] !== undefined) page.unfolding.push(element);
      break;
    case "input":
      if (attribs.type === "password" || attribs.type === "email") page.fields.push(element);
      break;
  }
}

/** A second `<html>` or `<body>` adds what the first one lacks. */
export function mergeAttributes(target: PageElement, attributes: Record<string, string>): void {
  target.attribs = { ...attributes, ...target.attribs };
}

/** A page that sends its readers on, as sites do whose home page is only that, links there. */
function noteRefresh(page: Page, attribs: Record<string, string>): void {
  if (attribs["http-equiv"]?.trim().toLowerCase() !== "refresh") return;
  const target = refreshTarget(attribs.content ?? "");
  if (target !== null) page.hrefs.push(target);
}

/** Rough, since every element is asked: metadata.ts looks closer. */
const MARK = /author|byline|datepublished/i;
const isMark = ({ rel, itemprop, class: names }: Record<string, string>): boolean =>
  (itemprop !== undefined && MARK.test(itemprop)) ||
  (rel !== undefined && MARK.test(rel)) ||
  (names !== undefined && MARK.test(names));

/** As Doxygen names them. */
const LINE_MARK = /^l\d{5,}$/;
const LISTING = /^fragment(?:\s|$)/;
/** As Pygments, Rouge, Chroma, Prism, highlight.js, SyntaxHighlighter, Hexo, Doxygen and GitHub name them. */
const GUTTER = /(?:\b|_)(?:lineno(?:s|div)?|line-?num(?:bers?)?|gutter|lnt?|blob-num)(?:$|\s)/i;
const isGutter = ({ class: names, "data-line-number": line }: Record<string, string>): boolean =>
  line !== undefined || (names !== undefined && GUTTER.test(names));
