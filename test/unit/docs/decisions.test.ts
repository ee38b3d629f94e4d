import { access, readdir, readFile } from "node:fs/promises";
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

test("what holds the reference is there: each test that its table names", async () => {
  const tests = join(FOLDER, "../../test");
  const table = await readFile(join(FOLDER, "0072-what-holds-the-reference.md"), "utf8");
  const rows = table.split("\n").filter((line) => /^\| (?!section|---)/.test(line));
  const named = rows.flatMap((row) => {
    const cell = row.split(" | ")[2] ?? "";
    const paths = [...cell.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
    expect([row, paths.length + Number(cell.startsWith("the same"))]).not.toEqual([row, 0]);
    return paths;
  });
  const folders = ["", "integration/", "integration/functions/", "integration/archive/"];
  for (const path of named) {
    const short = path.replace("…/", "");
    const places = folders.flatMap((folder) => [`${folder}${short}.test.ts`, `${folder}${short}`]);
    const there = await Promise.all(
      places.map((place) =>
        access(join(tests, place)).then(
          () => true,
          () => false,
        ),
      ),
    );
    expect([path, there.includes(true)]).toEqual([path, true]);
  }
  expect(named.length).toBeGreaterThan(25);
});
