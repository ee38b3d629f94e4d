/** The messages between the API and the worker of a discovery job: the worker has no database. */
import { z } from "zod";

export const DISCOVERY_SOURCES = ["sitemap", "common_crawl"] as const;

export const DISCOVER_QUEUE = "discover";
export const DISCOVERED_QUEUE = "discovered";

/** Message of the `discover` queue. */
export const discoveryTaskSchema = z.strictObject({
  jobId: z.uuid(),
  /** As `parseSite` reads it: a host, or the root of a site where its scheme is known. */
  domain: z.string(),
  sources: z.array(z.enum(DISCOVERY_SOURCES)).min(1),
  /** RE2 syntax, found anywhere in a normalised URL. */
  pattern: z.string().nullable(),
  maxUrls: z.int().positive(),
  /** What the URLs are scored by; empty: not at all. */
  keywords: z.array(z.string()),
  /** Scored URLs below it are left out. */
  scoreThreshold: z.number(),
});
export type DiscoveryTask = z.infer<typeof discoveryTaskSchema>;

/** What went wrong with a source or one file of it, or how many of its entries were refused and why. */
export const noteSchema = z.strictObject({
  /** A URL, or the name of a source. */
  source: z.string(),
  code: z.string(),
  message: z.string(),
  /** Entries; null where the note is not about entries. */
  count: z.int().nullable(),
});
export type DiscoveryNote = z.infer<typeof noteSchema>;

/** Message of the `discovered` queue. */
export const discoveredSchema = z.discriminatedUnion("event", [
  z.strictObject({ event: z.literal("started"), jobId: z.uuid() }),
  z.strictObject({
    event: z.literal("ended"),
    jobId: z.uuid(),
    /** Why nothing could be found out; null where the job is completed. */
    error: z.string().nullable(),
    urlsFound: z.int().nonnegative(),
    /** Claim check; null where there are no URLs. */
    resultKey: z.string().nullable(),
    notes: z.array(noteSchema),
  }),
  /** The list of a monitored source was read. */
  z.strictObject({
    event: z.literal("listed"),
    jobId: z.uuid(),
    /** Why nothing could be read; null where something was, or nothing has changed. */
    error: z.string().nullable(),
    entries: z.int().nonnegative(),
    documentsRead: z.int().nonnegative(),
    documentsUnchanged: z.int().nonnegative(),
    /** Claim check; null with an error. */
    resultKey: z.string().nullable(),
    notes: z.array(noteSchema),
  }),
]);
export type Discovered = z.infer<typeof discoveredSchema>;
