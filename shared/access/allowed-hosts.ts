/** Matches hosts against `ACCESS__ALLOW_HOSTS`: private hosts that may be fetched all the same. */
import { parseAllowedHost } from "../platform/allowed-host.ts";

export interface AllowedHosts {
  /** @param host lower case, without brackets or trailing dot */
  has(host: string, port: number): boolean;
}

/**
 * Parses the list of hosts.
 * @param entries see `parseAllowedHost`
 * @throws Error naming the first entry that is none
 */
export function parseAllowedHosts(entries: readonly string[]): AllowedHosts {
  const parsed = entries.map((text) => {
    const entry = parseAllowedHost(text);
    if (entry === undefined) {
      throw new Error(`ACCESS__ALLOW_HOSTS: "${text}" is neither host nor *.suffix, with an optional :port`);
    }
    return entry;
  });
  return {
    has: (host, port) =>
      parsed.some(
        (entry) =>
          (entry.port === undefined || entry.port === port) &&
          (entry.suffix ? host.endsWith(entry.name) && host.length > entry.name.length : host === entry.name),
      ),
  };
}
