/**
 * Renders one captured page and delivers its capture: with the DOM archived next to the response and its text taken
 * from there, or as it was fetched, where rendering fails or nobody needs it any more. Either way exactly one capture
 * arrives.
 */
import type { Capture, CaptureError } from "../../capture/capture.ts";
import { conversionRecord, newRecordId } from "../../capture/warc-record.ts";
import { createWarcSegment, warcSegmentKey } from "../../capture/warc-segment.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Clock } from "../../platform/clock.ts";
import { PermanentError, RetryableError, ThrottledError } from "../../platform/errors.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { retryTransient } from "../../platform/transient-errors.ts";
import { renderPdf } from "../../render/pdf/pdf-page.ts";
import { type PageCookie, RenderError, type RenderedPage, type Renderer } from "../../render/renderer.ts";
import { isInfrastructureFault } from "../fetch/stop-reason.ts";
import type { HttpResponse } from "../http/exchange.ts";
import { readPageContent } from "../http/read-page.ts";
import { askedSilence } from "../politeness/asked-silence.ts";
import type { HostStates } from "../politeness/host-state.ts";
import { waitForSlot } from "../politeness/single-slot.ts";
import type { Egress } from "../proxies/egress.ts";
import { windowOf } from "../settings/browser-settings.ts";
import { pageTimeoutMs, selectionOf } from "../settings/crawl-config.ts";
import type { JobFlags } from "../tasks/job-flags.ts";
import { type RenderClaim, type RenderTask, readRenderClaim } from "../tasks/render-task.ts";
import { type SessionCookies, withSession } from "../tasks/session-cookies.ts";
import { deliverRendered, renderingOf } from "./deliver.ts";
import { RENDER } from "./metrics.ts";
import { createPageStopPoll } from "./page-stop-poll.ts";
import { renderThrough } from "./through-proxy.ts";

export interface RenderDependencies {
  renderer: Renderer;
  egress: Egress;
  objects: ObjectStore;
  queues: QueueSender;
  flags: Pick<JobFlags, "isCancelled">;
  sessions: SessionCookies;
  hosts: Pick<HostStates, "read" | "reserve" | "hold">;
  clock: Clock;
  settings: { userAgent: string; defaultRps: number };
}

export interface RenderDelivery {
  /** 1 for the first. */
  receiveCount: number;
  remainingMs(): number;
  log: Logger;
}

/** Tries of a page whose fault is transient. */
const MAX_TRIES = 3;
/** Of one that a server could not take: with the queue's growing delays, they outlive a restart of some minutes. */
const MAX_TRIES_OF_SERVER = 10;
/** Of one to which a server said nothing in the page's time, which the page may have caused. */
const MAX_TRIES_OF_SILENCE = 5;
/** Times the tries so far: who does not answer has too much to do. */
const AFTER_SILENCE_MS = 10_000;
/** Of a page that waits for its host: by then it is asked again whether anybody wants it. */
const LONGEST_DELAY_S = 60;
/** Kept free at the end of the function's time, to deliver the capture. */
const CLOSING_MS = 15_000;
const PATIENCE_MS = 30_000;

/**
 * @throws where S3, SQS or DynamoDB fail, and where the page is to be tried again: the message is delivered again
 *   then
 */
export async function runRenderTask(
  dependencies: RenderDependencies,
  task: RenderTask,
  { receiveCount, remainingMs, log: base }: RenderDelivery,
): Promise<void> {
  const { clock, renderer } = dependencies;
  const log = base.with({ job_id: task.jobId, task_id: task.taskId });
  const claim = await readRenderClaim(dependencies.objects, task);
  const without = async (error: CaptureError, outcome: "failed" | "unwanted", seconds: number[]): Promise<void> => {
    log.warn("a page is delivered as it was fetched", { code: error.code, reason: claim.reason });
    await deliverRendered(dependencies, task, { ...claim.capture, rendered: renderingOf(claim, error) });
    measure("page not rendered", outcome, seconds, { code: error.code });
  };
  const measure = (
    message: string,
    outcome: "rendered" | "incomplete" | "failed" | "unwanted",
    page_seconds: number[],
    about: Record<string, unknown>,
  ): void => {
    const values = { pages: { [outcome]: 1 }, page_seconds };
    log.measure(message, { ...about, reason: claim.reason, ...RENDER.fields({}, values, clock.now()) });
  };

  const poll = createPageStopPoll(dependencies, {
    hosts: new Set([new URL(claim.capture.finalUrl).host]),
    isCancelled: () => dependencies.flags.isCancelled(task.jobId),
    deadline: task.deadline,
  });
  let unwanted = await poll.reason();
  if (unwanted === null && renderer.asksAgain && claim.pdf === undefined) {
    const waitMs = await waitForSlot(dependencies, claim);
    // waiting for the host is no failed delivery, of which there are only so many
    if (waitMs > 0)
      return await dependencies.queues.send("render", task, Math.min(LONGEST_DELAY_S, Math.ceil(waitMs / 1000)));
    unwanted = await poll.reason();
  }
  if (unwanted !== null) return await without(unwanted, "unwanted", []);
  const started = clock.now();
  const elapsed = (): number[] => [Math.max(0, clock.now() - started) / 1000];
  let page: RenderedPage;
  try {
    poll.start();
    const timeoutMs = Math.max(1000, Math.min(pageTimeoutMs(claim.config), remainingMs() - CLOSING_MS));
    const { signal } = poll;
    page =
      claim.pdf !== undefined
        ? await renderPdf(Buffer.from(claim.pdf, "base64"), { timeoutMs, signal })
        : await renderThrough(dependencies, claim, {
            waitFor: claim.config.wait_for,
            timeoutMs,
            jobId: task.jobId,
            headers: claim.config.headers,
            cookies: await cookiesOf(dependencies, task, claim),
            window: windowOf(claim.config),
            actions: claim.config.actions,
            signal,
            mayLeave: poll.mayLeave,
          });
  } catch (error) {
    if (isInfrastructureFault(error)) throw error;
    if (poll.signal.aborted) return await without(poll.signal.reason as CaptureError, "unwanted", elapsed());
    const failure = asRenderError(error);
    await leaveAlone(dependencies, claim, failure);
    if (failure.retryable && receiveCount < mostTries(renderer, failure)) throw tryLater(failure, receiveCount);
    return await without(captureError(failure), "failed", elapsed());
  } finally {
    poll.stop();
  }
  const seconds = elapsed();
  const capture = await withDom(dependencies, task, claim, page, receiveCount);
  await deliverRendered(dependencies, task, capture);
  measure("page rendered", capture.rendered?.error ? "incomplete" : "rendered", seconds, {
    code: capture.rendered?.error?.code,
    chars_before: claim.capture.extraction?.text.length,
    chars: capture.extraction?.text.length,
  });
}

/** What the site has set since goes before what the job began with. */
async function cookiesOf(
  { sessions }: RenderDependencies,
  { jobId }: RenderTask,
  { config, capture }: RenderClaim,
): Promise<PageCookie[]> {
  if (!config.session) return config.cookies;
  const url = new URL(capture.finalUrl);
  return withSession(config.cookies, url, await sessions.of(jobId).read(url));
}

function mostTries({ asksAgain }: Renderer, { code }: RenderError): number {
  if (code === "RENDER_TIMEOUT") return MAX_TRIES_OF_SILENCE;
  return asksAgain && code === "RENDERER_UNAVAILABLE" ? MAX_TRIES_OF_SERVER : MAX_TRIES;
}

function tryLater({ code, message, cause }: RenderError, receiveCount: number): RetryableError {
  if (code !== "RENDER_TIMEOUT") return new RetryableError(message, { code, cause });
  return new ThrottledError(message, { code, cause, retryAfterMs: AFTER_SILENCE_MS * receiveCount });
}

/** What the site answered a renderer that asked it once more holds for all who ask it. */
async function leaveAlone(
  { hosts, clock }: RenderDependencies,
  { capture }: RenderClaim,
  { siteAnswer }: RenderError,
): Promise<void> {
  const wait = siteAnswer && askedSilence(siteAnswer, clock.now());
  if (wait !== undefined) await hosts.hold(new URL(capture.finalUrl).host, clock.now() + wait);
}

/** The capture with the DOM archived, and its text where the DOM has one. */
async function withDom(
  { objects, renderer, settings, clock }: RenderDependencies,
  { jobId, taskId, urlHash }: RenderTask,
  claim: RenderClaim,
  page: RenderedPage,
  take: number,
): Promise<Capture> {
  const { capture } = claim;
  if (page.html === null) return withoutDom(claim, page);
  const now = clock.now();
  const dom = Buffer.from(page.html, "utf8");
  const recordId = newRecordId();
  // of this run alone: a message that is delivered twice must not put its DOM in the place of the other's
  const name = [taskId, urlHash.slice(0, 12), recordId.slice(-12)].join("-");
  const key = warcSegmentKey(jobId, name, take, 0, now);
  const segment = createWarcSegment(key, { software: settings.userAgent.split(" ", 1)[0] ?? "", isPartOf: jobId }, now);
  const of = { recordId: capture.warc?.recordId ?? null, mimeType: "text/html; charset=utf-8" };
  const member = await conversionRecord(dom, of, { url: capture.finalUrl, date: now, recordId });
  const [warc = null] = segment.append([{ recordId, member }]);
  await retryTransient(clock, { until: now + PATIENCE_MS }, () =>
    objects.put(key, segment.contents(), "application/warc"),
  );

  const content = await readPageContent(domResponse(capture, dom), capture.finalUrl, dom.length + 1, {
    selection: claim.pdf === undefined ? selectionOf(claim.config) : WHOLE_PDF,
  });
  const shortcoming = shortcomingOf(page, content, capture);
  const keepsOwn = shortcoming !== null && KEEPS_OWN_TEXT.has(shortcoming.code);
  const extraction = keepsOwn ? capture.extraction : content.extraction;
  return {
    ...capture,
    error: claim.pdf === undefined || keepsOwn ? capture.error : null,
    extraction: extraction && { ...extraction, links: [...new Set([...extraction.links, ...page.navigations])] },
    rendered: {
      ...renderingOf(claim, shortcoming === null ? null : captureError(shortcoming)),
      warc,
      renderer: claim.pdf === undefined ? renderer.name : "pdfjs",
    },
  };
}

/** The capture as it was fetched, where the browser has followed the page to another one. */
function withoutDom(claim: RenderClaim, { navigations: [target = "another page"] }: RenderedPage): Capture {
  const { capture } = claim;
  const extraction = capture.extraction && {
    ...capture.extraction,
    links: URL.canParse(target) ? [...new Set([...capture.extraction.links, target])] : capture.extraction.links,
  };
  return { ...capture, extraction, rendered: renderingOf(claim, captureError(replacedBy(target))) };
}

/** It has no furniture, and nothing that a selector of pages could mean. */
const WHOLE_PDF = { include: [], exclude: [], mainOnly: false };

/** Codes of a DOM that says less than the response did. */
const KEEPS_OWN_TEXT = new Set(["RENDER_FAILED", "RENDER_NAVIGATED", "RENDER_EMPTY"]);

function shortcomingOf(
  page: RenderedPage,
  content: Pick<Capture, "error" | "extraction">,
  capture: Capture,
): RenderError | null {
  if (content.error !== null) return new RenderError("RENDER_FAILED", `The DOM: ${content.error.message}`);
  const [before, after] = [capture, content].map(({ extraction }) => extraction?.text.length ?? 0) as [number, number];
  const [target] = page.navigations;
  if (target !== undefined && after <= before) {
    return replacedBy(target);
  }
  if (after === 0 && before > 0)
    return new RenderError("RENDER_EMPTY", "The scripts of the page left nothing of its text");
  return page.shortcoming;
}

const replacedBy = (target: string): RenderError =>
  new RenderError("RENDER_NAVIGATED", `The page replaces itself by ${target}, which counts as a link of it`);

/** Of the headers, those that say something of the content still hold. */
function domResponse(capture: Capture, body: Buffer): HttpResponse {
  const kept = capture.headers.filter(([name]) => name === "content-language" || name === "x-robots-tag");
  const headers: [string, string][] = [["content-type", "text/html; charset=utf-8"], ...kept];
  return { status: 200, startLine: "HTTP/1.1 200 OK", headers, body, truncated: null };
}

function asRenderError(error: unknown): RenderError {
  if (error instanceof RenderError) return error;
  if (error instanceof PermanentError) return new RenderError("RENDER_FAILED", error.message, { cause: error });
  return new RenderError("RENDER_FAILED", error instanceof Error ? error.message : String(error), { cause: error });
}

const captureError = ({ code, message, retryable }: RenderError): CaptureError => ({ code, message, retryable });
