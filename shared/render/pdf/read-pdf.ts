/**
 * Reads the text of a PDF, page by page, in a thread of its own with bounds of its own: a file may be made to exhaust
 * whoever reads it.
 */
import { Worker } from "node:worker_threads";
import { RenderError } from "../renderer.ts";

export interface PdfInput {
  bytes: Uint8Array;
  maxPages: number;
}

/** What the thread posts. */
export type PdfPart = { title: string | null; pages: number } | { page: number; text: string } | { end: true };

export interface PdfText {
  title: string | null;
  /** By their numbers, from 1 on. */
  pages: ReadonlyMap<number, string>;
  /** Why there is not all of it, or null. */
  shortcoming: RenderError | null;
}

const MAX_PAGES = 2_000;
/** UTF-16 code units. */
const MAX_CHARS = 5_000_000;
const MAX_HEAP_MB = 512;
/** Of buffers beside the heap, where streams are unpacked. */
const MAX_EXTERNAL_BYTES = 512 * 1024 * 1024;
const LOOK_EVERY_MS = 50;

/** In the bundle of a function it stands beside the function's code. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./pdf-worker.ts" : "./pdf-worker.mjs", import.meta.url);

/** @throws RenderError where no page could be read */
export async function readPdf(
  bytes: Uint8Array,
  { timeoutMs, signal, maxPages = MAX_PAGES }: { timeoutMs: number; signal?: AbortSignal; maxPages?: number },
): Promise<PdfText> {
  signal?.throwIfAborted();
  const workerData: PdfInput = { bytes, maxPages };
  const worker = new Worker(WORKER, {
    workerData,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const pages = new Map<number, string>();
  let title: string | null = null;
  let chars = 0;
  let unread: RenderError | null = null;
  const timers: NodeJS.Timeout[] = [];
  const stopped = Promise.withResolvers<RenderError | null>();
  const fail = (code: "RENDER_TIMEOUT" | "RENDER_TOO_LARGE" | "RENDER_FAILED" | "RENDER_STOPPED", message: string) =>
    stopped.resolve(new RenderError(code, message));
  const stop = () => fail("RENDER_STOPPED", "Nobody waits for the PDF any more");
  worker.on("message", (part: PdfPart) => {
    if ("end" in part) return stopped.resolve(unread);
    if ("pages" in part) {
      title = part.title;
      if (part.pages > maxPages) {
        unread = new RenderError("RENDER_TOO_LARGE", `The PDF has ${part.pages} pages: ${maxPages} are read`);
      }
      return;
    }
    pages.set(part.page, part.text.slice(0, MAX_CHARS - chars));
    chars += part.text.length;
    if (chars > MAX_CHARS) fail("RENDER_TOO_LARGE", `The PDF holds more than ${MAX_CHARS} characters`);
  });
  worker.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ERR_WORKER_OUT_OF_MEMORY") fail("RENDER_TOO_LARGE", "Reading the PDF takes too much memory");
    else fail("RENDER_FAILED", `The PDF cannot be read: ${error.message}`);
  });
  worker.on("exit", () => fail("RENDER_FAILED", "The PDF cannot be read"));
  signal?.addEventListener("abort", stop, { once: true });
  timers.push(setTimeout(() => fail("RENDER_TIMEOUT", `The PDF was not read after ${timeoutMs} ms`), timeoutMs));
  const look = async (): Promise<void> => {
    const { external_memory: external } = await worker.getHeapStatistics();
    if (external > MAX_EXTERNAL_BYTES) fail("RENDER_TOO_LARGE", "Reading the PDF takes too much memory");
  };
  timers.push(setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS));
  try {
    const shortcoming = await stopped.promise;
    const hasText = [...pages.values()].some((text) => text.trim() !== "");
    if (!hasText && shortcoming !== null) throw shortcoming;
    if (!hasText) throw new RenderError("RENDER_EMPTY", "The PDF holds no text: its pages may be pictures");
    if (shortcoming?.code === "RENDER_STOPPED") throw shortcoming;
    return { title, pages, shortcoming };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    await worker.terminate();
  }
}
