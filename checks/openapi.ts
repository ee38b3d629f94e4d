/**
 * Puts the OpenAPI document together from the routes of every API function. A test compares; after a change of the API:
 * `npx node checks/openapi.ts`, which makes the client's types anew as well.
 */
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeGenerated } from "../client/generate.ts";
import type { Api } from "../functions/adapters/api/api.ts";
import { TOPOLOGY } from "../infra/topology.ts";
import { errorCodes, shareErrors, shareHeaders, stateErrors } from "./openapi/answers.ts";
import { unwantedBreaks } from "./openapi/breaking.ts";
import { isObject, type Json, type JsonObject } from "./openapi/json.ts";
import { OPERATION_GROUPS, operationNamed } from "./openapi/operations.ts";
import { parameterOf } from "./openapi/parameters.ts";
import { bodyName, shareSchemas } from "./openapi/schemas.ts";
import { ThrownErrors } from "./openapi/thrown.ts";

const ROOT = join(import.meta.dirname, "..");
export const OPENAPI_FILE = join(ROOT, "docs/openapi.json");

const DESCRIPTION = `Crawls web sites politely, keeps every page as a WARC capture, and searches them.

- **Keys**: \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. A key has the scopes read, write and admin.
- **Errors** have a \`code\`; \`docs/guide/errors.md\` lists them all. \`x-error-codes\` of an operation has those that it
  answers, by status; services behind it may add codes of status 503. 429 and 503 bear \`Retry-After\`.
- **Idempotency**: \`Idempotency-Key\` makes a POST that starts something safe to send again, for 24 hours.
- **Lists** are read with \`limit\` and \`cursor\`: \`next_cursor\` of an answer is the \`cursor\` of the next request.`;

/** Schemes that are one key each: an operation takes any of them. */
const KEY_SCHEMES = {
  api_key: { type: "http", scheme: "bearer", description: "An API key as `Authorization: Bearer KEY`" },
  api_key_header: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key as `X-API-Key: KEY`" },
};

interface Body {
  name: string;
  at: string;
  holder: JsonObject;
  key: string;
  /** It is a stream, of which the schema is that of each record. */
  isOfRecords: boolean;
}

const OF_RECORDS = ["application/x-ndjson", "text/event-stream"];

/** A stream is text for whoever takes it whole; what its records are stands beside that. */
function asText(holder: JsonObject): void {
  holder["x-item-schema"] = holder["schema"] ?? {};
  holder["schema"] = { type: "string", description: "Records, each as `x-item-schema` has it" };
}

/** The whole document as JSON text, with the paths in the topology's order. */
export async function openApiDocument(): Promise<string> {
  const names = TOPOLOGY.functions.filter(({ routes }) => routes !== undefined).map(({ name }) => name);
  const streamed = new Set(
    TOPOLOGY.functions.flatMap(({ routes = [] }) =>
      routes.flatMap(({ method, path, streaming }) => (streaming ? [`${method} ${path}`] : [])),
    ),
  );
  const thrown = await thrownErrors();
  const specs = new Map<string, Api["routes"][number]>();
  const documents = await Promise.all(
    names.map(async (name) => {
      const { api } = (await import(`../functions/${name}/handler.ts`)) as { api: Pick<Api, "openApi" | "routes"> };
      for (const spec of api.routes) specs.set(`${spec.method} ${spec.path}`, spec);
      // as JSON, without what is undefined
      return JSON.parse(JSON.stringify(api.openApi())) as JsonObject;
    }),
  );
  const merged = (part: string) =>
    Object.assign({}, ...documents.map(({ components }) => isObject(components) && components[part])) as JsonObject;
  const bodies: Body[] = [];
  const answers: JsonObject[] = [];
  const paths: JsonObject = {};
  for (const [path, methods] of documents.flatMap(({ paths: own }) => Object.entries(own as JsonObject))) {
    const operations = Object.entries(methods as JsonObject).map(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const { scope = "", errors = {} } = specs.get(name) ?? {};
      const named = operationOf(
        {
          method: method.toUpperCase(),
          path,
          scope,
          isStreamed: streamed.has(name),
          thrown: [
            ...thrown(name),
            ...Object.entries(errors).flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`)),
          ],
        },
        operation as JsonObject,
      );
      bodies.push(...bodiesOf(named));
      answers.push(named["responses"] as JsonObject);
      return [method, named] as const;
    });
    paths[templateOf(path)] = Object.fromEntries(operations);
  }
  const schemas = shareSchemas(bodies, merged("schemas") as Record<string, JsonObject>);
  for (const { holder, isOfRecords } of bodies) if (isOfRecords) asText(holder);
  const headers = { ...merged("headers"), ...shareHeaders(answers) };
  const { version, license } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Record<string, string>;
  const document = {
    openapi: "3.1.0",
    info: { title: "Strandline", version, description: DESCRIPTION, license: { name: license, identifier: license } },
    servers: [{ url: "/", description: "Where this document is served" }],
    security: anyKey(),
    tags: OPERATION_GROUPS.map(({ tag: name, description }) => ({ name, description })),
    paths,
    components: { schemas, responses: shareErrors(answers), headers, securitySchemes: KEY_SCHEMES },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Of a route that has the path of another in `/api/v1`, or answers the head of its GET alone, what that one throws. */
async function thrownErrors(): Promise<(route: string) => readonly string[]> {
  const read = new ThrownErrors(ROOT);
  const routes = new Map<string, readonly string[]>();
  for await (const file of glob("functions/*-api/*.ts", { cwd: ROOT })) {
    for (const [route, codes] of read.ofRoutesIn(file.replaceAll("\\", "/"))) routes.set(route, codes);
  }
  return (route) => {
    const get = route.replace(/^HEAD /, "GET ");
    return routes.get(get) ?? routes.get(get.replace(" /api/v1/jobs/", " /jobs/")) ?? [];
  };
}

const anyKey = () => Object.keys(KEY_SCHEMES).map((scheme) => ({ [scheme]: [] }));

/** In words, and for programs: OpenAPI has room for scopes, but readers of it take them with OAuth alone. */
function scopeOf(scope: string, isOpen: boolean): JsonObject {
  if (scope === "public") return { description: "Needs no key." };
  const unless = isOpen ? ", unless the archive is public" : "";
  return { description: `Needs a key of scope \`${scope}\`${unless}.`, "x-scope": scope };
}

/** A path with a parameter that holds slashes is one with a parameter for OpenAPI. */
export const templateOf = (path: string): string => path.replace("+}", "}");

interface Route {
  method: string;
  path: string;
  scope: string;
  isStreamed: boolean;
  thrown: readonly string[];
}

function operationOf({ method, path, scope, ...route }: Route, { summary, ...own }: JsonObject): JsonObject {
  const { operationId, tag } = operationNamed(method, path);
  const { security = [], parameters = [], requestBody: body, responses } = own as Record<string, Json[] & JsonObject>;
  const isOpen = security.some((each) => isObject(each) && Object.keys(each).length === 0);
  const taken = parameters.map((each) => parameterOf(each as JsonObject));
  const isPublic = security.length === 0;
  const codes = errorCodes({ ...route, isPublic, body, parameters: taken, responses: responses as JsonObject });
  stateErrors(responses as JsonObject, Object.keys(codes));
  return {
    operationId,
    tags: [tag],
    summary: summary ?? operationId,
    ...scopeOf(scope, isOpen),
    security: isPublic ? [] : [...anyKey(), ...(isOpen ? [{}] : [])],
    ...(taken.length > 0 && { parameters: taken }),
    ...(body !== undefined && { requestBody: body }),
    responses: responses as JsonObject,
    "x-error-codes": codes,
  };
}

/** The bodies of an operation's request and of its answers. */
function bodiesOf({ operationId, requestBody, responses }: JsonObject): Body[] {
  const schemasIn = (described: Json | undefined, role: string): Body[] => {
    if (!isObject(described) || !isObject(described["content"])) return [];
    return Object.entries(described["content"]).map(([type, holder]) => ({
      name: bodyName(operationId as string, role),
      at: `${operationId}.${role.toLowerCase()}`,
      holder: holder as JsonObject,
      key: "schema",
      isOfRecords: OF_RECORDS.includes(type),
    }));
  };
  const good = Object.entries(responses as JsonObject).filter(
    ([status, response]) => Number(status) < 400 && isObject(response) && response["content"] !== undefined,
  );
  const answers = good.flatMap(([status, response]) =>
    schemasIn(response, status === "202" && good.length > 1 ? "Accepted" : "Response"),
  );
  // what a check answers where something fails is no error of the API
  const bad = Object.entries(responses as JsonObject).filter(([status]) => Number(status) >= 400);
  return [
    ...schemasIn(requestBody, "Request"),
    ...answers,
    ...bad.flatMap(([, response]) => schemasIn(response, "Response")),
  ];
}

if (import.meta.main) {
  const [committed, generated] = await Promise.all([readFile(OPENAPI_FILE, "utf8"), openApiDocument()]);
  const broken = unwantedBreaks(committed, generated);
  if (broken.length > 0) {
    throw new Error(`This breaks clients: see checks/openapi/allowed-breaks.ts\n${broken.join("\n")}`);
  }
  await writeFile(OPENAPI_FILE, generated);
  writeGenerated();
}
