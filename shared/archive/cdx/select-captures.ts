/** Answers CDX queries: captures that are listed, filtered, collapsed and counted. */
import type { Sql } from "../../platform/database/database.ts";
import { fieldText, type IndexedCapture } from "./cdx-line.ts";
import type { Collapse, KeyRange, TimeRange } from "./cdx-query.ts";
import type { CaptureFilter } from "./filters.ts";
import { listCaptures, listClosest, type Position } from "./list-captures.ts";

export interface CdxQuery {
  ranges: readonly KeyRange[];
  times: TimeRange;
  filters: readonly CaptureFilter[];
  collapses: readonly Collapse[];
  /** A negative one is that of the last captures; undefined: all. */
  limit: number | undefined;
  /** A time: those of one key, nearest to it first. */
  order: "forward" | "reverse" | Date;
  /** Whether revisits have the media type and the place of their originals. */
  resolveRevisits: boolean;
  after: ResumePosition | undefined;
}

/** Where a list goes on: behind a capture, whose collapsed values are known. */
export interface ResumePosition extends Position {
  collapsed: readonly string[];
}

export interface Selected {
  capture: IndexedCapture;
  position: ResumePosition;
}

/**
 * The captures that the query asks for, in its order.
 * @returns by `return`: whether more follow behind the last one
 */
export async function* selectCaptures(
  sql: Sql,
  query: CdxQuery,
  signal: AbortSignal,
): AsyncGenerator<Selected, boolean> {
  const { limit, filters, collapses } = query;
  const hidesNone = filters.length + collapses.length === 0;
  // one more tells whether more follow
  if (limit === undefined || limit >= 0) {
    const atMost = hidesNone && limit !== undefined ? limit + 1 : undefined;
    return yield* firstOf(collapsed(sql, query, { atMost, signal }), limit);
  }
  // where no capture makes another one hide, the last ones are the first of the other direction
  const turned = collapses.length === 0 && query.order === "forward";
  const found = turned
    ? collapsed(sql, { ...query, order: "reverse" }, { atMost: hidesNone ? -limit : undefined, signal })
    : collapsed(sql, query, { atMost: undefined, signal });
  const last: Selected[] = [];
  for await (const each of found) {
    last.push(each);
    if (turned && last.length === -limit) break;
    if (last.length > -limit) last.shift();
  }
  yield* turned ? last.reverse() : last;
  return false;
}

async function* firstOf(found: AsyncGenerator<Selected>, limit: number | undefined): AsyncGenerator<Selected, boolean> {
  let count = 0;
  for await (const each of found) {
    if (count === limit) return true;
    count++;
    yield each;
  }
  return false;
}

interface Reading {
  /** Captures that are needed of the list, where that is known. */
  atMost: number | undefined;
  signal: AbortSignal;
}

async function* collapsed(sql: Sql, query: CdxQuery, reading: Reading): AsyncGenerator<Selected> {
  const { filters, collapses, resolveRevisits, after } = query;
  let before = after?.collapsed;
  for await (const listed of indexed(sql, query, reading)) {
    const capture = resolveRevisits ? listed : { ...listed, original: null };
    if (!filters.every(({ field, admits }) => admits(fieldText(capture, field)))) continue;
    const values = collapses.map(({ field, length }) => fieldText(capture, field).slice(0, length));
    const isRepeated =
      collapses.length > 0 && before !== undefined && values.every((value, i) => value === before?.[i]);
    before = values;
    const { key, time, id } = capture;
    if (!isRepeated) yield { capture, position: { key, time, id, collapsed: values } };
  }
}

function indexed(sql: Sql, query: CdxQuery, reading: Reading): AsyncGenerator<IndexedCapture> {
  const { ranges, times, order, after } = query;
  if (order instanceof Date) return listClosest(sql, { ranges, times, ...reading }, order);
  return listCaptures(sql, { ranges, times, reverse: order === "reverse", after, ...reading });
}
