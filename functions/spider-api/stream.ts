/** The results of a job as a streamed response, and what becomes of the job when its client leaves. */

import { type ResultStreamOptions, streamResults } from "../../shared/crawl/results/stream.ts";
import { cancelJob } from "../../shared/crawl/submit/cancel-job.ts";
import { StreamedResponse } from "../adapters/api/stream-route.ts";
import type { RefusedSeed } from "../adapters/crawling/spider.ts";
import type { SpiderApi } from "./dependencies.ts";
import { encodeItem, type StreamType } from "./stream-encoding.ts";

interface StreamJobOptions extends ResultStreamOptions {
  type: StreamType;
  /** Refused seeds that the stats name. */
  refused: readonly RefusedSeed[];
  /** Whether the job ends once this client has left. */
  stops: boolean;
  headers: Record<string, string>;
}

export function streamJob(
  dependencies: SpiderApi,
  jobId: string,
  { type, refused, stops, headers, ...options }: StreamJobOptions,
): StreamedResponse {
  async function* chunks(): AsyncGenerator<string> {
    try {
      const items = dependencies.listening.during(jobId, streamResults(dependencies, jobId, options));
      for await (const item of items) yield encodeItem(item, type, refused);
    } finally {
      if (stops && options.signal.aborted) await cancelJob(dependencies, jobId);
    }
  }
  // no proxy on the way may keep records back
  const unbuffered = { "cache-control": "no-cache", "x-accel-buffering": "no" };
  return new StreamedResponse({ contentType: type, chunks: chunks(), headers: { ...unbuffered, ...headers } });
}
