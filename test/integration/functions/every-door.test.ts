/**
 * Every request with a body that the OpenAPI document describes, the doors of tomorrow included: a field that it does
 * not name is refused, and so is what no field may hold; nothing of it is a fault of ours.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPENAPI_FILE } from "../../../checks/openapi.ts";
import type { Api } from "../../../functions/adapters/api/api.ts";
import { TOPOLOGY } from "../../../infra/topology.ts";
import { createApiKey } from "../../../shared/access/api-keys.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { callApi } from "../../services/api.ts";
import { type ResultsSetup, resultsSetup } from "./results-api/results-setup.ts";

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
}
interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const { paths, components } = JSON.parse(readFileSync(OPENAPI_FILE, "utf8")) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** The names that a body may hold, in any of its forms. */
function fieldsOf(schema: Schema): string[] {
  const { $ref, properties = {}, anyOf = [], oneOf = [] } = schema;
  const named = $ref === undefined ? undefined : components.schemas[$ref.split("/").at(-1) ?? ""];
  const forms = [...anyOf, ...oneOf, ...(named === undefined ? [] : [named])].flatMap(fieldsOf);
  return [...new Set([...Object.keys(properties), ...forms])];
}

const functionOf = new Map<string, string>(
  TOPOLOGY.functions.flatMap(({ name, routes = [] }) =>
    routes.map(({ method, path }): [string, string] => [`${method} ${path}`, name]),
  ),
);

/** Messages of a protocol of others, which names their fields. */
const OF_OTHERS = ["/mcp"];
const described = Object.entries(paths).filter(([path]) => !OF_OTHERS.includes(path));
const DOORS = described.flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { requestBody }]) => {
    const schema = requestBody?.content["application/json"]?.schema;
    if (schema === undefined) return [];
    const forms = (schema.anyOf ?? schema.oneOf ?? []).length;
    return [{ method: method.toUpperCase(), path, fields: fieldsOf(schema), isOneOfForms: forms > 0 }];
  }),
);

/** What JSON can hold and no field means, and texts that databases and queues choke on. */
const ODD = [null, -1, 1e300, "\ud800\uffff\u0000", "x".repeat(20_000), [[{ a: "\u{1F30A}" }]]];
const NO_FIELD = "no_field_of_any_door";

let setup: ResultsSetup;
let key: string;
beforeAll(async () => {
  setup = await resultsSetup({ sqs: true });
  Object.assign(process.env, setup.aws.env, { DATABASE__POSTGRES_URL: setup.databaseUrl, LOG_LEVEL: "error" });
  const options = { name: "test", scopes: ["admin" as const], rateLimitRpm: 1_000_000, expiresAt: null };
  ({ key } = await createApiKey(setup.sql, options));
});
afterAll(() => setup.close());

it("there are doors", () => expect(DOORS.length).toBeGreaterThan(40));

describe.each(DOORS)("$method $path", ({ method, path, fields, isOneOfForms }) => {
  const ids = (part: string): string => {
    if (part === "domain") return "a.example";
    return part === "run_id" || path.startsWith("/api/admin/") ? "1" : uuidv7();
  };
  const at = path.replaceAll(/\{(\w+)\}/g, (_, part: string) => ids(part));
  const ask = async (json: unknown) => {
    const name = functionOf.get(`${method} ${path}`);
    const { api } = (await import(`../../../functions/${name}/handler.ts`)) as { api: Api };
    return await callApi(api, { method, path: at, json, key });
  };

  it("refuses a field that it does not have", async () => {
    const { status, body } = await ask({ [NO_FIELD]: 1 });
    expect([400, 422], JSON.stringify(body)).toContain(status);
    // of several forms that a body may have none is meant
    if (!isOneOfForms) expect(JSON.stringify(body)).toContain(NO_FIELD);
  });

  it("answers whatever a field holds, and whatever stands in place of the fields", async () => {
    for (const odd of ODD) {
      for (const json of [odd, Object.fromEntries(fields.map((field) => [field, odd]))]) {
        const { status, body } = await ask(json);
        expect(status, JSON.stringify([json, body]).slice(0, 500)).toBeLessThan(500);
      }
    }
  });
});
