/**
 * A WARC file in the making, kept in memory until it is put as one object. A task writes one segment per flush, since
 * an S3 object cannot be appended to: see docs/decisions/0008-warc-segments.md.
 */
import type { WarcPointer } from "./capture.ts";
import { newRecordId, warcinfoRecord } from "./warc-record.ts";

/** One record, compressed. */
export interface WarcMember {
  recordId: string;
  member: Buffer;
}

export interface WarcSegment {
  readonly key: string;
  /** Compressed bytes so far. */
  readonly bytes: number;
  /**
   * Adds records that belong together, in order.
   * @returns where each lies
   */
  append(records: readonly WarcMember[]): WarcPointer[];
  /** The whole file. */
  contents(): Buffer;
}

/** @param info fields of the warcinfo record, see section 6.2 of the standard */
export function createWarcSegment(key: string, info: Record<string, string>, now: number): WarcSegment {
  const filename = key.slice(key.lastIndexOf("/") + 1);
  const members = [warcinfoRecord(info, { filename, date: now, recordId: newRecordId() })];
  let bytes = members[0]?.length ?? 0;
  return {
    key,
    get bytes() {
      return bytes;
    },
    append(records) {
      return records.map(({ recordId, member }) => {
        const pointer = { key, offset: bytes, length: member.length, recordId };
        members.push(member);
        bytes += member.length;
        return pointer;
      });
    },
    contents: () => Buffer.concat(members),
  };
}

/** `warcs/<yyyy>/<mm>/<dd>/<job>/<task>-<take>-<segment>.warc.gz`, by the day of `now` in UTC. */
export function warcSegmentKey(jobId: string, taskId: string, take: number, segment: number, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll("-", "/");
  return `warcs/${day}/${jobId}/${taskId}-${take}-${String(segment).padStart(5, "0")}.warc.gz`;
}
