/** The route that lists the results of a job in the order in which they became known, while it runs and after. */
import { z } from "zod";
import { selectFields, selectionOf } from "../../shared/crawl/results/fields.ts";
import { type ResultPage, readResultPages } from "../../shared/crawl/results/pages.ts";
import { jsonChunks } from "../adapters/api/json-chunks.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { crawledPageSchema } from "../adapters/crawling/crawled-page.ts";
import { fieldSelection } from "../adapters/crawling/field-selection.ts";
import { refuseExpired, requireCrawl } from "../adapters/crawling/stored-results.ts";
import type { ResultsApi } from "./dependencies.ts";
import { params } from "./requests.ts";

/** Of PostgreSQL's int: no job has as many results. */
const MAX_CURSOR = 2_147_483_647;
/** Of the pages of one answer, which whoever asks holds whole; the cursor leads to the rest. */
const MAX_ANSWER_BYTES = 16_000_000;

const query = z.strictObject({
  /** Of the last page seen; the response holds it. */
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, "is no cursor: pass the `cursor` of an answer, or leave it out")
    .transform((digits) => Math.min(Number(digits), MAX_CURSOR))
    .default(0),
  limit: numberParameter(z.int().min(1).max(1000).default(100)),
  ...fieldSelection,
});

const resultsSchema = z.object({
  pages: z.array(crawledPageSchema),
  /** Of the last page; where there is none, the one that was asked for. */
  cursor: z.int(),
  /** More pages follow, or the crawl still goes on and more may. */
  has_more: z.boolean(),
  /** As many as have ended by now. */
  total_pages: z.int(),
});

export const listResults = defineStreamRoute(
  {
    method: "GET",
    path: "/jobs/{job_id}/results",
    scope: "read",
    summary: "The pages of a job, each once, in the order in which they ended; while the job runs, too",
    params,
    query,
    response: resultsSchema,
    streams: { "application/json": resultsSchema },
  },
  async ({ params: { job_id }, query: { cursor: after, limit, ...selection } }, dependencies: ResultsApi) => {
    const { sql, objects, config } = dependencies;
    // before the job is looked for: what is no field is so for any job
    selectFields(selection, "light");
    const job = await requireCrawl(sql, job_id);
    const fields = selectFields(selectionOf(selection, job.fields), "light");
    refuseExpired(job, config.jobRetentionDays);

    const reader = { sql, objects, maxContentBytes: config.spiderMaxContentBytes };
    let cursor = after;
    const pages = readResultPages(reader, job_id, { after, limit }, fields);
    async function* noted(found: AsyncIterable<ResultPage>) {
      for await (const each of found) {
        yield each.page;
        // a page that does not fit is taken, and no other one after it
        cursor = each.cursor;
      }
    }
    const rest = async () => {
      const { results, status } = await requireCrawl(sql, job_id);
      // the pages that a cancelled job still has under way are results, too
      const goesOn = status === "pending" || status === "running";
      return { cursor, has_more: goesOn || cursor < results, total_pages: results };
    };
    const chunks = await jsonChunks("pages", noted(pages), rest, MAX_ANSWER_BYTES);
    return new StreamedResponse({ contentType: "application/json", chunks });
  },
);
