import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OPENAPI_FILE, openApiDocument, templateOf } from "../../../checks/openapi.ts";
import type { Api } from "../../../functions/adapters/api/api.ts";
import { crawlQuerySchema } from "../../../functions/spider-api/requests.ts";
import { TOPOLOGY } from "../../../infra/topology.ts";
import { compiled, readDocument, responseOf } from "../../services/documented-answers.ts";

const API_GUIDE = join(import.meta.dirname, "../../../docs/guide/api.md");

it("is written down as the routes in the code have it (npx node checks/openapi.ts writes it)", async () => {
  expect(await readFile(OPENAPI_FILE, "utf8")).toBe(await openApiDocument());
});

it("describes every route of the topology", async () => {
  const { paths } = JSON.parse(await openApiDocument()) as { paths: Record<string, Record<string, unknown>> };
  for (const { method, path } of TOPOLOGY.functions.flatMap(({ routes = [] }) => routes)) {
    expect(Object.keys(paths[templateOf(path)] ?? {}), path).toContain(method.toLowerCase());
  }
});

it("stands beside a guide that names every route", async () => {
  const guide = await readFile(API_GUIDE, "utf8");
  for (const { method, path } of TOPOLOGY.functions.flatMap(({ routes = [] }) => routes)) {
    expect(guide).toContain(`\`${method} ${path.replace(/^\/api\/v1/, "")}\``);
  }
});

const operations = Object.entries(readDocument().paths).flatMap(([path, each]) =>
  Object.entries(each).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

it.each(operations)(
  "$name has schemas that a validator takes, with patterns that mean what they say",
  ({ operation }) => {
    const described = [operation.requestBody, ...Object.values(operation.responses).map(responseOf)];
    const contents = described.flatMap(({ content = {} } = {}) => Object.values(content));
    for (const { schema } of contents) {
      expect(compiled(schema)).toBeTypeOf("function");
      // the flags of an expression would stand at its end, as a part of it
      expect(JSON.stringify(schema)).not.toMatch(/"pattern":"[^"]*\/[dgimsuvy]+"/);
    }
  },
);

const PAGE = "https://example.org/";
const fieldsOf = (field: object) => ({ url: PAGE, formats: ["json"], schema: { fields: { name: field } } });
const server = (fields: object) => ({ name: "a", servers: [{ url: "http://proxy.example:8080", ...fields }] });
/** What fields may be only together, or only one without the other: bodies that are taken, and some that are not. */
const EITHER_OR: [operation: string, taken: object[], refused: object[]][] = [
  ["POST /api/v1/crawl", [{ url: PAGE }, { urls: [PAGE] }], [{}, { url: PAGE, urls: [PAGE] }]],
  [
    "POST /api/v1/crawl/deep",
    [
      { url: PAGE },
      { url: PAGE, strategy: "bfs", keywords: [], score_threshold: 0.4 },
      { url: PAGE, strategy: "best_first", keywords: ["tide"], score_threshold: 0.1 },
    ],
    [
      { url: PAGE, strategy: "best_first" },
      { url: PAGE, strategy: "best_first", keywords: [] },
      { url: PAGE, keywords: ["tide"] },
      { url: PAGE, score_threshold: 0.1 },
    ],
  ],
  [
    "POST /spider/crawl",
    [
      { seed_urls: [PAGE], score_threshold: 0 },
      { seed_urls: [PAGE], strategy: "best_first", keywords: ["tide"] },
    ],
    [
      { seed_urls: [PAGE], strategy: "best_first" },
      { seed_urls: [PAGE], score_threshold: 0.4 },
    ],
  ],
  [
    "POST /api/v1/scrape",
    [
      { url: PAGE },
      { url: PAGE, schema: null, screenshot: null },
      { url: PAGE, formats: ["screenshot"], screenshot: {} },
      fieldsOf({ selector: "h1" }),
      fieldsOf({ type: "attribute", attribute: "id" }),
      fieldsOf({ selector: "li", type: "nested", multiple: true, fields: { name: {} } }),
    ],
    [
      { url: PAGE, formats: ["json"] },
      { url: PAGE, schema: { fields: { name: {} } } },
      { url: PAGE, screenshot: {} },
      fieldsOf({ multiple: true }),
      fieldsOf({ type: "attribute" }),
      fieldsOf({ attribute: "id" }),
      fieldsOf({ type: "nested" }),
      fieldsOf({ fields: { name: {} } }),
      fieldsOf({ type: "nested", fields: {} }),
    ],
  ],
  [
    "POST /api/v1/discover",
    [
      { domain: "example.org", score_threshold: 0.3 },
      { domain: "example.org", score_query: "tide", score_threshold: 1 },
    ],
    [
      { domain: "example.org", score_threshold: 1 },
      { domain: "example.org", score_query: null, score_threshold: 1 },
    ],
  ],
  [
    "POST /api/v1/search",
    [
      { query: "tide", fusion: "rrf", rrf_k: 10, vector_weight: 0 },
      { query: "tide", fusion: "linear", keyword_weight: 0, vector_weight: null },
      { query: "tide", rrf_k: 10, fusion: null },
    ],
    [
      { query: "tide", fusion: "linear", rrf_k: 10 },
      { query: "tide", vector_weight: 0, keyword_weight: 0 },
    ],
  ],
  ["POST /api/v1/search/vector", [{ query: "tide", fusion: null }], [{ query: "tide", fusion: "rrf" }]],
  ["POST /api/v1/search/keyword", [{ query: "tide" }], [{ query: "tide", keyword_weight: 1 }]],
  [
    "POST /api/v1/proxies",
    [server({}), server({ username: "u" }), server({ username: "u", password: "p" }), server({ password: null })],
    [server({ password: "p" }), server({ username: null, password: "p" })],
  ],
  [
    "POST /api/v1/proxies/test",
    [{ proxy_id: "0199b3a0-0000-7000-8000-000000000000" }, { server: { url: "http://proxy.example:8080" } }],
    [
      {},
      { proxy_id: "0199b3a0-0000-7000-8000-000000000000", server: { url: "http://proxy.example:8080" } },
      { server: { url: "http://proxy.example:8080", password: "p" } },
    ],
  ],
];

describe.each(EITHER_OR)("%s has its either-or rules in the document as in the code", (name, taken, refused) => {
  const [method = "", path = ""] = name.split(" ");
  const described = readDocument().paths[path]?.[method.toLowerCase()]?.requestBody?.content["application/json"];
  const judge = async (body: object) => {
    const { routes } = await apiOf(path);
    const { body: schema } = routes.find((route) => route.method === method && route.path === path) ?? {};
    return { document: compiled(described?.schema ?? {})(body), code: schema?.safeParse(body).success };
  };

  it.each(taken.map((body) => ({ body })))("takes $body", async ({ body }) => {
    expect(await judge(body)).toEqual({ document: true, code: true });
  });
  it.each(refused.map((body) => ({ body })))("refuses $body", async ({ body }) => {
    expect(await judge(body)).toEqual({ document: false, code: false });
  });
});

/** The one that serves the path. */
async function apiOf(path: string): Promise<Pick<Api, "routes">> {
  const served = TOPOLOGY.functions.find(({ routes = [] }) => routes.some((route) => route.path === path));
  return ((await import(`../../../functions/${served?.name}/handler.ts`)) as { api: Pick<Api, "routes"> }).api;
}

describe("what a query may say only beside other parameters", () => {
  const parametersOf = (name: string) => {
    const operation = operations.find((each) => each.name === name)?.operation as unknown as {
      parameters: { name: string; description?: string; schema: { enum?: string[]; default?: unknown } }[];
    };
    return new Map(operation.parameters.map((parameter) => [parameter.name, parameter]));
  };

  it.each([
    ["POST /spider/crawl", "result_mode", ["280 s at the most", "stream", "store"]],
    ["POST /spider/crawl", "max_pages", ["result_mode=pages alone", "1000 where left out", "max_pages of the body"]],
    ["POST /spider/crawl", "detach", ["Refused as true with result_mode=store"]],
    ...["POST /spider/crawl", "GET /jobs/{job_id}/stream", "GET /api/v1/jobs/{job_id}/results"].flatMap((name) => [
      [name, "include", ["url, depth and status_code", "Names with commas between them", "no_document"]] as const,
      [name, "exclude", ["no effect beside include", "Names with commas between them", "no_document"]] as const,
    ]),
  ] as const)("is said of it: %s, %s", (name, parameter, said) => {
    const description = parametersOf(name).get(parameter)?.description ?? "";
    for (const words of said) expect(description).toContain(words);
  });

  it.each([
    [{ result_mode: "pages", max_pages: "10" }, true],
    [{ max_pages: "10" }, false],
    [{ result_mode: "store", detach: "true" }, false],
    [{ result_mode: "store", detach: "false" }, true],
    [{ result_mode: "stream", detach: "1" }, true],
  ])("is held to: the spider's %j, taken %j", (query, taken) => {
    expect(crawlQuerySchema.safeParse(query).success).toBe(taken);
  });

  it("has the words for a yes and a no, with the one that is meant where it is left out", () => {
    const detach = parametersOf("POST /spider/crawl").get("detach");
    expect(detach?.schema).toMatchObject({ enum: ["true", "1", "false", "0"], default: "false" });
    const read = (detach?.schema.enum ?? []).map((word) => crawlQuerySchema.parse({ detach: word }).detach);
    expect(read).toEqual([true, true, false, false]);
    expect(crawlQuerySchema.parse({}).detach).toBe(false);
  });
});

describe("what clients are generated from", () => {
  const document = JSON.parse(readFileSync(OPENAPI_FILE, "utf8")) as {
    paths: Record<string, Record<string, GeneratedFrom>>;
    components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
  };
  interface GeneratedFrom {
    operationId: string;
    tags: string[];
    security: Record<string, unknown>[];
    parameters?: { name: string; in: string; required: boolean; schema: { type?: unknown; default?: unknown } }[];
    requestBody?: { content: Record<string, { schema: object }> };
    responses: Record<string, object>;
  }
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  );

  it("has one name for each operation, which is a method's in any language", () => {
    const names = all.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+([A-Z][a-z]+)+$|^(search|scrape)$/);
  });

  it("has no object with fields but in a schema with a name", () => {
    const unnamed = (schema: unknown): boolean =>
      typeof schema === "object" &&
      schema !== null &&
      (("properties" in schema && "type" in schema) || Object.values(schema).some(unnamed));
    for (const { name, operation } of all) {
      const contents = [operation.requestBody, ...Object.values(operation.responses)].filter(
        (each) => each !== undefined && "content" in each,
      );
      expect(unnamed(contents), name).toBe(false);
    }
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
  });

  it("takes a key in either header, and says which routes need none", () => {
    const { api_key, api_key_header } = document.components.securitySchemes;
    expect(api_key).toMatchObject({ type: "http", scheme: "bearer" });
    expect(api_key_header).toMatchObject({ type: "apiKey", in: "header", name: "X-API-Key" });
    const keyless = all.filter(({ operation }) => operation.security.length === 0).map(({ path }) => path);
    expect([...new Set(keyless)].toSorted()).toEqual(PUBLIC);
    for (const { operation } of all.filter(({ path }) => !PUBLIC.includes(path))) {
      expect(operation.security).toEqual(expect.arrayContaining([{ api_key: [] }, { api_key_header: [] }]));
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["401", "403", "429"]));
    }
  });
  const PUBLIC = [
    ...["/", "/api/health", "/api/v1/health", "/api/v1/health/ready", "/docs", "/docs/{page}", "/healthz"],
    "/openapi.json",
  ];

  it("has parameters with defaults of their own type, each path's as required", () => {
    for (const { name, path, operation } of all) {
      const parameters = operation.parameters ?? [];
      const inPath = parameters.filter((each) => each.in === "path");
      expect(
        inPath.map((each) => `{${each.name}}`),
        name,
      ).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }) => required)).toBe(true);
      for (const { schema } of parameters) {
        expect(Array.isArray(schema.type)).toBe(false);
        if (schema.default === undefined) continue;
        expect(schema.type).toBe(typeof schema.default === "number" ? "integer" : typeof schema.default);
      }
    }
  });
});
