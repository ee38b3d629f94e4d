/** What the scrape API needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { createResultContainer, type ResultContainer } from "../adapters/api/container.ts";

export type ScrapeApi = ResultContainer;

export const scrapeApi = once((): ScrapeApi => createResultContainer("scrape-api"));
