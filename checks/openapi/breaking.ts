/** Finds what of a new OpenAPI document breaks clients that were made for an older one. */
import { ALLOWED_BREAKS } from "./allowed-breaks.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

/** Requests may be taken more widely and never less, answers may say more and never less. */
type Direction = "request" | "response";

/**
 * @returns a line for each change that a client of the old document may fail at, e.g. `POST /api/v1/crawl: request.url
 * is required now`; none where the major version differs
 */
export function breakingChanges(old: JsonObject, now: JsonObject): string[] {
  if (majorOf(old) !== majorOf(now)) return [];
  const compare = comparisonOf(old, now);
  const found: string[] = [];
  for (const [path, methods] of entriesOf(old["paths"])) {
    for (const [method, operation] of entriesOf(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const other = at(now, "paths", path, method);
      if (!isObject(other)) found.push(`${name}: the operation is gone`);
      else found.push(...compare.operations(operation as JsonObject, other).map((change) => `${name}: ${change}`));
    }
  }
  return [...new Set(found)];
}

/** Those that nobody has given a reason for, between two documents as JSON text. */
export function unwantedBreaks(old: string, now: string): string[] {
  const [before, after] = [JSON.parse(old) as JsonObject, JSON.parse(now) as JsonObject];
  return breakingChanges(before, after).filter((line) => ALLOWED_BREAKS[line] === undefined);
}

const majorOf = (document: JsonObject): string => String(at(document, "info", "version")).split(".")[0] ?? "";

function comparisonOf(old: JsonObject, now: JsonObject) {
  const schemas = (
    before: Json,
    after: Json,
    place: string,
    direction: Direction,
    seen: ReadonlySet<string>,
  ): string[] => {
    const key = `${refOf(before)} ${refOf(after)}`;
    if (refOf(before) !== "" && seen.has(key)) return [];
    const within = new Set([...seen, key]);
    const [was, is] = [alternatives(old, before), alternatives(now, after)];
    const [given, takers] = direction === "request" ? [was, is] : [is, was];
    return given.flatMap((one) => {
      const alike = takers.filter(({ type }) => type === one["type"]);
      const judged = (alike.length > 0 ? alike : takers).map((other) => {
        const [a, b] = direction === "request" ? [one, other] : [other, one];
        return alternative(a, b, place, direction, within);
      });
      return judged.toSorted((a, b) => a.length - b.length)[0] ?? [`${place} has another type`];
    });
  };

  const alternative = (
    was: JsonObject,
    is: JsonObject,
    place: string,
    direction: Direction,
    seen: ReadonlySet<string>,
  ): string[] => {
    const [strict, loose] = direction === "request" ? [is, was] : [was, is];
    if (strict["type"] !== undefined && !fits(loose["type"], strict["type"])) return [`${place} has another type`];
    const found = [...fields(was, is, place, direction, seen)];
    if (direction === "request") found.push(...limits(was, is, place));
    for (const part of ["items", "additionalProperties"] as const) {
      const [before, after] = [was[part], is[part]];
      if (isObject(before) && isObject(after)) found.push(...schemas(before, after, `${place}.*`, direction, seen));
    }
    return found;
  };

  const fields = (was: JsonObject, is: JsonObject, place: string, direction: Direction, seen: ReadonlySet<string>) => {
    const found: string[] = [];
    const [before, after] = [required(was), required(is)];
    for (const [name, schema] of entriesOf(was["properties"])) {
      const other = at(is, "properties", name);
      if (other === undefined) {
        if (direction === "response" || is["additionalProperties"] === false) found.push(`${place}.${name} is gone`);
        continue;
      }
      if (direction === "response" && before.has(name) && !after.has(name)) {
        found.push(`${place}.${name} may be missing now`);
      }
      found.push(...schemas(schema, other, `${place}.${name}`, direction, seen));
    }
    if (direction === "request") {
      for (const name of after) if (!before.has(name)) found.push(`${place}.${name} is required now`);
    }
    return found;
  };

  const contents = (was: Json | undefined, is: Json | undefined, place: string, direction: Direction): string[] =>
    entriesOf(was).flatMap(([type, media]) => {
      const other = at(is, type);
      if (!isObject(other)) return [`${place} is no ${type} any more`];
      return schemas(contentOf(media), contentOf(other), place, direction, new Set());
    });

  const parameters = (was: JsonObject, is: JsonObject): string[] => {
    const [before, after] = [named(was["parameters"]), named(is["parameters"])];
    const kept = [...before].flatMap(([name, parameter]) => {
      const other = after.get(name);
      if (other === undefined) return [`the parameter ${name} is gone`];
      const change = schemas(parameter["schema"] ?? {}, other["schema"] ?? {}, name, "request", new Set());
      const isNew = other["required"] === true && parameter["required"] !== true;
      return isNew ? [...change, `the parameter ${name} is required now`] : change;
    });
    const added = [...after].filter(([name, { required: must }]) => must === true && !before.has(name));
    return [...kept, ...added.map(([name]) => `the parameter ${name} is required now`)];
  };

  const operations = (was: JsonObject, is: JsonObject): string[] => {
    const found = [...parameters(was, is)];
    if (was["operationId"] !== is["operationId"]) found.push(`its name ${was["operationId"]} is gone`);
    if (isOpen(was) && !isOpen(is)) found.push("a key is required now");
    const [before, after] = [at(was, "requestBody"), at(is, "requestBody")];
    if (at(after, "required") === true && at(before, "required") !== true) found.push("a body is required now");
    found.push(...contents(at(before, "content"), at(after, "content"), "request", "request"));
    for (const [status, response] of entriesOf(was["responses"])) {
      if (status === "default" || Number(status) >= 400) continue;
      const other = at(is, "responses", status);
      if (other === undefined) found.push(`it answers ${status} no more`);
      else found.push(...contents(at(response, "content"), at(other, "content"), `response ${status}`, "response"));
    }
    return found;
  };
  return { operations };
}

/** Limits of values, and whether a greater one takes fewer of them. */
const LIMITS = {
  minimum: 1,
  exclusiveMinimum: 1,
  minLength: 1,
  minItems: 1,
  maximum: -1,
  exclusiveMaximum: -1,
  maxLength: -1,
  maxItems: -1,
} as const;

function limits(was: JsonObject, is: JsonObject, place: string): string[] {
  const found: string[] = [];
  for (const [name, sign] of Object.entries(LIMITS)) {
    const [before = -sign * Number.POSITIVE_INFINITY, after] = [was[name], is[name]];
    if (typeof after === "number" && sign * after > sign * Number(before)) {
      found.push(`${place} has the ${name} ${after} now`);
    }
  }
  const [before, after] = [was["enum"], is["enum"]];
  if (Array.isArray(after)) {
    const gone = Array.isArray(before) ? before.filter((value) => !after.includes(value)) : ["any other value"];
    if (gone.length > 0) found.push(`${place} takes ${gone.join(", ")} no more`);
  }
  return found;
}

/** A schema as the types that a value may have, each by itself. */
function alternatives(document: JsonObject, schema: Json): JsonObject[] {
  if (!isObject(schema)) return [{}];
  const { $ref, anyOf, oneOf, allOf, const: only, ...own } = schema;
  if (only !== undefined) return [{ ...own, type: typeof only, enum: [only] }];
  if (typeof $ref === "string") return alternatives(document, at(document, ...$ref.split("/").slice(1)) ?? {});
  // what is beside the fields of an object is a rule about them
  const options = own["properties"] === undefined ? (anyOf ?? oneOf) : undefined;
  if (Array.isArray(options)) return options.flatMap((option) => alternatives(document, option));
  if (own["properties"] === undefined && Array.isArray(allOf) && allOf.length === 1) {
    return alternatives(document, allOf[0] ?? {});
  }
  const { type } = own;
  if (!Array.isArray(type)) return [own];
  const { enum: words, ...rest } = own;
  if (!Array.isArray(words)) return type.map((each) => ({ ...own, type: each }));
  return type.map((each) => ({
    ...rest,
    type: each,
    enum: words.filter((word) => (word === null) === (each === "null")),
  }));
}

/** Of a stream that of its records, which is all that the text says. */
const contentOf = (media: Json): Json => at(media, "x-item-schema") ?? at(media, "schema") ?? {};

const fits = (given: Json | undefined, taken: Json): boolean =>
  given === taken || (given === "integer" && taken === "number");

const refOf = (schema: Json): string => {
  const found = isObject(schema) ? schema["$ref"] : undefined;
  return typeof found === "string" ? found : "";
};

const required = ({ required: names }: JsonObject): Set<string> =>
  new Set(Array.isArray(names) ? names.map(String) : []);

const named = (parameters: Json | undefined): Map<string, JsonObject> =>
  new Map(
    (Array.isArray(parameters) ? parameters : []).map((each) => {
      const parameter = each as JsonObject;
      return [`${parameter["in"]} ${parameter["name"]}`, parameter];
    }),
  );

const isOpen = ({ security }: JsonObject): boolean =>
  Array.isArray(security) &&
  (security.length === 0 || security.some((each) => Object.keys(each as object).length === 0));

const entriesOf = (value: Json | undefined): [string, Json][] => (isObject(value) ? Object.entries(value) : []);

function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return found;
}
