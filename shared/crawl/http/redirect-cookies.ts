/**
 * The cookies of one chain of redirects, as a browser on its first visit keeps them (RFC 6265): sites set one and send
 * the visitor back to where he came from. They are forgotten with the chain, unless a job keeps them as its session.
 *
 * By hand: what the packages that do this weigh is the list of public suffixes, which fetch's bundle has no room for.
 * In its place a domain of two short labels, such as `co.uk`, takes no cookies.
 */
import type { HttpResponse } from "./exchange.ts";

export interface RedirectCookies {
  /** Takes what a response sets. */
  take(url: URL, headers: HttpResponse["headers"]): void;
  /** Takes what the URL's host has set before, for that host alone. */
  restore(url: URL, cookies: readonly Cookie[]): void;
  /** The value of the Cookie header of a request; null for none. */
  headerFor(url: URL): string | null;
}

/** What a response sets, or takes back by an end that has passed. */
export interface SetCookie {
  /** The same for the one that it replaces. */
  key: string;
  cookie: Cookie;
  /** Epoch ms, which may be infinite. */
  endsAt: number;
}

export interface Cookie {
  name: string;
  value: string;
  /** Lower case. */
  domain: string;
  /** For the very host that set it. */
  hostOnly: boolean;
  path: string;
  secure: boolean;
}

/** As browsers have it: of one cookie, and of all that a host is sent. */
const LONGEST_COOKIE = 4096;
const LONGEST_HEADER = 8192;
export const MOST_COOKIES = 50;

/** @param now epoch ms */
export function createRedirectCookies(now: () => number = Date.now): RedirectCookies {
  /** In the order in which they were first set. */
  const jar = new Map<string, Cookie>();
  return {
    take(url, headers) {
      for (const { key, cookie, endsAt } of cookiesSetBy(url, headers, now())) {
        if (endsAt <= now()) jar.delete(key);
        else if (jar.has(key) || jar.size < MOST_COOKIES) jar.set(key, cookie);
      }
    },
    restore({ hostname }, cookies) {
      for (const cookie of cookies) {
        const key = keyOf(cookie);
        if (!jar.has(key)) jar.set(key, { ...cookie, domain: hostname, hostOnly: true });
      }
    },
    headerFor(url) {
      const wanted = [...jar.values()].filter((cookie) => belongsTo(cookie, url));
      // section 5.4: longer paths first, then as they came
      const pairs = wanted
        .toSorted((a, b) => b.path.length - a.path.length)
        .map(({ name, value }) => (name === "" ? value : `${name}=${value}`));
      const header = pairs.join("; ");
      return header === "" || header.length > LONGEST_HEADER ? null : header;
    },
  };
}

/** @param now epoch ms */
export function cookiesSetBy(url: URL, headers: HttpResponse["headers"], now: number): SetCookie[] {
  return headers.flatMap(([header, value]) => {
    const set = header.toLowerCase() === "set-cookie" ? parseCookie(value, url, now) : undefined;
    return set === undefined ? [] : [{ key: keyOf(set.cookie), ...set }];
  });
}

const keyOf = ({ domain, path, name }: Cookie): string => [domain, path, name].join("\n");

function parseCookie(text: string, url: URL, now: number): Omit<SetCookie, "key"> | undefined {
  const [pair = "", ...rest] = text.split(";");
  if (pair.length > LONGEST_COOKIE) return undefined;
  const equals = pair.indexOf("=");
  const name = pair.slice(0, Math.max(0, equals)).trim();
  const value = pair.slice(equals + 1).trim();
  if ((name === "" && value === "") || /[^\t\x20-\x7e\x80-\xff]/.test(pair)) return undefined;
  const attributes = new Map(
    rest.map((each): [string, string] => {
      const at = each.indexOf("=");
      return at < 0
        ? [each.trim().toLowerCase(), ""]
        : [each.slice(0, at).trim().toLowerCase(), each.slice(at + 1).trim()];
    }),
  );
  const host = url.hostname;
  const domain = (attributes.get("domain") ?? "").replace(/^\./, "").toLowerCase();
  const hostOnly = domain === "" || domain === host;
  if (!hostOnly && !(host.endsWith(`.${domain}`) && isSite(domain) && !isAddress(host))) return undefined;
  const given = attributes.get("path") ?? "";
  const path = given.startsWith("/") ? given : defaultPath(url);
  const secure = attributes.has("secure");
  if (secure && url.protocol !== "https:") return undefined;
  if (/^__secure-/i.test(name) && !secure) return undefined;
  if (/^__host-/i.test(name) && !(secure && domain === "" && path === "/")) return undefined;
  const cookie = {
    name,
    value,
    domain: domain === "" ? host : domain,
    hostOnly: domain === "" || isAddress(host),
    path,
    secure,
  };
  return { cookie, endsAt: endOf(attributes, now) };
}

/** Epoch ms; `Max-Age` goes before `Expires` (section 5.3). */
function endOf(attributes: ReadonlyMap<string, string>, now: number): number {
  const age = attributes.get("max-age");
  if (age !== undefined && /^-?\d+$/.test(age)) return Number(age) <= 0 ? 0 : now + Number(age) * 1000;
  const expires = Date.parse(attributes.get("expires") ?? "");
  return Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires;
}

/** Section 5.1.4. */
function defaultPath({ pathname }: URL): string {
  const end = pathname.lastIndexOf("/");
  return end <= 0 ? "/" : pathname.slice(0, end);
}

/** Whether others than one site's owner can hardly have hosts below the domain. */
function isSite(domain: string): boolean {
  const labels = domain.split(".");
  const [second = "", top = ""] = labels.slice(-2);
  return labels.length > 2 || (labels.length === 2 && !(top.length === 2 && second.length <= 3));
}

const isAddress = (host: string): boolean => host.startsWith("[") || /^[\d.]+$/.test(host);

function belongsTo({ domain, hostOnly, path, secure }: Cookie, url: URL): boolean {
  if (secure && url.protocol !== "https:") return false;
  const { hostname, pathname } = url;
  if (hostname !== domain && (hostOnly || !hostname.endsWith(`.${domain}`))) return false;
  return pathname === path || (pathname.startsWith(path) && (path.endsWith("/") || pathname[path.length] === "/"));
}
