import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "../../../docs/decisions");

test("the index lists each decision under its title, in order, and numbers are used once", async () => {
  const files = (await readdir(FOLDER)).filter((file) => file !== "README.md").sort();
  const titles = await Promise.all(
    files.map(async (file) => (await readFile(join(FOLDER, file), "utf8")).split("\n", 1)[0]?.replace(/^# /, "")),
  );
  const index = await readFile(join(FOLDER, "README.md"), "utf8");
  const listed = index.split("\n").filter((line) => line.startsWith("- ["));
  expect(listed).toEqual(files.map((file, position) => `- [${titles[position]}](${file})`));
  expect(new Set(files.map((file) => file.slice(0, 4))).size).toBe(files.length);
});
