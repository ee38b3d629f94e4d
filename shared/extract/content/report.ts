/** Says whether a page is a report of its day: news and posts, whose headline is their title. */
import type { Page } from "../parse/page-tree.ts";

const ARTICLE = /^(?:og:type article\b|article:|(?:news_)?(?:pub)?date\b)/i;
const MAX_SCRIPT = 262_144;

/** Whether a page says that it is a report, or when it was made. */
export const saysReport = ({ times, metas, marked, jsonLd }: Page): boolean =>
  times.length > 0 ||
  marked.length > 0 ||
  metas.some(({ attribs }) => ARTICLE.test(`${attribs.property ?? attribs.name} ${attribs.content}`)) ||
  jsonLd.some((script) => script.length <= MAX_SCRIPT && /"(?:\w*Article|\w*Posting)"/.test(script));
