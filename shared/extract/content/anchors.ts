/** Reads the texts of a page's links, for crawls that rank links by them: most do not. */
import type { ChildNode } from "domhandler";
import { resolveUrl } from "../metadata/links.ts";
import type { PageElement } from "../parse/page-tree.ts";

/** Of one anchor, in UTF-16 code units. */
const MAX_ANCHOR = 200;
/** Nodes that are looked at below one anchor, which may hold a whole page. */
const MAX_NODES = 200;

/**
 * For each of the links the first text that an anchor gives it: its own, or its label, or what an image in it stands
 * for.
 * @param elements `<a>` and `<area>` in document order
 * @param links as `pageLinks` gives them
 * @returns texts in the order of the links; empty where there is none
 */
export function anchorTexts(elements: readonly PageElement[], links: readonly string[], base: string): string[] {
  const texts = new Map<string, string>(links.map((link) => [link, ""]));
  for (const element of elements) {
    const url = resolveUrl(element.attribs.href ?? "", base)?.split("#", 1)[0];
    if (url === undefined || texts.get(url) !== "") continue;
    texts.set(url, anchorText(element));
  }
  return links.map((link) => texts.get(link) ?? "");
}

function anchorText(element: PageElement): string {
  const parts: string[] = [];
  const images: string[] = [];
  const waiting: ChildNode[] = [...element.children].reverse();
  let length = 0;
  for (let seen = 0; seen < MAX_NODES && length < MAX_ANCHOR; seen++) {
    const node = waiting.pop();
    if (node === undefined) break;
    if (node.type === "text") {
      parts.push(node.data);
      length += node.data.length;
    } else if ("children" in node) {
      if ("name" in node && node.name === "img") images.push(node.attribs.alt ?? "");
      // a block apart is a word apart
      parts.push(" ");
      for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as ChildNode);
    }
  }
  const { "aria-label": label = "", title = "", alt = "" } = element.attribs;
  const candidates = [parts.join(""), label, title, alt, images.join(" ")];
  return (
    candidates.map((text) => text.replace(/\s+/g, " ").trim().slice(0, MAX_ANCHOR)).find((text) => text !== "") ?? ""
  );
}
