/** Changes as the API shows them. */
import { z } from "zod";
import type { ChangeEvent } from "../../shared/archive/changes/change-events.ts";
import type { Snapshot } from "../../shared/archive/snapshots/snapshots.ts";

export const changeSchema = z.object({
  changeId: z.int(),
  changeType: z.enum(["new_page", "updated", "unchanged", "error"]),
  summary: z.string(),
  highNoise: z.boolean(),
  diffAvailable: z.boolean(),
  sourceCode: z.string(),
  sourceName: z.string(),
  normalizedUrlGroup: z.string(),
  fromSnapshotId: z.int().nullable(),
  toSnapshotId: z.int(),
  fromCaptureTimestamp: z.iso.datetime().nullable(),
  toCaptureTimestamp: z.iso.datetime(),
  fromJobId: z.int().nullable(),
  toJobId: z.int(),
  addedSections: z.int().nullable(),
  removedSections: z.int().nullable(),
  changedSections: z.int().nullable(),
  addedLines: z.int().nullable(),
  removedLines: z.int().nullable(),
  changeRatio: z.number().nullable(),
});

export function changeJson(event: ChangeEvent): z.infer<typeof changeSchema> {
  const { addedSections, removedSections, changedSections, addedLines, removedLines, changeRatio } = event;
  return {
    changeId: event.id,
    changeType: event.kind,
    summary: event.summary,
    highNoise: event.highNoise,
    diffAvailable: event.hasDiff,
    sourceCode: event.source,
    sourceName: event.sourceName,
    normalizedUrlGroup: event.page,
    fromSnapshotId: event.fromId,
    toSnapshotId: event.toId,
    fromCaptureTimestamp: event.fromAt?.toISOString() ?? null,
    toCaptureTimestamp: event.toAt.toISOString(),
    fromJobId: event.fromJob,
    toJobId: event.toJob,
    addedSections,
    removedSections,
    changedSections,
    addedLines,
    removedLines,
    changeRatio,
  };
}

export const comparedSchema = z.object({
  snapshotId: z.int(),
  title: z.string().nullable(),
  captureDate: z.iso.date(),
  captureTimestamp: z.iso.datetime(),
  originalUrl: z.string(),
  jobId: z.int(),
  jobName: z.string(),
});

export function comparedJson(snapshot: Snapshot): z.infer<typeof comparedSchema> {
  const { id, title, capturedAt, url, jobId, jobName } = snapshot;
  const captureTimestamp = capturedAt.toISOString();
  const captureDate = captureTimestamp.slice(0, 10);
  return { snapshotId: id, title, captureDate, captureTimestamp, originalUrl: url, jobId, jobName };
}
