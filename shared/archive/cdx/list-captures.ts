/**
 * Lists the captures of the archive in the order of their keys, or of their distance from a time, a page of rows at a
 * time: no transaction stays open while whoever asked reads.
 */
import { EARLIEST_MS } from "../../platform/calendar.ts";
import type { Sql } from "../../platform/database/database.ts";
import { isShown } from "../exclusions/is-shown.ts";
import { isPublic } from "../snapshots/snapshots.ts";
import type { IndexedCapture } from "./cdx-line.ts";
import type { KeyRange, TimeRange } from "./cdx-query.ts";

/** Rows that are read at once. */
const PAGE = 1_000;

/** What stands before the next capture. */
export interface Position {
  key: string;
  time: Date;
  id: number;
}

export interface Listing {
  ranges: readonly KeyRange[];
  times: TimeRange;
  /** By key and time, newest and last first where true. */
  reverse: boolean;
  /** Where to go on. */
  after?: Position | undefined;
  /** Rows that are wanted at the most, where that is known. */
  atMost?: number | undefined;
  /** Of this job alone. */
  jobId?: string | undefined;
  signal?: AbortSignal | undefined;
}

export async function* listCaptures(sql: Sql, listing: Listing): AsyncGenerator<IndexedCapture> {
  const { ranges, reverse, after, signal } = listing;
  let wanted = listing.atMost ?? Number.POSITIVE_INFINITY;
  for (const range of reverse ? ranges.toReversed() : ranges) {
    let position = after;
    if (after !== undefined && (reverse ? after.key < range.from : after.key >= range.to)) continue;
    if (after !== undefined && !(after.key >= range.from && after.key < range.to)) position = undefined;
    while (wanted > 0) {
      signal?.throwIfAborted();
      const limit = Math.min(PAGE, wanted);
      const rows = await readPage(sql, listing, range, position, limit);
      yield* rows;
      wanted -= rows.length;
      const last = rows.at(-1);
      if (last === undefined || rows.length < limit) break;
      position = last;
    }
  }
}

/** Those of one key, nearest in time first. */
export async function* listClosest(
  sql: Sql,
  listing: Omit<Listing, "reverse" | "after">,
  closest: Date,
): AsyncGenerator<IndexedCapture> {
  const { times } = listing;
  const until =
    times.to !== null && times.to < closest ? times.to : new Date(Math.max(closest.getTime() - 1, EARLIEST_MS));
  const since = times.from !== null && times.from > closest ? times.from : closest;
  const before = listCaptures(sql, { ...listing, times: { from: times.from, to: until }, reverse: true });
  const behind = listCaptures(sql, { ...listing, times: { from: since, to: times.to }, reverse: false });
  const distance = (capture: IndexedCapture) => Math.abs(capture.time.getTime() - closest.getTime());
  let [earlier, later] = await Promise.all([before.next(), behind.next()]);
  while (!(earlier.done && later.done)) {
    const isEarlier = later.done || (!earlier.done && distance(earlier.value) < distance(later.value));
    if (isEarlier && !earlier.done) {
      yield earlier.value;
      earlier = await before.next();
    } else if (!later.done) {
      yield later.value;
      later = await behind.next();
    }
  }
}

interface Row extends Omit<IndexedCapture, "original"> {
  originalKey: string | null;
  originalOffset: number | null;
  originalLength: number | null;
  originalType: string | null;
}

async function readPage(
  sql: Sql,
  { times, reverse, jobId }: Listing,
  range: KeyRange,
  after: Position | undefined,
  limit: number,
): Promise<IndexedCapture[]> {
  const order = reverse ? sql`c.url_key desc, c.fetched_at desc, c.id desc` : sql`c.url_key, c.fetched_at, c.id`;
  const beyond =
    after === undefined
      ? sql`true`
      : reverse
        ? sql`(c.url_key, c.fetched_at, c.id) < (${after.key}, ${after.time}, ${after.id}::bigint)`
        : sql`(c.url_key, c.fetched_at, c.id) > (${after.key}, ${after.time}, ${after.id}::bigint)`;
  const rows = await sql<Row[]>`
    select c.id, c.url_key as key, c.final_url as url, c.fetched_at as time, c.status_code as status, c.mime_type as "mimeType",
      coalesce(c.stated_digest, c.payload_digest) as digest, c.warc_key as "warcKey", c.warc_offset as "offset",
      c.warc_length as length, (c.revisit_of is not null or c.refers_to is not null or c.not_modified) as "isRevisit",
      o.warc_key as "originalKey", o.warc_offset as "originalOffset", o.warc_length as "originalLength",
      o.mime_type as "originalType"
    from captures c left join captures o on o.id = c.revisit_of
    where c.url_key >= ${range.from} and c.url_key < ${range.to} and c.warc_key is not null and c.reused_from is null and ${isShown(sql)}
      ${times.from === null ? sql`` : sql`and c.fetched_at >= ${times.from}`}
      ${times.to === null ? sql`` : sql`and c.fetched_at <= ${times.to}`}
      ${jobId === undefined ? sql`and ${isPublic(sql)}` : sql`and c.job_id = ${jobId}`}
      and ${beyond}
    order by ${order} limit ${limit}`;
  return rows.map(({ originalKey, originalOffset, originalLength, originalType, ...row }) => ({
    ...row,
    original:
      originalKey === null || originalOffset === null || originalLength === null
        ? null
        : { warcKey: originalKey, offset: originalOffset, length: originalLength, mimeType: originalType },
  }));
}
