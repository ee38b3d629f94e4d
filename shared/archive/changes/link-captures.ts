/** Which captures of a page follow each other, and the events that they make: whatever the order in which they came. */
import { sha256 } from "../../platform/ids.ts";

export interface PageCapture {
  id: number;
  capturedAt: Date;
  url: string;
  status: number;
  /** That the WARC record bears; null where it has none. */
  recordId: string | null;
  payloadDigest: string | null;
  charset: string | null;
  truncated: boolean;
  isRendered: boolean;
}

/** A capture, and what it is compared with. */
export interface Link {
  id: number;
  from: PageCapture | null;
  to: PageCapture;
}

/**
 * Each capture follows the good one before it: a page that was away for a while is compared with what it was before. A
 * record that was indexed twice counts once.
 * @param page that they are of
 * @param taken ids of events of other pages
 */
export function linkCaptures(page: string, captures: readonly PageCapture[], taken: readonly number[] = []): Link[] {
  const ordered = [...captures]
    .map((capture) => ({ capture, key: captureKey(capture) }))
    .sort(
      (a, b) =>
        a.capture.capturedAt.getTime() - b.capture.capturedAt.getTime() ||
        (a.key < b.key ? -1 : a.key > b.key ? 1 : a.capture.id - b.capture.id),
    );
  const links: Link[] = [];
  const ids = new Set(taken);
  let from: { capture: PageCapture; key: string } | null = null;
  let last = "";
  for (const to of ordered) {
    if (to.key === last) continue;
    last = to.key;
    links.push({ id: changeId(page, from?.key ?? "", to.key, ids), from: from?.capture ?? null, to: to.capture });
    if (isGood(to.capture)) from = to;
  }
  return links;
}

export const isGood = ({ status }: Pick<PageCapture, "status">): boolean => status >= 200 && status < 300;

/** What a capture is, whichever row it has: records that are indexed anew keep it. */
const captureKey = ({ capturedAt, url, recordId, payloadDigest }: PageCapture): string =>
  `${capturedAt.toISOString()} ${recordId ?? payloadDigest ?? ""} ${url}`;

/**
 * Of the captures that the event joins, so that it stays when they are indexed anew: 53 bits, since it is a number in
 * JSON.
 * @param taken ids of other events
 */
function changeId(page: string, fromKey: string, toKey: string, taken: Set<number>): number {
  for (let turn = 0; ; turn++) {
    const hash = sha256(`${page}\n${fromKey}\n${toKey}\n${turn}`);
    const id = (hash.readUInt32BE(0) % 2 ** 21) * 2 ** 32 + hash.readUInt32BE(4);
    if (id === 0 || taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}
