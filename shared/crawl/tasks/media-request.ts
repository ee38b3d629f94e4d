/** Messages of the media API to the function with the browser, and its answers. */
import { z } from "zod";

import { actionsSchema } from "../settings/browser-settings.ts";
import { cookiesSchema } from "../settings/cookies.ts";

export const MEDIA_QUEUE = "media";

const page = {
  url: z.string(),
  waitFor: z.string().nullable(),
  waitSeconds: z.number(),
  respectRobotsTxt: z.boolean(),
  window: z.strictObject({ width: z.int(), height: z.int(), mobile: z.boolean() }),
  actions: actionsSchema,
  headers: z.record(z.string(), z.string()),
  cookies: cookiesSchema,
};

export const mediaRequestSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("screenshot"),
    ...page,
    fullPage: z.boolean(),
    format: z.enum(["png", "jpeg", "webp"]),
  }),
  z.strictObject({ kind: z.literal("pdf"), ...page }),
  z.strictObject({ kind: z.literal("execute-js"), ...page, scripts: z.array(z.string()).min(1) }),
]);
export type MediaRequest = z.infer<typeof mediaRequestSchema>;

/** Of the page as it was opened. */
const seen = {
  /** After redirects. */
  finalUrl: z.string(),
  status: z.int(),
  /** Other documents that the page wanted to be replaced by: they are not followed. */
  navigations: z.array(z.string()),
  /** Whether everything was loaded within the time. */
  complete: z.boolean(),
};

export const artefactSchema = z.object({
  ...seen,
  /** In the bucket, below `media/`. */
  key: z.string(),
  contentType: z.string(),
  sizeBytes: z.int(),
  /** Of pictures, in CSS pixels. */
  width: z.int().nullable(),
  height: z.int().nullable(),
  /** The page is longer than what a picture holds. */
  truncated: z.boolean(),
});

export const scriptResultsSchema = z.object({
  ...seen,
  results: z.array(
    z.object({ index: z.int(), success: z.boolean(), result: z.unknown(), error: z.string().nullable() }),
  ),
});
export type MediaAnswer = z.infer<typeof artefactSchema> | z.infer<typeof scriptResultsSchema>;
