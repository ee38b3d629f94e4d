/**
 * Gives the schemas of all operations names: what is the same is one component. A schema is named by the operation or
 * the field that holds it; where that says too little, `SCHEMA_NAMES` says it.
 */
import type { Json, JsonObject } from "./json.ts";
import { isObject } from "./json.ts";
import { SCHEMA_NAMES } from "./schema-names.ts";

/** Where a schema was found first. */
interface Place {
  /** e.g. `crawlPages.request.config.viewport`. */
  at: string;
  /** The name of the schema around it; of a body its own. */
  parent: string;
  /** Of the field, in singular where it is a list. */
  field: string;
}

interface Candidate {
  places: Place[];
  schema: JsonObject;
}

/** Keywords that hold schemas of values that are really there; rules beside them name no value of their own. */
const OF_LISTS = ["anyOf", "oneOf"] as const;

/**
 * @param bodies each body of each operation; replaced in place
 * @param known the components that have names already
 * @returns all components, sorted by name
 */
export function shareSchemas(
  bodies: readonly { name: string; at: string; holder: JsonObject; key: string }[],
  known: Readonly<Record<string, JsonObject>>,
): Record<string, Json> {
  const candidates = new Map<string, Candidate>();
  const tokens = new Map<string, string>();

  /** The schema with references to candidates for the objects in it. */
  const visit = (schema: Json, place: Place): Json => {
    if (!isObject(schema) || "$ref" in schema) return schema;
    const inner = fallbackInWords(insides(nullApart(schema), place));
    const { type } = inner;
    if (!isNamed(inner)) return inner;
    // what is said of the place is beside the reference, since the component is the same at others
    const { default: fallback, description, ...own } = inner;
    const beside = {
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
    };
    if (Array.isArray(type)) {
      const only = type.find((each) => each !== "null") as string;
      return { anyOf: [reserve({ ...own, type: only }, place), { type: "null" }], ...beside };
    }
    const reference = reserve(own, place);
    return Object.keys(beside).length === 0 ? reference : { allOf: [reference], ...beside };
  };

  const insides = (schema: JsonObject, { at, parent, field }: Place): JsonObject => {
    const own = isNamed(schema) ? (SCHEMA_NAMES[at] ?? optionsOf({ at, parent, field })[0] ?? parent) : parent;
    const copy: JsonObject = { ...schema };
    if (isObject(schema["properties"])) {
      const fields = Object.entries(schema["properties"]).map(([name, each]) => {
        const isList = isObject(each) && each["items"] !== undefined;
        return [
          name,
          visit(each, { at: `${at}.${name}`, parent: own, field: isList ? singular(name) : name }),
        ] as const;
      });
      copy["properties"] = Object.fromEntries(fields);
    }
    for (const key of ["items", "additionalProperties"] as const) {
      const each = schema[key];
      const isBody = field === "";
      if (isObject(each)) {
        const inner = isBody && key === "items" ? { parent, field: "item" } : { parent, field: singular(field) };
        copy[key] = visit(each, { at: `${at}.*`, ...inner });
      }
    }
    for (const key of OF_LISTS) {
      const each = schema[key];
      // beside fields it is a rule about them
      if (!Array.isArray(each) || schema["properties"] !== undefined) continue;
      copy[key] = each.map((option, index) => {
        const said = optionName(option);
        const words = said === undefined ? field : `${said} ${field}`;
        return visit(option, { at: `${at}|${said ?? index}`, parent, field: words });
      });
    }
    return rulesApart(tupleOf(copy));
  };

  const reserve = (schema: JsonObject, place: Place): JsonObject => {
    const text = JSON.stringify(schema);
    const token = tokens.get(text) ?? `#/candidates/${tokens.size}`;
    tokens.set(text, token);
    const candidate = candidates.get(token) ?? { places: [], schema };
    candidate.places.push(place);
    candidates.set(token, candidate);
    return { $ref: token };
  };

  for (const { name, at, holder, key } of bodies) {
    holder[key] = visit(holder[key] ?? {}, { at, parent: name, field: "" });
  }
  const names = namesOf(candidates, new Set(Object.keys(known)));
  const renamed = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(renamed);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, each]) => {
      const name = key === "$ref" && typeof each === "string" ? names.get(each) : undefined;
      return [key, name === undefined ? renamed(each) : `#/components/schemas/${name}`] as const;
    });
    return Object.fromEntries(entries);
  };
  for (const { holder, key } of bodies) holder[key] = renamed(holder[key] ?? {});
  const all = [...candidates].map(([token, { schema }]) => [names.get(token) ?? token, renamed(schema)] as const);
  return Object.fromEntries([...Object.entries(known), ...all].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Objects with fields, and choices of words. */
function isNamed(schema: JsonObject): boolean {
  const { type, properties, enum: words } = schema;
  const types = Array.isArray(type) ? type.filter((each) => each !== "null") : [type];
  if (types.length === 1 && types[0] === "object" && isObject(properties)) return true;
  return (
    types.length === 1 && types[0] === "string" && Array.isArray(words) && words.length > 1 && !words.includes(null)
  );
}

/** Null is a type beside the words, which are then a choice with a name; a single word is itself. */
function nullApart(schema: JsonObject): JsonObject {
  const { type, enum: words, ...own } = schema;
  if (!Array.isArray(type) || !type.includes("null") || !Array.isArray(words)) return schema;
  const said = words.filter((each) => each !== null);
  return said.length > 1
    ? { ...schema, enum: said }
    : { ...own, anyOf: [{ const: said[0] ?? null }, { type: "null" }] };
}

/** A default that is a list or an object, which generators refuse, stands in the description. */
function fallbackInWords(schema: JsonObject): JsonObject {
  const { default: fallback, description, ...own } = schema;
  if (typeof fallback !== "object" || fallback === null) return schema;
  const said = `\`${JSON.stringify(fallback)}\` where left out`;
  return { ...own, description: description === undefined ? said : `${String(description)}. ${said}` };
}

/** Says of a list of fixed length what is in it for readers that do not know `prefixItems`, too. */
function tupleOf(schema: JsonObject): JsonObject {
  const { prefixItems, items } = schema;
  if (!Array.isArray(prefixItems) || items !== undefined) return schema;
  const [first, ...others] = [...new Set(prefixItems.map((each) => JSON.stringify(each)))].map((each) =>
    JSON.parse(each),
  );
  const limits = { minItems: prefixItems.length, maxItems: prefixItems.length };
  return { ...schema, ...limits, items: others.length === 0 ? first : { anyOf: [first, ...others] } };
}

/** Rules about fields stand in `allOf`, each as a choice: generators take other forms for the type of the whole. */
function rulesApart(schema: JsonObject): JsonObject {
  if (!isObject(schema["properties"])) return schema;
  const { anyOf, oneOf, allOf = [], ...own } = schema;
  const rules = [
    ...(anyOf === undefined ? [] : [{ anyOf }]),
    ...(oneOf === undefined ? [] : [{ oneOf }]),
    ...(allOf as JsonObject[]).map((rule) => ("properties" in rule ? { anyOf: [rule] } : rule)),
  ];
  return rules.length === 0 ? own : { ...own, allOf: rules };
}

/** The word that tells an option from the others, e.g. the `type` of an action. */
function optionName(option: Json): string | undefined {
  if (!isObject(option) || !isObject(option["properties"])) return undefined;
  for (const each of Object.values(option["properties"])) {
    if (!isObject(each)) continue;
    const only = Array.isArray(each["enum"]) && each["enum"].length === 1 ? each["enum"][0] : each["const"];
    if (typeof only === "string") return only;
  }
  return undefined;
}

/** Each candidate's name: the one that was chosen, else its field's where no other has it, else its parent's, too. */
function namesOf(candidates: ReadonlyMap<string, Candidate>, taken: Set<string>): Map<string, string> {
  const names = new Map<string, string>();
  const unused = new Set(Object.keys(SCHEMA_NAMES));
  for (const [token, { places }] of candidates) {
    const chosen = [...new Set(places.flatMap(({ at }) => SCHEMA_NAMES[at] ?? []))];
    for (const { at } of places) unused.delete(at);
    if (chosen.length > 1) throw new Error(`One schema has several names: ${chosen.join(", ")}`);
    const [name] = chosen;
    if (name === undefined) continue;
    if (taken.has(name)) throw new Error(`Two schemas are to be named ${name}: ${places[0]?.at}`);
    taken.add(name);
    names.set(token, name);
  }
  if (unused.size > 0) throw new Error(`No schema is at ${[...unused].join(", ")}: see checks/openapi/schema-names.ts`);
  // whole bodies first: a list's items have another name where one of them has theirs
  const rest = [...candidates].filter(([token]) => !names.has(token));
  const isBody = ([, { places }]: (typeof rest)[number]) => places.some(({ field }) => field === "");
  for (const [token, { places }] of [...rest.filter(isBody), ...rest.filter((each) => !isBody(each))]) {
    const options = places.flatMap(optionsOf).toSorted((a, b) => a.length - b.length);
    const name = options.find((each) => !taken.has(each));
    if (name === undefined) {
      const at = places.map((each) => each.at).join(", ");
      throw new Error(
        `Choose a name for ${at} in checks/openapi/schema-names.ts: ${options.join(", ")} is another one`,
      );
    }
    taken.add(name);
    names.set(token, name);
  }
  return names;
}

const LIST = /List$/;

function optionsOf({ parent, field }: Place): string[] {
  if (field === "" && !/(List|Request|Response|Accepted)$/.test(parent)) return [parent, `${parent}Details`];
  if (!LIST.test(parent) || field !== "item") return [pascal(`${parent} ${field}`)];
  const one = parent.replace(LIST, "");
  return [one, `${one}Summary`];
}

/**
 * The name of a body by its operation: what is read has the name of the thing, e.g. `Document` and `DocumentList`.
 * @param role `Request`, `Response` or `Accepted`
 */
export function bodyName(operationId: string, role: string): string {
  const [, verb, thing = ""] = /^(?:head)?(get|list)?([A-Z].*)$/i.exec(operationId) ?? [];
  if (role !== "Response" || verb === undefined) return pascal(`${operationId} ${role}`);
  return verb.toLowerCase() === "get" ? thing : `${singular(thing)}List`;
}

export const pascal = (words: string): string =>
  words
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

const singular = (word: string): string =>
  /(ss|us|status|is)$/.test(word)
    ? word
    : word
        .replace(/ies$/, "y")
        .replace(/(ch|sh|x|ss)es$/, "$1")
        .replace(/s$/, "");
