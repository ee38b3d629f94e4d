/**
 * The results of a job as pages: each URL that ended, once, in the order in which that became known. Who has read up to
 * a cursor has missed nothing before it, however much of the job is still under way.
 */

import type { ContentSelection } from "../../extract/content/selection.ts";
import { atOnce } from "../../platform/at-once.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { Sql } from "../../platform/database/database.ts";
import { cutText } from "../../platform/text.ts";
import type { NoDocument } from "../jobs/no-document.ts";
import { crawlConfigSchema, selectionOf } from "../settings/crawl-config.ts";
import { type ArchivedContent, isMissingFromArchive, readArchivedContent } from "./archived-content.ts";
import { RESULT_FIELDS, type ResultField, type ResultFields } from "./fields.ts";
import { portionsOf } from "./portions.ts";
import { type ResultCapture, type ResultRow, readResultRows } from "./rows.ts";
import { createTextReader, type PageText } from "./texts.ts";

/** The reference's CrawledPage. What is null there is left out, and so is what was not asked for. */
export interface CrawledPage {
  url: string;
  /** Where it differs from `url`. */
  final_url?: string;
  canonical_url?: string;
  depth: number;
  /** 0 where no answer came. */
  status_code: number;
  title?: string;
  /** The body as text. */
  content?: string;
  markdown?: string;
  links?: readonly string[];
  mime?: string;
  charset?: string;
  fetch_time_ms?: number;
  robots_obeyed?: boolean;
  /** robots.txt forbids it, whether the job asked for it all the same or not. */
  disallowed?: boolean;
  /** Code and message, `HTTP_404: The server answered 404`. */
  fetch_error?: string;
  /** As `fetch_error`. It is there, asked for or not, where a text that was asked for could not be read. */
  parse_error?: string;
  /** Asked for or not where a text that was asked for is cut. */
  truncated?: boolean;
  /** Why it is not searchable. */
  no_document?: NoDocument;
  /** ISO 8601 UTC. */
  crawled_at?: string;
}

export interface ResultPage {
  /** Pass as `after` for what follows. */
  cursor: number;
  page: CrawledPage;
}

export interface ResultReader {
  sql: Sql;
  objects: ObjectStore;
  /** Of `content` and of `markdown`, each, in bytes of UTF-8; `SPIDER__MAX_CONTENT_BYTES`. */
  maxContentBytes: number;
}

/** Rows that are read at once. */
const SLICE = 50;
const CONTENTS_AT_ONCE = 12;

/**
 * Yields at most `limit` pages that follow the cursor `after` (0: from the first), as many as have ended by now; none
 * where there is no such job. Memory is bounded whatever the limit: pages are read as they are taken.
 *
 * @example for await (const { cursor, page } of readResultPages(reader, jobId, { after: 0, limit: 1000 }, fields)) …
 */
export async function* readResultPages(
  reader: ResultReader,
  jobId: string,
  range: { after: number; limit: number },
  fields: ResultFields,
): AsyncGenerator<ResultPage, void, undefined> {
  const wanted = { texts: fields.has("markdown") || fields.has("links"), matches: () => true };
  for await (const { row, page } of readResults(reader, jobId, range, fields, wanted))
    yield { cursor: row.cursor, page };
}

/** A page with all that was read for it. */
export interface Result {
  row: ResultRow;
  page: CrawledPage;
  /** Nothing for what is no page. */
  text: PageText | Problem | undefined;
  /** What of a page its job makes the content. */
  selection: ContentSelection;
}

/**
 * As `readResultPages`.
 * @param wanted `texts`: whether to read what was extracted; `matches`: which pages to read at all, the others are
 * skipped
 */
export async function* readResults(
  reader: ResultReader,
  jobId: string,
  { after, limit }: { after: number; limit: number },
  fields: ResultFields,
  wanted: { texts: boolean; matches(row: ResultRow): boolean },
): AsyncGenerator<Result, void, undefined> {
  const [stored] = await reader.sql<{ id: string; generationId: string; config: unknown }[]>`
    select id, generation_id as "generationId", settings->'config' as config from jobs where id = ${jobId}`;
  if (stored === undefined) return;
  const config = crawlConfigSchema.parse(stored.config ?? {});
  const selection = selectionOf(config);
  const job = { ...stored, selection, respectsRobots: config.respect_robots_txt };
  const texts = createTextReader(reader, job);
  for (let left = limit, from = after; left > 0; ) {
    const size = Math.min(SLICE, left);
    const rows = await readResultRows(reader.sql, job, { after: from, limit: size });
    const matching = rows.filter(wanted.matches);
    const asked = { texts: wanted.texts, contentBytes: fields.has("content") ? reader.maxContentBytes : 0 };
    for (const portion of await portionsOf(reader.sql, job.generationId, matching, asked)) {
      const found = wanted.texts ? await texts.read(portion) : NONE;
      const contents = fields.has("content") ? await readContents(reader, portion) : NONE;
      for (const row of portion) {
        const text = found.get(row.cursor);
        const read = { text, content: contents.get(row.cursor) };
        yield { row, text, selection, page: pageOf(row, read, job, fields, reader.maxContentBytes) };
      }
    }
    if (rows.length < size) return;
    left -= size;
    from = rows.at(-1)?.cursor ?? from;
  }
}

export interface Problem {
  problem: string;
}
const NONE = new Map<number, never>();

async function readContents(
  reader: ResultReader,
  rows: readonly ResultRow[],
): Promise<Map<number, ArchivedContent | Problem>> {
  const contents = new Map<number, ArchivedContent | Problem>();
  await atOnce(CONTENTS_AT_ONCE, rows, async ({ cursor, captures }) => {
    try {
      contents.set(cursor, await readArchivedContent(reader, captures, reader.maxContentBytes));
    } catch (error) {
      if (!isMissingFromArchive(error)) throw error;
      contents.set(cursor, { problem: error.message });
    }
  });
  return contents;
}

interface TextsRead {
  text: PageText | Problem | undefined;
  content: ArchivedContent | Problem | undefined;
}

function pageOf(
  row: ResultRow,
  read: TextsRead,
  { respectsRobots }: { respectsRobots: boolean },
  fields: ResultFields,
  maxBytes: number,
): CrawledPage {
  const [capture] = row.captures;
  // of a revisit, the original says what the answer itself does not
  const first = <T>(value: (capture: ResultCapture) => T | null): T | null =>
    row.captures.map(value).find((each) => each !== null) ?? null;
  const text = without(read.text);
  const content = without(read.content);
  const markdown = text && fields.has("markdown") ? cutText(text.markdown, maxBytes) : undefined;
  const cut = markdown?.cut === true || content?.truncated === true;
  const fault = faultOf(row);
  const unread = [read.text, read.content].flatMap((each) =>
    each && "problem" in each ? [`ARCHIVE_UNREADABLE: ${each.problem}`] : [],
  );
  const parseErrors = [...(fault?.ofParsing ? [fault.text] : []), ...unread];
  const values: { [F in ResultField]: CrawledPage[F] | null } = {
    url: row.url,
    final_url: capture && capture.finalUrl !== row.url ? capture.finalUrl : null,
    canonical_url: first((each) => each.canonicalUrl),
    depth: row.depth,
    status_code: capture?.status ?? 0,
    title: first((each) => each.title) ?? text?.title ?? null,
    content: content?.content ?? null,
    markdown: markdown?.text ?? null,
    links: text?.links ?? [],
    mime: first((each) => each.mimeType),
    charset: first((each) => each.charset),
    fetch_time_ms: Math.round(capture?.fetchTimeMs ?? 0),
    robots_obeyed: respectsRobots,
    disallowed: row.errorCode === "ROBOTS_DENIED" || capture?.disallowed === true,
    fetch_error: fault && !fault.ofParsing ? fault.text : null,
    parse_error: parseErrors.length > 0 ? [...new Set(parseErrors)].join("; ") : null,
    truncated: cut || row.captures.some((each) => each.truncated),
    no_document: row.noDocument,
    crawled_at: (capture?.fetchedAt ?? row.dueAt).toISOString(),
  };
  const isShown = (field: ResultField): boolean =>
    fields.has(field) || (field === "truncated" && cut) || (field === "parse_error" && unread.length > 0);
  const shown = RESULT_FIELDS.filter((field) => values[field] !== null && isShown(field));
  return Object.fromEntries(shown.map((field) => [field, values[field]])) as unknown as CrawledPage;
}

const without = <T extends object>(read: T | Problem | undefined): T | undefined =>
  read === undefined || "problem" in read ? undefined : read;

/** The answer came and could not be read: all other faults are those of fetching. */
const PARSE_FAULTS = new Set(["EXTRACT_FAILED", "UNSUPPORTED_TYPE", "DECODE_FAILED", "EMPTY_BODY"]);

/** Code and message; null for a page that was crawled. */
export function faultOf({ errorCode, captures: [capture] }: ResultRow): { text: string; ofParsing: boolean } | null {
  if (errorCode === null) return null;
  const message = capture?.errorCode === errorCode ? capture.errorMessage : null;
  return { text: message === null ? errorCode : `${errorCode}: ${message}`, ofParsing: PARSE_FAULTS.has(errorCode) };
}
