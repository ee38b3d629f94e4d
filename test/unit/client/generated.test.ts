import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { GENERATED, generate } from "../../../client/generate.ts";

it("has the types and operations of the OpenAPI document (npx node client/generate.ts writes them)", () => {
  const made = generate();
  expect(readFileSync(GENERATED.types, "utf8")).toBe(made.types);
  expect(readFileSync(GENERATED.operations, "utf8")).toBe(made.operations);
});
