/** From an intent to a merged list of URLs, and from there to a crawl. */
import { createApi } from "../adapters/api/api.ts";
import { crawlRun } from "./crawl-run.ts";
import { harvestApi } from "./dependencies.ts";
import { healthz } from "./healthz.ts";
import { createRun, listSearchRuns, showRun } from "./runs.ts";

export const api = createApi("harvest-api", [createRun, showRun, listSearchRuns, crawlRun, healthz], harvestApi, {
  errors: "harvest",
});
export const handler = api.handler;
