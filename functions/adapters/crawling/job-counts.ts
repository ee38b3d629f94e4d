/** How far a job is, as every door shows it. */
import { z } from "zod";

const count = z.int().nonnegative();

/** discovered = open + crawled + failed + skipped */
export const jobCountsSchema = z.object({
  discovered: count,
  open: count,
  crawled: count,
  failed: count,
  skipped: count,
  documents: count,
  chunks: count,
  unembedded_chunks: count,
});
