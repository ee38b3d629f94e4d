/**
 * The browser of a container: started at the first page, kept for the next ones, replaced after many pages and whenever
 * it hangs or dies. Pages come one at a time, each in a context of its own: no cookie, storage or cache outlives it.
 */
import type { Browser, BrowserContext } from "puppeteer-core";
import type { ProxyServer } from "../../access/proxy-server.ts";
import type { UrlGuard } from "../../access/url-guard.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { onShutdown } from "../../platform/shutdown.ts";
import { type FetchedDocument, type PageWindow, RenderError, type RenderErrorCode } from "../renderer.ts";
import { chromiumBinary } from "./binary.ts";
import { type GuardProxy, startGuardProxy } from "./guard-proxy.ts";
import { importLayerPackage } from "./layer-package.ts";
import { type OpenPage, openDocument, type PageOptions } from "./page.ts";
import { type ChromiumProcess, spawnChromium } from "./process.ts";
import { gateTargets, NOBODY, type TargetGate } from "./target-gate.ts";

export interface ChromiumOptions {
  guard: UrlGuard;
  userAgent: string;
  /** `RENDER__CHROMIUM_PATH`; empty: the packaged one. */
  executable: string;
  log: Logger;
  /** Pages before the browser is replaced. */
  pagesPerBrowser?: number;
}

export interface OpenOptions extends Pick<PageOptions, "purpose" | "headers" | "cookies"> {
  /** Until the work with the page must be done, in ms; then the page is taken away from it. */
  timeoutMs: number;
  window?: PageWindow | undefined;
  /** Ends the work at once, with RENDER_STOPPED. */
  signal?: AbortSignal | undefined;
  /** Asked right before anything that the page sends to a host leaves: it does not where the answer is false. */
  mayLeave?: ((host: string) => Promise<boolean>) | undefined;
  /** All connections of the page go through this proxy; where it fails, the page ends with PROXY_UNAVAILABLE. */
  through?: ProxyServer | undefined;
}

export interface Chromium {
  /**
   * Opens the document and works with it.
   * @throws RenderError, and what `work` throws
   */
  withPage<T>(document: FetchedDocument, options: OpenOptions, work: (page: OpenPage) => Promise<T>): Promise<T>;
  /** Of the browser that runs, if one does. */
  readonly pid: number | undefined;
  /** Why requests of the last page were refused. */
  readonly refusals: readonly string[];
  close(): Promise<void>;
}

/** So that memory that a browser does not give back does not pile up. */
const PAGES_PER_BROWSER = 100;
const MAX_REQUESTS = { text: 150, picture: 400 };
const MAX_BYTES = { text: 32 * 1024 * 1024, picture: 96 * 1024 * 1024 };
const LAUNCH_TIMEOUT_MS = 20_000;
const CLOSE_TIMEOUT_MS = 3_000;
/** Between the pipe's end and the process's. */
const FAREWELL_MS = 500;
const WINDOW: PageWindow = { width: 1280, height: 800, mobile: false };

/** After these the browser may still be busy with the page. */
const UNHEALTHY = new Set<RenderErrorCode>(["RENDER_TIMEOUT", "RENDER_CRASHED", "RENDER_STOPPED"]);

interface Running {
  browser: Browser;
  process: ChromiumProcess;
  proxy: GuardProxy;
  gate: TargetGate;
  pages: number;
}

/** Makes the browser of a container; it is started at the first page. */
export function createChromium(options: ChromiumOptions): Chromium {
  const { guard, log } = options;
  let running: Running | undefined;
  let refusals: readonly string[] = [];
  let forget: (() => void) | undefined;
  /** The page before: the next one waits for it. */
  let previous: Promise<unknown> = Promise.resolve();

  const stop = async (): Promise<void> => {
    const old = running;
    running = undefined;
    if (old === undefined) return;
    await old.process.kill();
    await old.proxy.close();
  };

  const started = async (): Promise<Running> => {
    if (running !== undefined && running.pages >= (options.pagesPerBrowser ?? PAGES_PER_BROWSER)) await stop();
    if (running?.process.isAlive && running.browser.connected) return running;
    await stop();
    running = await launch(options, guard);
    forget ??= onShutdown(stop);
    log.debug("browser started", { pid: running.process.pid });
    return running;
  };

  const onePage = async <T>(
    document: FetchedDocument,
    { timeoutMs, purpose, headers, cookies, window = WINDOW, signal, mayLeave, through }: OpenOptions,
    work: (page: OpenPage) => Promise<T>,
  ): Promise<T> => {
    const deadline = Date.now() + timeoutMs;
    signal?.throwIfAborted();
    const current = await started();
    if (Date.now() >= deadline) {
      // the page has done nothing wrong, and its next try finds the browser running
      throw new RenderError("RENDERER_UNAVAILABLE", `Chromium was not there within the ${timeoutMs} ms of the page`);
    }
    const { browser, proxy, gate } = current;
    current.pages += 1;
    const cutOff = Promise.withResolvers<never>();
    cutOff.promise.catch(() => undefined);
    const egress = through && {
      server: through,
      ownHost: new URL(document.url).hostname,
      failed: (why: string) => cutOff.reject(new RenderError("PROXY_UNAVAILABLE", why)),
    };
    const budget = { requests: MAX_REQUESTS[purpose], bytes: MAX_BYTES[purpose] };
    const access = proxy.startPage(budget, { egress, mayLeave });
    let context: BrowserContext | undefined;
    let healthy = false;
    try {
      const opened = async (): Promise<T> => {
        context = await browser.createBrowserContext({ downloadBehavior: { policy: "deny" } });
        const page = await context.newPage();
        const crashed = new Promise<never>((_, reject) => {
          page.on("error", (error) => reject(new RenderError("RENDER_CRASHED", `The page crashed: ${error.message}`)));
        });
        crashed.catch(() => undefined);
        context.on("targetcreated", (target) => {
          if (target.type() === "page" && target !== page.target()) void closePopup(target.page());
        });
        const { width, height, mobile } = window;
        await page.setViewport({ width, height, isMobile: mobile, hasTouch: mobile });
        const maxRequests = MAX_REQUESTS[purpose];
        const open = openDocument(page, document, { purpose, headers, cookies, maxRequests, proxy: access, gate });
        return await Promise.race([open.then(work), crashed]);
      };
      const ends = [
        cutOff.promise,
        browserDeath(current.process),
        expiry(deadline - Date.now(), "RENDER_TIMEOUT", `The page was not done after ${timeoutMs} ms`),
        ...(signal ? [stopped(signal)] : []),
      ];
      const result = await Promise.race([opened(), ...ends]);
      healthy = true;
      return result;
    } catch (error) {
      healthy = error instanceof RenderError && !UNHEALTHY.has(error.code);
      throw await asRenderError(error, current);
    } finally {
      refusals = proxy.refusals;
      // nothing is under way any more when the next page begins to count
      proxy.endPage();
      gate.admits = NOBODY;
      const closed = healthy && context !== undefined && (await closes(context));
      if (!closed) await stop();
    }
  };

  return {
    withPage(document, openOptions, work) {
      const mine = previous.then(() => onePage(document, openOptions, work));
      previous = mine.catch(() => undefined);
      return mine;
    },
    get pid() {
      return running?.process.pid;
    },
    get refusals() {
      return refusals;
    },
    async close() {
      await previous;
      forget?.();
      await stop();
    },
  };
}

async function launch({ executable, userAgent }: ChromiumOptions, guard: UrlGuard): Promise<Running> {
  const binary = await chromiumBinary(executable);
  const { connect } = await importLayerPackage<typeof import("puppeteer-core")>("puppeteer-core");
  const proxy = await startGuardProxy(guard);
  let process: ChromiumProcess | undefined;
  try {
    process = await spawnChromium(binary, { proxyPort: proxy.port, userAgent });
    const death = browserDeath(process);
    const begun = async (transport: ChromiumProcess["transport"]) => {
      const browser = await connect({ transport, defaultViewport: null });
      return { browser, gate: await gateTargets(browser) };
    };
    const late = expiry(LAUNCH_TIMEOUT_MS, "RENDERER_UNAVAILABLE", `no answer within ${LAUNCH_TIMEOUT_MS} ms`);
    const started = await Promise.race([begun(process.transport), death, late]);
    return { ...started, process, proxy, pages: 0 };
  } catch (error) {
    const why = process === undefined ? (error as Error).message : await endOf(process, error as Error);
    await process?.kill();
    await proxy.close();
    throw new RenderError("RENDERER_UNAVAILABLE", `Chromium did not start: ${why}`, { cause: error });
  }
}

/** What is known of a browser that has failed: the pipe to it breaks before it is known how it has ended. */
async function endOf(process: ChromiumProcess, { message }: Error): Promise<string> {
  const ended = await Promise.race([process.ended, pause(FAREWELL_MS)]);
  if (ended !== undefined) return `it ended with ${ended}`;
  return process.lastWords === "" ? message : `${message}; its last words: ${process.lastWords}`;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

async function browserDeath(process: ChromiumProcess): Promise<never> {
  throw new RenderError("RENDER_CRASHED", `The browser ended: ${await process.ended}`);
}

async function expiry(ms: number, code: RenderErrorCode, message: string): Promise<never> {
  await pause(Math.max(0, ms));
  throw new RenderError(code, message);
}

async function stopped(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  throw new RenderError("RENDER_STOPPED", "The page was closed, since nobody waits for it any more");
}

/** What the browser says when it goes away in the middle of an answer. */
async function asRenderError(error: unknown, { browser, process }: Running): Promise<unknown> {
  if (!(error instanceof Error) || error.name === "RenderError") return error;
  if (/Target closed|Session closed|Connection closed|detached|crashed/i.test(`${error.name} ${error.message}`)) {
    const why = browser.connected
      ? `The page went away: ${error.message}`
      : `The browser went away: ${await endOf(process, error)}`;
    return new RenderError("RENDER_CRASHED", why, { cause: error });
  }
  return error;
}

async function closes(context: BrowserContext): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), CLOSE_TIMEOUT_MS).unref());
  return await Promise.race([
    context.close().then(
      () => true,
      () => false,
    ),
    late,
  ]);
}

async function closePopup(popup: Promise<{ close(): Promise<void> } | null>): Promise<void> {
  try {
    await (await popup)?.close();
  } catch {
    // it has closed by itself, or goes with its context
  }
}
