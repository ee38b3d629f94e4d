/** Finds which file an `<img>` really shows: lazy loaders and `srcset` hide it behind a placeholder. */

import { PageElement } from "../parse/page-tree.ts";
import { resolveUrl } from "./links.ts";

const LAZY = ["data-src", "data-original", "data-lazy-src", "data-lazy", "data-full-src", "data-image"];
const LAZY_SETS = ["data-srcset", "data-lazy-srcset", "srcset"];
/** Attributes beyond this are no list of files. */
const MAX_SET = 20_000;

/**
 * Resolves the best file of an image.
 * @returns an absolute http(s) URL, or null for inline data, tracking pixels and images without one
 */
export function imageSource(image: PageElement, base: string): string | null {
  const { attribs } = image;
  if (attribs.width === "1" && attribs.height === "1") return null;
  for (const name of LAZY) {
    const url = usable(attribs[name], base);
    if (url !== null) return url;
  }
  for (const name of LAZY_SETS) {
    const url = bestOfSet(attribs[name], base);
    if (url !== null) return url;
  }
  return usable(attribs.src, base) ?? pictureSource(image, base);
}

function pictureSource(image: PageElement, base: string): string | null {
  if (!(image.parent instanceof PageElement) || image.parent.name !== "picture") return null;
  for (const source of image.parent.children) {
    if (!(source instanceof PageElement) || source.name !== "source") continue;
    const url = bestOfSet(source.attribs.srcset ?? source.attribs["data-srcset"], base);
    if (url !== null) return url;
  }
  return null;
}

function usable(value: string | undefined, base: string): string | null {
  const trimmed = value?.trim() ?? "";
  return trimmed === "" || trimmed.startsWith("[") || trimmed.startsWith("{") ? null : resolveUrl(trimmed, base);
}

/** Widest (`800w`) or densest (`2x`) candidate of a `srcset` (HTML 4.8.4.2.1). */
function bestOfSet(value: string | undefined, base: string): string | null {
  if (value === undefined || value.length > MAX_SET) return null;
  let best: string | null = null;
  let bestSize = -1;
  // A comma inside a URL is not followed by white space, except where it ends the candidate.
  for (const candidate of value.split(/,\s+|,(?=https?:|\/\/)/)) {
    const [reference = "", descriptor = "1x"] = candidate.trim().split(/\s+/);
    const url = usable(reference.replace(/,+$/, ""), base);
    const size = Number.parseFloat(descriptor);
    if (url !== null && size > bestSize) {
      best = url;
      bestSize = size;
    }
  }
  return best;
}
