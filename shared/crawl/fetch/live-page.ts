/** Looks at a page as it is now: asked for like any page of a crawl, and kept nowhere. */
import { ApiError } from "../../platform/errors.ts";
import { shorten } from "../../platform/text.ts";
import { pageFault } from "../http/answer-fault.ts";
import type { LivePage, LivePageRequest } from "../tasks/live-page.ts";
import { fetchOnePage, type OnePageDependencies } from "./fetch-once.ts";

/** UTF-16 code units: what an answer holds in any script, with its JSON. */
const LONGEST_TEXT = 80_000;
const MOST_SECTIONS = 300;
const LONGEST_HEADING = 200;
/** Kept at the end of the time for the answer. */
const CLOSING_MS = 1_500;

/**
 * @param remainingMs until nobody waits for the answer
 * @throws ApiError that says why there is none
 */
export async function lookAtPage(
  dependencies: OnePageDependencies,
  { url, text }: LivePageRequest,
  remainingMs: number,
): Promise<LivePage> {
  const page = { url, respectRobotsTxt: true, headers: {}, cookies: [], mainOnly: text === "main" };
  const { capture } = await fetchOnePage(dependencies, page, Date.now() + remainingMs - CLOSING_MS);
  const { error, status, extraction, mimeType, finalUrl, fetchedAt, truncated } = capture;
  if (error !== null && error.code !== "EMPTY_BODY") throw pageFault(error, status);
  const whole = extraction?.text ?? "";
  const content = shorten(whole, LONGEST_TEXT);
  const all = extraction?.sections ?? [];
  const within = all.filter(({ end }) => end <= content.length);
  if (extraction !== null && mimeType !== null && !mimeType.includes("html")) {
    throw new ApiError(422, `The live page is ${mimeType}, and no HTML`, { code: "UNSUPPORTED_TYPE" });
  }
  return {
    finalUrl,
    status,
    mimeType,
    fetchedAt,
    title: extraction?.title ?? null,
    content,
    sections: within.slice(0, MOST_SECTIONS).map(({ heading, level, start, end }) => ({
      heading: heading === null ? null : shorten(heading, LONGEST_HEADING),
      level,
      start,
      end,
    })),
    cut: truncated || content.length < whole.length || within.length > MOST_SECTIONS,
  };
}
