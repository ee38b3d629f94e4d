/** The route that crawls, picks the pages whose URL matches a pattern, and gives their content out of the captures. */
import { z } from "zod";
import type { Caller } from "../../shared/access/authorize.ts";
import { type CrawlState, crawledDomains } from "../../shared/crawl/results/crawl-state.ts";
import { RESULT_FIELDS, selectFields } from "../../shared/crawl/results/fields.ts";
import { extractionOf } from "../../shared/crawl/results/page-extraction.ts";
import { readResults } from "../../shared/crawl/results/pages.ts";
import { createJob } from "../../shared/crawl/submit/create-job.ts";
import { compilePatterns } from "../../shared/crawl/urls/patterns.ts";
import { sameDomainMode, scopeOfSeeds, urlPatternSchema } from "../../shared/crawl/urls/scope-of-seeds.ts";
import { jsonChunks } from "../adapters/api/json-chunks.ts";
import { orNull, orNullAs } from "../adapters/api/or-null.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { crawledPageSchema } from "../adapters/crawling/crawled-page.ts";
import { JOB_HEADER } from "../adapters/crawling/job-header.ts";
import { cacheHandling, cacheOption, jobOptions, resolveOptions } from "../adapters/crawling/job-options.ts";
import {
  type CheckedSeeds,
  checkSeeds,
  crawlStatsSchema,
  DEFAULT_RESPONSE_TIMEOUT_S,
  MAX_RESPONSE_TIMEOUT_S,
  MAX_SEEDS,
  RESULT_MODES,
  statsResponse,
} from "../adapters/crawling/spider.ts";
import { waitFor } from "../adapters/crawling/wait-or-cancel.ts";
import type { ExtractApi } from "./dependencies.ts";
import { extractedSchema } from "./responses.ts";

/** The response is one, and waits for the crawl. */
const MAX_PAGES = 1_000;

const DEFAULT_SCOPE = { max_depth: 2, max_pages: 100, same_domain_only: true };

const bodySchema = z.strictObject({
  /** The URL guard checks each of them. */
  seeds: z.array(z.string().min(1)).min(1).max(MAX_SEEDS),
  scope: orNullAs(
    z.strictObject({
      max_depth: orNullAs(z.int().min(0).max(1_000), DEFAULT_SCOPE.max_depth),
      max_pages: orNullAs(z.int().min(1).max(MAX_PAGES), DEFAULT_SCOPE.max_pages),
      same_domain_only: orNullAs(z.boolean(), DEFAULT_SCOPE.same_domain_only),
    }),
    DEFAULT_SCOPE,
  ),
  /** Fields of a crawled page that each extracted page holds as well. */
  include: z
    .array(
      z
        .string()
        .trim()
        .toLowerCase()
        .pipe(z.enum(RESULT_FIELDS, { error: ({ input }) => `"${input}" is no field: ${RESULT_FIELDS.join(", ")}` })),
    )
    .max(100)
    .optional(),
  result_mode: z
    .enum(RESULT_MODES)
    .refine((mode) => mode === "pages", {
      error: ({ input }) =>
        `only "pages" is answered here: for "${input}" use POST ` +
        `/spider/crawl?result_mode=${input}, with include_patterns`,
    })
    .default("pages"),
  /** RE2 syntax, found anywhere in the URL. Without one all pages are extracted. */
  extract_pattern: orNull(urlPatternSchema),
  timeout_seconds: z.number().positive().max(MAX_RESPONSE_TIMEOUT_S).default(DEFAULT_RESPONSE_TIMEOUT_S),
  cache: cacheOption("bypass"),
  ...jobOptions,
});
type Body = z.output<typeof bodySchema>;

const pageSchema = crawledPageSchema.partial().extend({ ...extractedSchema.shape, crawl_depth: z.int() });
const answerSchema = z.object({ crawl_stats: crawlStatsSchema, extracted_pages: z.array(pageSchema) });

/** @param path its own, and the one of the reference: see docs/guide/extract.md */
export function spiderExtract(path: "/spider/extract" | "/spider+extract") {
  return defineStreamRoute(
    {
      method: "POST",
      path,
      scope: "write",
      idempotent: true,
      summary: "Crawl from seeds, and extract the content of the pages whose URL matches a pattern",
      body: bodySchema,
      response: answerSchema,
      headers: JOB_HEADER,
      streams: { "application/json": answerSchema },
    },
    async ({ body, caller, signal, reservedId }, dependencies: ExtractApi) => {
      const seeds = checkSeeds(dependencies.inspector, body.seeds, "seeds");
      const id = reservedId("job");
      const jobId = await startJob(dependencies, body, seeds, caller, id);
      const state = await waitFor({ keyed: id !== undefined })(dependencies, jobId, signal);
      const crawl_stats = statsResponse(state, await crawledDomains(dependencies.sql, jobId), seeds.refused);
      const chunks = await jsonChunks("extracted_pages", extractedPages(dependencies, state, body), async () => ({
        crawl_stats,
      }));
      return new StreamedResponse({ contentType: "application/json", chunks, headers: { "x-job-id": jobId } });
    },
  );
}

async function startJob(
  dependencies: ExtractApi,
  body: Body,
  { accepted }: CheckedSeeds,
  caller: Caller,
  id: string | undefined,
): Promise<string> {
  const { max_depth, max_pages, same_domain_only } = body.scope;
  const { job_id } = await createJob(dependencies, {
    id,
    kind: "site",
    seeds: accepted,
    scope: scopeOfSeeds(accepted, { mode: sameDomainMode(same_domain_only) }),
    maxDepth: max_depth,
    maxPages: max_pages,
    // a few pages of a site must not replace all of it
    handling: { replaces: "pages", ...cacheHandling(body.cache, dependencies.config) },
    timeoutS: body.timeout_seconds,
    delivery: "answer",
    ...(await resolveOptions(dependencies, body, caller)),
  });
  return job_id;
}

/** What the extraction itself says. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["url", "markdown"]);

async function* extractedPages(dependencies: ExtractApi, { id, results }: CrawlState, body: Body) {
  const included = body.include ?? ["markdown"];
  const beside = included.filter((field) => !OWN_FIELDS.has(field));
  const fields = selectFields({ include: ["url", "depth", ...beside].join(",") }, "light");
  const format = included.includes("markdown") ? "markdown" : null;
  const matches = body.extract_pattern === undefined ? () => true : compilePatterns([body.extract_pattern]);
  const wanted = { texts: true, matches: ({ url }: { url: string }) => matches(url) };
  for await (const result of readResults(dependencies, id, { after: 0, limit: results }, fields, wanted)) {
    const { page } = result;
    const others = Object.fromEntries(Object.entries(page).filter(([field]) => beside.some((each) => each === field)));
    yield { url: page.url, ...others, ...(await extractionOf(dependencies, result, format)), crawl_depth: page.depth };
  }
}
