/** One page of a job in the form that an extraction asks for, with what the page says of itself. */
import { decodeKnown } from "../../capture/charset.ts";
import { readWarcRecord } from "../../capture/warc-reader.ts";
import { textAsHtml } from "../../extract/content/main-html.ts";
import type { ContentSelection } from "../../extract/content/selection.ts";
import { countWords } from "../../extract/content/word-count.ts";
import { extractMainHtml } from "../../extract/extract-page.ts";
import { cutText } from "../../platform/text.ts";
import { type ArchiveReader, isMissingFromArchive } from "./archived-content.ts";
import { faultOf, type Result, type ResultReader } from "./pages.ts";
import type { ResultCapture } from "./rows.ts";
import { type PageText, readArchivedPage } from "./texts.ts";

export const EXTRACT_FORMATS = ["markdown", "text", "html"] as const;
export type ExtractFormat = (typeof EXTRACT_FORMATS)[number];

/** The reference's ExtractedPageResult, without its URL. What is not known is left out. */
export type PageExtraction = ExtractedPage | { status: "failed"; error: string };

interface ExtractedPage extends Partial<Record<ExtractFormat, string>> {
  status: "success";
  metadata: PageMetadata;
  /** The content was cut. */
  truncated?: true;
}

interface PageMetadata {
  title?: string;
  author?: string;
  /** ISO 8601: a date, or a time in UTC. */
  publish_date?: string;
  /** Of the main content's text, whatever the format. */
  word_count: number;
}

/**
 * @param result read with its text
 * @param format null: the metadata alone
 */
export async function extractionOf(
  reader: ResultReader,
  { row, text, selection }: Result,
  format: ExtractFormat | null,
): Promise<PageExtraction> {
  const fault = faultOf(row);
  if (fault !== null) return { status: "failed", error: fault.text };
  if (text === undefined || "problem" in text) return unreadable(text?.problem ?? "The page holds no text");
  let content: string | null = null;
  try {
    content =
      format === null
        ? null
        : format === "html"
          ? await readMainHtml(reader, row.captures, text, selection)
          : text[format];
  } catch (error) {
    if (!isMissingFromArchive(error)) throw error;
    return unreadable(error.message);
  }
  const cut = content === null ? null : cutText(content, reader.maxContentBytes);
  return {
    status: "success",
    ...(format !== null && cut !== null && { [format]: cut.text }),
    metadata: metadataOf(text, row.captures),
    ...((cut?.cut || row.captures.some((each) => each.truncated)) && { truncated: true as const }),
  };
}

const unreadable = (problem: string) => ({ status: "failed" as const, error: `ARCHIVE_UNREADABLE: ${problem}` });

function metadataOf({ title, text, metadata }: PageText, captures: readonly ResultCapture[]): PageMetadata {
  const named = captures.find((each) => each.title !== null)?.title ?? title;
  return {
    ...(named !== null && { title: named }),
    ...(metadata.author !== null && { author: metadata.author }),
    ...(metadata.publishDate !== null && { publish_date: metadata.publishDate }),
    word_count: countWords(text),
  };
}

async function readMainHtml(
  reader: ArchiveReader,
  captures: readonly ResultCapture[],
  { text }: PageText,
  selection: ContentSelection,
): Promise<string> {
  const html = await readShownHtml(reader, captures);
  return html === null ? textAsHtml(text) : extractMainHtml(html, captures[0]?.finalUrl ?? "", selection);
}

/**
 * The DOM where the page was rendered, else the response, decoded.
 * @returns null where that is no HTML, or not whole
 * @throws PermanentError where the archive does not hold it
 */
export async function readShownHtml(reader: ArchiveReader, captures: readonly ResultCapture[]): Promise<string | null> {
  const dom = captures.find((each) => each.dom !== null)?.dom;
  if (!dom) return (await readArchivedPage(reader, captures))?.html ?? null;
  const { body } = await readWarcRecord(reader.objects, dom);
  return decodeKnown(body, "UTF-8", false);
}
