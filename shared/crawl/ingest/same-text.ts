/**
 * Knows pages that say the same, however many bytes of them differ: a site that makes ever new addresses for one page
 * puts tokens into its markup.
 */
import type { Capture } from "../../capture/capture.ts";
import { sha256 } from "../../platform/ids.ts";

/** A text of fewer characters may be that of many a page: a gallery's, a login's. Its title tells them apart. */
const LONG_TEXT = 100;

/** @returns a key in hex that pages of one main text share; null where there is none to compare */
export function textKey({ extraction, error }: Pick<Capture, "extraction" | "error">): string | null {
  if (error !== null || extraction === null) return null;
  const text = extraction.text.trim();
  if (text === "") return null;
  return sha256(text.length < LONG_TEXT ? `${extraction.title ?? ""}\n${text}` : text)
    .subarray(0, 16)
    .toString("hex");
}
