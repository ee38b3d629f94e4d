import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ThrownErrors } from "../../../checks/openapi/thrown.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "thrown-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const HANDLER = "functions/things-api/handler.ts";

/** The errors of `GET /things` whose code is `run`, beside what stands in other files. */
function thrownBy(run: string, files: Record<string, string> = {}): string[] | undefined {
  const handler = `
    import { find, isThere as known } from "../../shared/things.ts";
    const missing = (id: string): ApiError => new ApiError(404, id, { code: "NOT_FOUND" });
    const read = defineRoute({ method: "GET", path: "/things", scope: "read" }, ${run});`;
  const all = { "shared/things.ts": "", [HANDLER]: handler, ...files };
  for (const [name, source] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), source);
  }
  return new ThrownErrors(root).ofRoutesIn(HANDLER).get("GET /things");
}

it("finds what a route throws, and what functions of its file do", () => {
  const own = `new ApiError(409, "x", { code: "CONFLICT", details: { id: 1 } })`;
  expect(thrownBy(`async () => { if (1) throw ${own}; throw missing("a"); }`)).toEqual([
    "404 NOT_FOUND",
    "409 CONFLICT",
  ]);
});

it("follows names through imports under another name and through re-exports, and ends where calls go round", () => {
  const files = {
    "shared/things.ts": `export { find } from "./deep/found.ts"; export { there as isThere } from "./deep/found.ts";`,
    "shared/deep/found.ts": `
      export class Found { check() { throw new ApiError(410, "x", { code: "GONE" }); } }
      export function find(): Found { there(); return new Found(); }
      export const there = () => { find(); throw new ApiError(429, "x", { code: "RATE_LIMITED" }); };`,
  };
  expect(thrownBy("async () => known()", files)).toEqual(["410 GONE", "429 RATE_LIMITED"]);
});

it("pairs statuses and codes that one condition chooses", () => {
  const error = `new ApiError(blocked ? 403 : 400, "x", { code: blocked ? "URL_BLOCKED" : "URL_INVALID" })`;
  expect(thrownBy(`async () => { throw ${error}; }`)).toEqual(["400 URL_INVALID", "403 URL_BLOCKED"]);
});

it("takes neither a name that the function binds itself, nor a field's, nor a type's for the one outside", () => {
  expect(thrownBy("async ({ missing }, api) => missing(api.missing as typeof missing)")).toEqual([]);
  expect(thrownBy("async (_, api) => { const { a: [missing] } = api; return missing; }")).toEqual([]);
  expect(thrownBy("async (_, api) => api.missing({ missing: 1 })")).toEqual([]);
  expect(thrownBy("async (_, api) => api.call({ missing })")).toEqual(["404 NOT_FOUND"]);
});

it("finds routes of a function that takes their path, from the file that calls it", () => {
  const files = {
    "functions/things-api/parts.ts": `
      export const part = (path: string) => defineRoute({ ...{ method: "POST", path }, scope: "read" }, async () => {
        throw new ApiError(422, "x", { code: "NO_PART" });
      });`,
    [HANDLER]: `import { part } from "./parts.ts"; export const api = createApi([part("/a"), part("/b")]);`,
  };
  thrownBy("async () => 1", files);
  expect([...new ThrownErrors(root).ofRoutesIn(HANDLER)]).toEqual([
    ["POST /a", ["422 NO_PART"]],
    ["POST /b", ["422 NO_PART"]],
  ]);
});
