/** Snapshots as the API shows them. */
import { z } from "zod";
import { isGood } from "../../shared/archive/changes/link-captures.ts";
import type { Snapshot } from "../../shared/archive/snapshots/snapshots.ts";
import { browseUrl } from "../adapters/archive/browse-url.ts";

export const snapshotSchema = z.object({
  id: z.int(),
  title: z.string().nullable(),
  sourceCode: z.string(),
  sourceName: z.string(),
  language: z.string().nullable(),
  captureDate: z.iso.date(),
  captureTimestamp: z.iso.datetime(),
  jobId: z.int(),
  originalUrl: z.string(),
  snippet: z.string().nullable(),
  mimeType: z.string().nullable(),
  statusCode: z.int(),
  rawSnapshotUrl: z.string(),
  browseUrl: z.string().nullable(),
});

/** URLs of pictures by the id of what they show. */
type Previews = ReadonlyMap<number, string>;

export const timelineSchema = z.object({
  sourceCode: z.string(),
  sourceName: z.string(),
  normalizedUrlGroup: z.string(),
  snapshots: z.array(
    z.object({
      snapshotId: z.int(),
      captureDate: z.iso.date(),
      captureTimestamp: z.iso.datetime(),
      jobId: z.int(),
      jobName: z.string(),
      title: z.string().nullable(),
      statusCode: z.int(),
      compareFromSnapshotId: z.int().nullable(),
      /** Of the page as it looked; null where no picture was taken. */
      previewUrl: z.string().nullable(),
      browseUrl: z.string().nullable(),
    }),
  ),
});

/** @param replayUrl empty where nothing is replayed */
export function snapshotJson(
  {
    id,
    title,
    source,
    sourceName,
    language,
    capturedAt,
    jobId,
    url,
    snippet,
    mimeType,
    status,
  }: Snapshot & { snippet: string | null },
  replayUrl: string,
): z.infer<typeof snapshotSchema> {
  return {
    id,
    title,
    sourceCode: source,
    sourceName,
    language,
    ...timesOf(capturedAt),
    jobId,
    originalUrl: url,
    snippet,
    mimeType,
    statusCode: status,
    rawSnapshotUrl: `/api/snapshots/raw/${id}`,
    browseUrl: browseUrl(replayUrl, url, capturedAt),
  };
}

/** @param replayUrl empty where nothing is replayed */
export function timelineJson(
  { source, sourceName, page }: Snapshot,
  { snapshots, previews, replayUrl }: { snapshots: readonly Snapshot[]; previews: Previews; replayUrl: string },
): z.infer<typeof timelineSchema> {
  // what changes are computed from
  let good: number | null = null;
  const goodBefore = snapshots.map(({ id, status }) => {
    const before = good;
    if (isGood({ status })) good = id;
    return before;
  });
  return {
    sourceCode: source,
    sourceName,
    normalizedUrlGroup: page,
    snapshots: snapshots.map(({ id, capturedAt, jobId, jobName, title, status, url }, index) => ({
      snapshotId: id,
      ...timesOf(capturedAt),
      jobId,
      jobName,
      title,
      statusCode: status,
      compareFromSnapshotId: goodBefore[index] ?? null,
      previewUrl: previews.get(id) ?? null,
      browseUrl: browseUrl(replayUrl, url, capturedAt),
    })),
  };
}

function timesOf(capturedAt: Date): { captureDate: string; captureTimestamp: string } {
  const captureTimestamp = capturedAt.toISOString();
  return { captureDate: captureTimestamp.slice(0, 10), captureTimestamp };
}
