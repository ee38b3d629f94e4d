import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Api } from "../../../functions/adapters/api/api.ts";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { TOPOLOGY } from "../../../infra/topology.ts";
import { callApi, type TestAnswer } from "../../services/api.ts";
import { type ApiSetup, setUpApi } from "./api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ ARCHIVE__PUBLIC: "false" });
});
afterAll(() => setup.close());

const FUNCTIONS = join(import.meta.dirname, "../../../functions");
const apiFunctions = TOPOLOGY.functions.filter((each) => each.routes !== undefined);
const built = apiFunctions.filter(({ name }) => readdirSync(FUNCTIONS).includes(name));
const load = async (name: string) =>
  ((await import(join(FUNCTIONS, name, "handler.ts"))) as { api: Api | StreamApi }).api;

it.each(built.map(({ name, routes = [] }) => ({ name, routes })))(
  "$name serves exactly the routes that the topology declares",
  async ({ name, routes }) => {
    const api = await load(name);
    const text = (each: readonly { method: string; path: string }[]) => each.map((r) => `${r.method} ${r.path}`).sort();
    expect(text(api.routes)).toEqual(text(routes));
    const documented = Object.entries(api.openApi().paths ?? {}).flatMap(([path, operations]) =>
      Object.keys(operations ?? {}).map((method) => ({ method: method.toUpperCase(), path })),
    );
    expect(text(documented)).toEqual(text(routes));
    // a streaming handler's answers are not what the others' are: all of a function's routes are of one kind
    expect(routes.map(({ streaming = false }) => streaming)).toEqual(routes.map(() => "streaming" in api));
  },
);

it("serves whatever lies below /jobs below /api/v1/jobs as well, by the same function", () => {
  const paths = apiFunctions.flatMap(({ name, routes = [] }) => routes.map((r) => `${name} ${r.method} ${r.path}`));
  const short = paths.filter((path) => path.includes(" /jobs/"));
  expect(short).not.toEqual([]);
  expect(paths).toEqual(expect.arrayContaining(short.map((path) => path.replace(" /jobs/", " /api/v1/jobs/"))));
});

const PUBLIC = [
  "/api/v1/health",
  "/api/v1/health/ready",
  "/healthz",
  "/api/health",
  "/",
  "/openapi.json",
  "/docs",
  "/docs/{page}",
];
const ID = "0199b3a0-0000-7000-8000-000000000000";
const guarded = built.flatMap(({ name, routes = [] }) =>
  routes.filter(({ path }) => !PUBLIC.includes(path)).map(({ method, path }) => ({ name, method, path })),
);

/** Each family of the API has a place of its own for it. */
const codeOf = ({ body }: TestAnswer): unknown => body.error_code ?? body.code ?? body.details;

it.each(guarded)("$method $path wants a key", async ({ name, method, path }) => {
  const answer = await callApi(await load(name), { method, path: path.replaceAll(/\{.+?\}/g, ID) });
  expect(answer.status).toBe(401);
  if (method !== "HEAD") expect(codeOf(answer)).toBe("AUTH_REQUIRED");
  expect(answer.headers["www-authenticate"]).toBe("Bearer");
});

const READ = [
  "/api/v1/search",
  "/api/v1/search/vector",
  "/api/v1/search/keyword",
  "/api/v1/context",
  "/api/v1/documents/export",
  "/api/v1/discover/score",
];
/** Who holds these may spend others' work, or see their secrets. */
const ADMIN = [
  /^[A-Z]+ \/api\/v1\/api-keys(?!\/self$)/,
  /\/permanently$/,
  /^POST \/api\/v1\/documents\/reconcile$/,
  /^[A-Z]+ \/api\/admin\//,
  /^GET \/metrics$/,
  /^[A-Z]+ \/api\/v1\/webhooks/,
  /^DELETE \/api\/v1\/cache\//,
  /^(POST|PUT|DELETE) \/api\/v1\/proxies/,
  /^POST \/api\/v1\/execute-js/,
  /^POST \/api\/v1\/(embedding-models|documents\/chunk-sizes)$/,
];
const required = (method: string, path: string) => {
  if (ADMIN.some((pattern) => pattern.test(`${method} ${path}`))) return "admin";
  if (method !== "GET" && /^\/api\/v1\/(cache|proxies)\b/.test(path)) return "admin";
  return method === "GET" || method === "HEAD" || READ.includes(path) ? "read" : "write";
};
// those ask the API of a whole runtime who presents a key
const asksApi = new Set(TOPOLOGY.functions.filter(({ grants }) => grants.api).map(({ name }) => name));
const matrix = guarded.flatMap((route) =>
  (asksApi.has(route.name) ? [] : (["read", "write", "admin"] as const)).map((held) => ({
    ...route,
    held,
    needs: required(route.method, route.path),
  })),
);
const RANK = { read: 0, write: 1, admin: 2 };

it.each(matrix)(
  "$method $path needs $needs, so a key with $held fits or is forbidden",
  async ({ held, needs, method, ...route }) => {
    const path = route.path.replaceAll(/\{.+?\}/g, ID);
    const api = await load(route.name);
    const answer = await callApi(api, {
      method,
      path,
      key: setup.keys[held],
      ...(method === "POST" ? { json: null } : {}),
    });
    if (RANK[held] >= RANK[needs as keyof typeof RANK]) {
      expect([200, 400, 404, 422]).toContain(answer.status);
    } else {
      expect(answer.status).toBe(403);
      if (method === "HEAD") return;
      expect(codeOf(answer)).toBe("FORBIDDEN");
      expect(answer.body.message ?? answer.body.error).toContain(`scope ${needs}`);
    }
  },
);

/** Those that JavaScript would read. */
const NO_DECIMALS = ["0x10", "1e1", " 5 ", "5.0", "+5", ""];

it.each(built.filter(({ name }) => !asksApi.has(name)))(
  "$name reads numbers of queries in decimal digits alone",
  async ({ name }) => {
    const api = await load(name);
    for (const [template, operations] of Object.entries(api.openApi().paths ?? {})) {
      for (const [method, operation] of Object.entries(operations ?? {})) {
        const { parameters = [] } = operation as { parameters?: Parameter[] };
        const numbers = parameters.filter(({ schema }) => schema?.type === "integer");
        const path = numbers.reduce((text, each) => text.replace(`{${each.name}}`, "1"), template);
        for (const parameter of numbers.filter(({ in: where }) => where === "query")) {
          for (const text of NO_DECIMALS) {
            const answer = await callApi(api, {
              method: method.toUpperCase(),
              path: `${path.replaceAll(/\{.+?\}/g, ID)}?${parameter.name}=${encodeURIComponent(text)}`,
              key: setup.keys.admin,
              ...(method === "post" ? { json: {} } : {}),
            });
            const asked = `${method} ${path} ${parameter.name}=${text}`;
            expect([asked, [400, 422].includes(answer.status)]).toEqual([asked, true]);
            if (method !== "head") expect(JSON.stringify(answer.body)).toContain("in decimal digits");
          }
        }
      }
    }
  },
);

interface Parameter {
  name: string;
  in: string;
  schema?: { type?: unknown };
}
