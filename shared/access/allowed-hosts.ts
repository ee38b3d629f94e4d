/** `ACCESS__ALLOW_HOSTS`: private hosts that may be fetched all the same. */

interface Entry {
  /** Lower case, without brackets or trailing dot; a suffix starts with a dot. */
  name: string;
  suffix: boolean;
  port: number | undefined;
}

export interface AllowedHosts {
  /** @param host lower case, without brackets or trailing dot */
  has(host: string, port: number): boolean;
}

const ENTRY = /^(?<name>\[[0-9a-f:.]+\]|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(?<port>\d{1,5}))?$/;

/**
 * @param entries `host`, `*.suffix` (names below the suffix, not itself) or `[ipv6]`, each with an optional `:port`;
 *   without a port, any port
 * @throws Error naming the first entry that is none of these
 */
export function parseAllowedHosts(entries: readonly string[]): AllowedHosts {
  const parsed = entries.map(parseEntry);
  return {
    has: (host, port) =>
      parsed.some(
        (entry) =>
          (entry.port === undefined || entry.port === port) &&
          (entry.suffix ? host.endsWith(entry.name) && host.length > entry.name.length : host === entry.name),
      ),
  };
}

function parseEntry(text: string): Entry {
  const match = ENTRY.exec(text.trim().toLowerCase())?.groups;
  const port = match?.["port"] === undefined ? undefined : Number(match["port"]);
  const name = match?.["name"];
  if (name === undefined || (port !== undefined && (port < 1 || port > 65_535))) {
    throw new Error(`ACCESS__ALLOW_HOSTS: "${text}" is neither host nor *.suffix, with an optional :port`);
  }
  if (name.startsWith("*.")) return { name: name.slice(1), suffix: true, port };
  // the URL parser's form of an address (shortened IPv6), since that is what a host is compared in
  return { name: bareHost(new URL(`http://${name}/`).hostname), suffix: false, port };
}

/** A URL's hostname without brackets and trailing dot. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
