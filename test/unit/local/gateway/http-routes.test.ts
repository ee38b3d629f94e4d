import { expect, test } from "vitest";
import type { FunctionSpec, Topology } from "../../../../infra/topology/spec.ts";
import { compileRoutes } from "../../../../local/gateway/http-routes.ts";

const spec: FunctionSpec = {
  name: "api",
  about: "",
  timeoutS: 1,
  memoryMb: 128,
  network: "private",
  grants: {},
  localContainers: 1,
  routes: [
    { method: "GET", path: "/jobs/{id}" },
    { method: "DELETE", path: "/jobs/{id}" },
    { method: "GET", path: "/jobs/latest" },
    { method: "POST", path: "/jobs/{id}/cancel" },
    { method: "GET", path: "/files/{path+}" },
    { method: "GET", path: "/{any+}" },
  ],
};
const topology: Topology = { functions: [spec], queues: [] };
const match = compileRoutes(topology);

test.for([
  ["GET", "/jobs/7", "/jobs/{id}", { id: "7" }],
  ["GET", "/jobs/a%2Fb", "/jobs/{id}", { id: "a/b" }],
  ["GET", "/jobs/latest", "/jobs/latest", null],
  ["GET", "/jobs/latest/", "/jobs/latest", null],
  ["POST", "/jobs/7/cancel", "/jobs/{id}/cancel", { id: "7" }],
  ["GET", "/files/a/b.txt", "/files/{path+}", { path: "a/b.txt" }],
  ["GET", "/spider+extract", "/{any+}", { any: "spider+extract" }],
  ["GET", "/jobs/%zz", "/jobs/{id}", { id: "%zz" }],
] as const)("%s %s is for %s", ([method, path, resource, pathParameters]) => {
  expect(match(method, path)).toEqual({ spec, resource, pathParameters, isThrottled: false });
});

test("a path with another method names the methods it takes", () => {
  expect(match("PUT", "/jobs/7")).toEqual({ allow: ["GET", "DELETE"] });
});

test("a path with a plus, which no resource may hold, is the root's, and nothing else is", () => {
  const { routes: _, ...rest } = spec;
  const plus: FunctionSpec = { ...rest, routes: [{ method: "POST", path: "/spider+extract" }] };
  const route = compileRoutes({ functions: [plus], queues: [] });
  const matched = {
    spec: plus,
    resource: "/{proxy+}",
    pathParameters: { proxy: "spider+extract" },
    isThrottled: false,
  };
  expect(route("POST", "/spider+extract")).toEqual(matched);
  expect(route("POST", "/spider%2Bextract")).toEqual(matched);
  expect(route("POST", "/spider%2bextract/")).toEqual(matched);
  expect(route("GET", "/spider+extract")).toEqual({ allow: ["POST"] });
  expect(route("POST", "/spiderextract")).toBeUndefined();
  expect(route("POST", "/anything/else")).toBeUndefined();
});

test("an empty parameter is no match", () => {
  expect(
    compileRoutes({ functions: [{ ...spec, routes: spec.routes?.slice(0, 4) ?? [] }], queues: [] })("GET", "/jobs/"),
  ).toBeUndefined();
});
