/** Tells what a file is by its first bytes, and makes HTML or text of it. */
import { pdfAsHtml } from "../../render/pdf/pdf-page.ts";
import { PdfEncryptedError, readPdf } from "../../render/pdf/read-pdf.ts";
import { RenderError } from "../../render/renderer.ts";
import { readDocx } from "./read-docx.ts";
import { encrypted, noText, tooLarge, unreadable, unsupported } from "./unread.ts";

export interface FileBounds {
  timeoutMs: number;
  /** In megabytes (MiB): of the heap, and of what is unpacked beside it. */
  memoryMb: number;
}

export type ReadFile = { kind: "pdf" | "docx"; html: string } | { kind: "text"; text: string };

const PDF = Buffer.from("%PDF-");
/** Readers of PDFs take some bytes in front of it. */
const PDF_STARTS_WITHIN = 1_024;
const ZIP = Buffer.from("PK\u0003\u0004", "latin1");
const DOCX_PART = Buffer.from("word/");
/** Compound files: Office before 2007, and later files that have a password. */
const COMPOUND = Buffer.from("d0cf11e0a1b11ae1", "hex");
const ENCRYPTED_STREAM = Buffer.from("EncryptedPackage", "utf16le");

/** @throws ApiError 413 FILE_TOO_LARGE, 415 UNSUPPORTED_TYPE, 422 ENCRYPTED, NO_TEXT, UNREADABLE */
export async function readFile(bytes: Uint8Array, { timeoutMs, memoryMb }: FileBounds): Promise<ReadFile> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.subarray(0, PDF_STARTS_WITHIN).includes(PDF)) {
    return { kind: "pdf", html: await pdfHtml(bytes, { timeoutMs, memoryMb }) };
  }
  if (startsWith(file, ZIP)) {
    if (!file.includes(DOCX_PART)) throw unsupported("The content is a ZIP file, and no DOCX: send what is in it");
    const bounds = { timeoutMs, heapMb: memoryMb, externalBytes: memoryMb * 1024 * 1024 };
    return { kind: "docx", html: await readDocx(bytes, bounds) };
  }
  if (startsWith(file, COMPOUND)) {
    if (file.includes(ENCRYPTED_STREAM)) throw encrypted("document");
    throw unsupported("The content is a file of an Office before 2007: save it as DOCX or PDF");
  }
  return { kind: "text", text: textOf(file) };
}

const startsWith = (file: Buffer, start: Buffer): boolean => file.subarray(0, start.length).equals(start);

async function pdfHtml(bytes: Uint8Array, bounds: FileBounds): Promise<string> {
  const read = await readPdf(bytes, bounds).catch((error: unknown) => {
    throw error instanceof RenderError ? whyUnread(error) : error;
  });
  if (read.shortcoming !== null) throw whyUnread(read.shortcoming);
  return pdfAsHtml(read);
}

function whyUnread(error: RenderError): Error {
  if (error instanceof PdfEncryptedError) return encrypted("PDF");
  if (error.code === "RENDER_EMPTY") return noText(error.message);
  if (error.code === "RENDER_TOO_LARGE" || error.code === "RENDER_TIMEOUT") return tooLarge(error.message);
  return unreadable(error.message);
}

/** By its byte order mark, else UTF-8. */
function textOf(file: Buffer): string {
  const mark = file.subarray(0, 2).toString("hex");
  const charset = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(charset, { fatal: true }).decode(file);
  } catch {
    throw unsupported("The content is neither PDF, DOCX nor text in UTF-8: send it as one of them");
  }
}
