/** The response of an extraction for one page. */
import { z } from "zod";

const metadataSchema = z.object({
  title: z.string().optional(),
  author: z.string().optional(),
  /** ISO 8601: a date, or a time in UTC. */
  publish_date: z.string().optional(),
  /** Of the main content. */
  word_count: z.int().nonnegative(),
});

/** The reference's ExtractedPageResult; the content stands under the name of its format. */
export const extractedSchema = z.object({
  url: z.string(),
  status: z.enum(["success", "failed"]),
  markdown: z.string().optional(),
  text: z.string().optional(),
  html: z.string().optional(),
  metadata: metadataSchema.optional(),
  truncated: z.boolean().optional(),
  /** Code and message, of what failed. */
  error: z.string().optional(),
});
