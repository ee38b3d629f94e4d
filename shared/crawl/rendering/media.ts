/**
 * Opens one page for the media API: asked for like any page of a crawl, so the URL guard, robots.txt, blocked domains
 * and the pace of the host hold, and then in the browser, which gets the answer instead of asking again.
 */
import type { CaptureError } from "../../capture/capture.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { act } from "../../render/chromium/actions.ts";
import { printPdf, runScripts, takeScreenshot } from "../../render/chromium/artefacts.ts";
import type { Chromium } from "../../render/chromium/browser.ts";
import type { OpenPage } from "../../render/chromium/page.ts";
import { waitForSelector } from "../../render/chromium/page-content.ts";
import { type FetchedDocument, RenderError, type RenderErrorCode } from "../../render/renderer.ts";
import { fetchOnePage, type OnePageDependencies } from "../fetch/fetch-once.ts";
import { pageFault } from "../http/answer-fault.ts";
import type { MediaAnswer, MediaRequest } from "../tasks/media-request.ts";
import { createPageStopPoll, type PageStopPoll } from "./page-stop-poll.ts";
import { fetchedDocument } from "./through-proxy.ts";

export interface MediaDependencies extends OnePageDependencies {
  chromium: Chromium;
  objects: Pick<ObjectStore, "put">;
}

/** Kept at the end of the time for the artefact and the answer. */
const CLOSING_MS = 2_500;
/**
 * Before the end of the time, so that the answer to who waits for a selector in vain says so, and not only that the
 * time is up.
 */
const ANSWERING_MS = 1_000;
/** Of what is left, the most that loading may take beside the waiting that was asked for. */
const SETTLE_MS = 8_000;

/**
 * @param remainingMs until nobody waits for the answer
 * @param isGone whether nobody waits for it any more
 * @throws ApiError
 */
export async function answerMediaRequest(
  dependencies: MediaDependencies,
  request: MediaRequest,
  remainingMs: number,
  isGone?: () => Promise<boolean>,
): Promise<MediaAnswer> {
  const deadline = Date.now() + remainingMs - CLOSING_MS;
  const hosts = new Set([dependencies.guard.inspect(request.url).host]);
  const poll = createPageStopPoll(dependencies, { hosts, ...(isGone && { isCancelled: isGone }), deadline: null });
  poll.start();
  try {
    await poll.reason();
    poll.signal.throwIfAborted();
    const document = await fetchDocument(dependencies, request, deadline, poll.signal);
    hosts.add(new URL(document.url).host);
    return await openPage(dependencies, request, document, deadline, poll);
  } catch (error) {
    throw poll.signal.aborted ? pageFault(poll.signal.reason as CaptureError, 0) : error;
  } finally {
    poll.stop();
  }
}

async function openPage(
  dependencies: MediaDependencies,
  request: MediaRequest,
  document: FetchedDocument,
  deadline: number,
  { signal, mayLeave }: PageStopPoll,
): Promise<MediaAnswer> {
  const work = (page: OpenPage): Promise<MediaAnswer> => answer(dependencies, request, document, page, deadline);
  const { headers, cookies, window } = request;
  const options = { purpose: "picture", headers, cookies, window, signal, mayLeave } as const;
  for (let attempt = 1; ; attempt += 1) {
    const timeoutMs = deadline - Date.now();
    if (timeoutMs <= 0) throw apiError(new RenderError("RENDER_TIMEOUT", "The page was not done in time"));
    try {
      return await dependencies.chromium.withPage(document, { ...options, timeoutMs }, work);
    } catch (error) {
      if (!(error instanceof RenderError)) throw error;
      if (error.code !== "RENDER_CRASHED" || attempt > 1) throw apiError(error);
    }
  }
}

async function answer(
  { objects }: MediaDependencies,
  request: MediaRequest,
  document: FetchedDocument,
  page: OpenPage,
  deadline: number,
): Promise<MediaAnswer> {
  const complete = await page.loaded(Math.min(deadline, Date.now() + SETTLE_MS));
  if (request.waitFor !== null) {
    const missing = await waitForSelector(page, request.waitFor, deadline - 1000 * request.waitSeconds - ANSWERING_MS);
    if (missing !== null) throw missing;
  }
  const wait = Math.min(1000 * request.waitSeconds, deadline - Date.now());
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  const failed = await act(page, request.actions, deadline - ANSWERING_MS);
  if (failed !== null) throw failed;
  const seen = () => ({
    finalUrl: document.url,
    status: document.status,
    navigations: [...page.navigations],
    complete,
  });
  const kept = async (bytes: Buffer, contentType: string, extension: string) => {
    const key = `media/${uuidv7()}.${extension}`;
    await objects.put(key, bytes, contentType);
    return { key, contentType, sizeBytes: bytes.length, width: null, height: null, truncated: false };
  };
  switch (request.kind) {
    case "screenshot": {
      const { bytes, ...size } = await takeScreenshot(page, request);
      return { ...seen(), ...(await kept(bytes, `image/${request.format}`, request.format)), ...size };
    }
    case "pdf":
      return { ...seen(), ...(await kept(await printPdf(page), "application/pdf", "pdf")) };
    case "execute-js": {
      const results = await runScripts(page, request.scripts, deadline);
      return { ...seen(), results };
    }
  }
}

async function fetchDocument(
  dependencies: MediaDependencies,
  request: MediaRequest,
  deadline: number,
  stop: AbortSignal,
): Promise<FetchedDocument> {
  const { capture, rendering } = await fetchOnePage(dependencies, request, deadline, stop);
  if (capture.error !== null) throw pageFault(capture.error, capture.status);
  if (rendering === null) {
    const what = capture.truncated ? "is not whole" : `is ${capture.mimeType ?? "of no known type"}, not HTML`;
    throw new ApiError(422, `url: the answer of the site ${what}`, { code: "UNSUPPORTED_TYPE" });
  }
  return fetchedDocument(capture, rendering.html);
}

const STATUS_OF: Partial<Record<RenderErrorCode, number>> = {
  RENDERER_UNAVAILABLE: 503,
  RENDER_CRASHED: 502,
  RENDER_TIMEOUT: 504,
  RENDER_TOO_LARGE: 422,
  WAIT_FOR_TIMEOUT: 422,
  WAIT_FOR_INVALID: 400,
  ACTION_FAILED: 422,
};

function apiError(error: RenderError): ApiError {
  const { code, message } = error;
  const path = code.startsWith("WAIT_FOR") ? "wait_for" : code === "ACTION_FAILED" ? "actions" : "url";
  return new ApiError(STATUS_OF[code] ?? 502, message, { code, cause: error, details: { path } });
}
