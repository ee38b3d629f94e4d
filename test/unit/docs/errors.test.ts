import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CAPTURE_ERROR_CODES } from "../../../shared/capture/capture.ts";

const ROOT = join(import.meta.dirname, "../../..");
const guide = (name: string) => readFile(join(ROOT, "docs/guide", name), "utf8");

test("the table of capture codes holds each code of the code, with its state", async () => {
  const captures = (await guide("errors.md")).split("## Captures")[1] ?? "";
  const listed = captures.split("\n").flatMap((line) => {
    const [, codes = "", state = ""] = line.split("|").map((cell) => cell.trim());
    return [...codes.matchAll(/`([A-Z_]+)`/g)].map((match) => [match[1], state] as const);
  });
  expect(Object.fromEntries(listed)).toEqual(CAPTURE_ERROR_CODES);
});

test("the guide holds each code that a route answers with, or, for the harvester, the text that stands for it", async () => {
  const [api = ""] = (await guide("errors.md")).split("## Rendering");
  const harvest = await guide("harvest.md");
  const answers: { code: string; message: string }[] = [];
  for await (const file of glob(["functions/**/*.ts", "shared/**/*.ts"], { cwd: ROOT })) {
    const source = await readFile(join(ROOT, file), "utf8");
    // the code is a field of the third argument; a template in the second may hold anything but a semicolon
    for (const [, message = "", code = ""] of source.matchAll(
      /new ApiError\(\s*\d{3},\s*"?([^;]*?)"?,\s*\{[^;]*?code: "([A-Z_]+)"/g,
    )) {
      answers.push({ code, message });
    }
  }
  expect(answers.length).toBeGreaterThan(30);
  for (const { code, message } of answers) {
    expect(api.includes(`\`${code}\``) || harvest.includes(`\`${message}\``), code).toBe(true);
  }
});
