import { describe, expect, test } from "vitest";
import { findViolations } from "../../checks/arrows.ts";
import { circles } from "../../checks/circles.ts";
import { readImports } from "../../checks/imports.ts";

const rulesBroken = (from: string, source: string): string[] =>
  findViolations(readImports(from, source)).map(({ rule }) => rule);

describe("dependencies point one way", () => {
  test.each([
    ["shared/crawl/a.ts", "../../functions/fetch/handler.ts"],
    ["shared/crawl/a.ts", "../../infra/topology.ts"],
    ["shared/crawl/a.ts", "../../local/start.ts"],
    ["shared/crawl/a.ts", "../../cli/main.ts"],
    ["shared/crawl/a.ts", "../../demo/demo.ts"],
    ["shared/platform/a.ts", "../access/url-guard.ts"],
    ["shared/access/a.ts", "../crawl/scope.ts"],
    ["shared/extract/a.ts", "../capture/capture.ts"],
    ["shared/capture/a.ts", "../crawl/scope.ts"],
    ["shared/knowledge/a.ts", "../crawl/scope.ts"],
    ["shared/archive/a.ts", "../crawl/scope.ts"],
    ["shared/archive/a.ts", "../knowledge/search.ts"],
    ["shared/notify/a.ts", "../crawl/scope.ts"],
    ["shared/harvest/a.ts", "../knowledge/search.ts"],
    ["functions/fetch/handler.ts", "../ingest/handler.ts"],
    ["functions/fetch/handler.ts", "../../infra/topology.ts"],
    ["functions/fetch/handler.ts", "../../local/start.ts"],
    ["functions/adapters/a.ts", "../fetch/handler.ts"],
    ["infra/stacks/api.ts", "../../shared/platform/config.ts"],
    ["infra/stacks/api.ts", "../../functions/fetch/handler.ts"],
    ["infra/topology.ts", "../shared/platform/ids.ts"],
    ["local/start.ts", "../infra/app.ts"],
    ["local/start.ts", "../cli/main.ts"],
    ["cli/main.ts", "../functions/fetch/handler.ts"],
    ["cli/main.ts", "../shared/crawl/scope.ts"],
    ["demo/demo.ts", "../shared/knowledge/search.ts"],
    ["checks/a.ts", "../shared/crawl/scope.ts"],
  ])("%s may not import %s", (from, to) => {
    expect(rulesBroken(from, `import { x } from "${to}";`)).toEqual(["arrow"]);
  });

  test.each([
    ["shared/crawl/a.ts", "../platform/ids.ts"],
    ["shared/crawl/a.ts", "../knowledge/generations.ts"],
    ["shared/archive/a.ts", "../capture/capture.ts"],
    ["shared/knowledge/a.ts", "../extract/chunks.ts"],
    ["functions/fetch/handler.ts", "../adapters/queue-consumer.ts"],
    ["functions/fetch/handler.ts", "./dependencies.ts"],
    ["functions/fetch/handler.ts", "../../shared/crawl/fetcher.ts"],
    ["infra/app.ts", "./topology.ts"],
    ["local/start.ts", "../infra/topology.ts"],
    ["local/start.ts", "../functions/fetch/handler.ts"],
  ])("%s may import %s", (from, to) => {
    expect(rulesBroken(from, `import { x } from "${to}";`)).toEqual([]);
  });

  test.each([
    ["a type import", `import type { X } from "../../infra/topology.ts";`],
    ["an inline type import", `import { type X } from "../../infra/topology.ts";`],
    ["an import for its effects", `import "../../infra/topology.ts";`],
    ["a re-export", `export { x } from "../../infra/topology.ts";`],
    ["a re-export of everything", `export * from "../../infra/topology.ts";`],
    ["a dynamic import", `export const load = () => import("../../infra/topology.ts");`],
    ["the type of an import", `export type X = import("../../infra/topology.ts").X;`],
    ["the URL of a module", `new Worker(new URL("../../infra/topology.ts", import.meta.url));`],
  ])("%s counts as an import", (_what, source) => {
    expect(rulesBroken("shared/crawl/a.ts", source)).toEqual(["arrow"]);
  });

  test.each([
    ["shared/crawl/a.ts", "aws-cdk-lib/aws-sqs"],
    ["functions/fetch/handler.ts", "aws-cdk-lib"],
    ["shared/crawl/a.ts", "aws-lambda"],
    ["functions/fetch/handler.ts", "fauxqs"],
    ["shared/crawl/a.ts", "vitest"],
  ])("%s may not use the package %s", (from, name) => {
    expect(rulesBroken(from, `import { x } from "${name}";`)).toEqual(["package"]);
  });

  test("a folder without declared arrows is reported", () => {
    expect(rulesBroken("extras/a.ts", `import "../shared/platform/ids.ts";`)).toEqual(["area"]);
    expect(rulesBroken("shared/crawl/a.ts", `import "../newcomer/a.ts";`)).toEqual(["arrow"]);
  });
});

describe("circles", () => {
  test("files that import one another are reported, types included", () => {
    const imports = [
      ...readImports("shared/crawl/a.ts", `import { b } from "./b.ts";`),
      ...readImports("shared/crawl/b.ts", `export * from "./c.ts";`),
      ...readImports("shared/crawl/c.ts", `import type { a } from "./a.ts";`),
      ...readImports("shared/crawl/d.ts", `import { a } from "./a.ts";`),
    ];
    expect(findViolations(imports)).toEqual([
      {
        rule: "circle",
        message: "circle: shared/crawl/a.ts → shared/crawl/b.ts → shared/crawl/c.ts → shared/crawl/a.ts",
      },
    ]);
  });

  test("a diamond is no circle", () => {
    expect(
      circles([
        ["a", "b"],
        ["a", "c"],
        ["b", "d"],
        ["c", "d"],
      ]),
    ).toEqual([]);
  });

  test("two circles are told apart, and a file that imports itself is one", () => {
    const found = circles([
      ["a", "b"],
      ["b", "a"],
      ["b", "c"],
      ["c", "d"],
      ["d", "c"],
      ["e", "e"],
    ]);
    expect(found.map((each) => each.toSorted()).toSorted()).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  });
});
