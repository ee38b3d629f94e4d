/** Reads what the error codes of captures mean from the guide, so that the console says it in the same words. */

/**
 * Gives each code's cause.
 * @param guide the guide's page about error codes, as Markdown
 * @throws Error where the page has no such table
 */
export function errorCauses(guide: string): Record<string, string> {
  const [, captures] = /^## Captures$(.*)/ms.exec(guide) ?? [];
  const causes: Record<string, string> = {};
  for (const [, codes = "", cause = ""] of (captures ?? "").matchAll(/^\| (`[A-Z].*?) \| \w+ \| (.*) \|$/gm)) {
    for (const [, code = ""] of codes.matchAll(/`(\w+)`/g)) causes[code] = plain(cause);
  }
  if (Object.keys(causes).length === 0) throw new Error("The guide has no table of the error codes of captures");
  return causes;
}

/** Without the marks of links and code. */
const plain = (markdown: string): string => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
