/** Serves the routes that create crawl jobs, list them with their counts, and cancel them. */
import { createApi } from "../adapters/api/api.ts";
import { crawlApi } from "./dependencies.ts";
import { listFailed, retry } from "./failures.ts";
import { cancel, list, showJob } from "./jobs.ts";
import { crawlBatch, crawlPages, crawlSite } from "./submit.ts";

export const api = createApi(
  "crawl-api",
  [crawlPages, crawlBatch, crawlSite, showJob, cancel, list, listFailed, retry],
  crawlApi,
);
export const handler = api.handler;
