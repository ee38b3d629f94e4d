import { describe, expect, it } from "vitest";
import { breakingChanges } from "../../../checks/openapi/breaking.ts";
import type { JsonObject } from "../../../checks/openapi/json.ts";
import { readDocument } from "../../services/documented-answers.ts";

const strings = { type: "string" };
const request: JsonObject = {
  type: "object",
  properties: {
    url: { type: "string", maxLength: 100 },
    mode: { $ref: "#/components/schemas/Mode" },
    limit: { type: ["integer", "null"], minimum: 1 },
  },
  required: ["url"],
  additionalProperties: false,
};
const response: JsonObject = {
  type: "object",
  properties: { id: strings, note: { anyOf: [{ $ref: "#/components/schemas/Note" }, { type: "null" }] } },
  required: ["id"],
};

/** A document of one operation, with the parts that are given in place of its own. */
function documentOf(parts: Record<string, unknown> = {}): JsonObject {
  const { version = "1.0.0", taken = request, given = response, words = ["a", "b"], text = strings, ...more } = parts;
  const json = (schema: unknown) => ({ content: { "application/json": { schema } } });
  const operation = {
    operationId: "makeThing",
    security: [],
    parameters: [{ name: "lang", in: "query", required: false, schema: strings }],
    requestBody: { required: true, ...json(taken) },
    responses: { 200: json(given), 404: {} },
    ...more,
  };
  const schemas = {
    Mode: { type: "string", enum: words },
    Note: { type: "object", properties: { text, next: { $ref: "#/components/schemas/Note" } }, required: ["text"] },
  };
  const document = { info: { version }, paths: { "/things": { post: operation } }, components: { schemas } };
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

const changed = (schema: JsonObject, fields: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...schema,
  properties: { ...(schema["properties"] as JsonObject), ...fields },
  ...more,
});

describe("a change that breaks clients is found", () => {
  it.each([
    [
      "a field that must be sent now",
      { taken: { ...request, required: ["url", "mode"] } },
      "request.mode is required now",
    ],
    [
      "a shorter text",
      { taken: changed(request, { url: { type: "string", maxLength: 9 } }) },
      "request.url has the maxLength 9 now",
    ],
    ["fewer words", { words: ["a"] }, "request.mode takes b no more"],
    [
      "words alone",
      { taken: changed(request, { url: { type: "string", enum: ["x"] } }) },
      "request.url takes any other value no more",
    ],
    [
      "no null",
      { taken: changed(request, { limit: { type: "integer", minimum: 1 } }) },
      "request.limit has another type",
    ],
    [
      "another type that is taken",
      { taken: changed(request, { url: { type: "integer" } }) },
      "request.url has another type",
    ],
    [
      "another type that is answered",
      { given: changed(response, { id: { type: "integer" } }) },
      "response 200.id has another type",
    ],
    [
      "null in an answer",
      { given: changed(response, { id: { type: ["string", "null"] } }) },
      "response 200.id has another type",
    ],
    ["a field that may be missing", { given: { ...response, required: [] } }, "response 200.id may be missing now"],
    ["another type in a shared schema", { text: { type: "number" } }, "response 200.note.text has another type"],
    ["another name", { operationId: "createThing" }, "its name makeThing is gone"],
    ["a key", { security: [{ api_key: [] }] }, "a key is required now"],
    ["no answer of a status", { responses: {} }, "it answers 200 no more"],
    ["no parameter", { parameters: [] }, "the parameter query lang is gone"],
    [
      "a parameter that must be sent",
      { parameters: [{ name: "lang", in: "query", required: true, schema: strings }] },
      "the parameter query lang is required now",
    ],
  ])("%s", (_, parts, said) => {
    expect(breakingChanges(documentOf(), documentOf(parts))).toContain(`POST /things: ${said}`);
  });

  it("a field that is gone, of a request and of an answer", () => {
    const { url, mode } = request["properties"] as JsonObject;
    const { id } = response["properties"] as JsonObject;
    const now = documentOf({
      taken: { ...request, properties: { url: url ?? null, mode: mode ?? null } },
      given: { ...response, properties: { id: id ?? null } },
    });
    expect(breakingChanges(documentOf(), now)).toEqual([
      "POST /things: request.limit is gone",
      "POST /things: response 200.note is gone",
    ]);
  });

  it("an operation that is gone", () => {
    expect(breakingChanges(documentOf(), { ...documentOf(), paths: {} })).toEqual([
      "POST /things: the operation is gone",
    ]);
  });
});

describe("what clients do not notice is none", () => {
  it.each([
    ["a field that may be sent", { taken: changed(request, { more: strings }) }],
    ["a field that is answered", { given: changed(response, { more: strings }) }],
    ["more words", { words: ["a", "b", "c"] }],
    ["a longer text", { taken: changed(request, { url: strings }) }],
    [
      "a number for an integer that is sent",
      { taken: changed(request, { limit: { type: ["number", "null"], minimum: 0 } }) },
    ],
    ["a field that need not be sent any more", { taken: { ...request, required: [] } }],
    [
      "an error's status",
      { responses: { ...{ 200: { content: { "application/json": { schema: response } } } }, 409: {} } },
    ],
  ])("%s", (_, parts) => {
    expect(breakingChanges(documentOf(), documentOf(parts))).toEqual([]);
  });

  it.each([
    ["words", ["a", "b"], { $ref: "#/components/schemas/Mode" }],
    ["a single word", ["a"], { const: "a" }],
  ])("%s that may be null, in another spelling, as long as the words are the same", (_, words, spelt) => {
    const before = documentOf({
      taken: changed(request, { sort: { type: ["string", "null"], enum: [...words, null] } }),
    });
    const now = (sort: JsonObject) => documentOf({ taken: changed(request, { sort }) });
    expect(breakingChanges(before, now({ anyOf: [spelt, { type: "null" }] }))).toEqual([]);
    expect(breakingChanges(before, now({ anyOf: [{ const: "other" }, { type: "null" }] }))[0]).toContain(
      "request.sort takes a",
    );
    expect(breakingChanges(before, now(spelt))).toEqual(["POST /things: request.sort has another type"]);
  });

  it("a stream that says beside its text what its records are, as long as they are the same", () => {
    const lines = (media: JsonObject) =>
      documentOf({ responses: { 200: { content: { "application/x-ndjson": media } } } });
    const records = lines({ schema: response });
    const now = (schema: JsonObject) => lines({ schema: strings, "x-item-schema": schema });
    expect(breakingChanges(records, now(response))).toEqual([]);
    expect(breakingChanges(records, now({ ...response, properties: { id: strings } }))).toEqual([
      "POST /things: response 200.note is gone",
    ]);
  });

  it("anything, in another major version", () => {
    expect(breakingChanges(documentOf(), { ...documentOf({ version: "2.0.0" }), paths: {} })).toEqual([]);
  });

  it("nothing, in the document as it is", () => {
    const document = readDocument() as unknown as JsonObject;
    expect(breakingChanges(document, structuredClone(document))).toEqual([]);
  });
});
