/** One page of a job in several formats at once, for whoever asked for just that page. */
import { textAsHtml } from "../../extract/content/main-html.ts";
import { SelectorLimitError } from "../../extract/content/selectors.ts";
import { countWords } from "../../extract/content/word-count.ts";
import { extractMainHtml, extractPlainText } from "../../extract/extract-page.ts";
import { extractFields, TooMuchError, type Value } from "../../extract/fields/extract-fields.ts";
import type { ExtractionSchema } from "../../extract/fields/field-schema.ts";
import { ApiError } from "../../platform/errors.ts";
import { cutText } from "../../platform/text.ts";
import { pageFault } from "../http/answer-fault.ts";
import { isMissingFromArchive, readArchivedContent } from "./archived-content.ts";
import { readShownHtml } from "./page-extraction.ts";
import type { Result, ResultReader } from "./pages.ts";
import type { RenderingView, ResultCapture } from "./rows.ts";
import { type PageText, readArchivedPage, textOf } from "./texts.ts";

export const PAGE_FORMATS = ["markdown", "text", "html", "raw_html", "links", "metadata", "json"] as const;
export type PageFormat = (typeof PAGE_FORMATS)[number];

export interface ScrapedPage {
  /** After redirects. */
  final_url: string;
  status_code: number;
  /** Of a page that the site answers with an error: `HTTP_404: The server answered 404`. */
  fetch_error?: string;
  /** Where it was opened in a browser, or was to be; of a PDF, what read it. */
  rendered?: ScrapedRendering;
  markdown?: string;
  text?: string;
  html?: string;
  raw_html?: string;
  links?: readonly string[];
  metadata?: ScrapedMetadata;
  json?: Value;
  /** One of the texts was cut, or the page itself. */
  truncated?: true;
}

interface ScrapedRendering extends Pick<RenderingView, "reason" | "renderer"> {
  error_code: string | null;
  error_message: string | null;
}

/** What the page does not say is left out. */
interface ScrapedMetadata {
  title?: string;
  author?: string;
  description?: string;
  keywords?: string[];
  /** ISO 8601: a date, or a time in UTC. */
  publish_date?: string;
  image?: string;
  language?: string;
  canonical_url?: string;
  mime?: string;
  charset?: string;
  word_count: number;
  crawled_at: string;
}

/**
 * What a site answers with an error status is a page too, as its readers see it.
 * @param result read with its text
 * @param schema for `json`
 * @throws ApiError where the page is not there, or not in one of the formats
 */
export async function scrapedPage(
  reader: ResultReader,
  result: Result,
  formats: ReadonlySet<PageFormat>,
  schema: ExtractionSchema | undefined,
): Promise<ScrapedPage> {
  const { captures, errorCode: code } = result.row;
  const [capture] = captures;
  const isErrorPage = code !== null && HTTP_STATUS.test(code) && capture?.warc != null;
  if (capture === undefined || (code !== null && !isErrorPage)) throw faultOf(result);
  const text = isErrorPage ? await errorPage(reader, result) : result.text;
  if (text === undefined || "problem" in text) throw unreadable(text?.problem ?? "The page holds no text");
  const limit = reader.maxContentBytes;
  let cut = captures.some(({ truncated }) => truncated);
  const cutTo = (content: string): string => {
    const { text: kept, cut: isCut } = cutText(content, limit);
    cut ||= isCut;
    return kept;
  };
  const rendered = captures.find((each) => each.rendered !== null)?.rendered;
  const page: ScrapedPage = {
    final_url: capture.finalUrl,
    status_code: capture.status,
    ...(isErrorPage && { fetch_error: `${code}: ${capture.errorMessage ?? ""}` }),
    ...(rendered && { rendered: renderingJson(rendered) }),
  };
  try {
    if (formats.has("markdown")) page.markdown = cutTo(text.markdown);
    if (formats.has("text")) page.text = cutTo(text.text);
    if (formats.has("raw_html")) page.raw_html = cutTo(await rawHtml(reader, captures));
    if (formats.has("html") || formats.has("json")) {
      const html = await readShownHtml(reader, captures);
      if (formats.has("html")) {
        page.html = cutTo(
          html === null ? textAsHtml(text.text) : extractMainHtml(html, capture.finalUrl, result.selection),
        );
      }
      if (formats.has("json") && schema !== undefined) page.json = fieldsOf(html, capture, schema, limit);
    }
  } catch (error) {
    if (error instanceof SelectorLimitError) throw pageFault({ code: "EXTRACT_FAILED", message: error.message }, 0);
    if (isMissingFromArchive(error)) throw unreadable(error.message);
    throw error;
  }
  if (formats.has("links")) page.links = text.links;
  if (formats.has("metadata")) page.metadata = metadataOf(text, captures);
  return { ...page, ...(cut && { truncated: true as const }) };
}

const HTTP_STATUS = /^HTTP_\d{3}$/;

/**
 * The body of an answer that is no success, which no crawl extracts.
 * @throws ApiError where it is no text
 */
async function errorPage(reader: ResultReader, { row: { captures }, selection }: Result): Promise<PageText> {
  try {
    const content = await readArchivedPage(reader, captures, selection);
    if (content?.extraction) return textOf(content.extraction);
    const { error } = content ?? {};
    if (error && error.code !== "EMPTY_BODY") throw pageFault(error, captures[0]?.status ?? 0);
    return textOf(extractPlainText(""));
  } catch (error) {
    if (isMissingFromArchive(error)) throw unreadable(error.message);
    throw error;
  }
}

function renderingJson({ reason, renderer, errorCode, errorMessage }: RenderingView): ScrapedRendering {
  return { reason, renderer, error_code: errorCode, error_message: errorMessage };
}

function faultOf({ row }: Result): ApiError {
  const [capture] = row.captures;
  const code = row.errorCode ?? "CANCELLED";
  const known = capture?.errorCode === code ? capture.errorMessage : null;
  // of a PDF that was to be read, why it could not be
  const { errorCode, errorMessage } = capture?.rendered ?? {};
  const why = errorCode ? [`${errorCode}: ${errorMessage}`] : [];
  const message = [known ?? "The page could not be crawled", ...why].join(". ");
  return pageFault({ code, message }, capture?.status ?? 0);
}

const unreadable = (problem: string): ApiError =>
  new ApiError(502, `url: ${problem}`, { code: "ARCHIVE_UNREADABLE", details: { path: "url" } });

/** As the server sent it, or as the scripts have left it. */
async function rawHtml(reader: ResultReader, captures: readonly ResultCapture[]): Promise<string> {
  const dom = captures.some((each) => each.dom !== null) ? await readShownHtml(reader, captures) : null;
  return dom ?? (await readArchivedContent(reader, captures, reader.maxContentBytes)).content ?? "";
}

function fieldsOf(html: string | null, { finalUrl }: ResultCapture, schema: ExtractionSchema, limit: number): Value {
  if (html === null) {
    const message = "url: the page is not HTML, or not whole, so it has no fields for json";
    throw new ApiError(422, message, { code: "UNSUPPORTED_TYPE", details: { path: "url" } });
  }
  try {
    return extractFields(html, finalUrl, schema, limit);
  } catch (error) {
    if (!(error instanceof TooMuchError)) throw error;
    throw new ApiError(422, `json: ${error.message}`, { code: "RESULT_TOO_LARGE", details: { path: "json" } });
  }
}

function metadataOf(
  { title, text, language, metadata }: PageText,
  captures: readonly ResultCapture[],
): ScrapedMetadata {
  const first = <T>(value: (capture: ResultCapture) => T | null): T | null =>
    captures.map(value).find((each) => each !== null) ?? null;
  const said = {
    title: first((each) => each.title) ?? title,
    author: metadata.author,
    description: metadata.description,
    publish_date: metadata.publishDate,
    image: metadata.ogImage,
    language: language === "und" ? null : language,
    canonical_url: first((each) => each.canonicalUrl),
    mime: first((each) => each.mimeType),
    charset: first((each) => each.charset),
  };
  const known = Object.entries(said).filter(([, value]) => value !== null);
  return {
    ...Object.fromEntries(known),
    ...(metadata.keywords.length > 0 && { keywords: metadata.keywords }),
    word_count: countWords(text),
    crawled_at: (captures[0]?.fetchedAt ?? new Date()).toISOString(),
  };
}
