/** The items of a result stream as records on the wire: NDJSON, or server-sent events. */
import type { StreamItem } from "../../shared/crawl/results/stream.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { SSE_PING, serverSentEvent } from "../../shared/platform/server-sent-events.ts";
import { preferredType } from "../adapters/api/accept.ts";
import { type RefusedSeed, streamStats } from "../adapters/crawling/spider.ts";

const STREAM_TYPES = ["application/x-ndjson", "text/event-stream"] as const;
export type StreamType = (typeof STREAM_TYPES)[number];

/** @throws ApiError 406 NOT_ACCEPTABLE */
export function streamTypeFor(accept: string | undefined): StreamType {
  const type = preferredType(accept, STREAM_TYPES);
  if (type !== undefined) return type;
  throw new ApiError(406, `A stream is ${STREAM_TYPES.join(" or ")}: the Accept header allows neither`, {
    code: "NOT_ACCEPTABLE",
    details: { offered: [...STREAM_TYPES] },
  });
}

/** Event id of the last record: a client that has it has all. */
export const END_OF_STREAM = "end";

/**
 * What is sent where nothing happens, so that nobody in between takes the connection for dead. In NDJSON it is a blank
 * before the next record, where JSON allows white space: a line of its own, even an empty one, would be no JSON for a
 * strict reader.
 */
const KEEP_ALIVE: Record<StreamType, string> = { "application/x-ndjson": " ", "text/event-stream": SSE_PING };

/** @param refused seeds that the stats name */
export function encodeItem(item: StreamItem, type: StreamType, refused: readonly RefusedSeed[] = []): string {
  if (item.type === "idle") return KEEP_ALIVE[type];
  const record = onOneLine(JSON.stringify({ type: item.type, data: dataOf(item, refused) }));
  if (type === "application/x-ndjson") return `${record}\n`;
  const id = item.type === "page" ? item.cursor : item.type === "stats" ? END_OF_STREAM : undefined;
  return serverSentEvent({ id, data: record });
}

/** JSON lets these stand as they are; yet some readers of lines, such as Python's `splitlines`, end a line there. */
const onOneLine = (json: string): string =>
  json.replace(/[\u0085\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

function dataOf(item: Exclude<StreamItem, { type: "idle" }>, refused: readonly RefusedSeed[]): unknown {
  switch (item.type) {
    case "page":
      return item.page;
    case "stats":
      return streamStats(item.state, refused);
    case "error": {
      const { type: _, code, ...rest } = item;
      return { error_code: code, ...rest };
    }
  }
}
