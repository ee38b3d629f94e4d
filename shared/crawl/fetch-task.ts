/** The message of the fetch queues: up to 50 URLs of one host, and all that fetch must know, since it has no database. */
import { z } from "zod";
import { crawlConfigSchema } from "./crawl-config.ts";

export const PRIORITIES = ["high", "normal", "low"] as const;
export type Priority = (typeof PRIORITIES)[number];

export const MAX_URLS_PER_TASK = 50;

/** What may be fetched for a job. `any`: the given URLs and wherever they redirect; `host`: only this host (with port). */
export const scopeSchema = z.discriminatedUnion("mode", [
  z.strictObject({ mode: z.literal("any") }),
  z.strictObject({ mode: z.literal("host"), host: z.string() }),
]);
export type Scope = z.infer<typeof scopeSchema>;

/** The capture that a conditional request may be answered against. */
export const priorCaptureSchema = z.strictObject({
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  payloadDigest: z.string().nullable(),
  /** For the revisit record: what it refers to. */
  recordId: z.uuid().nullable(),
  url: z.string(),
  fetchedAt: z.iso.datetime(),
});
export type PriorCapture = z.infer<typeof priorCaptureSchema>;

export const fetchTaskSchema = z.strictObject({
  taskId: z.uuid(),
  jobId: z.uuid(),
  priority: z.enum(PRIORITIES),
  /** Lower-case host with its port where that is not the scheme's default: the unit of politeness. */
  host: z.string(),
  scope: scopeSchema,
  config: crawlConfigSchema,
  urls: z
    .array(
      z.strictObject({
        url: z.url({ protocol: /^https?$/ }),
        urlHash: z.string().regex(/^[0-9a-f]{64}$/),
        depth: z.int().nonnegative(),
        attempt: z.int().nonnegative(),
        prior: priorCaptureSchema.nullable(),
      }),
    )
    .min(1)
    .max(MAX_URLS_PER_TASK),
});
export type FetchTask = z.infer<typeof fetchTaskSchema>;

export const fetchQueue = (priority: Priority): string => `fetch-${priority}`;
