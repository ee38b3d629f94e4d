/** Main content → GitHub-flavoured Markdown. */
import type { ChildNode } from "domhandler";
import { renderText } from "./content-text.ts";

export function renderMarkdown(roots: readonly ChildNode[], _base: string): string {
  return renderText(roots).text;
}
