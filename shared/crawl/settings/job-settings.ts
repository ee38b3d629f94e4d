/** What a job was asked to do, as it stands in `jobs.settings`. */
import { z } from "zod";
import { scopeSchema } from "../urls/scope.ts";
import { crawlConfigSchema } from "./crawl-config.ts";

export const PRIORITIES = ["high", "normal", "low"] as const;

export type Priority = (typeof PRIORITIES)[number];

export const STRATEGIES = ["bfs", "dfs", "best_first"] as const;
export type Strategy = (typeof STRATEGIES)[number];

export const jobSettingsSchema = z.strictObject({
  seeds: z.array(z.string()).min(1),
  scope: scopeSchema,
  /** Links from a seed to the deepest page; 0: the seeds alone. */
  max_depth: z.int().nonnegative(),
  /** URLs that may be fetched, at the most. */
  max_pages: z.int().positive(),
  /** How the frontier is ordered. */
  strategy: z.enum(STRATEGIES).default("bfs"),
  /** What `best_first` looks for; lower case. */
  keywords: z.array(z.string()).default([]),
  /** `best_first`: links that score less are not followed; 0 to 1. */
  score_threshold: z.number().min(0).max(1).default(0),
  /** URLs of one host that may be fetched, at the most; null: no limit of its own. */
  max_pages_per_host: z.int().positive().nullable().default(null),
  /** Requests under way at once for the job, at the most; null: as the deployment is set. */
  concurrency: z.int().positive().nullable().default(null),
  /** Whether the pages become searchable; they are archived in any case. */
  index: z.boolean().default(true),
  /** What the job's pages replace in the index: all pages of the host, or only those of the same URLs. */
  replaces: z.enum(["site", "pages"]).default("site"),
  /** Whether the URLs of deleted documents become searchable again. */
  restore_deleted: z.boolean().default(false),
  /** Whether a recent capture is taken instead of a request. */
  cache: z.enum(["use", "bypass"]).default("bypass"),
  /** Seconds for which a capture may be used again. */
  cache_ttl_s: z.int().nonnegative().default(86_400),
  /** Which fields of its results are shown to whoever selects none; null: those that the route has for it. */
  fields: z.strictObject({ include: z.string().optional(), exclude: z.string().optional() }).nullable().default(null),
  config: crawlConfigSchema,
  /** Lower case. */
  tags: z.array(z.string()),
});
export type JobSettings = z.infer<typeof jobSettingsSchema>;
