/** The examples in doc comments, run: what stands behind `// =>` is what the line gives. */
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const MARK = " // => ";
const THROWS = /^throws (\w+)$/;

interface Example {
  file: string;
  /** The line of the doc comment. */
  line: number;
  code: string[];
}

/** Examples with at least one result; others show how things are put together. */
function examplesIn(file: string, source: string): Example[] {
  return parseSync(file, source).comments.flatMap(({ value, start }) => {
    if (!value.startsWith("*")) return [];
    const lines = value.split("\n").map((line) => line.replace(/^\s*\* ?/, ""));
    return lines.flatMap((line, index) => {
      if (line.trim() !== "@example") return [];
      const rest = lines.slice(index + 1);
      const end = rest.findIndex((each) => each.trim() === "" || each.startsWith("@"));
      const code = end === -1 ? rest : rest.slice(0, end);
      const at = source.slice(0, start).split("\n").length;
      return code.some((each) => each.includes(MARK)) ? [{ file, line: at, code }] : [];
    });
  });
}

/** One function of the example: its results and what was expected, in pairs. */
function run(code: readonly string[], scope: Record<string, unknown>): unknown[][] {
  const body = code.map((line) => {
    const [before = "", after] = line.split(MARK);
    if (after === undefined) return before;
    const error = THROWS.exec(after)?.[1];
    if (error === undefined) return `results.push([(${before}), (${after})]);`;
    return `try { results.push([(${before}), "${error}"]) } catch (e) { results.push([e.constructor.name, "${error}"]) }`;
  });
  const script = `const results = [];\n${body.join("\n")}\nreturn results;`;
  return compileFunction(script, Object.keys(scope))(...Object.values(scope)) as unknown[][];
}

const examples: Example[] = [];
for await (const file of glob("{shared,functions,infra,local,cli}/**/*.ts", { cwd: ROOT })) {
  const source = await readFile(join(ROOT, file), "utf8");
  if (source.includes(MARK)) examples.push(...examplesIn(file.replaceAll("\\", "/"), source));
}

describe("an example gives what it says", () => {
  test.each(examples.map((each) => [`${each.file}:${each.line}`, each] as const))("%s", async (_, { file, code }) => {
    const results = run(code, { ...(await import(join(ROOT, file))) });
    expect(results.length).toBeGreaterThan(0);
    for (const [given, expected] of results) expect(given).toEqual(expected);
  });
});

test("the functions that a newcomer meets first have one", () => {
  const all = examples.flatMap(({ code }) => code).join("\n");
  const called = ["normalizeUrl", "parseRobots", "isAllowed", "paceOf", "extractPage", "chunkText", "decodeText"];
  called.push("reciprocalRankFusion", "createUrlGuard", "metricSet", "loadConfig", "outcomeOf", "retryAfterMs");
  expect(called.filter((name) => !all.includes(`${name}(`))).toEqual([]);
});

test("an example that says something else is found", () => {
  const source =
    "/**\n * Adds.\n * @example\n * const a = 1;\n * a + 1 // => 3\n * a.b.c // => throws TypeError\n */\nf();";
  const [example] = examplesIn("shared/a.ts", source);
  expect(example).toMatchObject({ line: 1, code: expect.arrayContaining(["a + 1 // => 3"]) });
  expect(run(example?.code.slice(0, 3) ?? [], {})).toEqual([
    [2, 3],
    ["TypeError", "TypeError"],
  ]);
});
