/**
 * The provider-neutral query: the one thing that the language model writes. What does not fit is refused with its
 * reason; nothing is mended or guessed.
 */
import { domainToASCII } from "node:url";
import { z } from "zod";
import { isPlaceholder, PLACEHOLDERS } from "./placeholders.ts";
import { excerpt, parseStrictJson, StrictJsonError } from "./strict-json.ts";

const MAX_KEYWORDS = 12;
const MAX_SITES = 20;
/** Of one keyword, in characters. */
const MAX_KEYWORD_LENGTH = 200;

/** Of a host name, in characters (RFC 1035 section 2.3.4). */
const MAX_SITE_LENGTH = 253;
/** A host name, or a suffix of host names that begins with a dot. */
const SITE = /^\.?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const date = z.string().refine((text) => isPlaceholder(text) || isCalendarDate(text), {
  error: ({ input }) =>
    `"${excerpt(String(input))}" is neither a date (YYYY-MM-DD) nor one of ${PLACEHOLDERS.join(" ")}`,
});

const keyword = z
  .string()
  .trim()
  .max(MAX_KEYWORD_LENGTH)
  // PostgreSQL stores neither, and no search engine looks for them
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "holds control characters or broken Unicode")
  // quotes are what marks a phrase for a search engine, never what it looks for; of some characters nothing is seen
  .refine((text) => /[^\s\p{Default_Ignorable_Code_Point}"\u201c-\u201f]/u.test(text), "a keyword is empty");

/** Names beyond ASCII are put in their ASCII form (UTS #46), which is the same name. */
const site = z
  .string()
  .transform((text) => (/^[\0-\x7f]*$/.test(text) ? text.toLowerCase() : asciiName(text)))
  .pipe(z.string().max(MAX_SITE_LENGTH).regex(SITE, "not a domain or a suffix"));

/**
 * `domainToASCII` reads a URL's host: it would drop a path or a tab and make an address of a number, without a word.
 */
function asciiName(text: string): string {
  const name = /^[a-z0-9.\-\u0080-\u{10ffff}]*$/iu.test(text) ? domainToASCII(text) : "";
  return /^[\d.]*$/.test(name) ? "" : name;
}

export const neutralQuerySchema = z.strictObject({
  keywords: z.array(keyword).min(1, "there is no keyword").max(MAX_KEYWORDS, `more than ${MAX_KEYWORDS} keywords`),
  boolean: z.enum(["AND", "OR"]).default("AND"),
  filters: z
    .strictObject({
      sites: z.array(site).max(MAX_SITES, `more than ${MAX_SITES} sites`).optional(),
      date_after: date.optional(),
      date_before: date.optional(),
      /** ISO 639-1. */
      lang: z
        .string()
        .regex(/^[a-z]{2}$/, "not a two-letter language code")
        .optional(),
      /** ISO 3166-1 alpha-2, or EU. */
      geo: z
        .string()
        .regex(/^[A-Z]{2}$/, "not a two-letter region code")
        .optional(),
      max_results: z.int().min(1).max(100).optional(),
    })
    .default({}),
});
/** May hold placeholders as dates. */
export type NeutralQuery = z.infer<typeof neutralQuerySchema>;

export class InvalidQuery extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "InvalidQuery";
  }
}

/** Faults that are named one by one. */
const MAX_FAULTS = 5;

/**
 * The answer of a language model as a query.
 * @throws InvalidQuery that says what is wrong: no JSON (code fences included), an unknown or repeated field, a
 * placeholder or brace that does not belong, a limit
 */
export function parseNeutralQuery(text: string): NeutralQuery {
  try {
    return checkNeutralQuery(parseStrictJson(text));
  } catch (error) {
    throw error instanceof StrictJsonError ? new InvalidQuery(error.message) : error;
  }
}

/**
 * As `parseNeutralQuery`, for a value that is not deep.
 * @throws InvalidQuery
 */
export function checkNeutralQuery(value: unknown): NeutralQuery {
  for (const text of stringsIn(value)) {
    const unknown = [...text.matchAll(/\{[^{}]*\}/g)].map(([each]) => each).find((each) => !isPlaceholder(each));
    if (unknown !== undefined) throw new InvalidQuery(`unknown placeholder ${excerpt(unknown)}`);
  }
  const parsed = neutralQuerySchema.safeParse(value);
  if (!parsed.success) {
    const faults = parsed.error.issues.slice(0, MAX_FAULTS).map(describe);
    const more = parsed.error.issues.length - faults.length;
    throw new InvalidQuery([...faults, ...(more > 0 ? [`and ${more} more faults`] : [])].join("; "));
  }
  const { date_after, date_before, ...rest } = parsed.data.filters;
  for (const text of stringsIn([parsed.data.keywords, rest])) {
    if (/[{}]/.test(text)) throw new InvalidQuery(`stray brace in "${excerpt(text)}"`);
  }
  return parsed.data;
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      yield key;
      yield* stringsIn(each);
    }
  }
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return `unknown field ${excerpt([...issue.path, issue.keys[0]].join("."))}`;
  return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${issue.message}`;
}

/** A day that the calendar has, in years that pages are of. */
function isCalendarDate(text: string): boolean {
  if (!/^[12]\d{3}-\d{2}-\d{2}$/.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}
