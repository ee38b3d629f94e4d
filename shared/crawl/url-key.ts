/** One form per URL, so that the same page has one key. */
import { sha256 } from "../platform/ids.ts";

/** Parameters that only track a visitor: dropped from the key. */
const TRACKING_PARAMETERS = /^(utm_[a-z]+|gclid|dclid|fbclid|msclkid|yclid|mc_cid|mc_eid|igshid|_ga|_gl)$/i;

/**
 * WHATWG serialisation without fragment and without the question mark of an empty query, which no request sends; the default
 * port is dropped by the parser; query order and encoding are kept, known tracking parameters removed.
 * @throws TypeError where `url` is not an absolute URL
 */
export function normalizeUrl(url: string | URL): string {
  const parsed = new URL(url);
  parsed.hash = "";
  if (parsed.href.includes("?")) {
    const query = parsed.search
      .slice(1)
      .split("&")
      .filter((pair) => !TRACKING_PARAMETERS.test(pair.split("=", 1)[0] ?? ""))
      .join("&");
    // the setter drops one leading question mark, which may be the query's own
    parsed.search = query === "" ? "" : `?${query}`;
  }
  return parsed.href;
}

/** SHA-256 of the normalised URL, hex. */
export function urlHash(normalizedUrl: string): string {
  return sha256(normalizedUrl).toString("hex");
}

/** Lower-case host with its port where that is not the default: the unit of politeness. */
export function hostOf(url: string): string {
  return new URL(url).host;
}
