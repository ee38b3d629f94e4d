/** The messages between the database side and the worker that reads the list of a monitored source. */
import { z } from "zod";

export const LIST_TYPES = ["feed", "sitemap"] as const;

/** What is to be read. */
export const wantedListSchema = z.strictObject({
  type: z.enum(LIST_TYPES),
  url: z.string(),
  /** RE2 syntax, as `compilePatterns` has it; empty: all URLs. */
  include: z.array(z.string()),
  exclude: z.array(z.string()),
});
export type WantedList = z.infer<typeof wantedListSchema>;

/** A document of the list as it was when it was last read to its end. */
export const listDocumentSchema = z.strictObject({
  url: z.string(),
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
  /** SHA-256 of the body, hex. */
  digest: z.string(),
  /** The date by which an index names it. */
  named: z.string().nullable(),
});
export type ListDocument = z.infer<typeof listDocumentSchema>;

/** Message of the `discover` queue. */
export const listTaskSchema = z.strictObject({
  jobId: z.uuid(),
  list: wantedListSchema,
  /** What was read before, and is not read again unless it has changed. */
  known: z.array(listDocumentSchema),
});
export type ListTask = z.infer<typeof listTaskSchema>;

const listedEntrySchema = z.strictObject({
  url: z.string(),
  /** Differs where the list says that the page has changed. */
  version: z.string(),
  /** The latest time that its date may mean, in epoch ms. */
  dated: z.number().nullable(),
});
export type ListedEntry = z.infer<typeof listedEntrySchema>;

/** What the worker leaves in S3. */
export const listedSchema = z.strictObject({
  /** Each URL once. */
  entries: z.array(listedEntrySchema),
  /** Documents that were read to their end, or are as they were. */
  documents: z.array(listDocumentSchema),
});
export type Listed = z.infer<typeof listedSchema>;

/** What one run made of the list. */
export interface ListReport {
  /** Documents that were read, and those that had not changed. */
  documents_read: number;
  documents_unchanged: number;
  /** Entries in what was read. */
  entries: number;
  /** Entries that the job crawls, and those that are left for the next one. */
  taken: number;
  left: number;
  notes: { source: string; code: string; message: string; count: number | null }[];
}
