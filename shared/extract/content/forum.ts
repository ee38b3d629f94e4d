/** Tells a thread of a forum, whose every post is content, from a text with comments below it. */
import { type Page, PageElement } from "../parse/page-tree.ts";

/** Types of schema.org whose answers are as much the page as the question. */
const THREAD_TYPE = /(?:DiscussionForumPosting|QAPage)\b/;
const MAKER = /discourse|phpbb|vbulletin|xenforo|mybb|flarum|nodebb|vanilla|invision|simple machines|discuz|bbpress/i;
/** A name that says forum, and nothing that an article may be about. */
const THREAD_NAME =
  /^(?:(?:view|show|single|bbp|bbpress|js|p|page|is|the|main|section)[-_]?)*(?:forums?|thread|topic|discussion)(?:[-_]?(?:view|page|posts?|list|body|content|container|wrapper|wrap|main|thread|topic|single))*$/i;
/** What of JSON-LD is looked through. */
const MAX_SCRIPT = 262_144;

/**
 * @param headline what it stands in names the thread, or the page as a whole does
 */
export function isForum({ body, metas, jsonLd, types }: Page, headline: PageElement | null): boolean {
  if (types.some((type) => THREAD_TYPE.test(type))) return true;
  if (jsonLd.some((script) => script.length <= MAX_SCRIPT && THREAD_TYPE.test(script))) return true;
  if (metas.some(({ attribs }) => attribs.name?.toLowerCase() === "generator" && MAKER.test(attribs.content ?? "")))
    return true;
  for (let node: unknown = headline ?? body; node instanceof PageElement; node = node.parent) {
    if (namesThread(node)) return true;
  }
  return body !== null && namesThread(body);
}

function namesThread({ attribs }: PageElement): boolean {
  const names = `${attribs.class ?? ""} ${attribs.id ?? ""}`.trim();
  return (
    names !== "" &&
    names
      .slice(0, 300)
      .split(/\s+/)
      .some((name) => THREAD_NAME.test(name))
  );
}
