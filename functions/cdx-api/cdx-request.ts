/** The parameters of CDX queries, as the servers of the field take them. */
import { z } from "zod";
import { UnknownCdxField } from "../../shared/archive/cdx/cdx-line.ts";
import {
  type KeyRange,
  keyRanges,
  MATCH_TYPES,
  parseCollapse,
  parseFields,
  parseTimestamp,
} from "../../shared/archive/cdx/cdx-query.ts";
import { parseFilter } from "../../shared/archive/cdx/filters.ts";
import type { CdxQuery } from "../../shared/archive/cdx/select-captures.ts";
import { patternFaults } from "../../shared/crawl/urls/patterns.ts";
import { isInCalendar } from "../../shared/platform/calendar.ts";
import { cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";

/** Of a list that is kept until its end is known. */
const MOST_LAST = 10_000;
const MOST_FILTERS = 20;
const LONGEST_URL = 8_192;

const text = z.string().max(2_000);

/** What `parse` makes of a text; its complaint is that of the request. */
const parsed =
  <T>(parse: (text: string) => T) =>
  (given: string, { addIssue }: z.core.$RefinementCtx): T => {
    try {
      return parse(given);
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof UnknownCdxField)) throw error;
      addIssue({ code: "custom", message: error.message, input: given });
      return z.NEVER;
    }
  };

const timeOf = (which: "first" | "last") =>
  text
    .transform(
      parsed((digits) => {
        const time = parseTimestamp(digits, which);
        if (time === undefined) throw new TypeError("is no time of 1 to 14 digits, yyyyMMddhhmmss");
        return time;
      }),
    )
    .optional();

/** A parameter that may come several times. */
const several = <T>(parse: (text: string) => T) =>
  z
    .union([z.array(text), text])
    .default([])
    .transform((given, context) => [given].flat().map((each) => parsed(parse)(each, context)));

const flag = z
  .enum(["true", "false", "1", "0"])
  .default("false")
  .transform((text) => text === "true" || text === "1");

const resumeSchema = z.tuple([z.string(), z.int().refine(isInCalendar), z.int(), z.array(z.string())]);
const resumeText = z.string().refine((text) => resumePosition(text) !== undefined);

function resumePosition(text: string): CdxQuery["after"] {
  const found = resumeSchema.safeParse(jsonOf(text));
  if (!found.success) return undefined;
  const [key, ms, id, collapsed] = found.data;
  return { key, time: new Date(ms), id, collapsed };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const resumeTextOf = ({ key, time, id, collapsed }: NonNullable<CdxQuery["after"]>): string =>
  JSON.stringify([key, time.getTime(), id, collapsed]);

export const cdxParameters = z
  .strictObject({
    url: z.string().min(1).max(LONGEST_URL),
    matchType: z.enum(MATCH_TYPES).optional(),
    from: timeOf("first"),
    to: timeOf("last"),
    filter: several(parseFilter),
    fl: text.transform(parsed(parseFields)).optional(),
    collapse: several(parseCollapse),
    limit: numberParameter(z.int().min(-MOST_LAST).max(Number.MAX_SAFE_INTEGER).optional()),
    sort: z.enum(["default", "reverse", "closest"]).optional(),
    closest: timeOf("first"),
    resolveRevisits: flag,
    output: z.enum(["text", "cdxj", "json", "ndjson"]).default("text"),
    showResumeKey: flag,
    resumeKey: cursorParameter(resumeText),
  })
  .superRefine((query, { addIssue }) => {
    const refuse = (name: string, message: string) => addIssue({ code: "custom", path: [name], message });
    // one that is too long stands here as it came, and has been complained of
    const filters = Array.isArray(query.filter) ? query.filter : [];
    if (filters.length > MOST_FILTERS) refuse("filter", `comes more than ${MOST_FILTERS} times`);
    const patterns = filters.flatMap(({ pattern }) => pattern ?? []);
    for (const { fault } of patternFaults(patterns)) refuse("filter", fault);
    if (query.sort === "closest" && query.closest === undefined)
      refuse("closest", "says to which time sort=closest is");
    const isClosest = query.closest !== undefined;
    if (isClosest && query.sort !== undefined && query.sort !== "closest") refuse("sort", "does not go with closest");
    const ranges = rangesOf(query);
    if (typeof ranges === "string") refuse("url", ranges);
    else if (isClosest && !isExact(ranges)) refuse("closest", "goes with one URL only, not with many");
    const resumes = query.showResumeKey || query.resumeKey !== undefined;
    if (resumes && (isClosest || (query.limit ?? 0) < 0)) {
      refuse(
        query.showResumeKey ? "showResumeKey" : "resumeKey",
        "does not go with closest, nor with the last captures",
      );
    }
  });
export type CdxParameters = z.output<typeof cdxParameters>;

/** Or what is wrong with the URL. */
function rangesOf({ url, matchType }: Pick<CdxParameters, "url" | "matchType">): readonly KeyRange[] | string {
  try {
    return keyRanges(url, matchType);
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

const isExact = ([first]: readonly KeyRange[]): boolean => first !== undefined && first.to === `${first.from}!`;

/** @param given has passed the schema */
export function cdxQueryOf(given: CdxParameters): CdxQuery {
  return {
    ranges: keyRanges(given.url, given.matchType),
    times: { from: given.from ?? null, to: given.to ?? null },
    filters: given.filter,
    collapses: given.collapse,
    limit: given.limit,
    order: given.closest ?? (given.sort === "reverse" ? "reverse" : "forward"),
    resolveRevisits: given.resolveRevisits,
    after: given.resumeKey === undefined ? undefined : resumePosition(given.resumeKey),
  };
}
