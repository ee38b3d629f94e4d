/**
 * Stops what any target of the browser asks for, pop-ups and workers too, before it leaves. The session of a page sees
 * its own requests alone, and a pop-up has asked for its document before anybody can attach to it.
 */
import type { Browser, Protocol } from "puppeteer-core";

export interface TargetGate {
  /** Whether a request may leave that the page's own session, which is asked first, has let pass or has never seen. */
  admits: (event: Protocol.Fetch.RequestPausedEvent) => boolean;
}

export const NOBODY: TargetGate["admits"] = () => false;

/** Puts the gate before all requests of the browser; it lets nothing pass until it is told what. */
export async function gateTargets(browser: Browser): Promise<TargetGate> {
  const gate: TargetGate = { admits: NOBODY };
  const cdp = await browser.target().createCDPSession();
  cdp.on("Fetch.requestPaused", (event) => {
    const { requestId } = event;
    const decided = gate.admits(event)
      ? cdp.send("Fetch.continueRequest", { requestId })
      : cdp.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
    // it may be gone with its page
    decided.catch(() => undefined);
  });
  await cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] });
  return gate;
}
