/** The port of whatever turns a fetched document into what a reader would see. */

import type { ProxyServer } from "../access/proxy-server.ts";

/** A document as the site has answered it: the browser gets it from us, and not from the site once more. */
export interface FetchedDocument {
  /** After redirects. */
  url: string;
  status: number;
  /** As received. */
  headers: readonly (readonly [string, string])[];
  /** Essence of the media type: `text/html` or `application/xhtml+xml`. */
  mimeType: string;
  text: string;
}

/** The browser's window, in CSS pixels. */
export interface PageWindow {
  width: number;
  height: number;
  /** A touch screen, and pages that lay themselves out for it. */
  mobile: boolean;
}

/** For one host, and no other. */
export interface PageCookie {
  host: string;
  name: string;
  value: string;
  /** Left out: of all that the host has. */
  path?: string | undefined;
  /** Whether it is for https alone. */
  secure?: boolean | undefined;
}

/** What is done in a page once it has loaded. */
export type PageAction =
  | { type: "wait"; milliseconds: number }
  | { type: "wait_for" | "click"; selector: string }
  | { type: "type"; selector: string; text: string }
  /** To the end of the page without `pixels`. */
  | { type: "scroll"; pixels?: number | undefined };

export interface RenderOptions {
  /** CSS selector that must appear before the page counts as loaded. */
  waitFor?: string | undefined;
  /** Longest time from opening the page to its DOM, in ms. */
  timeoutMs: number;
  /** Sent with requests to the document's own host, and to no other. */
  headers: Readonly<Record<string, string>>;
  /** Cookies and storage that pages leave behind are seen by no page of another job, or by no other page at all. */
  jobId?: string | undefined;
  cookies?: readonly PageCookie[] | undefined;
  window?: PageWindow | undefined;
  actions?: readonly PageAction[] | undefined;
  /** Ends the work at once. */
  signal?: AbortSignal | undefined;
  /** Asked right before anything that the page sends to a host leaves: it does not where the answer is false. */
  mayLeave?: ((host: string) => Promise<boolean>) | undefined;
  /** Connections leave directly where there is none. */
  through?: ProxyServer | undefined;
}

export interface RenderedPage {
  /** The DOM as HTML; null where the browser followed the page to another document. */
  html: string | null;
  /** Other documents that the page wanted to be replaced by, absolute: they are not followed. */
  navigations: string[];
  /** What is not as it was asked for, though there is a DOM. */
  shortcoming: RenderError | null;
}

export interface Renderer {
  readonly name: "chromium" | "crawl4ai";
  /** Whether it asks the site for the document once more, though it is at hand. */
  readonly asksAgain: boolean;
  /** @throws RenderError */
  render(document: FetchedDocument, options: RenderOptions): Promise<RenderedPage>;
}

/** Why a page could not be rendered, and whether trying again may help. */
const RENDER_ERROR_CODES = {
  /** There is no browser for this machine, or the service that renders cannot be reached. */
  RENDERER_UNAVAILABLE: true,
  RENDER_CRASHED: true,
  RENDER_TIMEOUT: false,
  RENDER_FAILED: false,
  RENDER_TOO_LARGE: false,
  RENDER_STOPPED: false,
  /** The proxy that the page is to go through does not work. */
  PROXY_UNAVAILABLE: true,
  /** Nothing is left of a page that had text. */
  RENDER_EMPTY: false,
  WAIT_FOR_TIMEOUT: false,
  WAIT_FOR_INVALID: false,
  /** An action could not be done, and those after it were not tried. */
  ACTION_FAILED: false,
  /** The page wants to be replaced by another one, which is not followed. */
  RENDER_NAVIGATED: false,
} as const;
export type RenderErrorCode = keyof typeof RENDER_ERROR_CODES;

export interface SiteAnswer {
  status: number;
  headers: readonly (readonly [string, string])[];
}

/** Why a page was not rendered, with a code of the error list. */
export class RenderError extends Error {
  readonly code: RenderErrorCode;
  readonly retryable: boolean;
  /** What the site answered a renderer that asked it once more, where that is why. */
  readonly siteAnswer: SiteAnswer | undefined;

  constructor(
    code: RenderErrorCode,
    message: string,
    { cause, retryable, siteAnswer }: { cause?: unknown; retryable?: boolean; siteAnswer?: SiteAnswer } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "RenderError";
    this.code = code;
    this.retryable = retryable ?? RENDER_ERROR_CODES[code];
    this.siteAnswer = siteAnswer;
  }
}
