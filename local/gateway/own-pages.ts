/**
 * Pages of the runtime's own, which no deployment has: what was used, and the metrics. For whoever is on this machine.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { CONTENT_TYPE, expositionText, type Family } from "../../shared/platform/observability/exposition.ts";
import { refusalOf } from "../front/callers.ts";
import type { Usage } from "../usage/usage.ts";

export interface OwnPages {
  usage(): Usage;
  metrics(): Family[];
}

const OWN = new Set(["/_local/usage", "/metrics"]);

const presentsKey = ({ headers }: IncomingMessage): boolean =>
  [headers.authorization, headers["x-api-key"], headers["x-admin-token"]].some((each) => each !== undefined);

/** @returns whether it answered */
export function answerOwnPage(pages: OwnPages, request: IncomingMessage, response: ServerResponse, url: URL): boolean {
  if (request.method !== "GET" || !OWN.has(url.pathname)) return false;
  // with a key it is the metrics of the archive that somebody asks for
  if (url.pathname === "/metrics" && presentsKey(request)) return false;
  const refusal = refusalOf(request);
  if (refusal !== undefined) {
    response.writeHead(refusal.status, { "content-type": "text/plain" });
    response.end(`${refusal.message}\n`);
    return true;
  }
  if (url.pathname === "/_local/usage") {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(pages.usage()));
    return true;
  }
  if (url.pathname === "/metrics") {
    response.writeHead(200, { "content-type": CONTENT_TYPE, "cache-control": "no-store" });
    response.end(expositionText(pages.metrics()));
    return true;
  }
  return false;
}
