/** Says what class names, ids and roles suggest about an element. They are hints only: the text decides. */
import { headingLevel } from "../parse/element-kinds.ts";
import type { PageElement } from "../parse/page-tree.ts";

export interface Hint {
  /** `comments` are prose too, and often more of it than the article; `boilerplate` surrounds the content. */
  kind: "none" | "boilerplate" | "comments";
  /** The word that says so. */
  word: string;
  /** Whether nothing else in the name speaks against it. */
  sure: boolean;
  /** Whether another word of the name is a topic: `cookie-recipes`. */
  topical: boolean;
}

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

/** Words that name content as often as furniture: boxes of page builders, dishes, offices, keywords, whole posts. */
const AMBIGUOUS = new Set(
  (
    "widget widgets menu submenu social tags teaser teasers paywall skip rail tooltip " +
    "promotion trending popular recommended foot toolbar signup"
  ).split(" "),
);

/** Words that name furniture whatever stands beside them. */
const DECISIVE = new Set(
  (
    "cookie cookies consent gdpr gprd popup newsletter newsletters sidebar outbrain taboola zergnet advert " +
    "advertisement advertising adbox adslot breadcrumb breadcrumbs sharedaddy addthis addtoany yarpp navbar " +
    "pagination caption captions comments commentlist disqus livefyre footer mostread morestories printonly " +
    "relateds seealso adblock adblocker"
  ).split(" "),
);

/** Three letters that name no topic. */
const SHORT_FILLER = new Set("the and for our all new top box bar row col div btn img txt app web one two".split(" "));
/** Words that only say where something stands, or that it is a box. Any other word names a topic. */
const FILLER = new Set(
  (
    "bars block blocks body bottom button buttons card cards center column columns component container containers " +
    "content default desktop entry entries field fixed float form full group head header heading icons image images " +
    "info inline inner item items label large layout left line link links list listing main media meta mobile module " +
    "modules name news outer page pages panel plugin post posts article articles primary region right secondary " +
    "section single site slot small sticky stories story style text title unit view wide wrap wrapped wrapper zone " +
    "area wordpress module global user disclaimer notice message banner links data type more most " +
    "count latest bio about"
  ).split(" "),
);
/** Words that say what an element has or is not. */
const STATES = new Set("has no with without is not non enabled disabled hide hidden".split(" "));

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

/** What one word of a name says, as bits: most words are looked up once, and say nothing. */
const SAYS = { comments: 1, boilerplate: 2, ambiguous: 4, decisive: 8, filler: 16, state: 32, short: 64, opens: 128 };
const WORDS = new Map<string, number>();
for (const [words, says] of [
  [COMMENTS, SAYS.comments],
  [BOILERPLATE, SAYS.boilerplate],
  [AMBIGUOUS, SAYS.ambiguous],
  [DECISIVE, SAYS.decisive],
  [FILLER, SAYS.filler],
  [STATES, SAYS.state],
  [SHORT_FILLER, SAYS.short],
  [[...PAIRS].map((pair) => pair.slice(0, pair.indexOf("-"))), SAYS.opens],
] as const) {
  for (const word of words) WORDS.set(word, (WORDS.get(word) ?? 0) | says);
}

/** Whether a word names content as often as furniture. */
export const isAmbiguous = (word: string): boolean => ((WORDS.get(word) ?? 0) & SAYS.ambiguous) !== 0;

/** Remembers class lists and their names: a page repeats the same few hundred. */
export class HintReader {
  private readonly known = new Map<string, Hint>();
  private readonly names = new Map<string, Hint>();

  hint({ attribs, name }: PageElement): Hint {
    if (attribs.role !== undefined && ROLES.has(attribs.role)) return ROLE;
    // The id of a heading says what stands below it.
    const id = headingLevel(name) > 0 ? undefined : attribs.id;
    return this.ofNames(id === undefined ? (attribs.class ?? "") : `${attribs.class ?? ""} ${id}`);
  }

  /** @param names set apart by white space */
  ofNames(names: string): Hint {
    if (names.length < 2) return NONE;
    let hint = this.known.get(names);
    if (hint === undefined) {
      hint = this.surest(names);
      this.known.set(names, hint);
    }
    return hint;
  }

  /** The surest hint among the names; comments win, since they outweigh what else is said. */
  private surest(names: string): Hint {
    let found = NONE;
    for (const name of names.slice(0, 300).split(/\s+/)) {
      let hint = this.names.get(name);
      if (hint === undefined) {
        hint = readName(name);
        this.names.set(name, hint);
      }
      if (hint.kind === "none") continue;
      if (hint.kind === "comments" && hint.sure) return hint;
      if (found.kind === "none" || (hint.sure && !found.sure)) found = hint;
    }
    return found;
  }
}

const NONE: Hint = { kind: "none", word: "", sure: false, topical: false };
const ROLE: Hint = { kind: "boilerplate", word: "role", sure: true, topical: false };

/** A name is sure if all of its words say the same: `related-posts` is, `nav-history` is not. */
function readName(name: string): Hint {
  const words = name.match(/[A-Z]+[a-z]*|[a-z]+/g);
  if (words === null) return NONE;
  let kind: Hint["kind"] = "none";
  let word = "";
  let foreign = 0;
  let topical = false;
  let decisive = false;
  let negated = false;
  let unsure = false;
  let previous = "";
  let before = 0;
  for (const written of words) {
    const part = written.toLowerCase();
    const says = WORDS.get(part) ?? 0;
    if (says & SAYS.comments) {
      kind = "comments";
      word = "comment";
      if (part === "comment") unsure = words.length === 1;
    } else if (before & SAYS.opens && PAIRS.has(`${previous}-${part}`)) {
      if (kind === "none") {
        kind = "boilerplate";
        word = part;
        // the rest of a text, or links to others
        unsure = previous === "read";
      }
      if (!(before & (SAYS.filler | SAYS.boilerplate)) && previous.length > 3) foreign--;
    } else if (says & SAYS.boilerplate) {
      if (kind === "none") {
        kind = "boilerplate";
        word = part;
        unsure = (says & SAYS.ambiguous) !== 0;
      } else if (!(says & SAYS.ambiguous)) {
        unsure = false;
        if (kind === "boilerplate" && isAmbiguous(word)) word = part;
      }
    } else if (says & SAYS.state) negated = true;
    else if (!(says & SAYS.filler)) {
      if (part.length > 3) foreign++;
      if (part.length > 2 && !(says & SAYS.short)) topical = true;
    }
    if (says & SAYS.decisive) decisive = true;
    previous = part;
    before = says;
  }
  if (kind === "none") return NONE;
  return { kind, word, sure: !negated && (decisive || (foreign <= 0 && !unsure)), topical };
}
