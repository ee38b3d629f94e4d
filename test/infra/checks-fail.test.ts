/** Each check of `npm run check` is shown a fault of its kind, since a check that cannot fail is none. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const repository = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "strandline checks-"));
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
  for (const name of ["package.json", "tsconfig.json", "knip.jsonc"])
    await cp(join(repository, name), join(folder, name));
  const biome = JSON.parse(await readFile(join(repository, "biome.json"), "utf8"));
  await writeFile(join(folder, "biome.json"), JSON.stringify({ ...biome, vcs: { enabled: false } }));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function outcome(command: string, args: string[]): Promise<{ code: number; output: string }> {
  const options = { cwd: folder, env: { ...process.env, NO_COLOR: "1" } };
  try {
    const { stdout, stderr } = await run(join(repository, "node_modules", ".bin", command), args, options);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

async function write(file: string, source: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), source);
}

test.each([
  ["noFloatingPromises", `async function f(): Promise<void> {}\nexport function g(): void {\n  f();\n}\n`],
  [
    "noMisusedPromises",
    `async function f(): Promise<boolean> {\n  return true;\n}\nexport const g = (): number => (f() ? 1 : 2);\n`,
  ],
  ["noExplicitAny", `export const g = (x: any): unknown => x;\n`],
  ["noSkippedTests", `import { test } from "vitest";\n\ntest.skip("later", () => {});\n`],
  ["noFocusedTests", `import { test } from "vitest";\n\ntest.only("this", () => {});\n`],
])("the linter reports %s", async (rule, source) => {
  await write("test/lint.test.ts", source);
  const { code, output } = await outcome("biome", ["check", "--error-on-warnings", "test/lint.test.ts"]);
  expect(output).toContain(rule);
  expect(code).not.toBe(0);
});

test("the type check reports a wrong type, an unchecked index and syntax that Node cannot erase", async () => {
  await write("shared/a.ts", `export const a: string = [""][0];\nexport enum Colour {\n  Red,\n}\n`);
  const { code, output } = await outcome("tsc", ["--noEmit", "-p", "."]);
  expect(output).toMatch(/a\.ts\(1,.*TS2322/);
  expect(output).toMatch(/a\.ts\(2,.*TS1294/);
  expect(code).not.toBe(0);
});

test("the search for unused code reports an export, a file and a dependency that nobody uses", async () => {
  await write(
    "functions/one/handler.ts",
    `import { used } from "../../shared/b.ts";\n\nexport const handler = used;\n`,
  );
  await write("shared/b.ts", `export const used = 1;\nexport const idle = 2;\n`);
  await write("shared/lonely.ts", `export const x = 1;\n`);
  const { code, output } = await outcome("knip", ["--no-progress"]);
  expect(output).toMatch(/idle\s+shared\/b\.ts/);
  expect(output).toContain("shared/lonely.ts");
  expect(output).toMatch(/warcio\s+package\.json/);
  expect(code).not.toBe(0);
});
