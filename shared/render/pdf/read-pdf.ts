/**
 * Reads the text of a PDF, page by page, in a thread of its own with bounds of its own: a file may be made to exhaust
 * whoever reads it.
 */
import { runBounded, type ThreadEnd } from "../../platform/bounded-thread.ts";
import { RenderError } from "../renderer.ts";

export interface PdfInput {
  bytes: Uint8Array;
  maxPages: number;
}

/** What the thread posts. */
export type PdfPart =
  | { title: string | null; pages: number }
  | { page: number; text: string }
  | { encrypted: true }
  | { end: true };

export interface PdfText {
  title: string | null;
  /** By their numbers, from 1 on. */
  pages: ReadonlyMap<number, string>;
  /** Why there is not all of it, or null. */
  shortcoming: RenderError | null;
}

export class PdfEncryptedError extends RenderError {}

export interface PdfBounds {
  timeoutMs: number;
  signal?: AbortSignal;
  maxPages?: number;
  /** In megabytes (MiB): of the heap, and of what is unpacked beside it. */
  memoryMb?: number;
}

const MAX_PAGES = 2_000;
/** UTF-16 code units. */
const MAX_CHARS = 5_000_000;
const MAX_MEMORY_MB = 512;

/** In the bundle of a function it stands beside the function's code. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./pdf-worker.ts" : "./pdf-worker.mjs", import.meta.url);

/** @throws RenderError where no page could be read */
export async function readPdf(
  bytes: Uint8Array,
  { timeoutMs, signal, maxPages = MAX_PAGES, memoryMb = MAX_MEMORY_MB }: PdfBounds,
): Promise<PdfText> {
  const input: PdfInput = { bytes, maxPages };
  const pages = new Map<number, string>();
  let title: string | null = null;
  let chars = 0;
  let shortcoming: RenderError | null = null;
  const bounds = { timeoutMs, heapMb: memoryMb, externalBytes: memoryMb * 1024 * 1024, signal };
  const ended = await runBounded<PdfPart>(WORKER, input, bounds, (part) => {
    if ("end" in part) return true;
    if ("encrypted" in part) {
      shortcoming = new PdfEncryptedError("RENDER_FAILED", "The PDF is encrypted, and opens with a password alone");
      return true;
    }
    if ("pages" in part) {
      title = part.title;
      if (part.pages > maxPages) {
        shortcoming = new RenderError("RENDER_TOO_LARGE", `The PDF has ${part.pages} pages: ${maxPages} are read`);
      }
      return false;
    }
    pages.set(part.page, part.text.slice(0, MAX_CHARS - chars));
    chars += part.text.length;
    if (chars <= MAX_CHARS) return false;
    shortcoming = new RenderError("RENDER_TOO_LARGE", `The PDF holds more than ${MAX_CHARS} characters`);
    return true;
  });
  const why = errorOf(ended, timeoutMs) ?? (shortcoming as RenderError | null);
  const hasText = [...pages.values()].some((text) => text.trim() !== "");
  if (!hasText && why !== null) throw why;
  if (!hasText) throw new RenderError("RENDER_EMPTY", "The PDF holds no text: its pages may be pictures");
  if (why?.code === "RENDER_STOPPED") throw why;
  return { title, pages, shortcoming: why };
}

function errorOf(ended: ThreadEnd, timeoutMs: number): RenderError | null {
  switch (ended.reason) {
    case "done":
      return null;
    case "timeout":
      return new RenderError("RENDER_TIMEOUT", `The PDF was not read after ${timeoutMs} ms`);
    case "memory":
      return new RenderError("RENDER_TOO_LARGE", "Reading the PDF takes too much memory");
    case "stopped":
      return new RenderError("RENDER_STOPPED", "Nobody waits for the PDF any more");
    case "failed":
      return new RenderError("RENDER_FAILED", `The PDF cannot be read: ${ended.error.message}`);
  }
}
