/**
 * Keeps every outgoing request away from what is not public: private networks, this machine, cloud metadata. Names are
 * resolved here and the connection goes to the very addresses that were checked, so a name cannot be rebound in
 * between.
 */
import { lookup as systemLookup } from "node:dns";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector } from "undici";
import { bareHost } from "../platform/allowed-host.ts";
import { readLeniently } from "./lenient-answers.ts";
import type { ProxyServer } from "./proxy-server.ts";
import { openTunnel, type TunnelOptions } from "./proxy-tunnel.ts";
import { nonPublicReason } from "./public-address.ts";
import { createUrlInspector, portOf, type UrlInspector, UrlRefusedError } from "./url-inspection.ts";

export { UrlRefusedError } from "./url-inspection.ts";

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
/** The HTTP client's own. */
const DEFAULT_HEAD_BYTES = 16 * 1024;

export interface UrlGuard extends Pick<UrlInspector, "inspect"> {
  /**
   * An HTTP client that connects only where the guard allows, and reads answers that do not keep to the letter of HTTP.
   * Not for HEAD. Timeouts and limits come from `options`.
   */
  dispatcher(options?: DispatcherOptions): Agent;
  /**
   * As `dispatcher`, through a proxy. The guard holds for the proxy's own address and for the target's: the proxy is
   * asked for an address that was checked, while TLS goes by the name. Errors of the proxy are `ProxyFault`.
   */
  proxyDispatcher(server: ProxyServer, options?: DispatcherOptions): Agent;
  /**
   * A TCP connection, for whoever speaks another protocol than HTTP over it. The caller listens for `connect` and
   * `error`.
   * @throws UrlRefusedError where that can be told without a lookup
   */
  connect(hostname: string, port: number): Socket;
  /**
   * As `connect`, through a proxy and ready to be used. The proxy is asked for an address that was checked.
   * @param begun sees the connection to the proxy as soon as it is begun
   * @throws ProxyFault, UrlRefusedError, or what the lookup says
   */
  tunnel(server: ProxyServer, hostname: string, port: number, begun: (socket: Socket) => void): Promise<Socket>;
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

/**
 * Builds the guard that every outgoing request passes.
 * @throws Error where an entry of `allowHosts` is malformed
 * @example
 * const guard = createUrlGuard({ allowHosts: ["127.0.0.1:3000"] });
 * guard.inspect("http://127.0.0.1:3000/").pathname // => "/"
 * guard.inspect("http://169.254.169.254/latest/meta-data/") // => throws UrlRefusedError
 */
export function createUrlGuard({ allowHosts, lookup = systemLookup }: GuardOptions): UrlGuard {
  const { inspect, checkHost } = createUrlInspector(allowHosts);
  const lookupFor = (hostname: string, port: number): LookupFunction =>
    checkHost(hostname, port) === "allowed" ? lookup : publicOnly(lookup);
  const connect: UrlGuard["connect"] = (hostname, port) =>
    connectTcp({ host: bareHost(hostname), port, lookup: lookupFor(hostname, port) });
  const addressOf = async (hostname: string, port: number): Promise<string> => {
    const host = bareHost(hostname);
    const checked = lookupFor(hostname, port);
    return isIP(host) === 0 ? await firstAddress(checked, host) : host;
  };
  const tunnelTo = async (
    server: ProxyServer,
    hostname: string,
    port: number,
    options: TunnelOptions,
  ): Promise<Socket> => openTunnel(server, { address: await addressOf(hostname, port), port }, options);
  return {
    inspect,
    connect,
    tunnel: (server, hostname, port, begun) =>
      tunnelTo(server, hostname, port, {
        connect(proxyHost, proxyPort) {
          const socket = connect(proxyHost, proxyPort);
          begun(socket);
          return socket;
        },
        timeoutMs: DEFAULT_CONNECT_TIMEOUT_MS,
      }),
    proxyDispatcher(server, { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, ...options } = {}) {
      const secure = buildConnector({ timeout: connectTimeoutMs });
      const tunnel = { connect, timeoutMs: connectTimeoutMs };
      return new Agent({
        ...options,
        connect(target, done) {
          const callback = leniently(done, options);
          tunnelTo(server, target.hostname, portOf(target.protocol, target.port), tunnel).then(
            (socket) =>
              target.protocol === "https:"
                ? secure({ ...target, httpSocket: socket }, callback)
                : callback(null, socket),
            (error: Error) => callback(error, null),
          );
        },
      });
    },
    dispatcher({ connectTimeoutMs, ...options } = {}) {
      const timeout = connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
      const connectAllowed = buildConnector({ timeout, lookup });
      const connectPublic = buildConnector({ timeout, lookup: publicOnly(lookup) });
      return new Agent({
        ...options,
        connect(target, done) {
          const callback = leniently(done, options);
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

/** @returns the callback, which then gets a connection that may be read leniently */
function leniently(done: buildConnector.Callback, { maxHeaderSize = DEFAULT_HEAD_BYTES }: Agent.Options) {
  const callback: buildConnector.Callback = (...[error, socket]) =>
    error === null ? done(null, readLeniently(socket, maxHeaderSize)) : done(error, null);
  return callback;
}

/** IPv4 where there is one: not every proxy has IPv6. */
function firstAddress(lookup: LookupFunction, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, found) => {
      if (error) return reject(error);
      const all = typeof found === "string" ? [{ address: found, family: isIP(found) }] : found;
      const address = (all.find(({ family }) => family === 4) ?? all[0])?.address;
      if (address === undefined) return reject(Object.assign(new Error(`${host} has no address`), { code: "ENODATA" }));
      resolve(address);
    });
  });
}

/**
 * A lookup that fails unless every address of the name is public: one private address among public ones is an attack.
 */
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
