/** Reads what somebody uploaded: Markdown, HTML or plain text, told by what it is where nobody says so. */
import { marked } from "marked";
import { z } from "zod";
import { extractPage, extractPlainText } from "../extract/extract-page.ts";
import type { Extraction } from "../extract/extraction.ts";
import { ApiError } from "../platform/errors.ts";

export interface UploadedText {
  content: string;
  /** As it was declared: a media type. */
  contentType?: string | undefined;
  filename?: string | undefined;
  title?: string | undefined;
  /** ISO 639-1. */
  language?: string | undefined;
}

type Kind = "html" | "markdown" | "plain";

const KINDS: Readonly<Record<string, Kind>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "text/plain": "plain",
};
export const UPLOAD_TYPES = Object.keys(KINDS);

/** Of a text that is no HTML although it may be called so, or the other way round. */
const HTML_START = /^\s*(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]|<!--)/i;
const HTML_TAGS = /<[a-z][^<>]*>/i;
const MARKDOWN_LINES =
  /^(?: {0,3}#{1,6} \S| {0,3}(?:`{3}|~{3})|[-*+] \S|\d+[.)] \S|> \S|\|.*\|)|\[[^\]\n]+\]\([^)\n]+\)/m;
const BINARY_STARTS: readonly (readonly [string, string])[] = [
  ["%PDF-", "a PDF"],
  ["PK\u0003\u0004", "a ZIP archive, such as DOCX"],
];
const FRONT_MATTER = /^---\r?\n([\s\S]{0,20000}?)\r?\n(?:---|\.\.\.)\r?\n/;

/** @throws ApiError 415 UNSUPPORTED_TYPE, 422 NO_TEXT */
export function readUpload({ content, contentType, filename, title, language }: UploadedText, url: string): Extraction {
  const binary = BINARY_STARTS.find(([start]) => content.startsWith(start))?.[1];
  if (binary !== undefined || content.includes("\0")) {
    const what = binary ?? "binary";
    throw new ApiError(415, `The content is ${what}: send Markdown, HTML or plain text`, { code: "UNSUPPORTED_TYPE" });
  }
  const kind = kindOf(content, contentType, filename);
  const found = extractionOf(content.replace(/^\uFEFF/, ""), kind, url);
  if (found.text.trim() === "") throw new ApiError(422, "The content holds no text", { code: "NO_TEXT" });
  return {
    ...found,
    title: title ?? found.title,
    language: language ?? found.language,
    // whoever uploads a page wants it found, and read as it is
    robots: { noindex: false, nofollow: true },
  };
}

function kindOf(content: string, contentType: string | undefined, filename = ""): Kind {
  const declared = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (declared !== undefined && declared !== "" && KINDS[declared] === undefined) {
    const known = UPLOAD_TYPES.join(", ");
    throw new ApiError(415, `content_type: ${declared} is none that can be read: ${known}`, {
      code: "UNSUPPORTED_TYPE",
    });
  }
  if (HTML_START.test(content)) return "html";
  const named = declared === undefined ? undefined : KINDS[declared];
  if (named === "html") return HTML_TAGS.test(content) ? "html" : "plain";
  if (named !== undefined) return named;
  if (/\.(md|markdown|mdx)$/i.test(filename)) return "markdown";
  if (/\.(html?|xhtml)$/i.test(filename) && HTML_TAGS.test(content)) return "html";
  if (/\.txt$/i.test(filename)) return "plain";
  return MARKDOWN_LINES.test(content) ? "markdown" : "plain";
}

function extractionOf(content: string, kind: Kind, url: string): Extraction {
  if (kind === "plain") return extractPlainText(content);
  if (kind === "html") return extractPage(content, { url });
  const matter = FRONT_MATTER.exec(content);
  const html = marked.parse(content.slice(matter?.[0].length ?? 0), { async: false, gfm: true });
  const found = extractPage(`<!doctype html><html><body>${html}</body></html>`, {
    url,
    selection: { include: [], exclude: [], mainOnly: false },
  });
  const title = matter?.[1] === undefined ? null : frontTitle(matter[1]);
  return { ...found, title: title ?? found.title ?? firstHeading(found) };
}

const frontTitle = (matter: string): string | null => {
  const raw = /^title:[ \t]*(.+?)[ \t]*$/m.exec(matter)?.[1] ?? "";
  const text =
    z
      .string()
      .safeParse(raw.replace(/^(["'])(.*)\1$/, "$2"))
      .data?.trim() ?? "";
  return text === "" ? null : text;
};

const firstHeading = ({ sections }: Extraction): string | null =>
  sections.find(({ heading }) => heading !== null)?.heading ?? null;
