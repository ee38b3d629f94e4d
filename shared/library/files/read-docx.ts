/** Reads a DOCX in a thread of its own: it is a ZIP file, which may unpack to far more than there is room for. */
import { runBounded, type ThreadBounds } from "../../platform/bounded-thread.ts";
import { tooLarge, unreadable } from "./unread.ts";

export interface DocxInput {
  bytes: Uint8Array;
}

/** What the thread posts. */
export type DocxPart = { html: string } | { unread: string };

/** In the bundle of a function it stands beside the function's code. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./docx-worker.ts" : "./docx-worker.mjs", import.meta.url);

/**
 * @returns an HTML fragment, not to be shown as it is
 * @throws ApiError
 */
export async function readDocx(bytes: Uint8Array, bounds: ThreadBounds): Promise<string> {
  const input: DocxInput = { bytes };
  let read: DocxPart | undefined;
  const ended = await runBounded<DocxPart>(WORKER, input, bounds, (part) => {
    read = part;
    return true;
  });
  if (ended.reason === "timeout") throw tooLarge(`The DOCX was not read after ${bounds.timeoutMs} ms`);
  if (ended.reason === "memory") throw tooLarge("Reading the DOCX takes too much memory");
  const why = ended.reason === "failed" ? ended.error.message : "Nothing was read";
  if (read === undefined) throw unreadable(`The DOCX cannot be read: ${why}`);
  if ("unread" in read) throw unreadable(`The DOCX cannot be read: ${read.unread}`);
  return read.html;
}
