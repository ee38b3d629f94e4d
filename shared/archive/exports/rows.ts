/** Lists of the archive as rows, in the names and the order of their interface. */

import type { Sql } from "../../platform/database/database.ts";
import { type ChangeEvent, listChangesById } from "../changes/change-events.ts";
import { type ListPart, listSnapshots, type Snapshot } from "../snapshots/snapshots.ts";

export type Cell = string | number | boolean | null;
export type Row = Readonly<Record<string, Cell>>;

export interface Column<Name extends string = string> {
  name: Name;
  /** Timestamps are ISO 8601 in UTC. */
  type: string;
  /** `null` in JSON, an empty cell in CSV. */
  nullable: boolean;
  about: string;
}

/** @param type with a `?` where there may be nothing */
const column = <const Name extends string>(name: Name, type: string, about: string): Column<Name> => ({
  name,
  type: type.replace("?", ""),
  nullable: type.endsWith("?"),
  about,
});

/** In the order of the interface. */
export const SNAPSHOT_DICTIONARY = [
  column("snapshot_id", "integer", "Names the snapshot: `GET /api/snapshot/{id}`"),
  column("source_code", "string", "Of the source that it belongs to; else the page's host"),
  column("source_name", "string", "What the source is called"),
  column("captured_url", "string", "What was asked for, with its query"),
  column("normalized_url_group", "string", "The page: scheme, host and path"),
  column("capture_timestamp_utc", "timestamp", "When the server answered"),
  column("language", "string?", "ISO 639 code; empty where it could not be told"),
  column("status_code", "integer", "HTTP status"),
  column("mime_type", "string?", "As the server declared it, without parameters"),
  column("title", "string?", "Of the page"),
  column("job_id", "integer", "The job that captured or imported it"),
  column("job_name", "string?", "What the job is called"),
  column("snapshot_url", "string", "Where the API tells of it"),
] as const;

export const CHANGE_DICTIONARY = [
  column("change_id", "integer", "Names the event, whatever the order of indexing; does not rise with time"),
  column("source_code", "string", "Of the source that it belongs to; else the page's host"),
  column("source_name", "string", "What the source is called"),
  column("normalized_url_group", "string", "The page: scheme, host and path"),
  column("from_snapshot_id", "integer?", "The good capture before it; empty of a new page"),
  column("to_snapshot_id", "integer", "The capture that brought it"),
  column("from_capture_timestamp_utc", "timestamp?", "When that one was captured"),
  column("to_capture_timestamp_utc", "timestamp", "When this one was captured"),
  column("from_job_id", "integer?", "The job of that one"),
  column("to_job_id", "integer", "The job of this one"),
  column("change_type", "string", "`new_page`, `updated`, `unchanged` or `error`"),
  column("summary", "string?", "In words"),
  column("added_sections", "integer?", "Headings with what stands below them that are new"),
  column("removed_sections", "integer?", "Those that are gone"),
  column("changed_sections", "integer?", "Those whose text changed"),
  column("added_lines", "integer?", "Lines of text that are new, all of them"),
  column("removed_lines", "integer?", "Lines of text that are gone, all of them"),
  column("change_ratio", "number?", "Share of lines that changed, 0 to 1"),
  column("high_noise", "boolean", "Half of the page changed, or a capture is incomplete"),
  column("diff_truncated", "boolean", "The difference that is shown is cut; the counts are not"),
  column("diff_version", "string?", "How it was compared; empty without a difference"),
  column("normalization_version", "string?", "How the texts were made; empty without a difference"),
  column("computed_at_utc", "timestamp", "When it was compared"),
  column("compare_url", "string", "Where the API shows the difference"),
] as const;

export const SNAPSHOT_COLUMNS = SNAPSHOT_DICTIONARY.map(({ name }) => name);
export const CHANGE_COLUMNS = CHANGE_DICTIONARY.map(({ name }) => name);

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
