/**
 * One page of the browser: opens a document that is at hand, waits until it is what a reader would see, and reads it.
 */
import type { CDPSession, Page, Protocol } from "puppeteer-core";
import { type FetchedDocument, type PageCookie, RenderError } from "../renderer.ts";
import type { PageAccess } from "./guard-proxy.ts";

export interface PageOptions {
  /** `text`: only what can change the DOM is loaded. `picture`: images, fonts and frames as well. */
  purpose: "text" | "picture";
  /** Sent with requests to the document's own host. */
  headers: Readonly<Record<string, string>>;
  /** The browser sends them to their hosts, and scripts of those see them. */
  cookies?: readonly PageCookie[] | undefined;
  /** Requests for sub-resources, at the most. */
  maxRequests: number;
  proxy: PageAccess;
}

export interface OpenPage {
  readonly page: Page;
  readonly cdp: CDPSession;
  /** Other documents that the page wanted to be replaced by. */
  readonly navigations: readonly string[];
  /** Runs one script without giving it more than `timeoutMs`, where the page's own scripts cannot interfere. */
  evaluate<T>(expression: string, timeoutMs: number): Promise<T>;
  /** @returns false where the page was not done by `deadline` (epoch ms) */
  loaded(deadline: number): Promise<boolean>;
}

/** Nothing of it changes the text. */
const NOT_FOR_TEXT = new Set<Protocol.Network.ResourceType>(["Image", "Media", "Font", "TextTrack", "Manifest"]);
/** Of no use to anybody but the site. */
const NEVER = new Set<Protocol.Network.ResourceType>(["Ping", "CSPViolationReport", "Prefetch", "SignedExchange"]);
/** They end when their server likes. */
const ENDLESS = new Set<Protocol.Network.ResourceType>(["WebSocket", "EventSource", "Ping", "Media"]);
/** Headers that speak of the body as it was sent, or that would make a download of it. */
const OF_THE_TRANSFER =
  /^(content-(encoding|length|type|disposition)|transfer-encoding|connection|keep-alive|trailer|upgrade|alt-svc|refresh)$/i;
const QUIET_MS = 500;
/** A page that asks again and again is never quiet. */
const LONGEST_UNREST_MS = 5_000;
const LOOK_EVERY_MS = 50;
const MOST_NAVIGATIONS = 10;

/** @param document what the browser gets for `document.url`, instead of asking the site */
export async function openDocument(page: Page, document: FetchedDocument, options: PageOptions): Promise<OpenPage> {
  const cdp = await page.createCDPSession();
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const mainFrame = frameTree.frame.id;
  const navigations: string[] = [];
  const inFlight = new Set<string>();
  let quietSince = Date.now();
  let hasLoaded = false;
  let requests = 0;
  let state: "greeting" | "opening" | "open" = "greeting";

  cdp.on("Network.requestWillBeSent", ({ requestId, type, request }) => {
    // of a blob nobody tells the end
    if (/^https?:/.test(request.url) && (type === undefined || !ENDLESS.has(type))) inFlight.add(requestId);
  });
  const over = ({ requestId }: { requestId: string }): void => {
    if (inFlight.delete(requestId)) quietSince = Date.now();
  };
  cdp.on("Network.loadingFinished", over);
  cdp.on("Network.loadingFailed", over);
  cdp.on("Page.loadEventFired", () => {
    if (state === "open") hasLoaded = true;
  });
  page.on("dialog", (dialog) => void dialog.dismiss().catch(ignore));

  /** Answers what the browser is about to ask for. */
  const decide = async ({ requestId, request, resourceType, frameId }: Protocol.Fetch.RequestPausedEvent) => {
    const fail = (errorReason: Protocol.Network.ErrorReason) =>
      cdp.send("Fetch.failRequest", { requestId, errorReason });
    if (state === "greeting") return await cdp.send("Fetch.continueRequest", { requestId });
    if (resourceType === "Document" && frameId === mainFrame) {
      if (state === "opening") {
        state = "open";
        return await cdp.send("Fetch.fulfillRequest", answerOf(requestId, document));
      }
      const target = request.url;
      if (/^https?:/.test(target) && target !== document.url && navigations.length < MOST_NAVIGATIONS) {
        navigations.push(target);
      }
      // an answer without content leaves the document as it is
      return await cdp.send("Fetch.fulfillRequest", { requestId, responseCode: 204 });
    }
    if (NEVER.has(resourceType)) return await fail("BlockedByClient");
    if (options.purpose === "text" && (NOT_FOR_TEXT.has(resourceType) || resourceType === "Document")) {
      return await fail("BlockedByClient");
    }
    requests += 1;
    if (requests > options.maxRequests) return await fail("BlockedByClient");
    const headers = extraHeaders(request, document.url, options.headers);
    return await cdp.send("Fetch.continueRequest", { requestId, ...(headers && { headers }) });
  };
  cdp.on("Fetch.requestPaused", (event) => void decide(event).catch(ignore));
  cdp.on("Fetch.authRequired", ({ requestId, authChallenge }) => {
    const { user: username, password } = options.proxy;
    // a site that asks for a password gets none, least of all this one
    const authChallengeResponse =
      authChallenge.source === "Proxy"
        ? ({ response: "ProvideCredentials", username, password } as const)
        : ({ response: "CancelAuth" } as const);
    void cdp.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }).catch(ignore);
  });
  await Promise.all([
    cdp.send("Network.enable"),
    cdp.send("Page.enable"),
    cdp.send("Network.setBypassServiceWorker", { bypass: true }),
    cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }], handleAuthRequests: true }),
  ]);

  const { cookies = [] } = options;
  if (cookies.length > 0) {
    const { protocol } = new URL(document.url);
    const each = cookies.map(({ host, name, value }) => ({ name, value, url: `${protocol}//${host}/` }));
    await cdp.send("Network.setCookies", { cookies: each });
  }

  // the context knows the proxy's password from here on, for the requests of workers too, which nobody asks us about
  const loaded = new Promise<void>((resolve) => cdp.once("Page.loadEventFired", () => resolve()));
  await navigate(cdp, options.proxy.greetingUrl);
  await loaded;
  state = "opening";
  quietSince = Date.now();
  await navigate(cdp, document.url);
  await cdp.send("Page.resetNavigationHistory").catch(ignore);

  const { executionContextId } = await cdp.send("Page.createIsolatedWorld", {
    frameId: mainFrame,
    worldName: "strandline",
  });
  return {
    page,
    cdp,
    navigations,
    async evaluate<T>(expression: string, timeoutMs: number) {
      const { result, exceptionDetails } = await cdp.send("Runtime.evaluate", {
        expression,
        contextId: executionContextId,
        returnByValue: true,
        timeout: timeoutMs,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value as T;
    },
    async loaded(deadline) {
      const patience = Math.min(deadline, Date.now() + LONGEST_UNREST_MS);
      for (;;) {
        const quiet = inFlight.size === 0 && Date.now() - quietSince >= QUIET_MS;
        // who wants to be replaced does not load to its end
        if ((hasLoaded || navigations.length > 0) && (quiet || Date.now() >= patience)) return true;
        if (Date.now() >= deadline) return false;
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    },
  };
}

const ignore = (): void => undefined;

async function navigate(cdp: CDPSession, url: string): Promise<void> {
  const { errorText } = await cdp.send("Page.navigate", { url });
  if (errorText !== undefined) throw new RenderError("RENDER_FAILED", `The document could not be opened: ${errorText}`);
}

function answerOf(requestId: string, document: FetchedDocument): Protocol.Fetch.FulfillRequestRequest {
  const kept = document.headers
    .filter(([name]) => !OF_THE_TRANSFER.test(name))
    .map(([name, value]) => ({ name, value }));
  return {
    requestId,
    responseCode: document.status,
    responseHeaders: [...kept, { name: "content-type", value: `${document.mimeType}; charset=utf-8` }],
    body: Buffer.from(document.text, "utf8").toString("base64"),
  };
}

/** @returns undefined where the browser's own do */
function extraHeaders(
  { url, headers }: Protocol.Network.Request,
  documentUrl: string,
  extra: Readonly<Record<string, string>>,
): Protocol.Fetch.HeaderEntry[] | undefined {
  const names = new Set(Object.keys(extra).map((name) => name.toLowerCase()));
  if (names.size === 0 || !URL.canParse(url) || new URL(url).host !== new URL(documentUrl).host) return undefined;
  const own = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()));
  return [...own, ...Object.entries(extra)].map(([name, value]) => ({ name, value }));
}
