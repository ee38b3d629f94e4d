import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { OPENAPI_FILE, openApiDocument } from "../../../checks/openapi.ts";
import { TOPOLOGY } from "../../../infra/topology.ts";
import { compiled, readDocument } from "../../services/documented-answers.ts";

const API_GUIDE = join(import.meta.dirname, "../../../docs/guide/api.md");

it("is written down as the routes in the code have it (npx node checks/openapi.ts writes it)", async () => {
  expect(await readFile(OPENAPI_FILE, "utf8")).toBe(await openApiDocument());
});

it("describes every route of the topology", async () => {
  const { paths } = JSON.parse(await openApiDocument()) as { paths: Record<string, Record<string, unknown>> };
  for (const { method, path } of TOPOLOGY.functions.flatMap(({ routes = [] }) => routes)) {
    expect(Object.keys(paths[path] ?? {}), path).toContain(method.toLowerCase());
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
    const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap(({ content = {} } = {}) =>
      Object.values(content),
    );
    for (const { schema } of contents) {
      expect(compiled(schema)).toBeTypeOf("function");
      // the flags of an expression would stand at its end, as a part of it
      expect(JSON.stringify(schema)).not.toMatch(/"pattern":"[^"]*\/[dgimsuvy]+"/);
    }
  },
);
