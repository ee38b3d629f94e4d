/** Messages to the function that looks at a page as it is now, and its answers. */
import { z } from "zod";

export const LIVE_PAGES_QUEUE = "live-pages";

export const LIVE_TEXTS = ["main", "full"] as const;

export const livePageRequestSchema = z.strictObject({
  url: z.string(),
  /** The main content, or all that the page shows. */
  text: z.enum(LIVE_TEXTS),
});
export type LivePageRequest = z.infer<typeof livePageRequestSchema>;

export const livePageSchema = z.object({
  /** After redirects. */
  finalUrl: z.string(),
  status: z.int(),
  mimeType: z.string().nullable(),
  fetchedAt: z.iso.datetime(),
  title: z.string().nullable(),
  content: z.string(),
  /** Offsets count UTF-16 code units. */
  sections: z.array(
    z.object({ heading: z.string().nullable(), level: z.number(), start: z.number(), end: z.number() }),
  ),
  /** Whether the page, or its text, is longer than `content`. */
  cut: z.boolean(),
});
export type LivePage = z.infer<typeof livePageSchema>;
