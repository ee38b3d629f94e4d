/** Extracts the content of given pages, or of those pages of a crawl that match a pattern. */
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { extractBatch } from "./batch.ts";
import { extractApi } from "./dependencies.ts";
import { spiderExtract } from "./spider-extract.ts";

const routes = [extractBatch, spiderExtract("/spider/extract"), spiderExtract("/spider+extract")];
export const api = createStreamApi("extract-api", routes, extractApi, { errors: "spider" });
export const handler = api.handler;
