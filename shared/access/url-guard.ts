/**
 * Keeps every outgoing request away from what is not public: private networks, this machine, cloud metadata. Names are
 * resolved here and the connection goes to the very addresses that were checked, so a name cannot be rebound in between.
 */
import { lookup as systemLookup } from "node:dns";
import { connect as connectTcp, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector } from "undici";
import { nonPublicReason } from "./public-address.ts";
import { createUrlInspector, portOf, type UrlInspector, UrlRefusedError } from "./url-inspection.ts";

export { UrlRefusedError } from "./url-inspection.ts";

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

export interface UrlGuard extends Pick<UrlInspector, "inspect"> {
  /** An HTTP client that connects only where the guard allows. Timeouts and limits come from `options`. */
  dispatcher(options?: DispatcherOptions): Agent;
  /**
   * A TCP connection, for whoever speaks another protocol than HTTP over it. The caller listens for `connect` and `error`.
   * @throws UrlRefusedError where that can be told without a lookup
   */
  connect(hostname: string, port: number): Socket;
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

/** @throws Error where an entry of `allowHosts` is malformed */
export function createUrlGuard({ allowHosts, lookup = systemLookup }: GuardOptions): UrlGuard {
  const { inspect, checkHost } = createUrlInspector(allowHosts);
  return {
    inspect,
    connect(hostname, port) {
      const verdict = checkHost(hostname, port);
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      return connectTcp({ host, port, lookup: verdict === "allowed" ? lookup : publicOnly(lookup) });
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
