/** Says what class names, ids and roles suggest about an element. They are hints only: the text decides. */
import type { PageElement } from "../parse/page-tree.ts";

/** `comments` are prose too, and often more of it than the article; `boilerplate` surrounds the content. */
export type Hint = "none" | "boilerplate" | "comments";

const COMMENTS = new Set(
  "comment comments commentlist commenting disqus replies respond responses livefyre".split(" "),
);

const BOILERPLATE = new Set(
  // navigation and page furniture
  (
    "nav navbar navigation menu submenu breadcrumb breadcrumbs pager pagination footer foot masthead sidebar " +
    "rail skip toolbar topbar tooltip rollover hovercard sitemap toc-mobile " +
    // consent, sign-up, selling
    "cookie cookies consent gdpr gprd modal popup overlay newsletter newsletters subscribe subscription signup " +
    "paywall promo promos promobox promotion ad ads adbox adslot advert advertisement advertising sponsor sponsored " +
    "sponsors donate cta outbrain taboola zergnet " +
    // sharing
    "share shares sharing sharebar sharedaddy social addthis addtoany sociable " +
    // other pages
    "related relateds recommended recommendation recommendations recirc recirculation trending popular mostread " +
    "teaser teasers readmore morestories seealso jetpack widget widgets widgetarea yarpp " +
    // about the article, not of it
    "caption captions byline bylines tags tagcloud taglist timestamp dateline credit copyright printonly"
  ).split(" "),
);

/** Neighbouring words that only together mean something. */
const PAIRS = new Set(
  (
    "read-more more-stories more-from see-also most-read most-popular also-read author-bio author-box " +
    "author-info about-author post-author article-author posted-on post-meta entry-meta article-meta meta-info " +
    "post-date publish-date published-date tag-list tag-cloud post-tags entry-tags you-may up-next next-post " +
    "prev-post post-navigation side-bar email-signup sign-up call-to follow-us back-to to-top table-of"
  ).split(" "),
);

const ROLES = new Set(
  "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar tooltip".split(" "),
);

/** Remembers class lists: a page repeats the same few hundred. */
export class HintReader {
  private readonly known = new Map<string, Hint>();

  hint({ attribs }: PageElement): Hint {
    if (attribs.role !== undefined && ROLES.has(attribs.role)) return "boilerplate";
    const names = attribs.id === undefined ? (attribs.class ?? "") : `${attribs.class ?? ""} ${attribs.id}`;
    if (names.length < 2) return "none";
    let hint = this.known.get(names);
    if (hint === undefined) {
      hint = readNames(names);
      this.known.set(names, hint);
    }
    return hint;
  }
}

function readNames(names: string): Hint {
  let previous = "";
  let found: Hint = "none";
  const words = names
    .slice(0, 300)
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .match(/[a-z]+|\s+/g);
  for (const word of words ?? []) {
    if (COMMENTS.has(word)) return "comments";
    if (BOILERPLATE.has(word) || PAIRS.has(`${previous}-${word}`)) found = "boilerplate";
    previous = word;
  }
  return found;
}
