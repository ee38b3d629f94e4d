/** The route of a spider crawl, which responds as its result mode says. */
import type { Caller } from "../../shared/access/authorize.ts";
import { admitStoredJob } from "../../shared/crawl/jobs/quota.ts";
import { type CrawlState, crawledDomains, discoveredUrls } from "../../shared/crawl/results/crawl-state.ts";
import { type FieldSelection, type ResultFields, selectFields } from "../../shared/crawl/results/fields.ts";
import { type ResultPage, readResultPages } from "../../shared/crawl/results/pages.ts";
import { waitForCrawl } from "../../shared/crawl/results/wait.ts";
import { createJob, type NewJob } from "../../shared/crawl/submit/create-job.ts";
import { sameDomainMode, scopeOfSeeds } from "../../shared/crawl/urls/scope-of-seeds.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { jsonChunks } from "../adapters/api/json-chunks.ts";
import { ApiResponse } from "../adapters/api/route.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { JOB_HEADER } from "../adapters/crawling/job-header.ts";
import { cacheHandling, resolveOptions } from "../adapters/crawling/job-options.ts";
import { type CheckedSeeds, checkSeeds, statsResponse } from "../adapters/crawling/spider.ts";
import { waitOrCancel } from "../adapters/crawling/wait-or-cancel.ts";
import type { SpiderApi } from "./dependencies.ts";
import {
  type CrawlBody,
  type CrawlQuery,
  crawlBodySchema,
  crawlQuerySchema,
  strategyOf,
  timeoutOf,
} from "./requests.ts";
import { API_VERSION, crawlResponseSchema, recordSchema, storedResponse, storedSchema } from "./responses.ts";
import { streamJob } from "./stream.ts";
import { streamTypeFor } from "./stream-encoding.ts";

const MAX_DISCOVERED_URLS = 10_000;
const DEFAULT_ANSWERED_PAGES = 1_000;

export const crawl = defineStreamRoute(
  {
    method: "POST",
    path: "/spider/crawl",
    scope: "write",
    idempotent: true,
    summary:
      "Crawl from seeds; the answer is statistics, URLs, pages, a stream of pages, or (202) a job that stores them",
    query: crawlQuerySchema,
    body: crawlBodySchema,
    response: crawlResponseSchema,
    accepted: storedSchema,
    headers: JOB_HEADER,
    streams: { "application/x-ndjson": recordSchema, "text/event-stream": recordSchema },
  },
  async (request, dependencies: SpiderApi) => {
    const { query, body, caller, signal } = request;
    const fields = selectFields(query, query.result_mode === "stream" ? "all" : "light");
    const streamType = query.result_mode === "stream" ? streamTypeFor(request.header("accept")) : undefined;
    if (streamType !== undefined) refuseResume(request.header("last-event-id"));
    const seeds = checkSeeds(dependencies.inspector, body.seed_urls);
    const job = { ...(await newJob(dependencies, query, body, seeds, caller)), id: request.reservedId("job") };
    // who sends a key may come back for the crawl
    const detached = query.detach || job.id !== undefined;
    if (detached) job.endsUnheard = false;
    signal.throwIfAborted();
    if (query.result_mode === "store") {
      const limit = dependencies.config.spiderMaxStoredJobs;
      const stored = await createJob(dependencies, job, (tx) => admitStoredJob(tx, caller.keyId, limit));
      return new ApiResponse(202, storedResponse(stored, seeds.refused), { "x-job-id": stored.job_id });
    }
    const { job_id: jobId } = await createJob(dependencies, job);
    const headers = { "x-job-id": jobId };
    if (streamType !== undefined) {
      const stops = !detached;
      return streamJob(dependencies, jobId, {
        ...request,
        type: streamType,
        after: 0,
        fields,
        refused: seeds.refused,
        stops,
        headers,
      });
    }
    const wait = detached ? waitForCrawl : waitOrCancel;
    const state = await wait(dependencies, jobId, signal);
    const stats = statsResponse(state, await crawledDomains(dependencies.sql, jobId), seeds.refused);
    if (query.result_mode === "stats") return jsonResponse(whole(stats), headers);
    if (query.result_mode === "urls")
      return jsonResponse(whole({ ...stats, ...(await discovered(dependencies, state)) }), headers);
    const { max_pages = DEFAULT_ANSWERED_PAGES } = query;
    if (state.results > max_pages) throw tooLarge(state, max_pages);
    const rest = { ...stats, api_version: API_VERSION };
    return jsonResponse(await jsonChunks("pages", pagesOf(dependencies, state, fields), async () => rest), headers);
  },
);

/** A POST begins a crawl: what takes the stream up again must not begin another one unnoticed. */
function refuseResume(lastEventId: string | undefined): void {
  if (lastEventId === undefined || lastEventId === "") return;
  const message =
    "Last-Event-ID: a POST begins another crawl; resume with GET /jobs/{job_id}/stream, whose id is in x-job-id";
  throw new ApiError(400, message, {
    code: "VALIDATION_ERROR",
    details: { faults: [{ in: "header", path: "last-event-id", message }] },
  });
}

/** @throws ApiError 400 or 404 that names the field */
async function newJob(
  dependencies: SpiderApi,
  query: CrawlQuery,
  body: CrawlBody,
  { accepted }: CheckedSeeds,
  caller: Caller,
): Promise<NewJob> {
  const { include_patterns: include, exclude_patterns: exclude, respect_robots, keywords, score_threshold } = body;
  const options = await resolveOptions(dependencies, body, caller);
  const delivery = query.result_mode === "store" || query.result_mode === "stream" ? query.result_mode : "answer";
  return {
    kind: "site",
    seeds: accepted,
    scope: scopeOfSeeds(accepted, { mode: sameDomainMode(body.same_domain_only), include, exclude }),
    maxDepth: body.max_depth,
    maxPages: body.max_pages,
    order: { strategy: strategyOf(body.strategy), keywords, score_threshold },
    // a few pages of a site must not replace all of it
    handling: {
      replaces: "pages",
      concurrency: body.concurrency ?? null,
      fields: fieldsOf(query),
      ...cacheHandling(body.cache, dependencies.config),
    },
    timeoutS: limitOf(query, body),
    delivery,
    endsUnheard: delivery !== "store" && !query.detach,
    ...options,
    config: { ...options.config, respect_robots_txt: respect_robots ?? options.config.respect_robots_txt },
  };
}

/** Kept with a job whose results are read later. */
function fieldsOf({ include, exclude }: CrawlQuery): FieldSelection | null {
  if (include === undefined && exclude === undefined) return null;
  return { ...(include !== undefined && { include }), ...(exclude !== undefined && { exclude }) };
}

function limitOf(query: CrawlQuery, body: CrawlBody): number | null {
  try {
    return timeoutOf(query, body);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `timeout_seconds: ${error.message}`;
    const faults = [{ in: "body", path: "timeout_seconds", message: error.message }];
    throw new ApiError(400, message, { code: "VALIDATION_ERROR", details: { faults } });
  }
}

async function discovered({ sql }: SpiderApi, { id, discovered: total }: CrawlState) {
  const discovered_urls = await discoveredUrls(sql, id, MAX_DISCOVERED_URLS);
  if (total <= discovered_urls.length) return { discovered_urls };
  const note = `The first ${discovered_urls.length} of ${total}: GET /api/v1/crawl/${id} lists them all`;
  return { discovered_urls, discovered_total: total, note };
}

function tooLarge({ id, results }: CrawlState, limit: number): ApiError {
  return new ApiError(400, `Crawl result (${results} pages) exceeds maximum response size (${limit})`, {
    code: "RESULT_TOO_LARGE",
    details: {
      page_count: results,
      limit,
      job_id: id,
      suggestions: [
        `Read these pages with GET /jobs/${id}/results`,
        "Use result_mode=stream for NDJSON/SSE streaming",
        "Use result_mode=store for async job execution",
        "Reduce max_pages parameter",
      ],
    },
  });
}

function jsonResponse(chunks: AsyncIterable<string>, headers: Record<string, string>): StreamedResponse {
  return new StreamedResponse({ contentType: "application/json", chunks, headers });
}

async function* whole(answer: object): AsyncGenerator<string> {
  yield JSON.stringify(answer);
}

async function* pagesOf(
  dependencies: SpiderApi,
  { id, results }: CrawlState,
  fields: ResultFields,
): AsyncGenerator<ResultPage["page"]> {
  for await (const { page } of readResultPages(dependencies, id, { after: 0, limit: results }, fields)) yield page;
}
