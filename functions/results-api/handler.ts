/** The results of jobs, page by page, and what a job has done so far. */
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { resultsApi } from "./dependencies.ts";
import { listResults } from "./results.ts";
import { showStats } from "./stats.ts";

export const api = createStreamApi("results-api", [listResults, showStats], resultsApi, { errors: "spider" });
export const handler = api.handler;
