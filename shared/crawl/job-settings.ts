/** What a job was asked to do, as it stands in `jobs.settings`. */
import { z } from "zod";
import { crawlConfigSchema } from "./crawl-config.ts";
import { scopeSchema } from "./fetch-task.ts";

export const jobSettingsSchema = z.strictObject({
  seeds: z.array(z.string()).min(1),
  scope: scopeSchema,
  /** Links from a seed to the deepest page; 0: the seeds alone. */
  max_depth: z.int().nonnegative(),
  /** URLs that may be fetched, at the most. */
  max_pages: z.int().positive(),
  config: crawlConfigSchema,
  /** Lower case. */
  tags: z.array(z.string()),
});
export type JobSettings = z.infer<typeof jobSettingsSchema>;
