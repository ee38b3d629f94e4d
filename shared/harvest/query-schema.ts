/**
 * The provider-neutral query: the one thing that the language model writes. What does not fit is refused with its reason;
 * nothing is mended or guessed.
 */
import { z } from "zod";
import { isPlaceholder, PLACEHOLDERS } from "./placeholders.ts";

export const MAX_KEYWORDS = 12;
export const MAX_SITES = 20;
/** Of one keyword, in characters. */
const MAX_KEYWORD_LENGTH = 200;

/** A host name, or a suffix of host names that begins with a dot. Names beyond ASCII stand in their ASCII form. */
const SITE = /^\.?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const date = z.string().refine((text) => isPlaceholder(text) || isCalendarDate(text), {
  error: ({ input }) => `"${String(input)}" is neither a date (YYYY-MM-DD) nor one of ${PLACEHOLDERS.join(" ")}`,
});

export const neutralQuerySchema = z.strictObject({
  keywords: z
    .array(z.string().trim().min(1, "a keyword is empty").max(MAX_KEYWORD_LENGTH))
    .min(1, "there is no keyword")
    .max(MAX_KEYWORDS, `more than ${MAX_KEYWORDS} keywords`),
  boolean: z.enum(["AND", "OR"]).default("AND"),
  filters: z
    .strictObject({
      sites: z
        .array(z.string().toLowerCase().regex(SITE, "not a domain or a suffix"))
        .max(MAX_SITES, `more than ${MAX_SITES} sites`)
        .optional(),
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

/**
 * The answer of a language model as a query.
 * @throws InvalidQuery that says what is wrong: no JSON (code fences included), an unknown field, a placeholder or brace that
 * does not belong, a limit
 */
export function parseNeutralQuery(text: string): NeutralQuery {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidQuery("the answer is not JSON, and JSON alone");
  }
  return checkNeutralQuery(value);
}

/** As `parseNeutralQuery`, for a value. @throws InvalidQuery */
export function checkNeutralQuery(value: unknown): NeutralQuery {
  for (const text of stringsIn(value)) {
    const unknown = [...text.matchAll(/\{[^{}]*\}/g)].map(([each]) => each).find((each) => !isPlaceholder(each));
    if (unknown !== undefined) throw new InvalidQuery(`unknown placeholder ${unknown}`);
  }
  const parsed = neutralQuerySchema.safeParse(value);
  if (!parsed.success) throw new InvalidQuery(parsed.error.issues.map(describe).join("; "));
  const { date_after, date_before, ...rest } = parsed.data.filters;
  for (const text of stringsIn([parsed.data.keywords, rest])) {
    if (/[{}]/.test(text)) throw new InvalidQuery(`stray brace in "${text}"`);
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
  if (issue.code === "unrecognized_keys") return `unknown field ${[...issue.path, issue.keys[0]].join(".")}`;
  return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${issue.message}`;
}

/** A day that the calendar has. */
function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}
