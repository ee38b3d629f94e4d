/** Makes of the schemas of parameters what OpenAPI takes: a parameter is text, is never null, and a path has each. */
import { isObject, type Json, type JsonObject } from "./json.ts";

export function parameterOf(parameter: JsonObject): JsonObject {
  const { schema, description, required, ...named } = parameter;
  if (!isObject(schema)) throw new Error(`The parameter ${parameter["name"]} has no schema`);
  const { description: said = description, default: fallback, ...own } = withoutNull(schema);
  return {
    ...named,
    required: named["in"] === "path" || required === true,
    ...(said !== undefined && { description: said }),
    schema: { ...own, ...(isScalar(fallback) && { default: own["type"] === "string" ? String(fallback) : fallback }) },
  };
}

/** A list of none says nothing as a default. */
const isScalar = (value: Json | undefined): value is string | number | boolean =>
  value !== undefined && value !== null && typeof value !== "object";

function withoutNull(schema: JsonObject): JsonObject {
  const { type } = schema;
  if (!Array.isArray(type)) return schema;
  const types = type.filter((each) => each !== "null");
  return { ...schema, type: types.length === 1 ? (types[0] as Json) : types };
}
