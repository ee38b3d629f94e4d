/**
 * Renders a page through the proxy config of its job: over one server for all it loads, and anew over another where
 * that fails.
 */
import type { Capture } from "../../capture/capture.ts";
import type { Clock } from "../../platform/clock.ts";
import type { FetchedDocument } from "../../render/renderer.ts";
import { RenderError, type RenderedPage, type Renderer, type RenderOptions } from "../../render/renderer.ts";
import { fault } from "../http/faults.ts";
import { RequestRefused } from "../http/request-refused.ts";
import type { Egress } from "../proxies/egress.ts";
import type { RenderClaim } from "../tasks/render-task.ts";

/** Proxy routes that one page tries. */
const MOST_ROUTES = 5;

/**
 * Loads the page directly where its job has no proxy config, and never directly where it has one.
 *
 * @throws RenderError
 */
export async function renderThrough(
  { renderer, egress, clock }: { renderer: Renderer; egress: Egress; clock: Clock },
  claim: RenderClaim,
  options: Omit<RenderOptions, "through">,
): Promise<RenderedPage> {
  const { proxy_id } = claim.config;
  const document = fetchedDocument(claim.capture, claim.html);
  if (proxy_id === undefined) return await renderer.render(document, options);
  if (renderer.asksAgain) {
    throw new RenderError(
      "PROXY_UNAVAILABLE",
      `${renderer.name} does not go through the proxy of the job: leave out proxy_id or render`,
      { retryable: false },
    );
  }
  const deadline = clock.now() + options.timeoutMs;
  const ownEgress = egress.forTask(proxy_id);
  for (let tries = 1; ; tries++) {
    const { server, report } = await ownEgress.chooseRoute().catch((error: unknown): never => {
      if (!(error instanceof RequestRefused)) throw error;
      throw new RenderError("PROXY_UNAVAILABLE", error.message, { cause: error });
    });
    // no page may leave around a proxy that it was to go through
    if (server === undefined) throw new RenderError("PROXY_UNAVAILABLE", "The job's proxy has no server");
    const timeoutMs = Math.max(1000, deadline - clock.now());
    try {
      const page = await renderer.render(document, { ...options, timeoutMs, through: server });
      await report({ fault: null });
      return page;
    } catch (error) {
      if (!(error instanceof RenderError) || error.code !== "PROXY_UNAVAILABLE") throw error;
      const elsewhere = await report({ fault: fault("PROXY_UNAVAILABLE", error.message) });
      if (!elsewhere || tries >= MOST_ROUTES || clock.now() >= deadline || options.signal?.aborted) throw error;
    }
  }
}

/** @param text decoded body of the response */
export function fetchedDocument(
  { finalUrl: url, status, headers, mimeType }: Pick<Capture, "finalUrl" | "status" | "headers" | "mimeType">,
  text: string,
): FetchedDocument {
  return { url, status, headers, mimeType: mimeType ?? "text/html", text };
}
