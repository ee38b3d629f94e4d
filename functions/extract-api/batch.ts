/**
 * Extracts the content of up to a hundred pages: a job fetches them, unless a recent capture does, and is waited for.
 */
import { z } from "zod";
import type { Caller } from "../../shared/access/authorize.ts";
import { inspectUrl } from "../../shared/access/url-inspection.ts";
import { crawlConfigOverridesSchema } from "../../shared/crawl/administration/effective-config.ts";
import { selectFields } from "../../shared/crawl/results/fields.ts";
import {
  EXTRACT_FORMATS,
  type ExtractFormat,
  extractionOf,
  type PageExtraction,
} from "../../shared/crawl/results/page-extraction.ts";
import { readResults } from "../../shared/crawl/results/pages.ts";
import { normalizeUrl } from "../../shared/crawl/urls/normalize-url.ts";
import { jsonChunks } from "../adapters/api/json-chunks.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { answeredPagesConfig, startAnsweredPages } from "../adapters/crawling/answered-pages.ts";
import { JOB_HEADER } from "../adapters/crawling/job-header.ts";
import { cacheHandling, cacheOption } from "../adapters/crawling/job-options.ts";
import { waitFor } from "../adapters/crawling/wait-or-cancel.ts";
import type { ExtractApi } from "./dependencies.ts";
import { extractedSchema } from "./responses.ts";

const MAX_URLS = 100;
/** The reference takes more, and does with this. */
const MAX_CONCURRENCY = 20;
const DEFAULT_TIMEOUT_S = 60;
/** API Gateway ends a connection after five minutes without a byte. */
const MAX_TIMEOUT_S = 280;

const bodySchema = z.strictObject({
  /** The URL guard checks each of them: what is refused fails alone. */
  urls: z.array(z.string()).min(1).max(MAX_URLS),
  format: z.enum(EXTRACT_FORMATS).default("markdown"),
  /** Pages that are fetched at once; more than 20 means 20. */
  concurrency: z
    .int()
    .min(1)
    .transform((wanted) => Math.min(wanted, MAX_CONCURRENCY))
    .default(10),
  /** What is not there by then has failed with TIMEOUT. */
  timeout_seconds: z.number().positive().max(MAX_TIMEOUT_S).default(DEFAULT_TIMEOUT_S),
  config_id: orNull(z.uuid()),
  config: orNull(crawlConfigOverridesSchema),
  cache: cacheOption("use"),
});
type Body = z.output<typeof bodySchema>;

const answerSchema = z.object({
  total_urls: z.int(),
  successful: z.int(),
  failed: z.int(),
  /** In the order of the request, one for each of its URLs. */
  results: z.array(extractedSchema),
});

export const extractBatch = defineStreamRoute(
  {
    method: "POST",
    path: "/extract/batch",
    scope: "write",
    idempotent: true,
    summary: "The main content of up to 100 pages as Markdown, text or HTML; a page that fails fails alone",
    body: bodySchema,
    response: answerSchema,
    headers: JOB_HEADER,
    streams: { "application/json": answerSchema },
  },
  async ({ body, caller, signal, reservedId }, dependencies: ExtractApi) => {
    const checked = body.urls.map((url) => checkUrl(dependencies, url));
    const seeds = checked.flatMap((each) => each.seed ?? []);
    const id = seeds.length === 0 ? undefined : reservedId("job");
    const jobId = seeds.length === 0 ? null : await startJob(dependencies, body, seeds, caller, id);
    if (jobId !== null) await waitFor({ keyed: id !== undefined })(dependencies, jobId, signal);
    const found = jobId === null ? new Map<string, PageExtraction>() : await readAll(dependencies, jobId, body.format);
    const late = {
      status: "failed" as const,
      error:
        `TIMEOUT: The page was not there after ${body.timeout_seconds} ` +
        "s: try again, or allow more timeout_seconds",
    };
    const results = checked.map(({ url, seed, error }) =>
      seed === undefined ? { url, status: "failed" as const, error } : { url, ...(found.get(seed) ?? late) },
    );
    const successful = results.filter(({ status }) => status === "success").length;
    const totals = { total_urls: results.length, successful, failed: results.length - successful };
    const headers = jobId === null ? {} : { "x-job-id": jobId };
    const chunks = await jsonChunks("results", results, async () => totals);
    return new StreamedResponse({ contentType: "application/json", chunks, headers });
  },
);

interface CheckedUrl {
  /** As the request has it. */
  url: string;
  /** As the frontier holds it; undefined where it is refused. */
  seed?: string;
  error?: string;
}

function checkUrl({ inspector }: ExtractApi, url: string): CheckedUrl {
  const checked = inspectUrl(inspector, url);
  if (checked instanceof URL) return { url, seed: normalizeUrl(checked) };
  return { url, error: `${checked.code}: ${checked.message}` };
}

async function startJob(
  dependencies: ExtractApi,
  body: Body,
  seeds: string[],
  caller: Caller,
  id: string | undefined,
): Promise<string> {
  return await startAnsweredPages(dependencies, caller, {
    id,
    seeds,
    config: await answeredPagesConfig(dependencies.sql, body.config_id, body.config),
    handling: { concurrency: body.concurrency, ...cacheHandling(body.cache, dependencies.config) },
    timeoutS: body.timeout_seconds,
  });
}

/** By the URL of the frontier. */
async function readAll(
  dependencies: ExtractApi,
  jobId: string,
  format: ExtractFormat,
): Promise<Map<string, PageExtraction>> {
  const extractions = new Map<string, PageExtraction>();
  const wanted = { texts: true, matches: () => true };
  const all = { after: 0, limit: MAX_URLS };
  for await (const result of readResults(dependencies, jobId, all, selectFields({ include: "url" }, "light"), wanted)) {
    extractions.set(result.row.url, await extractionOf(dependencies, result, format));
  }
  return extractions;
}
