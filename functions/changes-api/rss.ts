/** Changes as an RSS 2.0 feed. */
import type { ChangeEvent } from "../../shared/archive/changes/change-events.ts";
import { escapeHtml } from "../../shared/archive/changes/diff-html.ts";
import { timestampOf } from "../../shared/archive/replay/timestamp.ts";

/** Characters that no XML 1.0 document holds. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const xml = (text: string): string => escapeHtml(text.toWellFormed().replace(NOT_XML, "\uFFFD"));

/**
 * @param source null: of all
 * @param base where clients reach the API
 * @param replayUrl empty where nothing is replayed: items then lead to the page itself
 */
export function rssFeed(
  events: readonly ChangeEvent[],
  source: string | null,
  { base, replayUrl }: { base: string; replayUrl: string },
): string {
  const channel = source === null ? "Changes in the archive" : `Changes of ${source}`;
  const link = `${base}/api/changes${source === null ? "" : `?source=${encodeURIComponent(source)}`}`;
  const newest = events[0]?.toAt;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0"><channel>',
    `<title>${xml(channel)}</title><link>${xml(link)}</link>`,
    `<description>${xml(`${channel}: what captures brought, compared with those before them`)}</description>`,
    newest === undefined ? "" : `<lastBuildDate>${newest.toUTCString()}</lastBuildDate>`,
    ...events.map((event) => item(event, replayUrl)),
    "</channel></rss>",
  ].join("");
}

function item({ id, kind, summary, page, source, toAt, toUrl, toTitle }: ChangeEvent, replayUrl: string): string {
  const link = replayUrl === "" ? toUrl : `${replayUrl}/${timestampOf(toAt)}/${toUrl}`;
  return [
    `<item><title>${xml(`${toTitle ?? page}: ${summary}`)}</title>`,
    `<link>${xml(link)}</link>`,
    `<guid isPermaLink="false">change-${id}</guid>`,
    `<pubDate>${toAt.toUTCString()}</pubDate>`,
    `<category>${kind}</category><category>${xml(source)}</category>`,
    `<description>${xml(`${page}\n${summary}`)}</description></item>`,
  ].join("");
}
