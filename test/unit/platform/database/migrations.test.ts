import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const DIRECTORY = join(import.meta.dirname, "../../../../shared/platform/database/migrations");

test("migrations are numbered one after the other", async () => {
  const files = (await readdir(DIRECTORY)).sort();
  expect(files.map((file) => file.slice(0, 5))).toEqual(
    files.map((_, index) => `${String(index + 1).padStart(4, "0")}_`),
  );
});
