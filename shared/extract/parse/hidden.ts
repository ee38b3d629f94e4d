/** By what an element says of itself that it is not shown. */
import type { PageElement } from "./page-tree.ts";

export const isHidden = (element: PageElement): boolean =>
  isHiddenByName(element) || isRemovedFromSpeech(element) || isHiddenByStyle(element);

/** @returns the attributes that hide the element */
export function hiddenBy(element: PageElement): string[] {
  const names: string[] = [];
  if (isHiddenByName(element)) names.push("hidden");
  if (isRemovedFromSpeech(element)) names.push("aria-hidden");
  if (isHiddenByStyle(element)) names.push("style");
  return names;
}

const isHiddenByName = ({ attribs: { hidden } }: PageElement): boolean =>
  hidden !== undefined && hidden !== "until-found";

const isRemovedFromSpeech = ({ attribs }: PageElement): boolean => attribs["aria-hidden"] === "true";

const isHiddenByStyle = ({ attribs: { style } }: PageElement): boolean =>
  style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style);
