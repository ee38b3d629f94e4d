/** JSON Schema, as far as the requests of the API use it, and what a form needs to know of a field. */

export interface Schema {
  type?: string | readonly string[];
  enum?: readonly string[];
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
}

export interface ObjectSchema extends Schema {
  properties: Record<string, Schema>;
  required?: readonly string[];
}

export type Kind = "text" | "number" | "flag" | "choice" | "lines" | "json" | "group";

/** How a field is asked for. */
export function kindOf(schema: Schema): Kind {
  const type = [schema.type].flat().find((each) => each !== "null");
  if (schema.enum !== undefined) return "choice";
  if (type === "boolean") return "flag";
  if (type === "integer" || type === "number") return "number";
  if (type === "array") return [schema.items?.type].flat().includes("string") ? "lines" : "json";
  if (type === "object") return schema.properties === undefined ? "json" : "group";
  return "text";
}

/** What the reader has filled in, as it stands in the fields. */
export type Filled = Readonly<Record<string, string>>;

/**
 * Makes the request of what is filled in; what is left empty is left out, so that the API's defaults hold.
 * @param filled by path: `config.render`
 * @throws FieldFault where the text of a field cannot be what the schema asks for
 */
export function requestOf(schema: ObjectSchema, filled: Filled, prefix = ""): Record<string, unknown> {
  const request: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const value = valueIn(field, filled, `${prefix}${name}`);
    if (value !== undefined) request[name] = value;
  }
  return request;
}

/** What stands in the fields of something that exists: `requestOf` makes the same of it again. */
export function filledFrom(schema: ObjectSchema, value: Readonly<Record<string, unknown>>, prefix = ""): Filled {
  const filled: Record<string, string> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const path = `${prefix}${name}`;
    const given = value[name];
    if (given === undefined || given === null) continue;
    const kind = kindOf(field);
    if (kind === "group") {
      const group = { ...field, properties: field.properties ?? {} };
      Object.assign(filled, filledFrom(group, given as Record<string, unknown>, `${path}.`));
    } else if (kind === "lines") filled[path] = (given as unknown[]).join("\n");
    else filled[path] = kind === "json" ? JSON.stringify(given) : String(given);
  }
  return filled;
}

export class FieldFault extends Error {
  override name = "FieldFault";
}

function valueIn(schema: Schema, filled: Filled, path: string): unknown {
  const kind = kindOf(schema);
  if (kind === "group") {
    const group = requestOf({ ...schema, properties: schema.properties ?? {} }, filled, `${path}.`);
    return Object.keys(group).length === 0 ? undefined : group;
  }
  const text = filled[path] ?? "";
  if (text.trim() === "") return undefined;
  if (kind === "flag") return text === "true";
  if (kind === "number") return Number(text);
  if (kind === "lines") {
    return text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  }
  if (kind === "json") {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new FieldFault(`${path} is not valid JSON`);
    }
  }
  return text;
}

/** While somebody types, a field may be no JSON yet. */
export function attempt<T>(make: () => T): { value: T; fault?: undefined } | { value?: undefined; fault: string } {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof FieldFault) return { fault: error.message };
    throw error;
  }
}
