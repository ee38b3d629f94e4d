import { expect, test } from "vitest";
import { z } from "zod";
import { acceptedCoding } from "../../../../../functions/adapters/api/answer-coding.ts";
import { createStreamApi } from "../../../../../functions/adapters/api/stream-api.ts";
import { defineStreamRoute, StreamedResponse } from "../../../../../functions/adapters/api/stream-route.ts";
import { createLogger } from "../../../../../shared/platform/observability/log.ts";
import { callApi } from "../../../../services/api.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["gzip", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["br;q=0.5, gzip", "gzip"],
  ["br;q=0, gzip;q=0", undefined],
  ["GZIP;Q=0.3", "gzip"],
  ["*", "br"],
  ["*;q=0", undefined],
  ["br;q=0, *", "gzip"],
  ["gzip;q=0.2, identity;q=0.9", undefined],
  ["identity", undefined],
  ["deflate, zstd", undefined],
  ["gzip;q=high", "gzip"],
  [" , ;q=1", undefined],
])("Accept-Encoding %j is answered in %s", (header, coding) => {
  expect(acceptedCoding(header)).toBe(coding);
});

const piece = `${JSON.stringify("page ".repeat(50))},`;

function streamOf(contentType: string, count: number) {
  const chunks = async function* () {
    yield "[";
    for (let index = 0; index < count; index += 1) yield piece;
    yield "0]";
  };
  const route = defineStreamRoute(
    { method: "GET", path: "/things", scope: "public", summary: "Things", response: z.never(), streams: {} },
    async () => new StreamedResponse({ contentType, chunks: chunks() }),
  );
  const log = createLogger({ function: "things" });
  return createStreamApi("things", [route], () => ({ gate: undefined as never, log }));
}

test.each([
  ["gzip", "application/json", 100, "gzip"],
  ["gzip, br", "application/json", 100, "br"],
  ["gzip", "application/json", 2, undefined],
  [undefined, "application/json", 100, undefined],
  ["gzip", "application/x-ndjson", 100, undefined],
  ["gzip, br", "text/event-stream", 100, undefined],
])("who accepts %j gets %s of %i pieces in %s", async (accepted, contentType, count, coding) => {
  const headers = accepted === undefined ? {} : { "Accept-Encoding": accepted };
  const answer = await callApi(streamOf(contentType, count), { method: "GET", path: "/things", headers });
  expect(answer.headers["content-encoding"]).toBe(coding);
  expect(answer.headers["vary"]).toBe(contentType === "application/json" ? "accept-encoding" : undefined);
  const whole = `[${piece.repeat(count)}0]`;
  expect(answer.body).toEqual(contentType === "application/json" ? JSON.parse(whole) : whole);
});
