/** The part of HTML's tree construction that decides where an element ends (WHATWG HTML 13.2.6.4.7). */

export interface CloseRule {
  /** Open elements that the start tag ends. */
  closes: ReadonlySet<string>;
  /** Where the search for one of them stops. */
  until: ReadonlySet<string>;
}

export const VOID = new Set(
  (
    "area base basefont bgsound br col command embed frame hr img input isindex keygen link meta param source " +
    "track wbr"
  ).split(" "),
);

/** Elements that leave no node at all, with everything below them. */
export const OPAQUE = new Set(
  "script style svg template iframe object canvas noframes noembed applet audio video".split(" "),
);

/** Of these, the ones that hold elements: what browsers without them would show. */
export const HOLDS_FALLBACK = new Set("object canvas applet audio video".split(" "));

/** Of these, the ones whose content is text for tokenizers: no tag but their own ends them. */
export const RAW_TEXT = new Set("script style template iframe noframes noembed".split(" "));

/** Whether a `<template>` is a shadow root, which browsers show (HTML 13.2.6.4.4, "declarative shadow root"). */
export const isShadowRoot = (name: string, attributes: Readonly<Record<string, string>>): boolean =>
  name === "template" && /^(?:open|closed)$/i.test(attributes.shadowrootmode ?? "");

/** Start tags of HTML that end an `<svg>` around them (HTML 13.2.6.5). */
export const BREAKS_OUT_OF_SVG = new Set(
  (
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta " +
    "nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
  ).split(" "),
);

/** Start tags that stand in a head, or before it: any other begins the body. */
export const HEAD_ELEMENTS = new Set(
  "html head body base basefont bgsound link meta title noscript frameset frame".split(" "),
);

/** Start tags that close an open `<p>` (HTML 13.2.6.4.7). */
export const CLOSES_P = new Set(
  (
    "address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre section summary table ul"
  ).split(" "),
);

/** Of these, the blocks that a link goes on around where it stood in the `<p>` that they close. */
export const LINKED_BLOCKS = new Set(
  "address article aside blockquote details div figure h1 h2 h3 h4 h5 h6 header hgroup ol p pre section ul".split(" "),
);

/** What an element of `CLOSES_P` does to an open `<p>`. */
export const P_RULE: CloseRule = rule("p", "table td th button caption body object");
const HEADING_RULE = rule("h1 h2 h3 h4 h5 h6", "div section article li td th main body");

/** A start tag closes an open element of the first list, searched upwards to a boundary of the second. */
export const CLOSES: Readonly<Record<string, CloseRule>> = {
  li: rule("li", "ul ol menu dir table td th body"),
  dt: rule("dt dd", "dl table td th body"),
  dd: rule("dt dd", "dl table td th body"),
  option: rule("option", "select datalist optgroup body"),
  optgroup: rule("option optgroup", "select body"),
  td: rule("td th", "tr table body"),
  th: rule("td th", "tr table body"),
  tr: rule("tr", "table body"),
  tbody: rule("thead tbody tfoot", "table body"),
  thead: rule("thead tbody tfoot", "table body"),
  tfoot: rule("thead tbody tfoot", "table body"),
  a: rule("a", "table td th body object"),
  body: rule("head", "html"),
  rt: rule("rt rp", "ruby body"),
  rp: rule("rt rp", "ruby body"),
  ...Object.fromEntries(["h1", "h2", "h3", "h4", "h5", "h6"].map((name) => [name, HEADING_RULE])),
};

/** An end tag does not reach beyond these: `</div>` inside a cell leaves the table alone. */
export const TABLE_SCOPE = new Set(["td", "th", "table", "caption"]);
export const TABLE_PARTS = new Set(["table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "html", "body"]);

/** Of a table, what holds no text itself: what stands there is shown before the table (HTML 13.2.6.1). */
export const TABLE_FRAME = new Set(["table", "colgroup", "tbody", "thead", "tfoot", "tr"]);
/** What may stand there; anything else is moved. Scripts and the like leave no node. */
export const IN_TABLE_FRAME = new Set([..."caption col form".split(" "), ...TABLE_FRAME, "td", "th"]);

/** Start tags that go back to the table around them, whatever is open within it, each with where it may stand. */
export const BACK_TO: Readonly<Record<string, ReadonlySet<string>>> = {
  ...Object.fromEntries("caption colgroup tbody thead tfoot".split(" ").map((name) => [name, new Set(["table"])])),
  col: new Set(["colgroup", "table"]),
  tr: new Set(["table", "tbody", "thead", "tfoot"]),
  td: new Set(["table", "tbody", "thead", "tfoot", "tr"]),
  th: new Set(["table", "tbody", "thead", "tfoot", "tr"]),
};

function rule(closes: string, until: string): CloseRule {
  return { closes: new Set(closes.split(" ")), until: new Set(until.split(" ")) };
}
