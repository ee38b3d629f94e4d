/** Compares two captures of a page that do not follow each other, for whoever asks for just these. */
import type { Queryable } from "../../platform/database/database.ts";
import type { Archive } from "../replay/payload.ts";
import type { Snapshot } from "../snapshots/snapshots.ts";
import type { ChangeEvent } from "./change-events.ts";
import { compareCaptures } from "./compare-captures.ts";
import type { Hunk } from "./compare-lines.ts";
import { linkCaptures, type PageCapture } from "./link-captures.ts";

/** @returns undefined where they are of two pages, the first is the later one, or the server gave no page then */
export async function compareAny(
  archive: Archive,
  from: Snapshot,
  to: Snapshot,
): Promise<(ChangeEvent & { diff: readonly Hunk[] | null }) | undefined> {
  if (from.page !== to.page) return undefined;
  const link = linkCaptures(to.page, await readCaptures(archive.sql, [from.id, to.id])).at(-1);
  if (link?.to.id !== to.id || link.from === null) return undefined;
  const { kind, summary, highNoise, difference, version } = await compareCaptures(archive, link.from, link.to);
  return {
    id: link.id,
    kind,
    summary,
    highNoise,
    hasDiff: kind === "updated",
    source: to.source,
    sourceName: to.sourceName,
    page: to.page,
    fromId: from.id,
    toId: to.id,
    fromAt: from.capturedAt,
    toAt: to.capturedAt,
    fromJob: from.jobId,
    toJob: to.jobId,
    toUrl: to.url,
    toTitle: to.title,
    addedSections: difference?.addedSections ?? null,
    removedSections: difference?.removedSections ?? null,
    changedSections: difference?.changedSections ?? null,
    addedLines: difference?.addedLines ?? null,
    removedLines: difference?.removedLines ?? null,
    changeRatio: difference?.changeRatio ?? null,
    isCut: difference?.isCut ?? false,
    version,
    computedAt: new Date(),
    diff: kind === "updated" ? (difference?.hunks ?? null) : null,
  };
}

async function readCaptures(sql: Queryable, ids: number[]): Promise<PageCapture[]> {
  return await sql<PageCapture[]>`
    select c.id, c.fetched_at as "capturedAt", c.final_url as url, c.status_code as status,
      c.warc_record_id as "recordId", c.payload_digest as "payloadDigest", c.charset, c.truncated,
      coalesce(jsonb_typeof(c.rendered->'warc') = 'object', false) as "isRendered"
    from captures c where c.id = any(${ids})`;
}
