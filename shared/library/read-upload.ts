/** Reads what somebody uploaded: Markdown, HTML, plain text, PDF or DOCX, told by what it is. */
import { z } from "zod";
import { extractPage, extractPlainText } from "../extract/extract-page.ts";
import type { Extraction } from "../extract/extraction.ts";
import { type FileBounds, readFile } from "./files/read-file.ts";
import { noText, unsupported } from "./files/unread.ts";
import { markdownToHtml } from "./markdown-to-html.ts";

export interface UploadedText {
  /** Bytes: of a file. */
  content: string | Uint8Array;
  /** As it was declared: a media type. */
  contentType?: string | undefined;
  filename?: string | undefined;
  title?: string | undefined;
  /** ISO 639-1. */
  language?: string | undefined;
}

type Kind = "html" | "markdown" | "plain" | "file";

const KINDS: Readonly<Record<string, Kind>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "text/plain": "plain",
  "application/pdf": "file",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "file",
  "application/octet-stream": "file",
};
export const UPLOAD_TYPES = Object.keys(KINDS);

/** Of a text that is no HTML although it may be called so, or the other way round. */
const HTML_START = /^\s*(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]|<!--)/i;
const HTML_TAGS = /<[a-z][^<>]*>/i;
const MARKDOWN_LINES =
  /^(?: {0,3}#{1,6} \S| {0,3}(?:`{3}|~{3})|[-*+] \S|\d+[.)] \S|> \S|\|.*\|)|\[[^\]\n]+\]\([^)\n]+\)/m;
/** Of a file that was put into a text. */
const FILE_STARTS = ["%PDF-", "PK\u0003\u0004"];
const FRONT_MATTER = /^---\r?\n([\s\S]{0,20000}?)\r?\n(?:---|\.\.\.)\r?\n/;

/** @throws ApiError 413 FILE_TOO_LARGE, 415 UNSUPPORTED_TYPE, 422 ENCRYPTED, NO_TEXT, UNREADABLE */
export async function readUpload(upload: UploadedText, url: string, bounds: FileBounds): Promise<Extraction> {
  const { title, language } = upload;
  const found = await extractionOf(upload, url, bounds);
  if (found.text.trim() === "") throw noText("The content holds no text");
  return {
    ...found,
    title: title ?? found.title,
    language: language ?? found.language,
    // whoever uploads a page wants it found, and read as it is
    robots: { noindex: false, nofollow: true },
  };
}

async function extractionOf(upload: UploadedText, url: string, bounds: FileBounds): Promise<Extraction> {
  const { content, contentType, filename } = upload;
  const declared = declaredType(contentType);
  if (typeof content === "string") return textExtraction(content, kindOf(content, declared, filename), url);
  const file = await readFile(content, bounds);
  if (file.kind === "text") return textExtraction(file.text, kindOf(file.text, declared, filename), url);
  const found = wholePage(file.html, url);
  const title = file.kind === "docx" ? firstHeading(found) : found.title;
  return { ...found, title: title ?? filename ?? null };
}

/** @throws ApiError 415 UNSUPPORTED_TYPE */
function declaredType(contentType: string | undefined): string | undefined {
  const declared = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (declared === undefined || declared === "" || KINDS[declared] !== undefined) return declared;
  throw unsupported(`content_type: ${declared} is none that can be read: ${UPLOAD_TYPES.join(", ")}`);
}

function kindOf(content: string, declared: string | undefined, filename = ""): Kind {
  if (HTML_START.test(content)) return "html";
  const named = declared === undefined ? undefined : KINDS[declared];
  if (named === "html") return HTML_TAGS.test(content) ? "html" : "plain";
  if (named !== undefined && named !== "file") return named;
  if (/\.(md|markdown|mdx)$/i.test(filename)) return "markdown";
  if (/\.(html?|xhtml)$/i.test(filename) && HTML_TAGS.test(content)) return "html";
  if (/\.txt$/i.test(filename)) return "plain";
  return MARKDOWN_LINES.test(content) ? "markdown" : "plain";
}

function textExtraction(content: string, kind: Kind, url: string): Extraction {
  if (content.includes("\0") || FILE_STARTS.some((start) => content.startsWith(start))) {
    throw unsupported("The content is a file, and no text: send it whole as content_base64");
  }
  const text = content.replace(/^\uFEFF/, "");
  if (kind === "plain") return extractPlainText(text);
  if (kind === "html") return extractPage(text, { url });
  const matter = FRONT_MATTER.exec(text);
  const html = markdownToHtml(text.slice(matter?.[0].length ?? 0));
  const found = wholePage(`<!doctype html><html><body>${html}</body></html>`, url);
  const title = matter?.[1] === undefined ? null : frontTitle(matter[1]);
  return { ...found, title: title ?? found.title ?? firstHeading(found) };
}

/** All of it is content: there is nothing around. */
const wholePage = (html: string, url: string): Extraction =>
  extractPage(html, { url, selection: { include: [], exclude: [], mainOnly: false } });

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
