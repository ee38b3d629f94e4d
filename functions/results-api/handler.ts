/** The results of jobs, page by page, and what a job has done so far. */
import { alsoAt } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { resultsApi } from "./dependencies.ts";
import { listResults } from "./results.ts";
import { showStats } from "./stats.ts";

const routes = [listResults, showStats].flatMap((route) => [route, alsoAt(route, `/api/v1${route.spec.path}`)]);

export const api = createStreamApi("results-api", routes, resultsApi, { errors: "spider" });
export const handler = api.handler;
