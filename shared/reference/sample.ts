/** Makes a value that a schema takes, with no more than it requires: what a reader begins with. */
import { type ApiDocument, nameOf, type Schema } from "./document.ts";

type Schemas = ApiDocument["components"]["schemas"];

/** How deep a sample goes before it stops at what refers to itself. */
const DEEPEST = 8;

/** @returns a value as JSON has it */
export function sampleOf(schema: Schema, schemas: Schemas, field = "", depth = 0): unknown {
  if (depth > DEEPEST) return null;
  const { $ref, anyOf = [], oneOf = [], allOf = [], properties } = schema;
  const of = (each: Schema) => sampleOf(each, schemas, field, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if ($ref !== undefined) return of(schemas[nameOf($ref)] ?? {});
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  if (properties !== undefined) return objectOf(schema, schemas, depth);
  const [choice] = [...anyOf, ...oneOf].filter(({ type }) => type !== "null");
  if (choice !== undefined) return of(choice);
  const [whole] = allOf;
  if (whole !== undefined && schema.type === undefined) return of(whole);
  return plainOf(schema, schemas, field, depth);
}

function objectOf(schema: Schema, schemas: Schemas, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], allOf = [], minProperties = 0 } = schema;
  // of rules about fields that go one without the other, the way that needs the fewest
  const byRule = allOf.flatMap(({ anyOf = [], oneOf = [] }) => {
    const ways = [...anyOf, ...oneOf].map(({ required: needed = [] }) => needed);
    return ways.toSorted((one, other) => one.length - other.length)[0] ?? [];
  });
  const needed = new Set([...required, ...byRule]);
  // where some field is wanted and none by its name, the first ones are
  const others = Object.keys(properties).filter((name) => !needed.has(name));
  const names = [...needed, ...others.slice(0, Math.max(0, minProperties - needed.size))];
  return Object.fromEntries(
    names.map((name) => [name, sampleOf(properties[name] ?? {}, schemas, name, depth + 1)] as const),
  );
}

function plainOf(schema: Schema, schemas: Schemas, field: string, depth: number): unknown {
  const { type, items = {}, prefixItems, minItems = 0, minimum, exclusiveMinimum, minLength = 0 } = schema;
  const [kind] = [type ?? []].flat().filter((each) => each !== "null");
  if (kind === "array") {
    if (prefixItems !== undefined) return prefixItems.map((each) => sampleOf(each, schemas, field, depth + 1));
    return Array.from({ length: Math.max(1, minItems) }, () => sampleOf(items, schemas, field, depth + 1));
  }
  if (kind === "object") return {};
  if (kind === "boolean") return false;
  if (kind === "integer" || kind === "number")
    return minimum ?? (exclusiveMinimum === undefined ? 1 : exclusiveMinimum + 1);
  return textOf(schema, field).padEnd(minLength, "x");
}

const ID = "0191d2f0-0000-7000-8000-000000000001";

/** What its format, or its name, says. */
function textOf({ format, pattern }: Schema, field: string): string {
  if (format === "uuid") return ID;
  if (format === "date-time") return "2026-01-01T00:00:00Z";
  if (format === "date") return "2026-01-01";
  if (format === "uri" || /(^|_)(url|urls|seed|seeds|startUrls)$/i.test(field)) return "https://example.org/";
  if (pattern !== undefined && !new RegExp(pattern, "u").test("example")) return patterned(pattern);
  return "example";
}

/** One of these fits most patterns that the API has. */
const TEXTS = [
  "example",
  "example.org",
  "0 6 * * *",
  "20260101000000",
  "a".repeat(64),
  "1",
  ID,
  "/",
  "en",
  "#main",
  "incoming/example.warc.gz",
];

const patterned = (pattern: string): string => TEXTS.find((each) => new RegExp(pattern, "u").test(each)) ?? "example";
