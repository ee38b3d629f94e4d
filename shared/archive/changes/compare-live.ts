/** What became of a page since it was captured: its capture compared with the page as it is now. */

import { inspectUrl, type UrlInspector } from "../../access/url-inspection.ts";
import { LIVE_PAGES_QUEUE, type LivePage, type LivePageRequest, livePageSchema } from "../../crawl/tasks/live-page.ts";
import { MAIN_CONTENT } from "../../extract/content/selection.ts";
import type { RemoteCaller } from "../../platform/aws/remote-call.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Archive } from "../replay/payload.ts";
import { changeOf } from "./compare-captures.ts";
import { compareLines, type Difference } from "./compare-lines.ts";
import { pageLines } from "./page-lines.ts";
import { readPageText } from "./page-text.ts";

interface LiveDependencies extends Archive {
  remote: RemoteCaller;
  inspector: UrlInspector;
}

export interface LiveComparison {
  live: LivePage;
  kind: "updated" | "unchanged";
  summary: string;
  highNoise: boolean;
  difference: Difference;
}

/**
 * @param capture whose page is asked for by the URL that answered then
 * @throws ApiError 422 where there is no text to compare; 400 where the URL may not be fetched; 502 where the page does
 * not answer as a page
 */
export async function compareLive(
  { remote, inspector, ...archive }: LiveDependencies,
  capture: { id: number; url: string },
  { text, withinMs, gone }: { text: LivePageRequest["text"]; withinMs: number; gone: AbortSignal },
): Promise<LiveComparison> {
  const checked = inspectUrl(inspector, capture.url);
  if (!(checked instanceof URL)) {
    throw new ApiError(400, `The live page: ${checked.message}`, { code: checked.code, cause: checked });
  }
  const selection = { ...MAIN_CONTENT, mainOnly: text === "main" };
  const before = await readPageText(archive, capture, false, selection);
  if ("problem" in before) {
    const message = `The snapshot ${capture.id} has no text that could be compared: ${before.problem}`;
    throw new ApiError(422, message, { code: "NOT_COMPARABLE" });
  }
  const request = { url: capture.url, text } satisfies LivePageRequest;
  const answer = await remote.ask(LIVE_PAGES_QUEUE, request, withinMs, gone).catch((error: unknown) => {
    throw liveFault(error);
  });
  const live = livePageSchema.parse(answer);
  // what of the live page is not there is no change
  const shown = live.cut ? beginningOf(before, live.content.length) : before;
  const difference = compareLines(pageLines(shown), pageLines({ text: live.content, sections: live.sections }));
  const { kind, summary, highNoise } = changeOf(difference, live.cut);
  return { live, kind: kind === "updated" ? kind : "unchanged", summary, highNoise, difference };
}

type Text = Parameters<typeof pageLines>[0];

function beginningOf({ text, sections }: Text, length: number): Text {
  return { text: text.slice(0, length), sections: sections.filter(({ end }) => end <= length) };
}

/** Why a live page cannot be had, in the statuses of this interface. */
function liveFault(error: unknown): unknown {
  if (!(error instanceof ApiError) || [422, 429, 503].includes(error.status)) return error;
  const { code, message, details, headers } = error;
  const status = code === "URL_BLOCKED" || code === "URL_INVALID" ? 400 : 502;
  return new ApiError(status, `The live page: ${message}`, {
    code,
    cause: error,
    headers,
    ...(details && { details }),
  });
}
