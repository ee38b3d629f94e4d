/** Crawls from seeds and gives the results as they are asked for; streams those of any job. */
import { alsoAt } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { crawl } from "./crawl.ts";
import { spiderApi } from "./dependencies.ts";
import { follow } from "./follow.ts";

export const api = createStreamApi(
  "spider-api",
  [crawl, follow, alsoAt(follow, `/api/v1${follow.spec.path}`)],
  spiderApi,
  { errors: "spider" },
);
export const handler = api.handler;
