import { expect, it } from "vitest";
import { preferredType } from "../../../../../functions/adapters/api/accept.ts";

const OFFERED = ["application/x-ndjson", "text/event-stream"] as const;
const [NDJSON, EVENTS] = OFFERED;

it.each([
  [undefined, NDJSON],
  ["", NDJSON],
  ["*/*", NDJSON],
  ["application/*", NDJSON],
  ["text/*", EVENTS],
  ["text/event-stream", EVENTS],
  ["TEXT/Event-Stream; charset=utf-8", EVENTS],
  ["text/event-stream, application/x-ndjson", NDJSON],
  ["text/event-stream;q=0.9, application/x-ndjson;q=0.8", EVENTS],
  ["text/event-stream;q=0.5, */*;q=0.4", EVENTS],
  ["application/x-ndjson;q=0, */*", EVENTS],
  ["text/*;q=0.1, text/event-stream;q=0.9, application/x-ndjson;q=0.5", EVENTS],
  ["application/json, text/event-stream; q=0.001", EVENTS],
  ["application/json", undefined],
  ["application/x-ndjson;q=0", undefined],
  ["text/html, application/xml;q=0.9", undefined],
  ["nonsense", undefined],
  ["*/event-stream", undefined],
  ["text/event-stream;q=2", undefined],
])("of %j the client likes %s best", (accept, type) => {
  expect(preferredType(accept, OFFERED)).toBe(type);
});
