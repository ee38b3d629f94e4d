import { describe, expect, test } from "vitest";
import { findLineFaults } from "../../checks/lines.ts";

const words = "a word ".repeat(20);
const url = `https://example.org/${"x".repeat(120)}`;

describe("a line of more than 120 columns fails the check", () => {
  test.each([
    ["as a comment", `// ${words}`],
    ["as a doc comment", `/** ${words} */`],
    ["as a comment behind code", `const a = 1; // ${words}`],
    ["as a text", `const a = "${words}";`],
    ["as a template of one line", `const a = \`${words}\${b}\`;`],
    ["as a message of an error", `throw new Error("${words}");`],
  ])("%s", (_, line) => {
    expect(findLineFaults("shared/a.ts", `f();\n${line}\n`)).toEqual([
      { file: "shared/a.ts", line: 2, what: "too long" },
    ]);
  });

  test("by one column, counted in characters", () => {
    const comment = (length: number): string => `// ${"ü 😀 ".repeat(40)}`.slice(0, 30).padEnd(length, " a");
    const columns = [...comment(300)].length - 300;
    expect(findLineFaults("shared/a.ts", comment(120 - columns))).toEqual([]);
    expect(findLineFaults("shared/a.ts", comment(121 - columns))).toHaveLength(1);
  });
});

describe("a line may be longer", () => {
  test.each([
    ["as a regular expression", `const a = /${"(a|b)".repeat(30)}/;`],
    ["as a text without blanks", `const a = "${url}";`],
    ["within SQL", `const a = sql\`select ${words}\`;`],
    ["within a template of several lines", `const a = \`${words}\n${words}\`;`],
    ["as a comment that tools read", `// biome-ignore lint/style/useConst: ${words}\nlet a = 1;`],
  ])("%s", (_, source) => {
    expect(findLineFaults("shared/a.ts", source)).toEqual([]);
  });

  test("as test data and as the title of a test, in tests only", () => {
    const title = `test("${words.slice(0, 100)}", async () => { expect(1).toBe(1); });`;
    const data = `const page = "<p>${words}</p>";`;
    for (const source of [title, data]) {
      expect(findLineFaults("test/unit/a.test.ts", source)).toEqual([]);
      expect(findLineFaults("shared/a.ts", source)).toHaveLength(1);
    }
    expect(findLineFaults("test/unit/a.test.ts", `// ${words}`)).toHaveLength(1);
  });
});

describe("a tag of a doc comment", () => {
  test.each([
    "/** Reads it. @returns what it holds */",
    "/** @param a first @param b second */",
    "/**\n * Reads it. @throws Error where there is none\n */",
    "/** Adds. @example add(1, 2) // 3 */",
  ])("fails the check behind words: %j", (comment) => {
    expect(findLineFaults("shared/a.ts", `${comment}\nf();`)).toEqual([
      expect.objectContaining({ what: "tag within a line" }),
    ]);
  });

  test.each([
    "/** @returns what it holds */",
    "/**\n * Reads it.\n * @throws Error where there is none\n * @returns what it holds\n */",
    "/** Puts `@param` first. */",
    "// Reads it. @returns what it holds",
    'const a = "Reads it. @returns what it holds";',
  ])("passes as the first of its line, and where it is none: %j", (source) => {
    expect(findLineFaults("shared/a.ts", `${source}\nf();`)).toEqual([]);
  });
});
