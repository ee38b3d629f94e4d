import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { FieldFault, filledFrom, kindOf, type ObjectSchema, requestOf } from "../../../console/app/forms/schema.ts";
import { errorCauses } from "../../../console/error-causes.ts";
import { requestSchemas } from "../../../console/request-schemas.ts";

const DOCS = join(import.meta.dirname, "../../../docs");
let deep: ObjectSchema;
beforeAll(async () => {
  deep = requestSchemas(await readFile(join(DOCS, "openapi.json"), "utf8"))["deep"] as ObjectSchema;
});

it("makes a request of what was filled in, and leaves out what was not", () => {
  const filled = {
    max_depth: "3",
    strategy: "",
    include: "/a/.*\n\n /b ",
    restore_deleted: "false",
    "config.rate_limit_rps": "0.5",
    "config.headers": '{"accept-language": "de"}',
  };
  expect(requestOf(deep, filled)).toEqual({
    max_depth: 3,
    include: ["/a/.*", "/b"],
    restore_deleted: false,
    config: { rate_limit_rps: 0.5, headers: { "accept-language": "de" } },
  });
  expect(requestOf(deep, {})).toEqual({});
});

it("fills the fields in with a source, of which they make the same source again", async () => {
  const schemas = requestSchemas(await readFile(join(DOCS, "openapi.json"), "utf8"));
  const schema = schemas["source"] as ObjectSchema;
  const source = {
    name: "Harbour",
    type: "site",
    url: "https://harbour.example/",
    schedule_cron: "0 * * * *",
    time_zone: "Europe/Berlin",
    is_active: false,
    revisit: { shortest_hours: 2, longest_hours: 168 },
    site: { scope: "host", include: [], exclude: ["/old/"], max_depth: 2, max_pages: 50 },
    config: { rate_limit_rps: 0.5, headers: { "accept-language": "de" } },
    tags: ["sea", "wind"],
    priority: "low",
  };
  const answer = { ...source, id: "an id", config_id: null, collection_id: null, last_error: null, revisit_hours: 4 };
  const { site, ...rest } = requestOf(schema, filledFrom(schema, answer)) as typeof source;
  // a list of nothing is what is left out
  const { include: _, ...given } = source.site;
  expect({ ...rest, site }).toEqual({ ...source, site: given });
});

it("follows references of the document, and takes one thing or null for that thing", () => {
  const schema = {
    type: "object",
    properties: { kind: { allOf: [{ $ref: "#/components/schemas/Kind" }], default: "a" } },
    config: { anyOf: [{ $ref: "#/components/schemas/Kind" }, { type: "null" }], description: "of it" },
  };
  const post = { requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Body" } } } } };
  const paths = [
    "/api/v1/crawl/deep",
    "/api/v1/crawl",
    "/api/v1/crawl/batch",
    "/spider/crawl",
    "/api/v1/scrape",
    "/api/v1/sources",
    "/api/v1/proxies",
    "/api/v1/configs",
  ];
  const kind = { type: "string", enum: ["a", "b"] };
  const document = {
    paths: Object.fromEntries(paths.map((path) => [path, { post }])),
    components: { schemas: { Body: schema, Kind: kind } },
  };
  expect(requestSchemas(JSON.stringify(document))["deep"]).toEqual({
    type: "object",
    properties: { kind: { ...kind, default: "a" } },
    config: { ...kind, description: "of it" },
  });
  const { components: _, ...without } = document;
  expect(() => requestSchemas(JSON.stringify(without))).toThrow(
    "The OpenAPI document has no #/components/schemas/Body",
  );
});

it("says which field is not valid JSON", () => {
  expect(() => requestOf(deep, { "config.headers": "{" })).toThrow(new FieldFault("config.headers is not valid JSON"));
});

it("asks for each field of the API in some way", () => {
  const { properties } = deep;
  const kinds = Object.entries(properties).map(([name, schema]) => [name, kindOf(schema)] as const);
  expect(Object.fromEntries(kinds)).toMatchObject({
    url: "text",
    max_pages: "number",
    strategy: "choice",
    restore_deleted: "flag",
    include: "lines",
    config: "group",
    webhook_headers: "json",
  });
});

it("knows what the error codes of captures mean, in the guide's words", async () => {
  const causes = errorCauses(await readFile(join(DOCS, "guide/errors.md"), "utf8"));
  expect(causes).toMatchObject({
    ROBOTS_DENIED: "robots.txt forbids it",
    CONNECT_FAILED: "Nobody answers there, or not in time",
    CONNECT_TIMEOUT: "Nobody answers there, or not in time",
  });
  expect(Object.values(causes).filter((cause) => /[`\]]/.test(cause))).toEqual([]);
});
