/** The site that a discovery is about, and which URLs are of it. */
import { type UrlInspector, UrlRefusedError } from "../../access/url-inspection.ts";
import { bareHost } from "../../platform/allowed-host.ts";

export interface Site {
  /** Lower case, as the URL parser writes it. */
  hostname: string;
  /** null: the default of whatever scheme. */
  port: number | null;
  /** null: https is tried first, then http. */
  scheme: "https" | "http" | null;
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * @param domain a host, with a port where that is not the default, or a URL, of which scheme and host count
 * @throws UrlRefusedError where it is neither, or may not be fetched
 */
export function parseSite(domain: string, inspector: Pick<UrlInspector, "inspect">): Site {
  const text = domain.trim();
  const url = inspector.inspect(SCHEME.test(text) ? text : `https://${text}`);
  if (url.hostname.includes("*")) {
    throw new UrlRefusedError("URL_INVALID", 'A host is named without "*": its subdomains belong to it anyway');
  }
  return {
    hostname: url.hostname,
    port: url.port === "" ? null : Number(url.port),
    scheme: SCHEME.test(text) ? (url.protocol === "http:" ? "http" : "https") : null,
  };
}

/** One form per site; `parseSite` reads it back. */
export function siteText({ hostname, port, scheme }: Site): string {
  return `${scheme === null ? "" : `${scheme}://`}${hostname}${port === null ? "" : `:${port}`}`;
}

/** Roots of the site, the most wanted first. */
export function siteRoots({ hostname, port, scheme }: Site): URL[] {
  const authority = port === null ? hostname : `${hostname}:${port}`;
  return (scheme === null ? ["https", "http"] : [scheme]).map((each) => new URL(`${each}://${authority}/`));
}

/** Whether the URL is of the site: its host or a subdomain of it, on the site's port. */
export function isOfSite(url: URL, { hostname, port }: Site): boolean {
  const default_ = url.protocol === "https:" ? 443 : 80;
  const samePort = port === null ? url.port === "" : (url.port === "" ? default_ : Number(url.port)) === port;
  if (!samePort) return false;
  const host = bareHost(url.hostname);
  const own = bareHost(hostname);
  return host === own || host.endsWith(`.${own}`);
}
