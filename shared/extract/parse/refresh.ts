/** Reads where a page sends its readers on. */

/**
 * The URL in the `content` of a `<meta http-equiv=refresh>`, unresolved (WHATWG HTML, "shared declarative refresh
 * steps"); null where the page only loads itself once more.
 */
export function refreshTarget(content: string): string | null {
  const delay = /^\s*[\d.]+/.exec(content)?.[0];
  if (delay === undefined) return null;
  const rest = content.slice(delay.length);
  if (!/^[\s;,]/.test(rest)) return null;
  const named = rest.trimStart().replace(/^[;,]/, "").trimStart();
  const target = named.replace(/^url\s*=/i, "").trimStart();
  const quote = /^["']/.exec(target)?.[0];
  const url = quote === undefined ? target : (target.slice(1).split(quote, 1)[0] ?? "");
  return url.trim() === "" ? null : url;
}
