/** Holds what the API takes and answers against `docs/openapi.json`. Both ways to call it come through here. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { once } from "../../shared/platform/once.ts";

export interface Asked {
  method: string;
  /** Without its query string. */
  path: string;
  /** As sent; undefined where there is none. */
  body?: string | undefined;
}

export interface Answered {
  status: number;
  headers: ReadonlyMap<string, string>;
}

type Schema = Record<string, unknown>;
interface Header {
  schema: Schema;
  required?: boolean;
}
/** Of a stream what each record is, too. */
type Contents = Record<string, { schema: Schema; "x-item-schema"?: Schema }>;
interface Described {
  headers?: Record<string, { $ref: string } | Header>;
  content?: Contents;
}
export interface Operation {
  /** As in the document. */
  name: string;
  requestBody?: { content: Contents };
  responses: Record<string, Described | { $ref: string }>;
  "x-error-codes": Record<string, string[]>;
}
interface Document {
  paths: Record<string, Record<string, Omit<Operation, "name">>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    responses: Record<string, Described>;
  };
}

const FILE = join(import.meta.dirname, "../../docs/openapi.json");
export const readDocument = once((): Document => JSON.parse(readFileSync(FILE, "utf8")) as Document);

/** Statuses that the gateway answers before any route, or that tell of a request that was none. */
const OF_THE_GATEWAY = [405, 413, 414, 499, 502, 504];

/** What any HTTP server may say about how it sends, and what API Gateway adds. */
const OF_THE_TRANSPORT = [
  ...["connection", "content-encoding", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"],
  ...["vary", "x-amzn-requestid"],
];

/** @returns undefined where the document has no such route, e.g. for the routes of a test's own */
export function operationOf({ method, path }: Pick<Asked, "method" | "path">): Operation | undefined {
  const { paths } = readDocument();
  const wanted = path.replaceAll("%2B", "+").split("/");
  const fitting = Object.keys(paths).filter((each) => {
    const parts = each.split("/");
    return parts.length === wanted.length && parts.every((part, at) => part.startsWith("{") || part === wanted[at]);
  });
  const [found] = fitting.toSorted((a, b) => a.split("{").length - b.split("{").length);
  const operation = found === undefined ? undefined : paths[found]?.[method.toLowerCase()];
  return operation && { ...operation, name: `${method.toUpperCase()} ${found}` };
}

/**
 * Status, media type and headers of an answer; and the body that it was the answer to, where it was taken.
 * @returns what checks a JSON body, or one record of a stream
 * @throws Error where the document does not describe them; the returned function throws it, too
 */
export function checkHead(operation: Operation, asked: Asked, { status, headers }: Answered): (body: unknown) => void {
  const fail = (fault: string): never => {
    throw new Error(`${operation.name} answered ${status}; docs/openapi.json does not describe it: ${fault}`);
  };
  const check = (schema: Schema, value: unknown, what: string): void => {
    const validate = compiled(schema);
    if (!validate(value)) fail(`${what} ${faultsOf(validate)}`);
  };
  const ofAny = OF_THE_GATEWAY.includes(status) ? operation.responses["default"] : undefined;
  const answer = operation.responses[status] ?? ofAny;
  const described = answer && responseOf(answer);
  if (described === undefined) return fail(`it has the statuses ${Object.keys(operation.responses).join(", ")}`);

  for (const name of headers.keys()) {
    if (!OF_THE_TRANSPORT.includes(name) && described.headers?.[name] === undefined) fail(`the header ${name}`);
  }
  for (const [name, header] of Object.entries(described.headers ?? {})) {
    const { schema, required } = "$ref" in header ? headerAt(header) : header;
    const value = headers.get(name);
    if (value === undefined && required) fail(`the header ${name} is missing`);
    if (value !== undefined) check(schema, schema["type"] === "integer" ? Number(value) : value, `the header ${name}`);
  }

  const taken = operation.requestBody?.content["application/json"]?.schema;
  if (status < 400 && asked.body !== undefined && asked.body !== "" && taken !== undefined) {
    check(taken, JSON.parse(asked.body), "the request body, which was taken,");
  }

  const type = essenceOf(headers.get("content-type") ?? "");
  const { content = {} } = described;
  const media = Object.entries(content).find(([name]) => essenceOf(name) === type)?.[1];
  const schema = media?.["x-item-schema"] ?? media?.schema;
  if (type !== "" && schema === undefined) fail(`the media type ${type}`);
  if (type === "" && Object.keys(content).length > 0) fail("no media type");
  return (body) => {
    check(closed(schema ?? {}), body, "the body");
    const codes = operation["x-error-codes"][status];
    const code = codeOf(body);
    // what services behind the API may say is not listed whole
    if (status < 500 && codes !== undefined && code !== undefined && !codes.includes(code)) fail(`the code ${code}`);
  };
}

/** Of an error; the harvester's have none. */
function codeOf(body: unknown): string | undefined {
  const { code, error_code = code } = (isObject(body) ? body : {}) as { code?: unknown; error_code?: unknown };
  return typeof error_code === "string" ? error_code : undefined;
}

/** A media type without its parameters. */
const essenceOf = (type: string): string => type.split(";")[0]?.trim() ?? "";

/** For what reads streams: a check of one record, by the response of `fetch` that holds it. */
export const recordChecks = new WeakMap<Response, (record: unknown) => void>();

/** Checks each record of a whole stream; what is no stream of records is no business of the document. */
export function checkRecords(type: string, text: string, check: (record: unknown) => void): void {
  if (!["application/x-ndjson", "text/event-stream"].includes(essenceOf(type))) return;
  const lines = text.split("\n");
  const json =
    essenceOf(type) === "text/event-stream" ? lines.flatMap((line) => /^data: (.*)/.exec(line)?.[1] ?? []) : lines;
  for (const line of json.filter((each) => each !== "")) check(JSON.parse(line));
}

const headerAt = ({ $ref }: { $ref: string }): Header =>
  readDocument().components.headers[nameIn($ref)] ?? { schema: {} };

/** A response of an operation, which may be one of the components. */
export const responseOf = (response: Described | { $ref: string }): Described =>
  "$ref" in response ? (readDocument().components.responses[nameIn(response.$ref)] ?? {}) : response;

const nameIn = (reference: string): string => reference.split("/").at(-1) ?? "";

const ajv = once(() => {
  const validator = new Ajv2020({ strict: false, allErrors: true });
  formats.default(validator);
  return validator;
});
const validators = new WeakMap<Schema, ValidateFunction>();

/** The schema with the components that it may refer to. */
export function compiled(schema: Schema): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const components = { schemas: closed(readDocument().components.schemas) };
  const validate = ajv().compile({ ...schema, components });
  validators.set(schema, validate);
  return validate;
}

const closedSchemas = new WeakMap<object, object>();

/** The schema with no other fields in its objects than those that it names. */
function closed<T extends object>(schema: T): T {
  const known = closedSchemas.get(schema) as T | undefined;
  if (known) return known;
  const parts = Object.entries(schema).map(([key, value]) => [key, isObject(value) ? closed(value) : value]);
  const copy = (Array.isArray(schema) ? parts.map(([, value]) => value) : Object.fromEntries(parts)) as T & Schema;
  if (isObject(copy["properties"]) && copy["type"] !== undefined && copy["additionalProperties"] === undefined) {
    Object.assign(copy, { additionalProperties: false });
  }
  closedSchemas.set(schema, copy);
  return copy;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function faultsOf({ errors }: ValidateFunction): string {
  const texts = (errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(" "),
  );
  return [...new Set(texts)].slice(0, 12).join("; ");
}
