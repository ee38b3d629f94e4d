/**
 * One page of the browser: opens a document that is at hand, waits until it is what a reader would see, and reads it.
 */
import type { CDPSession, Page, Protocol } from "puppeteer-core";
import { type FetchedDocument, type PageCookie, RenderError } from "../renderer.ts";
import type { PageAccess } from "./guard-proxy.ts";
import type { TargetGate } from "./target-gate.ts";

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
  gate: TargetGate;
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
/** Of no use to anybody but the site; "Fetch" is what `<link rel="prefetch">` asks for, and `fetch()` is "XHR". */
const NEVER = new Set<Protocol.Network.ResourceType>([
  "Ping",
  "CSPViolationReport",
  "Prefetch",
  "Fetch",
  "SignedExchange",
]);
/** They end when their server likes. */
const ENDLESS = new Set<Protocol.Network.ResourceType>(["WebSocket", "EventSource", "Ping", "Media"]);
/** Headers that speak of the body as it was sent, that would make a download of it, or ask for other documents. */
const OF_THE_TRANSFER =
  /^(content-(encoding|length|type|disposition)|transfer-encoding|connection|keep-alive|trailer|upgrade|alt-svc|refresh|speculation-rules)$/i;
/** Documents in advance are asked for past all who could refuse: their rules go before they are read. */
const NO_SPECULATION = `new MutationObserver((records) => {
  for (const { addedNodes } of records) for (const node of addedNodes) {
    const inside = node.firstElementChild ? node.querySelectorAll("script") : [];
    const scripts = node.localName === "script" ? [node] : inside;
    for (const script of scripts) if (/^\\s*speculationrules\\s*$/i.test(script.type)) script.remove();
  }
}).observe(document, { childList: true, subtree: true })`;
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
  /** URLs by the ids of requests. */
  const inFlight = new Map<string, string>();
  let quietSince = Date.now();
  let hasLoaded = false;
  let requests = 0;
  let state: "greeting" | "opening" | "open" = "greeting";

  const sharedWorkers = new Set<string>();
  const noteRequest = ({ requestId, type, request: { url } }: Protocol.Network.RequestWillBeSentEvent): void => {
    // of a blob, and of the script of a shared worker, nobody tells the end
    if (!/^https?:/.test(url) || (type !== undefined && ENDLESS.has(type)) || sharedWorkers.has(url)) return;
    inFlight.set(requestId, url);
  };
  cdp.on("Network.requestWillBeSent", noteRequest);
  const over = ({ requestId }: { requestId: string }): void => {
    if (inFlight.delete(requestId)) quietSince = Date.now();
  };
  const watchEnds = (session: CDPSession): void => {
    session.on("Network.loadingFinished", over);
    session.on("Network.loadingFailed", over);
  };
  watchEnds(cdp);
  // it tells the end of its own script as well, which the page has asked for
  page.on("workercreated", ({ client }) => {
    client.on("Network.requestWillBeSent", noteRequest);
    watchEnds(client);
  });
  page.browserContext().on("targetcreated", (target) => {
    if (target.type() !== "shared_worker") return;
    sharedWorkers.add(target.url());
    for (const [requestId, url] of inFlight) if (url === target.url()) over({ requestId });
  });
  cdp.on("Page.loadEventFired", () => {
    if (state === "open") hasLoaded = true;
  });
  page.on("dialog", (dialog) => void dialog.dismiss().catch(ignore));

  const frames = new Set<string>();
  /** Counts what is about to leave. */
  const mayAsk = (event: Protocol.Fetch.RequestPausedEvent): boolean => {
    if (NEVER.has(event.resourceType) || isIcon(event)) return false;
    if (options.purpose === "text" && NOT_FOR_TEXT.has(event.resourceType)) return false;
    requests += 1;
    return requests <= options.maxRequests;
  };
  // what comes there first has not come by here: pop-ups, and workers that do not belong to the page alone
  options.gate.admits = (event) => frames.has(event.frameId) || (event.resourceType !== "Document" && mayAsk(event));

  /** Answers what the browser is about to ask for. */
  const decide = async (event: Protocol.Fetch.RequestPausedEvent) => {
    const { requestId, request, resourceType, frameId, networkId = "" } = event;
    frames.add(frameId);
    const refuse = async () => {
      over({ requestId: networkId });
      return await cdp.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
    };
    if (state === "greeting") {
      return resourceType === "Document" ? await cdp.send("Fetch.continueRequest", { requestId }) : await refuse();
    }
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
    const isFrame = resourceType === "Document" && options.purpose === "text";
    if (isFrame || !mayAsk(event)) return await refuse();
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
    cdp.send("Page.addScriptToEvaluateOnNewDocument", { source: NO_SPECULATION, worldName: "strandline" }),
    cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }], handleAuthRequests: true }),
  ]);

  const { cookies = [] } = options;
  if (cookies.length > 0) {
    const { protocol, hostname, host: own } = new URL(document.url);
    const each = cookies
      .map(({ host, name, value, path = "/", secure = false }) => {
        return { name, value, path, secure, url: new URL(`${protocol}//${host}/`).href, host };
      })
      // a browser sends a cookie to every port: those of the document's host are for its own
      .filter(({ url, host }) => host === hostname || new URL(url).hostname !== hostname || new URL(url).host === own)
      .map(({ host: _, ...cookie }) => cookie);
    await cdp.send("Network.setCookies", { cookies: each });
  }

  // the context knows the proxy's password from here on, for the requests of workers too, which nobody asks us about
  const loaded = new Promise<void>((resolve) => cdp.once("Page.loadEventFired", () => resolve()));
  await navigate(cdp, options.proxy.greetingUrl);
  await loaded;
  state = "opening";
  inFlight.clear();
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

/** Of the tab, which nobody sees. */
const isIcon = ({ resourceType, request }: Protocol.Fetch.RequestPausedEvent): boolean =>
  resourceType === "Other" && /^image\//.test(request.headers["Accept"] ?? "");

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
