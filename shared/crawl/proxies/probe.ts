/** Tries a proxy server: one request through it, and what came of it. */

import { type ProxyServer, parseProxyUrl, proxyUrl } from "../../access/proxy-server.ts";
import { ProxyFault } from "../../access/proxy-tunnel.ts";
import type { UrlGuard } from "../../access/url-guard.ts";
import { createBodyBudget, exchange } from "../http/exchange.ts";

export interface ProxyProbe {
  /** Its URL. */
  server: string;
  success: boolean;
  /** Of the site's answer; null where none came. */
  status: number | null;
  latency_ms: number;
  error_code: string | null;
  error: string | null;
}

const MOST_BODY_BYTES = 64 * 1024;

/**
 * Any answer of the site is a success of the proxy.
 * @param timeoutMs for all of it
 */
export async function tryProxy(
  guard: UrlGuard,
  server: ProxyServer,
  { url, userAgent, timeoutMs }: { url: URL; userAgent: string; timeoutMs: number },
): Promise<ProxyProbe> {
  const proxy = parseProxyUrl(server.url);
  let fault: unknown;
  // a little less, so that what is slow has its own name
  const client = guard.proxyDispatcher(server, { connectTimeoutMs: Math.ceil(timeoutMs * 0.9) });
  const headers = [["user-agent", userAgent]] satisfies [string, string][];
  const limits = { timeoutMs, maxBodyBytes: MOST_BODY_BYTES };
  try {
    client.on("connectionError", (_origin, _targets, error) => {
      fault = error;
    });
    const answer = await exchange(client, url, headers, limits, createBodyBudget(1), {
      begin: () => undefined,
      end: () => undefined,
    });
    const known = fault instanceof ProxyFault ? fault.code : answer.fault?.code;
    const success = answer.response !== null;
    return {
      server: proxy === undefined ? "" : proxyUrl(proxy),
      success,
      status: answer.response?.status ?? null,
      latency_ms: answer.durationMs,
      error_code: success ? null : (known ?? "INVALID_RESPONSE"),
      error: success ? null : (answer.fault?.message ?? null),
    };
  } finally {
    await client.destroy();
  }
}
