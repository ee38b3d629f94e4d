/** Lists of the archive as rows, in the names and the order of their interface. */

import type { Sql } from "../../platform/database/database.ts";
import { type ChangeEvent, listChangesById } from "../changes/change-events.ts";
import { type ListPart, listSnapshots, type Snapshot } from "../snapshots/snapshots.ts";

export type Cell = string | number | boolean | null;
export type Row = Readonly<Record<string, Cell>>;

export const SNAPSHOT_COLUMNS = [
  "snapshot_id",
  "source_code",
  "source_name",
  "captured_url",
  "normalized_url_group",
  "capture_timestamp_utc",
  "language",
  "status_code",
  "mime_type",
  "title",
  "job_id",
  "job_name",
  "snapshot_url",
] as const;

export const CHANGE_COLUMNS = [
  "change_id",
  "source_code",
  "source_name",
  "normalized_url_group",
  "from_snapshot_id",
  "to_snapshot_id",
  "from_capture_timestamp_utc",
  "to_capture_timestamp_utc",
  "from_job_id",
  "to_job_id",
  "change_type",
  "summary",
  "added_sections",
  "removed_sections",
  "changed_sections",
  "added_lines",
  "removed_lines",
  "change_ratio",
  "high_noise",
  "diff_truncated",
  "diff_version",
  "normalization_version",
  "computed_at_utc",
  "compare_url",
] as const;

/** @param base where clients reach the API */
export const snapshotRows = (sql: Sql, part: ListPart, base: string): AsyncGenerator<Row> =>
  rowsOf(
    part,
    (some) => listSnapshots(sql, some),
    (snapshot) => snapshotRow(snapshot, base),
  );

/** @param base where clients reach the API */
export const changeRows = (sql: Sql, part: ListPart, base: string): AsyncGenerator<Row> =>
  rowsOf(
    part,
    (some) => listChangesById(sql, some),
    (event) => changeRow(event, base),
  );

const AT_ONCE = 500;

/** No transaction is open while a slow reader takes them. */
async function* rowsOf<Item extends { id: number }>(
  part: ListPart,
  read: (part: ListPart) => Promise<Item[]>,
  rowOf: (item: Item) => Row,
): AsyncGenerator<Row> {
  let { after, limit } = part;
  while (limit > 0) {
    const items = await read({ ...part, after, limit: Math.min(limit, AT_ONCE) });
    for (const item of items) yield rowOf(item);
    const last = items.at(-1);
    if (last === undefined || items.length < Math.min(limit, AT_ONCE)) return;
    after = last.id;
    limit -= items.length;
  }
}

function snapshotRow(snapshot: Snapshot, base: string): Record<(typeof SNAPSHOT_COLUMNS)[number], Cell> {
  const { id, source, sourceName, url, page, capturedAt, language, status, mimeType, title, jobId, jobName } = snapshot;
  return {
    snapshot_id: id,
    source_code: source,
    source_name: sourceName,
    captured_url: url,
    normalized_url_group: page,
    capture_timestamp_utc: capturedAt.toISOString(),
    language,
    status_code: status,
    mime_type: mimeType,
    title,
    job_id: jobId,
    job_name: jobName,
    snapshot_url: `${base}/api/snapshot/${id}`,
  };
}

function changeRow(event: ChangeEvent, base: string): Record<(typeof CHANGE_COLUMNS)[number], Cell> {
  const from = event.fromId === null ? "" : `&fromSnapshotId=${event.fromId}`;
  return {
    change_id: event.id,
    source_code: event.source,
    source_name: event.sourceName,
    normalized_url_group: event.page,
    from_snapshot_id: event.fromId,
    to_snapshot_id: event.toId,
    from_capture_timestamp_utc: event.fromAt?.toISOString() ?? null,
    to_capture_timestamp_utc: event.toAt.toISOString(),
    from_job_id: event.fromJob,
    to_job_id: event.toJob,
    change_type: event.kind,
    summary: event.summary,
    added_sections: event.addedSections,
    removed_sections: event.removedSections,
    changed_sections: event.changedSections,
    added_lines: event.addedLines,
    removed_lines: event.removedLines,
    change_ratio: event.changeRatio,
    high_noise: event.highNoise,
    diff_truncated: event.isCut,
    diff_version: event.hasDiff ? `v${event.version}` : null,
    normalization_version: event.hasDiff ? `v${event.version}` : null,
    computed_at_utc: event.computedAt.toISOString(),
    compare_url: `${base}/api/changes/compare?toSnapshotId=${event.toId}${from}`,
  };
}
