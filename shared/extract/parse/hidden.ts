/** By what an element says of itself that it is not shown. */
import type { PageElement } from "./page-tree.ts";

/** @returns the attributes that hide the element */
export function hiddenBy({ attribs }: PageElement): string[] {
  const names: string[] = [];
  if (attribs.hidden !== undefined && attribs.hidden !== "until-found") names.push("hidden");
  if (attribs["aria-hidden"] === "true") names.push("aria-hidden");
  if (attribs.style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attribs.style))
    names.push("style");
  return names;
}
