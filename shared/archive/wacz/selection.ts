/** What of the archive an export may hold besides that of a job: the captures that a query of the index finds. */
import { z } from "zod";
import { patternFaults } from "../../crawl/urls/patterns.ts";
import type { Sql } from "../../platform/database/database.ts";
import { UnknownCdxField } from "../cdx/cdx-line.ts";
import { keyRanges, MATCH_TYPES, parseTimestamp } from "../cdx/cdx-query.ts";
import { parseFilter } from "../cdx/filters.ts";
import { type CdxQuery, selectCaptures } from "../cdx/select-captures.ts";

const MOST_FILTERS = 20;

/** In the words of the index: a URL, all below a prefix, a host, or a domain; of a time, and of what else it tells. */
export const selectionSchema = z
  .strictObject({
    url: z.string().min(1).max(8_192),
    matchType: z.enum(MATCH_TYPES).optional(),
    from: z.string().optional(),
    to: z.string().optional(),
    filter: z.array(z.string().max(2_000)).max(MOST_FILTERS).optional(),
  })
  .superRefine(({ url, matchType, from, to, filter = [] }, { addIssue }) => {
    const check = (name: string, parse: () => string | undefined) => {
      const message = faultOf(parse);
      if (message !== undefined) addIssue({ code: "custom", path: [name], message });
    };
    check("url", () => (keyRanges(url, matchType).length === 0 ? "names nothing" : undefined));
    const time = (digits: string | undefined, which: "first" | "last") =>
      digits === undefined || parseTimestamp(digits, which)
        ? undefined
        : "is no time of 1 to 14 digits, yyyyMMddhhmmss";
    check("from", () => time(from, "first"));
    check("to", () => time(to, "last"));
    check("filter", () => patternFaults(filter.flatMap((each) => parseFilter(each).pattern ?? []))[0]?.fault);
  });
export type Selection = z.infer<typeof selectionSchema>;

function faultOf(parse: () => string | undefined): string | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TypeError || error instanceof UnknownCdxField) return error.message;
    throw error;
  }
}

const queryOf = ({ url, matchType, from, to, filter = [] }: Selection): CdxQuery => ({
  ranges: keyRanges(url, matchType),
  times: { from: parseTimestamp(from ?? "", "first") ?? null, to: parseTimestamp(to ?? "", "last") ?? null },
  filters: filter.map(parseFilter),
  collapses: [],
  limit: undefined,
  order: "forward",
  resolveRevisits: true,
  after: undefined,
});

export interface SelectedRecords {
  /** By object: the lengths of records by their offset. */
  files: Map<string, Map<number, number>>;
  /** Of the captures. */
  ids: number[];
}

/** The records of the captures, and of those that revisits among them repeat. */
export async function selectedRecords(sql: Sql, selection: Selection, most: number): Promise<SelectedRecords> {
  const files: SelectedRecords["files"] = new Map();
  const ids: number[] = [];
  const add = (key: string, offset: number, length: number) => {
    const records = files.get(key) ?? new Map<number, number>();
    files.set(key, records.set(offset, length));
  };
  for await (const { capture } of selectCaptures(sql, queryOf(selection), new AbortController().signal)) {
    const { id, warcKey, offset, length, original } = capture;
    ids.push(id);
    if (ids.length > most) break;
    add(warcKey, offset, length);
    if (original !== null) add(original.warcKey, original.offset, original.length);
  }
  return { files, ids };
}
