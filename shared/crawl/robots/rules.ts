/** robots.txt by RFC 9309: what one crawler may fetch. Pure functions. */

/** Product token of this crawler (RFC 9309 section 2.2.1). */
const ROBOTS_PRODUCT_TOKEN = "strandline";
/** Bytes of a robots.txt that count (section 2.5). */
export const ROBOTS_MAX_BYTES = 500 * 1024;
const MAX_SITEMAPS = 1000;

export interface RobotsRules {
  /** The first that matches decides. Patterns in the form of `normalizePath`, with `*` and a final `$` as wildcards. */
  rules: { allow: boolean; pattern: string }[];
  crawlDelayMs: number | null;
  /** As the file lists them, which may be relative to it; they belong to no group. */
  sitemaps: string[];
}

export const ALLOW_ALL: RobotsRules = { rules: [], crawlDelayMs: null, sitemaps: [] };

interface Group extends Omit<RobotsRules, "sitemaps"> {
  agents: string[];
}

/**
 * Reads a robots.txt for one crawler.
 * @param token product token; groups for it are merged, and where there is none those for `*`
 * @example
 * const robots = parseRobots(Buffer.from("User-agent: *\nCrawl-delay: 2\nDisallow: /drafts/\nSitemap: /map.xml"));
 * robots.rules // => [{ allow: false, pattern: "/drafts/" }]
 * [robots.crawlDelayMs, robots.sitemaps] // => [2000, ["/map.xml"]]
 */
export function parseRobots(body: Uint8Array, token: string = ROBOTS_PRODUCT_TOKEN): RobotsRules {
  const text = new TextDecoder(encodingOf(body)).decode(body.subarray(0, ROBOTS_MAX_BYTES));
  const lines = text.split(/\r\n|\r|\n/);
  // a line that the limit cuts in two could mean anything
  if (body.length > ROBOTS_MAX_BYTES) lines.pop();
  const sitemaps: string[] = [];
  const groups: Group[] = [];
  let current: Group | undefined;
  let open = false;
  for (const line of lines) {
    const [key, value] = fieldOf(line);
    switch (key) {
      case "user-agent":
        if (current === undefined || !open) {
          current = { agents: [], rules: [], crawlDelayMs: null };
          groups.push(current);
          open = true;
        }
        current.agents.push(agentOf(value));
        break;
      case "allow":
      case "disallow":
        open = false;
        if (value !== "")
          current?.rules.push({ allow: key.toLowerCase() === "allow", pattern: normalizePattern(value) });
        break;
      case "crawl-delay":
        // not of the RFC, so it must not end the list of agents
        if (current && delayOf(value) !== null) current.crawlDelayMs = delayOf(value);
        break;
      case "sitemap":
        if (value !== "" && sitemaps.length < MAX_SITEMAPS) sitemaps.push(value);
        break;
    }
  }
  const own = groups.filter(({ agents }) => agents.includes(token.toLowerCase()));
  const applicable = own.length > 0 ? own : groups.filter(({ agents }) => agents.includes("*"));
  const delays = applicable.flatMap(({ crawlDelayMs }) => crawlDelayMs ?? []);
  return {
    rules: applicable.flatMap(({ rules }) => rules).sort(byPrecedence),
    crawlDelayMs: delays.length === 0 ? null : Math.max(...delays),
    sitemaps,
  };
}

/** The RFC knows UTF-8 alone, but some editors save UTF-16: read as UTF-8 it would forbid nothing. */
function encodingOf(body: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  const [a, b, c, d] = body;
  if (a === 0xff && b === 0xfe && d === 0) return "utf-16le";
  return a === 0xfe && b === 0xff && c === 0 ? "utf-16be" : "utf-8";
}

/**
 * Name in lower case and value of a line, without its comment. No regular expression: a line may be 500 KiB of spaces.
 */
function fieldOf(line: string): [string, string] {
  const comment = line.indexOf("#");
  const text = comment < 0 ? line : line.slice(0, comment);
  const colon = text.indexOf(":");
  return colon < 0 ? ["", ""] : [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()];
}

/** Seconds that begin a value, however their fraction and their unit are written, in ms; null where none do. */
function delayOf(value: string): number | null {
  const [seconds] = /^(?:\d{1,9}(?:[.,]\d{1,9})?|[.,]\d{1,9})(?!\d)/.exec(value) ?? [];
  return seconds === undefined ? null : Number(seconds.replace(",", ".")) * 1000;
}

/** Longest match wins; of two as long, the one that allows (section 2.2.2). */
function byPrecedence(a: RobotsRules["rules"][number], b: RobotsRules["rules"][number]): number {
  return b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow);
}

/** `*`, or the product token without version. */
function agentOf(value: string): string {
  return value.startsWith("*") ? "*" : (/^[A-Za-z_-]+/.exec(value)?.[0] ?? "").toLowerCase();
}

/**
 * Whether the rules let the crawler fetch the URL: the longest pattern that matches decides (section 2.2.2).
 * @example
 * const robots = parseRobots(Buffer.from("User-agent: *\nDisallow: /a\nAllow: /a/open$"));
 * isAllowed(robots, new URL("https://example.org/a/open")) // => true
 * isAllowed(robots, new URL("https://example.org/a/open/door")) // => false
 */
export function isAllowed({ rules }: RobotsRules, url: URL): boolean {
  if (rules.length === 0 || url.pathname === "/robots.txt") return true;
  const path = normalizePath(url.pathname + url.search);
  return rules.find(({ pattern }) => matches(pattern, path))?.allow ?? true;
}

/**
 * One spelling per path (section 2.2.2): non-ASCII is percent-encoded, unreserved characters are not, hex digits are
 * upper case. `*` and `$` are encoded, since they are wildcards in patterns.
 */
export function normalizePath(path: string): string {
  return normalizeEscapes(path).replaceAll("*", "%2A").replaceAll("$", "%24");
}

function normalizePattern(pattern: string): string {
  const anchored = pattern.endsWith("$");
  const body = normalizeEscapes(anchored ? pattern.slice(0, -1) : pattern).replaceAll("$", "%24");
  return body.replace(/\*+/g, "*") + (anchored ? "$" : "");
}

function normalizeEscapes(text: string): string {
  return text
    .replace(/%[0-9a-fA-F]{2}/g, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return /[A-Za-z0-9._~-]/.test(character) ? character : octet.toUpperCase();
    })
    .replace(/[^\x21-\x7e]+/g, (run) => encodeURIComponent(run.toWellFormed()));
}

/** Leftmost match of each literal part: linear in the path for every part, and each part moves on. */
function matches(pattern: string, path: string): boolean {
  const anchored = pattern.endsWith("$");
  const parts = (anchored ? pattern.slice(0, -1) : pattern).split("*");
  const [first = "", ...rest] = parts;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    if (anchored && index === rest.length - 1) {
      return path.length - part.length >= at && path.endsWith(part);
    }
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return !anchored || at === path.length;
}
