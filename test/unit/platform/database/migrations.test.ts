import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const DIRECTORY = join(import.meta.dirname, "../../../../shared/platform/database/migrations");
/** Two files have this number, and keep it, since installations know migrations by their names. */
const TWICE = "0008";

test("each migration has a number of its own, of four digits", async () => {
  const numbers = (await readdir(DIRECTORY)).map((file) => file.slice(0, 4));
  numbers.splice(numbers.indexOf(TWICE), 1);
  for (const number of numbers) expect(number).toMatch(/^\d{4}$/);
  expect(numbers).toEqual([...new Set(numbers)]);
});
