/** The route that streams the progress of a job as server-sent events. */
import { z } from "zod";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { createListening, type Listening } from "../../shared/crawl/tasks/listening.ts";
import { hasEnded, type JobProgress, readProgress } from "../../shared/notify/job-progress.ts";
import { progressEvents } from "../../shared/notify/progress-stream.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { ApiResponse } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { jobCountsSchema } from "../adapters/crawling/job-counts.ts";

interface ProgressApi extends ApiContainer {
  listening: Listening;
}

const container = once((): ProgressApi => {
  const shared = createApiContainer("progress-api");
  const flags = createJobFlags(shared.dynamo, shared.config.stateTable);
  return { ...shared, listening: createListening({ flags, clock: systemClock, log: shared.log }) };
});

/** Before the function is stopped, which would cut the stream inside an event. */
const TIME_TO_END_MS = 10_000;

/** The data of an event. */
const progressSchema: z.ZodType<JobProgress> = z.object({
  job_id: z.uuid(),
  status: z.string(),
  stop_reason: z.string().nullable(),
  error: z.string().nullable(),
  cancel_requested: z.boolean(),
  counts: jobCountsSchema.nullable(),
  waits: z.array(z.object({ host: z.string(), code: z.string(), message: z.string(), until: z.string() })),
  started_at: z.iso.datetime().nullable(),
  completed_at: z.iso.datetime().nullable(),
});

const readProgressStream = defineStreamRoute(
  {
    method: "GET",
    path: "/api/v1/crawl/{job_id}/stream",
    scope: "read",
    summary:
      "The progress of a job as server-sent events, until it ends; 204 where `Last-Event-ID` names its last event",
    params: z.strictObject({ job_id: z.uuid() }),
    response: z.never(),
    otherwise: { 204: "Its last event is known" },
    streams: { "text/event-stream": progressSchema },
  },
  async ({ params: { job_id: jobId }, header, signal, remainingMs, log }, { sql, listening }: ProgressApi) => {
    const first = await readProgress(sql, jobId);
    if (first === undefined) throw new ApiError(404, `There is no job ${jobId}`, { code: "NOT_FOUND" });
    const lastEventId = header("last-event-id");
    // the only answer at which EventSource stops asking
    if (hasEnded(first) && first.id === lastEventId) return new ApiResponse(204, undefined);
    const chunks = progressEvents({
      jobId,
      first,
      lastEventId,
      read: () => readProgress(sql, jobId),
      clock: systemClock,
      signal,
      isTimeUp: () => remainingMs() < TIME_TO_END_MS,
      log,
    });
    const headers = { "cache-control": "no-store", "x-accel-buffering": "no" };
    const heard = listening.during(jobId, chunks);
    return new StreamedResponse({ contentType: "text/event-stream", headers, chunks: heard });
  },
);

export const api = createStreamApi("progress-api", [readProgressStream], container);
export const handler = api.handler;
