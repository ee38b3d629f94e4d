/** What structured extraction takes from a page: named fields, each found by a CSS selector. */
import { z } from "zod";
import { checkSelector } from "../content/selectors.ts";

const MAX_SELECTOR = 500;
const MAX_NAME = 100;
/** Of one schema, at all levels together: each asks the whole page. */
const MAX_FIELDS = 200;
/** Fields within fields within fields … */
const MAX_LEVELS = 5;

/** A selector that the tree of an archived page can answer. */
export const selectorSchema = z
  .string()
  .max(MAX_SELECTOR)
  .superRefine((selector, { addIssue }) => {
    const problem = checkSelector(selector);
    if (problem !== null) addIssue(`${JSON.stringify(selector)} is no CSS selector for a page: ${problem}`);
  });

export const FIELD_TYPES = ["text", "attribute", "html", "nested"] as const;

export interface Field {
  /** Within the element of the fields around it, or the page; left out: that element itself. */
  selector?: string | undefined;
  /** `text`: white space collapsed; `html`: clean, as the main content; `nested`: an object of `fields`. */
  type: (typeof FIELD_TYPES)[number];
  /** Its name, where `type` is `attribute`. Addresses come out absolute. */
  attribute?: string | undefined;
  /** All that match, as a list; else the first one, or null. */
  multiple: boolean;
  /** Where `type` is `nested`. */
  fields?: Record<string, Field> | null | undefined;
}

const NOT_THERE = { not: {} };
/** For the OpenAPI document: what belongs to which type. */
const FIELD_RULE = {
  allOf: [
    {
      oneOf: [
        { properties: { type: { enum: ["text", "html"] }, attribute: NOT_THERE, fields: { type: "null" } } },
        {
          required: ["type", "attribute"],
          properties: { type: { enum: ["attribute"] }, fields: { type: "null" } },
        },
        {
          required: ["type", "fields"],
          properties: {
            type: { enum: ["nested"] },
            attribute: NOT_THERE,
            fields: { type: "object", minProperties: 1 },
          },
        },
      ],
    },
    { anyOf: [{ required: ["selector"] }, { properties: { multiple: { enum: [false] } } }] },
  ],
};

const TOO_DEEP: z.ZodType<Record<string, Field> | null> = z.null(`fields go ${MAX_LEVELS} levels deep at the most`);

/** @param levels of fields that there may be, these included */
function fieldsSchema(levels: number): z.ZodType<Record<string, Field>> {
  const field = z
    .strictObject({
      selector: selectorSchema.optional(),
      type: z.enum(FIELD_TYPES).default("text"),
      attribute: z.string().min(1).max(MAX_NAME).optional(),
      multiple: z.boolean().default(false),
      fields: (levels > 1 ? fieldsSchema(levels - 1) : TOO_DEEP).nullish(),
    })
    .superRefine(({ selector, type, attribute, multiple, fields }, { addIssue }) => {
      const fault = (path: string, message: string) => addIssue({ code: "custom", path: [path], message });
      if ((type === "attribute") !== (attribute !== undefined)) {
        fault("attribute", 'names the attribute where type is "attribute", and stands nowhere else');
      }
      if ((type === "nested") !== (fields != null)) {
        fault("fields", 'are there where type is "nested", and nowhere else');
      }
      if (multiple && selector === undefined) fault("selector", "is needed for what is there several times");
    })
    .meta(FIELD_RULE);
  return z
    .record(z.string().min(1).max(MAX_NAME), field)
    .refine((fields) => Object.keys(fields).length > 0, "hold no field");
}

/** Named fields; the object that comes out has the same names. */
export const extractionSchema = z
  .strictObject({ fields: fieldsSchema(MAX_LEVELS) })
  .superRefine(({ fields }, { addIssue }) => {
    const count = countFields(fields);
    if (count > MAX_FIELDS) addIssue(`has ${count} fields: ${MAX_FIELDS} are the most`);
  });
export type ExtractionSchema = z.output<typeof extractionSchema>;

function countFields(fields: Record<string, Field>): number {
  return Object.values(fields).reduce((sum, { fields: below }) => sum + 1 + (below ? countFields(below) : 0), 0);
}
