/**
 * Parses one entry of `ACCESS__ALLOW_HOSTS`. Its syntax is part of the configuration, so that a bad entry stops the
 * start.
 */

export interface AllowedHost {
  /** Lower case, without brackets or trailing dot; a suffix starts with a dot. */
  name: string;
  suffix: boolean;
  port: number | undefined;
}

const ENTRY = /^(?<name>\[[0-9a-f:.]+\]|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(?<port>\d{1,5}))?$/;

/**
 * Parses an entry.
 * @param text `host`, `*.suffix` (names below the suffix, not itself) or `[ipv6]`, each with an optional `:port`;
 * without a port, any port
 * @returns undefined where it is none of these
 */
export function parseAllowedHost(text: string): AllowedHost | undefined {
  const match = ENTRY.exec(text.trim().toLowerCase())?.groups;
  const port = match?.["port"] === undefined ? undefined : Number(match["port"]);
  const name = match?.["name"];
  if (name === undefined || (port !== undefined && (port < 1 || port > 65_535))) return undefined;
  if (name.startsWith("*.")) return { name: name.slice(1), suffix: true, port };
  // the URL parser's form of an address (shortened IPv6), since that is what a host is compared in
  const parsed = URL.parse(`http://${name}/`);
  return parsed === null ? undefined : { name: bareHost(parsed.hostname), suffix: false, port };
}

/** A URL's hostname without brackets and trailing dot. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
