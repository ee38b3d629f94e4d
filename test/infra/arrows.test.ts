import { describe, expect, test } from "vitest";
import { findViolations } from "../../checks/arrows.ts";
import { circles } from "../../checks/circles.ts";
import { readImports } from "../../checks/imports.ts";

const rulesBroken = (from: string, source: string): string[] =>
  findViolations(readImports(from, source)).map(({ rule }) => rule);

describe("dependencies point one way", () => {
  test.each([
    ["shared/crawl/fetch/a.ts", "../../../functions/fetch/handler.ts"],
    ["shared/crawl/fetch/a.ts", "../../../infra/topology.ts"],
    ["shared/crawl/fetch/a.ts", "../../../local/start.ts"],
    ["shared/crawl/fetch/a.ts", "../../../cli/main.ts"],
    ["shared/crawl/fetch/a.ts", "../../../demo/demo.ts"],
    ["shared/platform/a.ts", "../access/url-guard.ts"],
    ["shared/access/a.ts", "../crawl/urls/scope.ts"],
    ["shared/extract/a.ts", "../capture/capture.ts"],
    ["shared/capture/a.ts", "../crawl/urls/scope.ts"],
    ["shared/knowledge/a.ts", "../crawl/urls/scope.ts"],
    ["shared/crawl/http/a.ts", "../fetch/fetch-page.ts"],
    ["shared/crawl/fetch/a.ts", "../ingest/ingest-batch.ts"],
    ["shared/crawl/rendering/a.ts", "../jobs/lifecycle.ts"],
    ["shared/crawl/frontier/a.ts", "../ingest/outcomes.ts"],
    ["shared/harvest/a.ts", "../crawl/frontier/claim.ts"],
    ["functions/adapters/queue/a.ts", "../api/route.ts"],
    ["local/aws/a.ts", "../lambda/container.ts"],
    ["shared/archive/a.ts", "../crawl/urls/scope.ts"],
    ["shared/archive/a.ts", "../knowledge/search/search.ts"],
    ["shared/notify/a.ts", "../crawl/urls/scope.ts"],
    ["shared/harvest/a.ts", "../knowledge/search/search.ts"],
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
    ["cli/main.ts", "../shared/crawl/urls/scope.ts"],
    ["demo/demo.ts", "../shared/knowledge/search/search.ts"],
    ["checks/a.ts", "../shared/crawl/urls/scope.ts"],
  ])("%s may not import %s", (from, to) => {
    expect(rulesBroken(from, `import { x } from "${to}";`)).toEqual(["arrow"]);
  });

  test.each([
    ["shared/crawl/fetch/a.ts", "../../platform/ids.ts"],
    ["shared/crawl/ingest/a.ts", "../../knowledge/documents/generations.ts"],
    ["shared/crawl/fetch/a.ts", "../politeness/pace.ts"],
    ["shared/crawl/recovery/a.ts", "../frontier/claim.ts"],
    ["shared/knowledge/embedding/a.ts", "../search/search.ts"],
    ["functions/adapters/crawling/a.ts", "../api/route.ts"],
    ["shared/archive/a.ts", "../capture/capture.ts"],
    ["shared/knowledge/a.ts", "../extract/chunks/chunk.ts"],
    ["functions/fetch/handler.ts", "../adapters/queue/consumer.ts"],
    ["functions/fetch/handler.ts", "./dependencies.ts"],
    ["functions/fetch/handler.ts", "../../shared/crawl/fetch/run-task.ts"],
    ["infra/app.ts", "./topology.ts"],
    ["local/start.ts", "../infra/topology.ts"],
    ["local/start.ts", "../functions/fetch/handler.ts"],
  ])("%s may import %s", (from, to) => {
    expect(rulesBroken(from, `import { x } from "${to}";`)).toEqual([]);
  });

  test.each([
    ["a type import", `import type { X } from "../../../infra/topology.ts";`],
    ["an inline type import", `import { type X } from "../../../infra/topology.ts";`],
    ["an import for its effects", `import "../../../infra/topology.ts";`],
    ["a re-export", `export { x } from "../../../infra/topology.ts";`],
    ["a re-export of everything", `export * from "../../../infra/topology.ts";`],
    ["a dynamic import", `export const load = () => import("../../../infra/topology.ts");`],
    ["the type of an import", `export type X = import("../../../infra/topology.ts").X;`],
    ["the URL of a module", `new Worker(new URL("../../../infra/topology.ts", import.meta.url));`],
  ])("%s counts as an import", (_what, source) => {
    expect(rulesBroken("shared/crawl/fetch/a.ts", source)).toEqual(["arrow"]);
  });

  test.each([
    ["shared/crawl/fetch/a.ts", "aws-cdk-lib/aws-sqs"],
    ["functions/fetch/handler.ts", "aws-cdk-lib"],
    ["shared/crawl/fetch/a.ts", "aws-lambda"],
    ["functions/fetch/handler.ts", "fauxqs"],
    ["shared/crawl/fetch/a.ts", "vitest"],
  ])("%s may not use the package %s", (from, name) => {
    expect(rulesBroken(from, `import { x } from "${name}";`)).toEqual(["package"]);
  });

  test("a folder without declared arrows is reported", () => {
    expect(rulesBroken("extras/a.ts", `import "../shared/platform/ids.ts";`)).toEqual(["room"]);
    expect(rulesBroken("shared/crawl/a.ts", `import "./urls/scope.ts";`)).toEqual(["room"]);
    expect(rulesBroken("shared/crawl/urls/a.ts", `import "../newcomer/a.ts";`)).toEqual(["arrow"]);
  });
});

describe("the side with internet", () => {
  const database = `import type { Sql } from "../../platform/database/database.ts";`;

  test.each(["shared/crawl/fetch/a.ts", "shared/crawl/rendering/a.ts"])("%s does not reach the database", (file) => {
    expect(rulesBroken(file, database)).toEqual(["reach"]);
    expect(rulesBroken(file, `import postgres from "postgres";`)).toEqual(["reach"]);
  });

  test("the way there is told, over however many files", () => {
    const imports = [
      ...readImports("functions/fetch/handler.ts", `import { b } from "../../shared/access/b.ts";`),
      ...readImports("shared/access/b.ts", `import { c } from "./c.ts";`),
      ...readImports("shared/access/c.ts", `import { sql } from "../platform/database/rows.ts";`),
    ];
    expect(findViolations(imports).map(({ rule, message }) => [rule, message.split(":")[0]])).toEqual([
      [
        "reach",
        "functions/fetch/handler.ts → shared/access/b.ts → shared/access/c.ts → shared/platform/database/rows.ts",
      ],
    ]);
  });

  test("ingest may", () => {
    expect(rulesBroken("shared/crawl/ingest/a.ts", database)).toEqual([]);
  });
});

describe("circles", () => {
  test("files that import one another are reported, types included", () => {
    const imports = [
      ...readImports("shared/crawl/urls/a.ts", `import { b } from "./b.ts";`),
      ...readImports("shared/crawl/urls/b.ts", `export * from "./c.ts";`),
      ...readImports("shared/crawl/urls/c.ts", `import type { a } from "./a.ts";`),
      ...readImports("shared/crawl/urls/d.ts", `import { a } from "./a.ts";`),
    ];
    expect(findViolations(imports)).toEqual([
      {
        rule: "circle",
        message:
          "circle: shared/crawl/urls/a.ts → shared/crawl/urls/b.ts → shared/crawl/urls/c.ts → shared/crawl/urls/a.ts",
      },
    ]);
  });

  test("rooms that import one another are reported, though their files do not", () => {
    const imports = [
      ...readImports("shared/harvest/a.ts", `import { b } from "../crawl/urls/b.ts";`),
      ...readImports("shared/crawl/urls/c.ts", `import { d } from "../../harvest/d.ts";`),
    ];
    expect(findViolations(imports).filter(({ rule }) => rule === "circle")).toEqual([
      { rule: "circle", message: "circle: shared/harvest → shared/crawl/urls → shared/harvest" },
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
