/**
 * Finds what speaks for the site around a text, by its shape and its place: notes on rights, liability and gain before
 * and after it, calls to follow the site or to install its app, and credits of pictures.
 */
import { isText } from "domhandler";
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { type Page, PageElement } from "../parse/page-tree.ts";
import { isCredit, saysCredit } from "./edges.ts";

/** Prose beside which a note is one, and the characters of the longest note. */
const ENOUGH_PROSE = 250;
const LONGEST_NOTE = 1500;
/** Lines at each end of a text that are looked at, and elements around one of them. */
const MOST_LINES = 6;
const MOST_LEVELS = 4;
const LONGEST_LABEL = 40;
/** Characters of a call, and those of them that are no links. */
const LONGEST_CALL = 250;
const WORDS_OF_CALL = 80;
const LINKS_OF_CALL = 2;
const BEHIND_CALL = 15;
const LONGEST_ERRATUM = 300;
const LONGEST_CAPTION = 250;
const LONGEST_CREDIT = 80;

/** What notes are about, in many languages: rights, liability, advice that is none, gain from links. */
const TOPIC = new RegExp(
  [
    "disclaim|disclosure|liab(?:le|ility)|rights reserved|copyright|\\b(?:no|not|nor)\\b[^.]{0,40} advice",
    "information(?:al)? (?:purposes )?only",
    "(?:views?|opinions?) (?:expressed|of the author)",
    "(?:may|must) not be (?:published|reproduced|copied|broadcast)|no part of this",
    "affiliate|commissions?\\b|substitute for|replaces? (?:the |professional |medical )|not responsible",
    "without (?:guarantee|warranty)",
    "haft(?:ung|et|bar)|ohne gewähr|rechte vorbehalten|beratung|ersetz[te]n? (?:nicht|keine)|provision|nachdruck",
    "tous droits|droits réservés|ne (?:constitue|remplace)|à titre (?:purement )?indicatif",
    "à titre d.information|responsabilité",
    "todos (?:los derechos|os direitos)|no (?:constituye|sustituye)|não (?:constitui|substitui)",
    "responsabili[dz]a|tutti i diritti",
    "riproduzione riservata|non (?:costituisc|sostituisc)|scopo (?:puramente )?informativo|comisión",
    "comissão|commissione",
    "aansprakelijk|rechten voorbehouden|geen advies|zastrzeżon|odpowiedzialnoś|nie stanowi|vyhrazen",
    "odpovědnos|vyhradené",
    "minden jog|felelőss|drepturile rezervate|ansvar(?:sfraskriv|sbegræns|sfriskriv|\\b)|rettigheder",
    "rettigheter|rättigheter|oikeudet|vastuu",
    "tüm hakları|tavsiyesi|sorumlu|hak cipta|tanggung jawab|bản quyền|trách nhiệm|επιφύλαξη|δικαιώματ|ευθύν",
    "все права|не (?:является|заменяет|несёт|несет)|ответственност|мнение автора|мнением редакции",
    "всі права|відповідальн|всички права",
    "免责|免責|版权|版權|转载|轉載|仅供参考|僅供參考|不构成|不構成|無断|責任を負|著作権|무단|저작권|책임|حقوق|مسؤولية|مسئولیت|إخلاء|זכויות|אחריות",
    "अस्वीकरण|सर्वाधिकार|ลิขสิทธิ์|สงวน",
  ].join("|"),
  "iu",
);
/** Names of elements that hold notes. */
const NAMED = new RegExp(
  "(?:^|[^a-z])(?:disclaimers?|disclosures?|legal|copyright|affiliate|footnotes?|haftung\\w*|hinweis|rechtliches|" +
    "avertissement|aviso|notes?|notice|terms)(?![a-z])",
  "i",
);
const SMALL = /^(?:em|i|small)$/;
const RULE = /^[-–—_*=·•~\s]{3,}$/;
const MARK = /^[*※]/;
/** Whose text it is belongs to it, as a byline does. */
const RIGHTS = /^\W*(?:©|\(c\)|copyright)/i;

const LISTS = new Set(["table", "dl", "ul", "ol"]);
/** Shops of apps, and pages that a site has with others: no posts and no people's words. */
const STORE = new RegExp(
  "^https?://(?:apps\\.apple\\.com|itunes\\.apple\\.com/(?:[a-z]{2}/)?app|play\\.google\\.com/store/apps|" +
    "appgallery\\.huawei\\.com)\\b",
  "i",
);
const PROFILE = new RegExp(
  `^https?://(?:[a-z-]+\\.)?(?:${[
    "facebook\\.com|fb\\.me|fb\\.com|twitter\\.com|x\\.com|instagram\\.com|t\\.me|telegram\\.me|vk\\.com|ok\\.ru",
    "tiktok\\.com|threads\\.net|pinterest\\.[a-z]+|dzen\\.ru|zen\\.yandex\\.ru|whatsapp\\.com/channel|weibo\\.com|line\\.me",
    "youtube\\.com(?:/(?:c|user|channel))?|linkedin\\.com/company|news\\.google\\.com/publications|bsky\\.app/profile",
  ].join("|")})/(?!(?:watch|search|hashtag|share|sharer|intent|home)\\b)[^/?#]+/?(?:[?#]|$)`,
  "i",
);
/** Names of people and agencies without a sentence. */
const CREDITED =
  /^(?:©|ⓒ|\(c\))|^\p{L}[\p{L}\p{M} .'’,-]{1,40}\s?[/|]\s?[\p{L}\p{N}][\p{L}\p{M} .'’/-]{1,40}$|\b(?:Getty Images|Shutterstock|iStock|Reuters|AFP|dpa|EPA)\)?$/iu;
/** What readers press who found a mistake, whatever the language around it. */
const ERRATUM = /\bctrl\s*\+\s*enter\b/i;
/** A name and an address, and nothing else. */
const WRITTEN_ADDRESS = /^(?:\p{L}{1,20}\s*[:：–-]?\s*)?(https?:\/\/\S+)$/u;

/**
 * Drops notes at both ends of a text, and calls wherever they stand. A page whose headings speak of what notes speak of
 * keeps them.
 */
export function dropNotes(lines: readonly PageElement[], page: Page): void {
  const kept = lines.filter(({ dropped }) => !dropped);
  const prose = kept.reduce((sum, line) => sum + line.prose, 0);
  if (prose < ENOUGH_PROSE) return;
  for (const line of kept) if (isCall(line) || isOfPicture(line)) line.dropped = true;
  dropErrata(kept);
  if (TOPIC.test(page.title ?? "")) return;
  dropFrom(kept.toReversed(), true, prose);
  dropFrom(kept.slice(behindHeadline(kept)), false, prose);
}

/** The first line behind the headline. */
const behindHeadline = (lines: readonly PageElement[]): number =>
  headingLevel(lines.find(({ dropped }) => !dropped)?.name ?? "") > 0 ? 1 : 0;

/** Drops notes from one end on, up to the first line of the text itself. */
function dropFrom(lines: readonly PageElement[], isEnd: boolean, prose: number): void {
  let left = prose;
  for (let index = 0; index < Math.min(lines.length, MOST_LINES); index++) {
    const line = lines[index] as PageElement;
    if (line.dropped || isAside(line)) continue;
    if (headingLevel(line.name) > 0) return;
    left -= line.prose;
    if (line.textLength > LONGEST_NOTE || left < Math.max(ENOUGH_PROSE, line.prose)) return;
    if (!isNote(line, isEnd)) return;
    line.dropped = true;
    const above = lines[index + 1];
    if (isEnd && above !== undefined && isTitleOfNote(above, lines.slice(index + 2))) above.dropped = true;
  }
}

/** A short line beside the notes: a byline, a date, a button. */
const isAside = (line: PageElement): boolean => line.prose < 25 && headingLevel(line.name) === 0;

function isNote(line: PageElement, isEnd: boolean): boolean {
  const text = collapsedText(line);
  if (!TOPIC.test(text) || RIGHTS.test(text)) return false;
  return (
    isSetIn(line) ||
    isNamed(line) ||
    MARK.test(text) ||
    isLabelled(line, text) ||
    (isEnd && (isBelowRule(line) || isBelowTitle(line)))
  );
}

/** Whether all of its text is set in small or slanted letters. */
function isSetIn(element: PageElement): boolean {
  if (SMALL.test(element.name)) return true;
  let isAny = false;
  for (const child of element.children) {
    if (isText(child)) {
      if (child.data.trim() !== "") return false;
    } else if (child instanceof PageElement && child.textLength > 0) {
      if (!isSetIn(child)) return false;
      isAny = true;
    }
  }
  return isAny;
}

/** Whether a name says that it is a note, its own or that of a box that holds little else. */
function isNamed(line: PageElement): boolean {
  let node: unknown = line;
  for (let level = 0; level < MOST_LEVELS && node instanceof PageElement; level++, node = node.parent) {
    if (node.textLength > line.textLength * 2 + LONGEST_LABEL || node.name === "article" || node.name === "main")
      return false;
    if (NAMED.test(`${node.attribs.class ?? ""} ${node.attribs.id ?? ""}`)) return true;
  }
  return false;
}

/** Whether it opens with a label that says what it is. */
function isLabelled(line: PageElement, text: string): boolean {
  const label = /^[^.!?:：。]{3,40}[:：]/u.exec(text)?.[0];
  if (label !== undefined && TOPIC.test(label)) return true;
  const first = line.children.find((child) => !isText(child) || child.data.trim() !== "");
  if (!(first instanceof PageElement) || !/^(?:b|strong|em|i)$/.test(first.name)) return false;
  return first.textLength < line.textLength && first.textLength <= LONGEST_LABEL && TOPIC.test(collapsedText(first));
}

function isBelowRule(line: PageElement): boolean {
  let node: PageElement = line;
  for (let level = 0; level < MOST_LEVELS; level++) {
    const before = textBefore(node);
    if (before !== null) return before.name === "hr" || RULE.test(collapsedText(before));
    if (!(node.parent instanceof PageElement)) return false;
    node = node.parent;
  }
  return false;
}

/** What stands straight before an element: a rule, or an element with text. */
function textBefore({ prev }: PageElement): PageElement | null {
  let node = prev;
  while (node !== null && !(node instanceof PageElement && (node.textLength > 0 || node.name === "hr")))
    node = node.prev;
  return node;
}

/** A heading above notes alone, that no other heading of its level stands beside. */
function isTitleOfNote(heading: PageElement, above: readonly PageElement[]): boolean {
  if (headingLevel(heading.name) < 2 || !TOPIC.test(collapsedText(heading))) return false;
  return !above.some(({ name, dropped }) => !dropped && name === heading.name);
}

function isBelowTitle(line: PageElement): boolean {
  const before = textBefore(line);
  if (before === null || headingLevel(before.name) < 2 || before.textLength > LONGEST_LABEL) return false;
  if (!TOPIC.test(collapsedText(before))) return false;
  // among sections it is one of them
  for (let node = before.prev; node !== null; node = node.prev) {
    if (node instanceof PageElement && node.name === before.name) return false;
  }
  return true;
}

/** Whether a short line ends in links, all of them to shops of apps or to the site's pages with others. */
function isCall(line: PageElement): boolean {
  if (line.textLength > LONGEST_CALL || line.linkLength === 0 || headingLevel(line.name) > 0) return false;
  if (line.textLength - line.linkLength > WORDS_OF_CALL || LISTS.has(line.name)) return false;
  const links: string[] = [];
  if (lettersBehindLinks(line, links) > BEHIND_CALL) return false;
  return links.length >= LINKS_OF_CALL && links.every((href) => STORE.test(href) || PROFILE.test(href));
}

/**
 * Counts the letters behind the last link of an element.
 * @param links takes where its links lead
 */
function lettersBehindLinks(element: PageElement, links: string[]): number {
  let letters = 0;
  for (const child of element.children) {
    if (isText(child)) letters += child.data.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    if (!(child instanceof PageElement)) continue;
    const before = links.length;
    const { href } = child.attribs;
    if (child.name === "a" && href !== undefined) {
      links.push(href);
      letters = 0;
    } else {
      const behind = lettersBehindLinks(child, links);
      letters = links.length > before ? behind : letters + behind;
    }
  }
  return letters;
}

/** Whether a line says whose the picture above it is, alone or, in slanted letters, behind what that shows. */
function isOfPicture(line: PageElement): boolean {
  if (line.textLength > LONGEST_CAPTION || LISTS.has(line.name) || headingLevel(line.name) > 0) return false;
  if (line.holdsImage) return isSetIn(line) && saysCredit(lastSentence(collapsedText(line)));
  if (line.textLength > LONGEST_CREDIT || !isBelowPicture(line)) return false;
  return isCredit(line) || CREDITED.test(collapsedText(line));
}

const lastSentence = (text: string): string => text.split(/[.!?。！？]\s+/).at(-1) ?? "";

function isBelowPicture(line: PageElement): boolean {
  let node: PageElement = line;
  for (let level = 0; level < MOST_LEVELS; level++) {
    for (let before = node.prev; before !== null; before = before.prev) {
      if (isText(before) ? before.data.trim() !== "" : before instanceof PageElement && before.textLength > 0)
        return false;
      if (before instanceof PageElement && (before.name === "img" || before.holdsImage)) return true;
    }
    if (!(node.parent instanceof PageElement)) return false;
    node = node.parent;
  }
  return false;
}

/** Drops from the end what asks for mistakes, with its heading, and written addresses of the site's pages. */
function dropErrata(lines: readonly PageElement[]): void {
  for (let index = lines.length - 1; index >= Math.max(1, lines.length - MOST_LINES * 2); index--) {
    const line = lines[index] as PageElement;
    if (line.dropped || line.textLength > LONGEST_ERRATUM) continue;
    const text = collapsedText(line);
    if (ERRATUM.test(text)) {
      line.dropped = true;
      const above = lines[index - 1] as PageElement;
      if (headingLevel(above.name) > 1 || /[?？]$/.test(collapsedText(above).slice(-2))) above.dropped = true;
    } else if (PROFILE.test(WRITTEN_ADDRESS.exec(text)?.[1] ?? "")) line.dropped = true;
  }
}
