import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const DIRECTORY = join(import.meta.dirname, "../../../../shared/platform/database/migrations");
/** Two files have this number, and keep it, since installations know migrations by their names. */
const TWICE = "0008";

test("migrations are numbered one after the other", async () => {
  const numbers = (await readdir(DIRECTORY)).sort().map((file) => file.slice(0, 4));
  numbers.splice(numbers.indexOf(TWICE), 1);
  expect(numbers).toEqual(numbers.map((_, index) => String(index + 1).padStart(4, "0")));
});
