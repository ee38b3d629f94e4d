/** A comparison with a live page by the names that clients of the interface read, beside its own. */
import { z } from "zod";
import { CHANGES_VERSION } from "../../shared/archive/changes/compare-lines.ts";
import type { Snapshot } from "../../shared/archive/snapshots/snapshots.ts";
import { LIVE_TEXTS } from "../../shared/crawl/tasks/live-page.ts";
import { comparedJson, comparedSchema } from "./change-json.ts";

export const statsSchema = z.object({
  summary: z.string(),
  highNoise: z.boolean(),
  addedSections: z.int(),
  removedSections: z.int(),
  changedSections: z.int(),
  addedLines: z.int(),
  removedLines: z.int(),
  changeRatio: z.number(),
});

export const fetchSchema = z.object({
  requestedUrl: z.string(),
  finalUrl: z.string(),
  statusCode: z.int(),
  contentType: z.string().nullable(),
  fetchedAt: z.iso.datetime(),
});

export const liveNamesSchema = z.object({
  archivedSnapshot: comparedSchema,
  liveFetch: fetchSchema,
  stats: statsSchema,
  diff: z.object({
    diffFormat: z.string(),
    diffHtml: z.string(),
    diffTruncated: z.boolean(),
    diffVersion: z.string(),
    normalizationVersion: z.string(),
  }),
  textModeRequested: z.enum(LIVE_TEXTS),
  /** The same: a page without main content is compared by all of it. */
  textModeUsed: z.enum(LIVE_TEXTS),
  textModeFallback: z.boolean(),
});

interface LiveComparison {
  live: z.infer<typeof fetchSchema>;
  mode: (typeof LIVE_TEXTS)[number];
  stats: z.infer<typeof statsSchema>;
  html: string;
  isCut: boolean;
}

export function liveNames(
  snapshot: Snapshot,
  { live, mode, stats, html, isCut }: LiveComparison,
): z.infer<typeof liveNamesSchema> {
  const { requestedUrl, finalUrl, statusCode, contentType, fetchedAt } = live;
  const version = `v${CHANGES_VERSION}`;
  return {
    archivedSnapshot: comparedJson(snapshot),
    liveFetch: { requestedUrl, finalUrl, statusCode, contentType, fetchedAt },
    stats,
    diff: {
      diffFormat: "html",
      diffHtml: html,
      diffTruncated: isCut,
      diffVersion: version,
      normalizationVersion: version,
    },
    textModeRequested: mode,
    textModeUsed: mode,
    textModeFallback: false,
  };
}
