/** Normalises URLs, so that the same page has one key. */
import { sha256 } from "../../platform/ids.ts";

/** Parameters that only track a visitor: dropped from the key. */
const TRACKING_PARAMETERS = new RegExp(
  `^(${[
    "utm_[a-z_]+",
    // clicks on advertisements, and what Google puts on its results
    "gclid|dclid|gclsrc|gbraid|wbraid|gad_source|gad_campaignid|srsltid|fbclid|msclkid|yclid|ysclid|twclid|ttclid|li_fat_id",
    // shared posts, and letters to readers
    "igshid|igsh|mc_cid|mc_eid|mkt_tok|_hsenc|_hsmi",
    "_ga|_gl",
  ].join("|")})$`,
  "i",
);

/** Parameters that hold a visitor's session and nothing else. */
const SESSION_PARAMETERS = /^(phpsessid|jsessionid|aspsessionid[a-z]*|asp\.net_sessionid|oscsid|zenid|cfid|cftoken)$/i;
/**
 * Parameters that hold a session where their value looks like one: elsewhere `sid` is a story, and `session_id` a talk.
 */
const LIKELY_SESSION_PARAMETERS = /^(sid|s|sess|sessid|sess_id|session|sessionid|session_id)$/i;
const SESSION_VALUE = /^(?=.*\d)[0-9a-z]{16,}$/i;
/** `;jsessionid=…` of Java servers, and `/(S(…))/` of ASP.NET without cookies. */
const SESSION_IN_PATH = /;(?:jsessionid|phpsessid)=[^/;]*|\/\((?:[ASF]\([^)/]*\))+\)(?=[/;]|$)/gi;

/** What does not tell one page from another. */
export interface KeyRules {
  stripSessions: boolean;
  /** Further parameters that are dropped; lower case. */
  ignored: ReadonlySet<string>;
}

const DEFAULT_RULES: KeyRules = { stripSessions: true, ignored: new Set() };

export function keyRules({
  session_ids,
  ignore_parameters,
}: {
  session_ids: "strip" | "keep";
  ignore_parameters: readonly string[];
}): KeyRules {
  if (session_ids === "strip" && ignore_parameters.length === 0) return DEFAULT_RULES;
  return {
    stripSessions: session_ids === "strip",
    ignored: new Set(ignore_parameters.map(parameterKey)),
  };
}

/** A parameter's name in any of its spellings: case, and what of it is percent-encoded, make no difference. */
function parameterKey(name: string): string {
  if (!/[%+]|[^\0-\x7f]/.test(name)) return name.toLowerCase();
  try {
    return decodeURIComponent(name.replaceAll("+", " ")).toLowerCase();
  } catch {
    // bytes of another charset than UTF-8
    return name.toLowerCase();
  }
}

/**
 * WHATWG serialisation without fragment and without the question mark of an empty query, which no request sends; the
 * default port is dropped by the parser; query order and encoding are kept; known tracking parameters, session ids and
 * what the job's config ignores are removed.
 * @throws TypeError where `url` is not an absolute URL
 * @example
 * normalizeUrl("HTTPS://Example.org:443/a?b=2&utm_source=mail&a=1#top") // => "https://example.org/a?b=2&a=1"
 */
export function normalizeUrl(url: string | URL, rules: KeyRules = DEFAULT_RULES): string {
  return normalized(new URL(url), rules).href;
}

/** As `normalizeUrl`, in place. */
export function normalized(parsed: URL, rules: KeyRules = DEFAULT_RULES): URL {
  parsed.hash = "";
  if (rules.stripSessions && /;|\/\(/.test(parsed.pathname)) {
    parsed.pathname = parsed.pathname.replace(SESSION_IN_PATH, "");
  }
  if (parsed.href.includes("?")) {
    const query = parsed.search
      .slice(1)
      .split("&")
      .filter((pair) => tellsPages(pair, rules))
      .join("&");
    // the setter drops one leading question mark, which may be the query's own
    parsed.search = query === "" ? "" : `?${query}`;
  }
  return parsed;
}

function tellsPages(pair: string, { stripSessions, ignored }: KeyRules): boolean {
  const equals = pair.indexOf("=");
  const name = equals === -1 ? pair : pair.slice(0, equals);
  if (TRACKING_PARAMETERS.test(name)) return false;
  if (ignored.size > 0 && ignored.has(parameterKey(name))) return false;
  if (!stripSessions) return true;
  if (SESSION_PARAMETERS.test(name)) return false;
  return !(LIKELY_SESSION_PARAMETERS.test(name) && SESSION_VALUE.test(pair.slice(equals + 1)));
}

/** SHA-256 of the normalised URL, hex. */
export function urlHash(normalizedUrl: string): string {
  return sha256(normalizedUrl).toString("hex");
}

/**
 * Lower-case host with its port where that is not the default: the unit of politeness. Without the final dot of an
 * absolute name, by which a page could lead around the block of its host.
 */
export function hostOf(url: string | URL): string {
  return new URL(url).host.replace(/\.(?=:|$)/, "");
}
