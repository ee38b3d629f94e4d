/**
 * The route that gives one page in several formats: a job fetches it, unless a recent capture does, and is waited for.
 */
import { z } from "zod";
import { crawlConfigOverridesSchema } from "../../shared/crawl/administration/effective-config.ts";
import { selectFields } from "../../shared/crawl/results/fields.ts";
import { readResults } from "../../shared/crawl/results/pages.ts";
import { PAGE_FORMATS, type PageFormat, scrapedPage } from "../../shared/crawl/results/scraped-page.ts";
import { normalizeUrl } from "../../shared/crawl/urls/normalize-url.ts";
import { extractionSchema } from "../../shared/extract/fields/field-schema.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { defineStreamRoute } from "../adapters/api/stream-route.ts";
import { answeredPagesConfig, startAnsweredPages } from "../adapters/crawling/answered-pages.ts";
import { artefact } from "../adapters/crawling/artefact.ts";
import { checkedUrl } from "../adapters/crawling/checked-url.ts";
import { cacheHandling, cacheOption } from "../adapters/crawling/job-options.ts";
import { RENDERING_FAULTS } from "../adapters/crawling/page-faults.ts";
import { waitFor } from "../adapters/crawling/wait-or-cancel.ts";
import type { ScrapeApi } from "./dependencies.ts";
import { pictureOptions, takePicture } from "./picture.ts";

const DEFAULT_TIMEOUT_S = 60;
/** API Gateway ends a connection after five minutes without a byte. */
const MAX_TIMEOUT_S = 280;

const holding = (format: PageFormat | "screenshot") => ({ contains: { enum: [format] } });

const bodySchema = z
  .strictObject({
    /** The URL guard checks it, and has codes of its own. */
    url: z.string().min(1),
    formats: z
      .array(z.enum([...PAGE_FORMATS, "screenshot"]))
      .min(1)
      .max(20)
      .default(["markdown", "metadata"]),
    /** What `json` holds. */
    schema: orNull(extractionSchema),
    /** How the picture is taken. */
    screenshot: orNull(pictureOptions),
    timeout_seconds: z.number().positive().max(MAX_TIMEOUT_S).default(DEFAULT_TIMEOUT_S),
    config_id: orNull(z.uuid()),
    config: orNull(crawlConfigOverridesSchema),
    cache: cacheOption("use"),
  })
  .superRefine(({ formats, schema, screenshot }, { addIssue }) => {
    if (screenshot !== undefined && !formats.includes("screenshot")) {
      addIssue({ code: "custom", path: ["screenshot"], message: 'is for the format "screenshot" alone' });
    }
    if (formats.includes("json") === (schema !== undefined)) return;
    const message = schema === undefined ? 'is needed for the format "json"' : 'is for the format "json" alone';
    addIssue({ code: "custom", path: ["schema"], message });
  })
  .meta({
    allOf: [
      {
        oneOf: [
          { required: ["formats", "schema"], properties: { formats: holding("json"), schema: { type: "object" } } },
          { properties: { formats: { not: holding("json") }, schema: { type: "null" } } },
        ],
      },
      {
        anyOf: [
          { required: ["formats"], properties: { formats: holding("screenshot") } },
          { properties: { screenshot: { type: "null" } } },
        ],
      },
    ],
  });

const metadataSchema = z.object({
  title: z.string().optional(),
  author: z.string().optional(),
  description: z.string().optional(),
  keywords: z.array(z.string()).optional(),
  /** ISO 8601: a date, or a time in UTC. */
  publish_date: z.string().optional(),
  image: z.string().optional(),
  language: z.string().optional(),
  canonical_url: z.string().optional(),
  mime: z.string().optional(),
  charset: z.string().optional(),
  /** Of the content. */
  word_count: z.int().nonnegative(),
  crawled_at: z.iso.datetime(),
});

/** Each format stands under its name, where it was asked for. */
const answerSchema = z.object({
  url: z.string(),
  job_id: z.uuid(),
  final_url: z.string(),
  status_code: z.int(),
  /** Of a page that the site answers with an error: its code, and what it means. */
  fetch_error: z.string().optional(),
  /** Where it was opened in a browser, or was to be; of a PDF, what read it. */
  rendered: z
    .object({
      reason: z.string(),
      renderer: z.enum(["chromium", "crawl4ai", "pdfjs"]).nullable(),
      error_code: z.string().nullable(),
      error_message: z.string().nullable(),
    })
    .optional(),
  markdown: z.string().optional(),
  text: z.string().optional(),
  html: z.string().optional(),
  raw_html: z.string().optional(),
  links: z.array(z.string()).readonly().optional(),
  metadata: metadataSchema.optional(),
  /** An object with the names of the schema. */
  json: z.unknown().optional(),
  truncated: z.boolean().optional(),
  screenshot: artefact.optional(),
});

export const scrape = defineStreamRoute(
  {
    method: "POST",
    path: "/api/v1/scrape",
    scope: "write",
    idempotent: true,
    summary: "One page in several formats at once: Markdown, text, HTML, links, metadata, fields by a schema",
    body: bodySchema,
    response: answerSchema,
    errors: RENDERING_FAULTS,
  },
  async ({ body, caller, signal, reservedId }, dependencies: ScrapeApi) => {
    const url = checkedUrl(dependencies.inspector, body.url, "url");
    const deadline = dependencies.clock.now() + 1_000 * body.timeout_seconds;
    const config = await answeredPagesConfig(dependencies.sql, body.config_id, body.config);
    if (body.formats.includes("screenshot") && config.proxy_id !== undefined) {
      const message = "formats: a screenshot does not go through the proxy of config: leave out one of them";
      throw new ApiError(400, message, { code: "VALIDATION_ERROR" });
    }
    const id = reservedId("job");
    const jobId = await startAnsweredPages(dependencies, caller, {
      id,
      seeds: [normalizeUrl(new URL(url))],
      config,
      handling: cacheHandling(body.cache, dependencies.config),
      timeoutS: body.timeout_seconds,
    });
    await waitFor({ keyed: id !== undefined })(dependencies, jobId, signal);
    const wanted = { texts: true, matches: () => true };
    const fields = selectFields({ include: "url" }, "light");
    for await (const result of readResults(dependencies, jobId, { after: 0, limit: 1 }, fields, wanted)) {
      const formats = new Set(body.formats.filter((format) => format !== "screenshot"));
      const page = await scrapedPage(dependencies, result, formats, body.schema);
      const answer = { url: body.url, job_id: jobId, ...page };
      // the browser is given no page that its site answers with an error
      if (!body.formats.includes("screenshot") || page.fetch_error !== undefined) return answer;
      const options = pictureOptions.parse(body.screenshot ?? {});
      return { ...answer, screenshot: await takePicture(dependencies, url, config, options, { deadline, signal }) };
    }
    const late = `url: the page was not there after ${body.timeout_seconds} s`;
    const message = `${late}: try again, or allow more timeout_seconds`;
    throw new ApiError(504, message, { code: "PAGE_TIMEOUT", details: { path: "url" } });
  },
);
