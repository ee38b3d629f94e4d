/** What a run of an engine and its job tell each other, as objects of the bucket. */
import { z } from "zod";

/** Below it lies what runs capture: WARC files, as all others. */
export const ENGINE_WARCS_PREFIX = "warcs/engines/";

export const warcPrefix = (archiveJobId: number, run: number): string =>
  `${ENGINE_WARCS_PREFIX}${archiveJobId}/run-${run}/`;
/** @param temporary of the job; see `temporaryPrefix` */
export const runPrefix = (temporary: string, run: number): string => `${temporary}run-${run}/`;

export const orderKey = (prefix: string): string => `${prefix}order.json`;
export const reportKey = (prefix: string): string => `${prefix}report.json`;
export const stateKey = (prefix: string): string => `${prefix}state.yaml`;
export const logKey = (prefix: string): string => `${prefix}zimit.log`;

/** What a run is to do. */
export const runOrderSchema = z.object({
  /** The program and its arguments. */
  command: z.array(z.string()).min(1),
  seeds: z.array(z.string()).min(1),
  /** Key of the saved state that it begins with; null: from its seeds. */
  state: z.string().nullable(),
  /** Run by a shell before the crawl; what its last line names is the proxy. */
  rotate: z.string().nullable(),
  warcs: z.string(),
  /** Where the ZIM file goes. */
  zims: z.string(),
});
export type RunOrder = z.output<typeof runOrderSchema>;

const count = z.number().int().min(0);

export const crawlStatsSchema = z.object({
  crawled: count,
  total: count,
  pending: count.nullable(),
  failed: count,
  limitHit: z.boolean(),
});
export type CrawlStats = z.output<typeof crawlStatsSchema>;

export const logSummarySchema = z.object({
  lines: count,
  /** Lines that say they are JSON and are not, or that are too long to be read. */
  brokenLines: count,
  stats: crawlStatsSchema.nullable(),
  /** Faults since the crawled count rose last. */
  httpFaults: count,
  timeouts: count,
});
export type LogSummary = z.output<typeof logSummarySchema>;

export const keptFileSchema = z.object({ key: z.string(), bytes: count });

/** What there is of a run, written anew every few seconds. */
export const runReportSchema = z.object({
  writtenAt: z.iso.datetime(),
  log: logSummarySchema,
  warcs: z.array(keptFileSchema),
  zim: z.string().nullable(),
  state: z.string().nullable(),
  /** The ZIM is of a crawl that met a limit. */
  partial: z.boolean(),
  /** Of the engine; null while it runs, and where it went without one. */
  exitCode: z.number().int().nullable(),
  /** Somebody asked it to end. */
  interrupted: z.boolean(),
  /** All is uploaded. */
  done: z.boolean(),
});
export type RunReport = z.output<typeof runReportSchema>;
