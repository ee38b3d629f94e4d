/** Reads the body of a successful response: coding, type, charset, extraction. */
import type { Capture, CaptureError } from "../../capture/capture.ts";
import { decodeText } from "../../capture/charset.ts";
import { type ContentSelection, MAIN_CONTENT } from "../../extract/content/selection.ts";
import { extractPage, extractPlainText } from "../../extract/extract-page.ts";
import type { Extraction } from "../../extract/extraction.ts";
import { pageLinks } from "../../extract/metadata/links.ts";
import { refreshTarget } from "../../extract/parse/refresh.ts";
import { decodeContent } from "./content-coding.ts";
import { type HttpResponse, headerValue } from "./exchange.ts";
import { fault } from "./faults.ts";
import { parseMediaType, textKindOf } from "./media-type.ts";
import { urlOfHeader } from "./redirects.ts";
import { isXhtml, listOfPages, xmlText } from "./xml-text.ts";

export interface PageContent extends Pick<Capture, "mimeType" | "charset" | "extraction" | "truncated" | "error"> {
  /** The text that was extracted, where it is a whole HTML page: what a browser may be given. */
  html: string | null;
  /** The body, where it is a whole PDF and was asked for. */
  pdf?: Uint8Array;
}

/**
 * Longest text that is extracted, in UTF-16 code units: thirty long articles. It takes 2 s of CPU where it is all one
 * run.
 */
const MAX_EXTRACTED_CHARS = 5_000_000;
/** Tags that are read, each up to two nodes of a tree: a million elements take 1 GB, all that the function has. */
const MAX_EXTRACTED_TAGS = 400_000;

export interface ReadOptions {
  /** What of the page is its content. */
  selection?: ContentSelection;
  /** Whether the text of the links is wanted, too. */
  anchors?: boolean;
  /** Whether the body of a PDF is wanted: it is no text here. */
  pdf?: boolean;
}

/**
 * @param url of the page after redirects
 * @param maxBytes of the body without content coding
 */
export async function readPageContent(
  response: HttpResponse,
  url: string,
  maxBytes: number,
  { selection = MAIN_CONTENT, anchors = false, pdf = false }: ReadOptions = {},
): Promise<PageContent> {
  const { essence: mimeType, charset: label } = parseMediaType(headerValue(response.headers, "content-type"));
  // 206 answers a Range that was never sent: whatever is missing, this is not the whole page
  const cut = response.truncated !== null || response.status === 206;
  const without = (error: CaptureError | null, truncated = cut): PageContent => ({
    mimeType,
    charset: null,
    extraction: null,
    html: null,
    truncated,
    error,
  });
  const empty = (message: string, truncated = cut): PageContent => {
    const sentOn = withRefresh(extractPlainText(""), url, response.headers, anchors);
    if (sentOn.links.length > 0) return { ...without(null, truncated), extraction: sentOn };
    return without(fault("EMPTY_BODY", message), truncated);
  };
  if (response.body.length === 0) return empty(`The server sent no body (${response.status})`);
  const coding = headerValue(response.headers, "content-encoding");
  const decoded = await decodeContent(response.body, coding, maxBytes, cut);
  if ("failed" in decoded) return without(fault("DECODE_FAILED", decoded.failed));
  if (decoded.bytes.length === 0) {
    const why = decoded.truncated ? "ends before anything of it can be decoded" : "holds nothing";
    return empty(`The ${coding} content ${why} (${response.status})`, cut || decoded.truncated);
  }
  const { kind, reason } = textKindOf(mimeType, decoded.bytes, label);
  if (kind === undefined) {
    const unread = without(fault("UNSUPPORTED_TYPE", reason), cut || decoded.truncated);
    return pdf && !unread.truncated && isPdf(mimeType, decoded.bytes) ? { ...unread, pdf: decoded.bytes } : unread;
  }

  const { text: whole, charset } = decodeText(decoded.bytes, label, kind);
  const list = kind === "plain" ? undefined : listOfPages(whole);
  if (list !== undefined) {
    const reason = `The body is ${list}: it is archived, but is no page to search`;
    return { ...without(fault("UNSUPPORTED_TYPE", reason), cut || decoded.truncated), charset };
  }
  const text = whole.slice(0, extractedLength(whole));
  const truncated = cut || decoded.truncated || text.length < whole.length;
  try {
    const found = extract(text, kind, url, response.headers, { selection, anchors, charset });
    const extraction = withRefresh(found, url, response.headers, anchors);
    const html = kind !== "plain" && !truncated && (kind === "html" || isXhtml(text)) ? text : null;
    return { mimeType, charset, extraction, html, truncated, error: null };
  } catch (error) {
    const message = `The text could not be extracted: ${error instanceof Error ? error.message : String(error)}`;
    return { ...without(fault("EXTRACT_FAILED", message), truncated), charset };
  }
}

/** Of larger ones nothing is read: each travels as a whole to whoever reads it. */
const LARGEST_PDF_BYTES = 20 * 1024 * 1024;

function isPdf(mimeType: string | null, bytes: Uint8Array): boolean {
  if (mimeType !== null && !/^application\/(x-)?(pdf|octet-stream)$/.test(mimeType)) return false;
  return bytes.length <= LARGEST_PDF_BYTES && Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "%PDF-";
}

/** How much of a text is extracted, in UTF-16 code units. */
function extractedLength(text: string): number {
  const limit = Math.min(text.length, MAX_EXTRACTED_CHARS);
  let at = -1;
  for (let tags = 0; tags <= MAX_EXTRACTED_TAGS; tags += 1) {
    at = text.indexOf("<", at + 1);
    if (at < 0 || at >= limit) return limit;
  }
  return at;
}

function extract(
  text: string,
  kind: "html" | "xml" | "plain",
  url: string,
  headers: HttpResponse["headers"],
  options: Pick<Required<ReadOptions>, "selection" | "anchors"> & { charset: string },
): Extraction {
  if (kind === "plain") return extractPlainText(text);
  if (kind === "xml" && !isXhtml(text)) return extractPlainText(xmlText(text));
  return extractPage(text, {
    url,
    contentLanguage: headerValue(headers, "content-language") ?? null,
    robotsHeader: allValues(headers, "x-robots-tag"),
    ...options,
  });
}

/** A response that sends its readers on, by a header that browsers know, links there (as the meta element does). */
function withRefresh(
  extraction: Extraction,
  url: string,
  headers: HttpResponse["headers"],
  anchors: boolean,
): Extraction {
  const target = refreshTarget(urlOfHeader(headerValue(headers, "refresh") ?? ""));
  const [link] = target === null ? [] : pageLinks([target], url);
  if (link === undefined || extraction.links.includes(link)) return extraction;
  return {
    ...extraction,
    links: [link, ...extraction.links],
    ...(anchors && { anchors: ["", ...(extraction.anchors ?? [])] }),
  };
}

/** A header that may be sent several times, as one list. */
function allValues(headers: HttpResponse["headers"], name: string): string | null {
  const values = headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? null : values.join(", ");
}
