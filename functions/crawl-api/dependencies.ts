/** What the crawl API needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";

export type CrawlApi = JobContainer;

export const crawlApi = once((): CrawlApi => createJobContainer("crawl-api"));
