import { describe, expect, test } from "vitest";
import { findSuppressions } from "../../checks/suppressions.ts";

// put together here, so that this file itself holds none
const directive = (name: string): string => `// ${name}`;

describe("suppressions", () => {
  test.each([
    [`${directive("@ts-ignore")} the types of this package are wrong\nf();`, "compiler comment"],
    [`${directive("@ts-nocheck")} generated, nobody reads it\nf();`, "compiler comment"],
    [`${directive("@ts-expect-error")}\nf();`, "compiler comment"],
    [`${directive("biome-ignore-all")} lint: this whole file is generated\nf();`, "lint comment"],
    [`${directive("biome-ignore")} lint/style/useConst: x\nlet a = 1;`, "lint comment"],
    [`/* eslint-disable */\nf();`, "lint comment"],
  ])("%j fails the check", (source, what) => {
    expect(findSuppressions("a.ts", source)).toEqual([
      expect.objectContaining({ what, line: 1, fault: expect.any(String) }),
    ]);
  });

  test.each([
    ["const x = (y as unknown as X);", "double cast"],
    [`${directive("@ts-expect-error")} the package's types lack this field\nf();`, "compiler comment"],
    [`${directive("biome-ignore")} lint/style/useConst: reassigned by the test harness\nlet a = 1;`, "lint comment"],
  ])("%j is listed and passes", (source, what) => {
    const found = findSuppressions("a.ts", source);
    expect(found).toEqual([expect.objectContaining({ what })]);
    expect(found[0]).not.toHaveProperty("fault");
  });

  test("a cast to any fails, a declared any is listed", () => {
    expect(findSuppressions("a.ts", "const x = y as any;")).toContainEqual(
      expect.objectContaining({ what: "cast to any", fault: expect.any(String) }),
    );
    expect(findSuppressions("a.ts", "function f(x: any) {}")).toEqual([
      { file: "a.ts", line: 1, what: "any", text: "any" },
    ]);
  });

  test("a string or a word in a comment is none", () => {
    expect(findSuppressions("a.ts", `const s = "@ts-ignore any"; // any of these, see biome-ignore\n`)).toEqual([]);
  });
});
