/**
 * Makes the client's types and its table of operations from the OpenAPI document. A test compares; after a change of
 * the API: `npx node client/generate.ts`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
type Contents = Record<string, { schema: Schema; "x-item-schema"?: Schema }>;
interface Operation {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required?: boolean; content: Contents };
  responses: Record<string, { content?: Contents }>;
  "x-scope"?: string;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const DOCUMENT = join(import.meta.dirname, "../docs/openapi.json");
export const GENERATED = {
  types: join(import.meta.dirname, "src/types.ts"),
  operations: join(import.meta.dirname, "src/operations.ts"),
};
const HEAD = "/** Generated from the OpenAPI document by client/generate.ts. */\n";
const EVENTS = "text/event-stream";
const IDEMPOTENCY = "Idempotency-Key";

/** @returns the text of each generated file */
export function generate(): Record<keyof typeof GENERATED, string> {
  const { paths, components } = JSON.parse(readFileSync(DOCUMENT, "utf8")) as Document;
  const places = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== "head")
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
  );
  const operations = places.map(({ operation }) => `  ${operation.operationId}: ${operationType(operation)};\n`);
  const table = places.map(({ path, method, operation }) => {
    const { operationId, summary, parameters = [], responses } = operation;
    const flags = [
      ...(method === "POST" && reads(operation) ? ["reads: true"] : []),
      ...(parameters.some(({ name }) => name === IDEMPOTENCY) ? ["idempotent: true"] : []),
      ...(EVENTS in contentsOf(responses) ? ["events: true"] : []),
    ];
    const fields = [`method: ${text(method)}`, `path: ${text(path)}`, ...flags];
    return `  /** ${summary.replaceAll("*/", "* /")} */\n  ${operationId}: { ${fields.join(", ")} },\n`;
  });
  const types = `${HEAD}\n${schemas.join("")}\nexport interface Operations {\n${operations.join("")}}\n`;
  return {
    types: formatted("types", types),
    operations: formatted(
      "operations",
      `${HEAD}import type { Operations } from "./types.ts";

export interface Endpoint {
  method: string;
  path: string;
  /** Takes an \`Idempotency-Key\`. */
  idempotent?: true;
  /** Changes nothing, although it is a POST. */
  reads?: true;
  /** Gives server-sent events. */
  events?: true;
}

export const OPERATIONS: Readonly<Record<keyof Operations, Endpoint>> = {
${table.join("")}};
`,
    ),
  };
}

const BIOME = join(import.meta.dirname, "../node_modules/@biomejs/biome/bin/biome");

const formatted = (name: keyof typeof GENERATED, source: string): string =>
  execFileSync(process.execPath, [BIOME, "format", `--stdin-file-path=${GENERATED[name]}`], {
    input: source,
    encoding: "utf8",
  });

/** A message may ask for more than its route does. */
const ENVELOPES = ["sendMcpMessage"];

const reads = ({ operationId, "x-scope": scope }: Operation): boolean =>
  scope === "read" && !ENVELOPES.includes(operationId);

const text = (value: unknown): string => JSON.stringify(value);

const contentsOf = (responses: Operation["responses"]): Contents =>
  Object.assign({}, ...good(responses).map(({ content = {} }) => content)) as Contents;

const good = (responses: Operation["responses"]) =>
  Object.entries(responses).flatMap(([status, response]) => (status.startsWith("2") ? [response] : []));

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const of = (place: string): string | undefined => {
    const own = parameters.filter((each) => each.in === place && each.name !== IDEMPOTENCY);
    if (own.length === 0) return undefined;
    const optional = own.every(({ required }) => !required) ? "?" : "";
    const fields = own.map(({ name, required, schema }) => `${text(name)}${required ? "" : "?"}: ${typeOf(schema)}`);
    return `${place}${optional}: { ${fields.join("; ")} }`;
  };
  const body = requestBody?.content["application/json"]?.schema;
  const args = [of("path"), of("query"), body && `body${requestBody?.required ? "" : "?"}: ${typeOf(body)}`].filter(
    (each) => each !== undefined,
  );
  const contents = contentsOf(responses);
  const bodies = good(responses).flatMap(({ content = {} }) => {
    if (content["application/json"] !== undefined) return [typeOf(content["application/json"].schema)];
    return Object.keys(content).length > 0 ? ["string"] : ["undefined"];
  });
  const record = contents[EVENTS]?.["x-item-schema"];
  const event = record === undefined ? "never" : typeOf(record);
  return `{ args: { ${args.join("; ") || "path?: never"} }; answer: ${union(bodies) || "undefined"}; event: ${event} }`;
}

const union = (types: readonly string[]): string => [...new Set(types)].join(" | ");

function typeOf(schema: Schema): string {
  const { $ref, anyOf, oneOf, allOf, properties } = schema;
  if ($ref !== undefined) return $ref.split("/").at(-1) ?? "unknown";
  if (schema.const !== undefined) return text(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(text));
  if (properties !== undefined) return objectOf(schema);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return union(choices.map(typeOf));
  if (schema.type === undefined && allOf !== undefined) return allOf.map(typeOf).join(" & ");
  return union([schema.type ?? "unknown"].flat().map((type) => kindOf(type, schema)));
}

function kindOf(type: string, { items, prefixItems, additionalProperties }: Schema): string {
  if (type === "integer") return "number";
  if (type === "array" && prefixItems !== undefined) return `[${prefixItems.map(typeOf).join(", ")}]`;
  if (type === "array") return `(${items === undefined ? "unknown" : typeOf(items)})[]`;
  if (type !== "object") return type;
  return `Record<string, ${typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown"}>`;
}

function objectOf({ properties = {}, required = [], type }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, field]) => `${text(name)}${required.includes(name) ? "" : "?"}: ${typeOf(field)}`,
  );
  const object = fields.length === 0 ? "Record<string, unknown>" : `{ ${fields.join("; ")} }`;
  return Array.isArray(type) && type.includes("null") ? `${object} | null` : object;
}

/** Writes the generated files. */
export function writeGenerated(): void {
  const made = generate();
  for (const [name, file] of Object.entries(GENERATED)) writeFileSync(file, made[name as keyof typeof GENERATED]);
}

if (import.meta.main) writeGenerated();
