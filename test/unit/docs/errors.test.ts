import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CAPTURE_ERROR_CODES } from "../../../shared/capture/capture.ts";

const DOCS = join(import.meta.dirname, "../../../docs/guide/errors.md");

test("the table of capture codes holds each code of the code, with its state", async () => {
  const captures = (await readFile(DOCS, "utf8")).split("## Captures")[1] ?? "";
  const listed = captures.split("\n").flatMap((line) => {
    const [, codes = "", state = ""] = line.split("|").map((cell) => cell.trim());
    return [...codes.matchAll(/`([A-Z_]+)`/g)].map((match) => [match[1], state] as const);
  });
  expect(Object.fromEntries(listed)).toEqual(CAPTURE_ERROR_CODES);
});
