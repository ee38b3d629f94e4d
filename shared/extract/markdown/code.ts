/** Writes code blocks of Markdown: the language that the page names, and a fence that the code cannot end. */
import { PageElement } from "../parse/page-tree.ts";

const LANGUAGE_CLASS = /(?:^|\s)(?:(?:language|lang|highlight-source|highlight|brush)-|brush:\s*)([\w+#.-]+)/i;
const NOT_A_LANGUAGE = new Set([
  "none",
  "nohighlight",
  "default",
  "notranslate",
  "text-html-basic",
  "hljs",
  "auto",
  "source",
]);

/**
 * Finds the language of a `<pre>`, from it, its `<code>`, or the boxes around it.
 * @returns lower case; "" where none is named
 */
export function codeLanguage(pre: PageElement): string {
  const inner = pre.children.find(
    (child): child is PageElement => child instanceof PageElement && child.name === "code",
  );
  const around: PageElement[] = [];
  for (let node = pre.parent; node instanceof PageElement && around.length < 3; node = node.parent) {
    if (node.name !== "div" && node.name !== "figure" && node.name !== "span" && node.name !== "td") break;
    around.push(node);
  }
  for (const element of [inner, pre, ...around]) {
    if (element === undefined) continue;
    const language = namedLanguage(element);
    if (language !== "") return language;
  }
  return "";
}

function namedLanguage({ attribs, name }: PageElement): string {
  const named =
    attribs["data-lang"] ??
    attribs["data-language"] ??
    LANGUAGE_CLASS.exec(attribs.class ?? "")?.[1] ??
    sourceCode(attribs.class);
  if (named === undefined || (named === attribs.lang && name !== "pre")) return "";
  const language = named.toLowerCase().replace(/[^\w+#.-]/g, "");
  return language.length > 30 || NOT_A_LANGUAGE.has(language) ? "" : language;
}

/** Pandoc writes `class="sourceCode python"`. */
function sourceCode(names: string | undefined): string | undefined {
  return /(?:^|\s)sourceCode\s+([\w+#-]+)/.exec(names ?? "")?.[1];
}

/** Makes a fence for the code: backticks, more of them than the code has in a row. */
export function fenceFor(code: string): string {
  return "`".repeat(Math.max(3, longestTickRun(code) + 1));
}

/** Counts the backticks of the longest run of them. */
export function longestTickRun(code: string): number {
  let longest = 0;
  for (const [ticks] of code.matchAll(/`+/g)) longest = Math.max(longest, ticks.length);
  return longest;
}
