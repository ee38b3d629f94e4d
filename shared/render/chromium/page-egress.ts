/** The egress of a page that goes through a proxy: one server for all that it loads. */
import type { ProxyServer } from "../../access/proxy-server.ts";
import type { ProxyFault } from "../../access/proxy-tunnel.ts";

/** The proxy server that all connections of a page go through, and none past it. */
export interface PageEgress {
  server: ProxyServer;
  /** Of the page itself. */
  ownHost: string;
  /** The server is of no use to the page. */
  failed(why: string): void;
}

/**
 * Whether a fault says that the server is of no use to the page. What it does not reach, or forbids, on another host
 * costs that request alone, and so does its silence where it has let the page out before.
 */
export function isEgressFault({ code }: ProxyFault, toOwnHost: boolean, hasWorked: boolean): boolean {
  if (code === "TARGET_UNREACHABLE") return false;
  if (code === "PROXY_DENIED") return toOwnHost;
  if (code === "PROXY_TIMEOUT") return toOwnHost || !hasWorked;
  return true;
}
