/**
 * Keeps every outgoing request away from what is not public: private networks, this machine, cloud metadata. Names are
 * resolved here and the connection goes to the very addresses that were checked, so a name cannot be rebound in between.
 */
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import { PermanentError } from "../platform/errors.ts";
import { bareHost, parseAllowedHosts } from "./allowed-hosts.ts";
import { nonPublicReason } from "./public-address.ts";

/** The reference's limit, in UTF-16 code units. */
export const MAX_URL_LENGTH = 2048;

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** A URL that is not fetched: `URL_INVALID` where it is no absolute http(s) URL, `URL_BLOCKED` where its target is forbidden. */
export class UrlRefusedError extends PermanentError {
  declare readonly code: "URL_INVALID" | "URL_BLOCKED";

  constructor(code: "URL_INVALID" | "URL_BLOCKED", message: string) {
    super(message, { code });
  }
}

export interface UrlGuard {
  /**
   * The URL, parsed, if it may be fetched as far as can be told without a lookup.
   * @throws UrlRefusedError
   */
  inspect(url: string): URL;
  /** An HTTP client that connects only where the guard allows. Timeouts and limits come from `options`. */
  dispatcher(options?: DispatcherOptions): Agent;
}

export interface DispatcherOptions extends Omit<Agent.Options, "connect" | "factory"> {
  connectTimeoutMs?: number;
}

interface GuardOptions {
  /** `ACCESS__ALLOW_HOSTS`, see `parseAllowedHosts`. */
  allowHosts: readonly string[];
  /** Name resolution; the system's where not given. */
  lookup?: LookupFunction;
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
]);

/** @throws Error where an entry of `allowHosts` is malformed */
export function createUrlGuard({ allowHosts, lookup = systemLookup }: GuardOptions): UrlGuard {
  const allowed = parseAllowedHosts(allowHosts);

  const checkHost = (hostname: string, port: number): "allowed" | "public" => {
    const host = bareHost(hostname);
    if (allowed.has(host, port)) return "allowed";
    const reason = blockedReason(host);
    if (reason !== undefined) throw new UrlRefusedError("URL_BLOCKED", `The host ${host} is not fetched: ${reason}`);
    return "public";
  };

  return {
    inspect(url) {
      const parsed = parseHttpUrl(url);
      checkHost(parsed.hostname, portOf(parsed.protocol, parsed.port));
      return parsed;
    },
    dispatcher({ connectTimeoutMs, ...options } = {}) {
      const timeout = connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
      const connectAllowed = buildConnector({ timeout, lookup });
      const connectPublic = buildConnector({ timeout, lookup: publicOnly(lookup) });
      return new Agent({
        ...options,
        connect(target, callback) {
          try {
            const verdict = checkHost(target.hostname, portOf(target.protocol, target.port));
            (verdict === "allowed" ? connectAllowed : connectPublic)(target, callback);
          } catch (error) {
            callback(error as Error, null);
          }
        },
      });
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

/** A lookup that fails unless every address of the name is public: one private address among public ones is an attack. */
function publicOnly(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      if (error) return callback(error, address, family);
      const found = typeof address === "string" ? [address] : address.map((each) => each.address);
      for (const each of found) {
        const reason = nonPublicReason(each);
        if (reason === undefined) continue;
        const message = `The host ${hostname} is not fetched: it resolves to ${each}, and ${reason}`;
        return callback(new UrlRefusedError("URL_BLOCKED", message), []);
      }
      callback(null, address, family);
    });
  };
}

function portOf(protocol: string, port: string): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
