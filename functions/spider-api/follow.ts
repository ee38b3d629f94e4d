/**
 * The route that streams the results of a job that exists: from the beginning, or from where another stream has ended.
 */
import { z } from "zod";
import { selectFields, selectionOf } from "../../shared/crawl/results/fields.ts";
import { keepListened } from "../../shared/crawl/results/listeners.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { ApiResponse } from "../adapters/api/route.ts";
import { defineStreamRoute } from "../adapters/api/stream-route.ts";
import { refuseExpired, requireCrawl } from "../adapters/crawling/stored-results.ts";
import type { SpiderApi } from "./dependencies.ts";
import { followQuerySchema, parseCursor } from "./requests.ts";
import { recordSchema } from "./responses.ts";
import { streamJob } from "./stream.ts";
import { END_OF_STREAM, streamTypeFor } from "./stream-encoding.ts";

export const follow = defineStreamRoute(
  {
    method: "GET",
    path: "/jobs/{job_id}/stream",
    scope: "read",
    summary: "The results of a job as a stream, from a cursor on; 204 to a Last-Event-ID that says that all was seen",
    params: z.strictObject({ job_id: z.uuid() }),
    query: followQuerySchema,
    response: z.never(),
    otherwise: { 204: "All was seen" },
    streams: { "application/x-ndjson": recordSchema, "text/event-stream": recordSchema },
  },
  async ({ params: { job_id: jobId }, query, ...request }, dependencies: SpiderApi) => {
    const type = streamTypeFor(request.header("accept"));
    // before the job is looked for: what is no field is so for any job
    selectFields(query, "all");
    const seen = request.header("last-event-id") ?? "";
    const after = seen === "" ? (query.cursor ?? 0) : seen === END_OF_STREAM ? null : cursorOf(seen);
    const state = await requireCrawl(dependencies.sql, jobId);
    refuseExpired(state, dependencies.config.jobRetentionDays);
    const fields = selectFields(selectionOf(query, state.fields), "all");
    // an EventSource reconnects whenever a stream ends, unless it is told that there is no more
    if (after === null) return new ApiResponse(204, null);
    if (state.endsUnheard) await keepListened(dependencies.sql, jobId);
    return streamJob(dependencies, jobId, { ...request, type, after, fields, refused: [], stops: false, headers: {} });
  },
);

function cursorOf(lastEventId: string): number {
  const cursor = parseCursor(lastEventId);
  if (cursor !== undefined) return cursor;
  const message = "Last-Event-ID is not an id of this stream: the id of its last event, or none";
  const faults = [{ in: "header", path: "last-event-id", message }];
  throw new ApiError(400, message, { code: "VALIDATION_ERROR", details: { faults } });
}
