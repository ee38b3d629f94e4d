import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CAPTURE_ERROR_CODES } from "../../../shared/capture/capture.ts";
import { readDocument } from "../../services/documented-answers.ts";

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

test("the guide holds each code that a route answers with, at its status, or, for the harvester, the text that stands for it", async () => {
  const [api = ""] = (await guide("errors.md")).split("## Rendering");
  const harvest = await guide("harvest.md");
  const rows = api.split("\n");
  const answers: { status: string; code: string; message: string }[] = [];
  for await (const file of glob(["functions/**/*.ts", "shared/**/*.ts"], { cwd: ROOT })) {
    const source = await readFile(join(ROOT, file), "utf8");
    // the code is a field of the third argument; a template in the second may hold anything but a semicolon
    for (const [, status = "", message = "", code = ""] of source.matchAll(
      /new ApiError\(\s*(\d{3}),\s*"?([^;]*?)"?,\s*\{[^;]*?code: "([A-Z_]+)"/g,
    )) {
      answers.push({ status, code, message });
    }
  }
  // what the local runtime answers before a function is asked
  const door = await readFile(join(ROOT, "local/gateway/http-gateway.ts"), "utf8");
  for (const [, status = "", code = ""] of door.matchAll(/refuse\(response, requestId, (\d{3}), "([A-Z_]+)"/g)) {
    answers.push({ status, code, message: code });
  }
  expect(answers.length).toBeGreaterThan(30);
  const unlisted = answers.filter(
    ({ status, code, message }) =>
      !rows.some((row) => row.startsWith(`| ${status} |`) && row.includes(`\`${code}\``)) &&
      !harvest.includes(`\`${message}\``),
  );
  expect(unlisted.map(({ status, code }) => `${status} ${code}`)).toEqual([]);
});

test("the guide and the OpenAPI document hold the same codes that tell of a request", async () => {
  const [api = ""] = (await guide("errors.md")).split("## Rendering");
  const listed = api.split("\n").flatMap((row) => {
    const [, status = "", codes = ""] = row.split("|").map((cell) => cell.trim());
    return /^4\d\d$/.test(status) ? [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => `${status} ${code}`) : [];
  });
  const answered = Object.values(readDocument().paths).flatMap((methods) =>
    Object.values(methods).flatMap((operation) =>
      Object.entries(operation["x-error-codes"]).flatMap(([status, codes]) =>
        status.startsWith("4") ? codes.map((code) => `${status} ${code}`) : [],
      ),
    ),
  );
  expect([...new Set(answered)].toSorted()).toEqual(
    [...new Set(listed)].filter((each) => !ANSWERED_BY_NO_ROUTE.includes(each)).toSorted(),
  );
});
/** The socket's, one that is noted alone, and one that nobody reads. */
const ANSWERED_BY_NO_ROUTE = ["429 TOO_MANY_CONNECTIONS", "422 NO_PREVIEW", "499 CLIENT_LEFT"];

test("fields of a search that no configuration serves are refused with the status that the guide tells", async () => {
  const source = await readFile(join(ROOT, "functions/search-api/search-json.ts"), "utf8");
  const status = /new ApiError\((\d{3}), message, \{ code: "[A-Z_]+", details: \{ field: "\w+" \} \}\)/.exec(
    source,
  )?.[1];
  const codes = new Set([...source.matchAll(/code: "([A-Z_]+)"/g)].flatMap(([, code]) => (code ? [code] : [])));
  expect(codes).toEqual(new Set(["RERANKER_NOT_CONFIGURED"]));
  const rows = (await guide("errors.md")).split("\n");
  for (const code of codes) {
    expect(rows.filter((row) => row.includes(code))).toEqual([expect.stringContaining(`| ${status} | \`${code}\` |`)]);
  }
});
