/** Parses a proxy server as it is configured: where it listens, and who we are to it. */
import { bareHost } from "../platform/allowed-host.ts";

export interface ProxyServer {
  /** `http`, `https`, `socks5` or `socks5h`, with host and port; no credentials. */
  url: string;
  username?: string | undefined;
  password?: string | undefined;
}

export interface ProxyAddress {
  /** `socks5h` differs from `socks5` in who resolves names, which is always us: see docs/guide/proxies.md. */
  scheme: "http" | "https" | "socks5" | "socks5h";
  /** Without brackets. */
  hostname: string;
  port: number;
}

const PROXY_URL = /^(?<scheme>https?|socks5h?):\/\/(?<host>\[[0-9a-f:.]+\]|[^/?#@:[\]\s]+):(?<port>\d{1,5})\/?$/i;

/**
 * Parses the URL of a proxy.
 * @returns undefined where it is none: scheme, host and port, and nothing else
 */
export function parseProxyUrl(url: string): ProxyAddress | undefined {
  const match = PROXY_URL.exec(url)?.groups;
  const port = Number(match?.["port"]);
  if (match === undefined || port < 1 || port > 65_535) return undefined;
  // the URL parser's form of a host: lower case, punycode, dotted quads
  const host = URL.parse(`http://${match["host"]}/`)?.hostname;
  if (host === undefined) return undefined;
  return { scheme: match["scheme"]?.toLowerCase() as ProxyAddress["scheme"], hostname: bareHost(host), port };
}

/**
 * Writes the URL of a proxy in one form, so that two ways to write it are the same server. It holds nothing private.
 */
export function proxyUrl({ scheme, hostname, port }: ProxyAddress): string {
  return `${scheme}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
