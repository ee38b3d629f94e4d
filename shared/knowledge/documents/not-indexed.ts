/** Why a page is archived and not made searchable. */
import type { Extraction } from "../../extract/extraction.ts";

/** `type`: nothing that holds text; `noindex`: the page asks for it; `no_text`; `language`: not one that is wanted. */
export const NOT_INDEXED = ["type", "noindex", "no_text", "language"] as const;
export type NotIndexed = (typeof NOT_INDEXED)[number];

/**
 * Why a page does not become searchable, or null; every page is archived. A page whose language is not known is kept.
 * @param extraction null where there is nothing to extract from
 */
export function whyNotIndexed(extraction: Extraction | null, languages: readonly string[]): NotIndexed | null {
  if (extraction === null) return "type";
  const { language, robots, text } = extraction;
  if (robots.noindex) return "noindex";
  if (text.trim() === "") return "no_text";
  return language === "und" || languages.includes("*") || languages.includes(language) ? null : "language";
}
