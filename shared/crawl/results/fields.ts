/**
 * Which fields of a crawled page an answer holds: `include` and `exclude`, each a list of names separated by commas.
 */

/** In the order in which a page shows them. */
export const RESULT_FIELDS = [
  "url",
  "final_url",
  "canonical_url",
  "depth",
  "status_code",
  "title",
  "content",
  "markdown",
  "links",
  "mime",
  "charset",
  "fetch_time_ms",
  "robots_obeyed",
  "disallowed",
  "fetch_error",
  "parse_error",
  "truncated",
  "no_document",
  "crawled_at",
] as const;
export type ResultField = (typeof RESULT_FIELDS)[number];
export type ResultFields = ReadonlySet<ResultField>;

/** In every page, whatever is asked for. */
const CORE_FIELDS: readonly ResultField[] = ["url", "depth", "status_code"];

/** What an answer holds where nothing is asked for. `light`: all but the two that are as large as the page itself. */
export const FIELD_PRESETS = {
  all: new Set(RESULT_FIELDS),
  light: new Set(RESULT_FIELDS.filter((field) => field !== "content" && field !== "markdown")),
} as const satisfies Record<string, ResultFields>;
export type FieldPreset = keyof typeof FIELD_PRESETS;

/** A name that is no field. */
export class UnknownFieldError extends Error {
  readonly parameter: "include" | "exclude";
  readonly field: string;

  constructor(parameter: "include" | "exclude", field: string) {
    super(`${parameter}: "${field.slice(0, 100)}" is no field of a page: there are ${RESULT_FIELDS.join(", ")}`);
    this.name = "UnknownFieldError";
    this.parameter = parameter;
    this.field = field;
  }
}

export interface FieldSelection {
  include?: string | undefined;
  exclude?: string | undefined;
}

/**
 * With `include` exactly those fields and the core ones, whatever `exclude` says; with `exclude` alone all fields but
 * those; with neither the preset. Case and blanks around names do not matter.
 *
 * @throws UnknownFieldError for the first name that is no field, in either list
 * @example
 * [...selectFields({ include: "title, links" }, "light")] // => ["url", "depth", "status_code", "title", "links"]
 */
export function selectFields({ include, exclude }: FieldSelection, preset: FieldPreset): ResultFields {
  const included = include === undefined ? undefined : fieldsOf("include", include);
  const excluded = exclude === undefined ? undefined : new Set(fieldsOf("exclude", exclude));
  if (included !== undefined) return new Set([...CORE_FIELDS, ...included]);
  if (excluded === undefined) return FIELD_PRESETS[preset];
  return new Set(RESULT_FIELDS.filter((field) => CORE_FIELDS.includes(field) || !excluded.has(field)));
}

/** What a request selects, or else what was selected when the job was taken. */
export function selectionOf(request: FieldSelection, job: FieldSelection | null): FieldSelection {
  return request.include === undefined && request.exclude === undefined && job !== null ? job : request;
}

function fieldsOf(parameter: "include" | "exclude", list: string): ResultField[] {
  return list.split(",").map((written) => {
    const name = written.trim().toLowerCase();
    if (!isField(name)) throw new UnknownFieldError(parameter, name);
    return name;
  });
}

const isField = (name: string): name is ResultField => (RESULT_FIELDS as readonly string[]).includes(name);
