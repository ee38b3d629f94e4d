/**
 * Inspects a URL without a lookup: whether it is one that may be fetched at all. Apart from the guard that
 * connects, so that an API that only checks URLs carries no HTTP client.
 */
import { isIP } from "node:net";
import { bareHost } from "../platform/allowed-host.ts";
import { PermanentError } from "../platform/errors.ts";
import { parseAllowedHosts } from "./allowed-hosts.ts";
import { nonPublicReason } from "./public-address.ts";

/** The reference's limit, in UTF-16 code units. */
export const MAX_URL_LENGTH = 2048;

/**
 * A URL that is not fetched: `URL_INVALID` where it is no absolute http(s) URL, `URL_BLOCKED` where its target is
 * forbidden.
 */
export class UrlRefusedError extends PermanentError {
  declare readonly code: "URL_INVALID" | "URL_BLOCKED";

  constructor(code: "URL_INVALID" | "URL_BLOCKED", message: string) {
    super(message, { code });
  }
}

export interface UrlInspector {
  /**
   * The URL, parsed, if it may be fetched as far as can be told without a lookup.
   * @throws UrlRefusedError
   */
  inspect(url: string): URL;
  /**
   * Whether a host may be reached by name or only where its addresses are public.
   * @throws UrlRefusedError
   */
  checkHost(hostname: string, port: number): "allowed" | "public";
}

/**
 * Inspects a URL.
 * @returns the URL, parsed, or why it is refused
 */
export function inspectUrl(inspector: Pick<UrlInspector, "inspect">, url: string): URL | UrlRefusedError {
  try {
    return inspector.inspect(url);
  } catch (error) {
    if (error instanceof UrlRefusedError) return error;
    throw error;
  }
}

/** Names that by standard or custom never mean a public host (RFC 6761, 6762, 8375, 9476), and metadata services. */
const PRIVATE_NAME =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|alt|onion|invalid)$/;
const METADATA_NAMES = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata.azure.com",
  "metadata.azure.internal",
  "instance-data.ec2.internal",
  "metadata.tencentyun.com",
  "metadata.packet.net",
  "metadata.platformequinix.com",
]);

/**
 * Makes the inspector of URLs.
 * @param allowHosts `ACCESS__ALLOW_HOSTS`, see `parseAllowedHosts`
 * @throws Error where an entry is malformed
 */
export function createUrlInspector(allowHosts: readonly string[]): UrlInspector {
  const allowed = parseAllowedHosts(allowHosts);
  const checkHost = (hostname: string, port: number): "allowed" | "public" => {
    const host = bareHost(hostname);
    if (allowed.has(host, port)) return "allowed";
    const reason = blockedReason(host);
    if (reason !== undefined) throw new UrlRefusedError("URL_BLOCKED", `The host ${host} is not fetched: ${reason}`);
    return "public";
  };
  return {
    checkHost,
    inspect(url) {
      const parsed = parseHttpUrl(url);
      checkHost(parsed.hostname, portOf(parsed.protocol, parsed.port));
      return parsed;
    },
  };
}

function parseHttpUrl(url: string): URL {
  const invalid = (why: string): never => {
    throw new UrlRefusedError("URL_INVALID", `The URL is not fetched: ${why}`);
  };
  if (url.length > MAX_URL_LENGTH) invalid(`it is longer than ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(url)) invalid("it is not an absolute URL");
  const parsed = new URL(url);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") invalid("its scheme is neither http nor https");
  if (parsed.username !== "" || parsed.password !== "") invalid("it holds credentials");
  // the parser percent-encodes: what was within the limit may leave it
  if (parsed.href.length > MAX_URL_LENGTH) invalid(`it is longer than ${MAX_URL_LENGTH} characters when encoded`);
  return parsed;
}

/** @param host bare, as the URL parser writes it: decimal, octal, hex and short IPv4 forms are dotted quads by now */
function blockedReason(host: string): string | undefined {
  if (isIP(host) !== 0) return nonPublicReason(host);
  if (METADATA_NAMES.has(host)) return "it is a cloud metadata service";
  if (PRIVATE_NAME.test(host)) return "it is a private name";
  if (!host.includes(".")) return "it is a single-label name, which only a private network resolves";
  return undefined;
}

/** The port of a URL: its own, or the scheme's default. */
export function portOf(protocol: string, port: string): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
