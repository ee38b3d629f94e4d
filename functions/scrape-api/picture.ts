/** The picture of a page that was scraped: the page is asked for once more, with the same settings. */
import { z } from "zod";
import { windowOf } from "../../shared/crawl/settings/browser-settings.ts";
import type { CrawlConfig } from "../../shared/crawl/settings/crawl-config.ts";
import type { MediaRequest } from "../../shared/crawl/tasks/media-request.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { type artefact, askForArtefact } from "../adapters/crawling/artefact.ts";
import type { ScrapeApi } from "./dependencies.ts";

/** For one try, as the media API waits. */
const LONGEST_TRY_MS = 26_000;

export const pictureOptions = z.strictObject({
  full_page: z.boolean().default(true),
  format: z.enum(["png", "jpeg", "webp"]).default("png"),
  /** After the page has loaded. */
  wait_seconds: z.number().min(0).max(10).default(0),
});

/**
 * Waits for a slot of the host as long as there is time.
 * @param deadline epoch ms
 * @throws ApiError
 */
export async function takePicture(
  dependencies: ScrapeApi,
  url: string,
  config: CrawlConfig,
  options: z.output<typeof pictureOptions>,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
): Promise<z.output<typeof artefact>> {
  const { clock } = dependencies;
  const request: MediaRequest = {
    kind: "screenshot",
    url,
    waitFor: config.wait_for ?? null,
    waitSeconds: options.wait_seconds,
    respectRobotsTxt: config.respect_robots_txt,
    window: windowOf(config),
    actions: config.actions,
    headers: config.headers,
    cookies: config.cookies,
    fullPage: options.full_page,
    format: options.format,
  };
  for (;;) {
    try {
      const left = Math.max(1_000, deadline - clock.now());
      return await askForArtefact(dependencies, request, Math.min(LONGEST_TRY_MS, left), signal);
    } catch (error) {
      const pauseMs = busyFor(error);
      if (pauseMs === null || clock.now() + pauseMs >= deadline) throw error;
      await clock.sleep(pauseMs, signal);
    }
  }
}

/** @returns milliseconds after which the host may be asked; null where that is not what is wrong */
function busyFor(error: unknown): number | null {
  if (!(error instanceof ApiError) || error.code !== "HOST_BUSY") return null;
  const seconds = error.details?.["retry_after_seconds"];
  return typeof seconds === "number" ? seconds * 1_000 : 1_000;
}
