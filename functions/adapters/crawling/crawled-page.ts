/** The reference's CrawledPage, as responses and streams hold it. */
import { z } from "zod";
import { NO_DOCUMENT } from "../../../shared/crawl/jobs/no-document.ts";

/** What is not known, or was not asked for, is left out. */
export const crawledPageSchema = z.object({
  url: z.string(),
  final_url: z.string().optional(),
  canonical_url: z.string().optional(),
  depth: z.int().nonnegative(),
  status_code: z.int(),
  title: z.string().optional(),
  content: z.string().optional(),
  markdown: z.string().optional(),
  links: z.array(z.string()).readonly().optional(),
  mime: z.string().optional(),
  charset: z.string().optional(),
  fetch_time_ms: z.int().optional(),
  robots_obeyed: z.boolean().optional(),
  disallowed: z.boolean().optional(),
  fetch_error: z.string().optional(),
  parse_error: z.string().optional(),
  truncated: z.boolean().optional(),
  no_document: z.enum(NO_DOCUMENT).optional(),
  crawled_at: z.iso.datetime().optional(),
});
