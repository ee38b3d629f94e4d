/** Archive jobs as the API shows them. */
import { z } from "zod";
import type { ArchiveJob, JobSnapshot, PlannedJob } from "../../shared/archive/editions/archive-jobs.ts";
import { JOB_STATUSES } from "../../shared/archive/editions/job-status.ts";

export const jobSummarySchema = z.object({
  id: z.int(),
  sourceCode: z.string(),
  sourceName: z.string(),
  name: z.string(),
  engine: z.string(),
  status: z.enum(JOB_STATUSES),
  error: z.string().nullable(),
  retryCount: z.int(),
  createdAt: z.iso.datetime(),
  queuedAt: z.iso.datetime().nullable(),
  startedAt: z.iso.datetime().nullable(),
  finishedAt: z.iso.datetime().nullable(),
  cleanupStatus: z.string(),
  cleanedAt: z.iso.datetime().nullable(),
  crawlerExitCode: z.int().nullable(),
  crawlerStatus: z.string().nullable(),
  warcFileCount: z.int(),
  warcBytesTotal: z.int(),
  indexedPageCount: z.int(),
  storageScannedAt: z.iso.datetime().nullable(),
});

const configSchema = z.object({
  seeds: z.array(z.string()),
  zimit_passthrough_args: z.array(z.string()),
  tool_options: z.record(z.string(), z.unknown()),
});

export const jobDetailSchema = jobSummarySchema.extend({
  crawlerStage: z.string().nullable(),
  outputDir: z.string(),
  pagesCrawled: z.int(),
  pagesTotal: z.int(),
  pagesFailed: z.int(),
  outputBytesTotal: z.int(),
  finalZimPath: z.string().nullable(),
  combinedLogPath: z.string().nullable(),
  stateFilePath: z.string().nullable(),
  config: configSchema.nullable(),
  lastStats: z.record(z.string(), z.unknown()).nullable(),
});

const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null;

export function jobSummaryJson(job: ArchiveJob): z.infer<typeof jobSummarySchema> {
  const { id, sourceCode, sourceName, name, engine, status, error, retryCount, cleanupStatus } = job;
  const { crawlerExitCode, crawlerStatus, warcFileCount, warcBytesTotal, indexedPageCount } = job;
  return {
    id,
    sourceCode,
    sourceName,
    name,
    engine,
    status,
    error,
    retryCount,
    createdAt: job.createdAt.toISOString(),
    queuedAt: timeOf(job.queuedAt),
    startedAt: timeOf(job.startedAt),
    finishedAt: timeOf(job.finishedAt),
    cleanupStatus,
    cleanedAt: timeOf(job.cleanedAt),
    crawlerExitCode,
    crawlerStatus,
    warcFileCount,
    warcBytesTotal,
    indexedPageCount,
    storageScannedAt: timeOf(job.storageScannedAt),
  };
}

export function jobDetailJson(job: ArchiveJob): z.infer<typeof jobDetailSchema> {
  const { crawlerStage, outputDir, pagesCrawled, pagesTotal, pagesFailed, outputBytesTotal, config, lastStats } = job;
  const { finalZimPath, combinedLogPath, stateFilePath } = job;
  return {
    ...jobSummaryJson(job),
    crawlerStage,
    outputDir,
    pagesCrawled,
    pagesTotal,
    pagesFailed,
    outputBytesTotal,
    finalZimPath,
    combinedLogPath,
    stateFilePath,
    config,
    lastStats,
  };
}

export const plannedJobSchema = z.object({
  sourceCode: z.string(),
  engine: z.string(),
  name: z.string(),
  outputDir: z.string(),
  config: configSchema,
});

export const plannedJobJson = (planned: PlannedJob): z.infer<typeof plannedJobSchema> => planned;

export const jobSnapshotSchema = z.object({
  id: z.int(),
  url: z.string(),
  captureTimestamp: z.iso.datetime(),
  statusCode: z.int(),
  language: z.string().nullable(),
  title: z.string().nullable(),
});

export const jobSnapshotJson = ({ capturedAt, status, ...rest }: JobSnapshot): z.infer<typeof jobSnapshotSchema> => ({
  ...rest,
  captureTimestamp: capturedAt.toISOString(),
  statusCode: status,
});
