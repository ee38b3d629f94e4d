/** Gives one page in several formats at once, for whoever waits for it. */
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { scrapeApi } from "./dependencies.ts";
import { scrape } from "./scrape.ts";

export const api = createStreamApi("scrape-api", [scrape], scrapeApi);
export const handler = api.handler;
