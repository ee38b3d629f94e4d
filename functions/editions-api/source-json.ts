/** Sources and editions as the API shows them. */
import { z } from "zod";
import { ENGINES, SOURCE_LANGUAGES } from "../../shared/archive/editions/source.ts";
import type { Edition, SourceRow, SourceStatistics } from "../../shared/archive/editions/sources.ts";
import { browseUrl } from "../adapters/archive/browse-url.ts";

export const sourceSummarySchema = z.object({
  sourceCode: z.string(),
  sourceName: z.string(),
  baseUrl: z.string().nullable(),
  description: z.string().nullable(),
  recordCount: z.int(),
  pageCount: z.int(),
  firstCapture: z.iso.date(),
  lastCapture: z.iso.date(),
  latestRecordId: z.int().nullable(),
  entryRecordId: z.int().nullable(),
  entryBrowseUrl: z.string().nullable(),
  entryPreviewUrl: z.string().nullable(),
});

export interface Entry {
  id: number;
  url: string;
  capturedAt: Date;
}

/**
 * @param replayUrl empty where nothing is replayed
 * @param previewUrl null where there is no picture of its entry page
 */
export function sourceSummaryJson(
  { code, name, baseUrl, description, snapshots, pages, firstAt, lastAt, latestId }: SourceStatistics,
  entry: Entry | undefined,
  { replayUrl, previewUrl }: { replayUrl: string; previewUrl: string | null },
): z.infer<typeof sourceSummarySchema> {
  return {
    sourceCode: code,
    sourceName: name,
    baseUrl,
    description,
    recordCount: snapshots,
    pageCount: pages,
    firstCapture: dayOf(firstAt),
    lastCapture: dayOf(lastAt),
    latestRecordId: latestId,
    entryRecordId: entry?.id ?? null,
    entryBrowseUrl: browseUrlOf(entry, replayUrl),
    entryPreviewUrl: previewUrl,
  };
}

export const editionSchema = z.object({
  jobId: z.int(),
  jobName: z.string(),
  recordCount: z.int(),
  firstCapture: z.iso.date(),
  lastCapture: z.iso.date(),
  entryBrowseUrl: z.string().nullable(),
});

export function editionJson(
  { jobId, jobName, snapshots, firstAt, lastAt }: Edition,
  entry: Entry | undefined,
  replayUrl: string,
): z.infer<typeof editionSchema> {
  return {
    jobId,
    jobName,
    recordCount: snapshots,
    firstCapture: dayOf(firstAt),
    lastCapture: dayOf(lastAt),
    entryBrowseUrl: browseUrlOf(entry, replayUrl),
  };
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const browseUrlOf = (entry: Entry | undefined, replayUrl: string): string | null =>
  entry === undefined ? null : browseUrl(replayUrl, entry.url, entry.capturedAt);

/** A source as administrators see it. */
export const registeredSourceSchema = z.object({
  code: z.string(),
  name: z.string(),
  baseUrl: z.string().nullable(),
  description: z.string().nullable(),
  nameTemplate: z.string(),
  seeds: z.array(z.string()),
  entryPages: z.partialRecord(z.enum(SOURCE_LANGUAGES), z.string()),
  engine: z.enum(ENGINES),
  passthroughArgs: z.array(z.string()),
  toolOptions: z.record(z.string(), z.unknown()),
  scheduleHint: z.string().nullable(),
  enabled: z.boolean(),
  reserved: z.boolean(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export function registeredSourceJson(source: SourceRow): z.infer<typeof registeredSourceSchema> {
  const { createdAt, updatedAt, ...rest } = source;
  return { ...rest, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
