/** Crawls whose pages are answers: the spider, extraction, and the results of any job. */
import { CLAIM_QUEUES } from "./queues.ts";
import type { FunctionSpec } from "./spec.ts";

export const RESULTS: readonly FunctionSpec[] = [
  {
    name: "spider-api",
    about: "Crawls from seeds and gives the results as they are asked for; streams those of any job",
    // a stream is as long as a Lambda function may run
    timeoutS: 900,
    memoryMb: 1024,
    network: "private",
    // one for each client that waits or listens
    maxConcurrency: 100,
    routes: [
      { method: "POST", path: "/spider/crawl", streaming: true },
      { method: "GET", path: "/jobs/{job_id}/stream", streaming: true },
      { method: "GET", path: "/api/v1/jobs/{job_id}/stream", streaming: true },
    ],
    grants: { send: CLAIM_QUEUES, bucket: "read", stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 8,
  },
  {
    name: "results-api",
    about: "Reads the results of jobs, page by page, from the database, the captures and the archive",
    // a thousand pages with their content, to a slow reader
    timeoutS: 300,
    memoryMb: 1024,
    network: "private",
    maxConcurrency: 20,
    routes: [
      { method: "GET", path: "/jobs/{job_id}/results", streaming: true },
      { method: "GET", path: "/jobs/{job_id}/stats", streaming: true },
      { method: "GET", path: "/api/v1/jobs/{job_id}/results", streaming: true },
      { method: "GET", path: "/api/v1/jobs/{job_id}/stats", streaming: true },
    ],
    grants: { bucket: "read", stateTable: true, database: true },
    localContainers: 4,
  },
  {
    name: "extract-api",
    about: "Extracts the content of given pages, or of the matching pages of a crawl, and waits for them",
    timeoutS: 300,
    memoryMb: 1024,
    network: "private",
    // one for each client that waits
    maxConcurrency: 20,
    routes: [
      { method: "POST", path: "/extract/batch", streaming: true },
      { method: "POST", path: "/spider/extract", streaming: true },
      { method: "POST", path: "/spider+extract", streaming: true },
    ],
    grants: { send: CLAIM_QUEUES, bucket: "read", stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 4,
  },
  {
    name: "scrape-api",
    about: "Gives one page in several formats at once, and waits for it",
    timeoutS: 300,
    memoryMb: 1024,
    network: "private",
    // one for each client that waits
    maxConcurrency: 20,
    routes: [{ method: "POST", path: "/api/v1/scrape", streaming: true }],
    grants: { send: [...CLAIM_QUEUES, "media"], bucket: "read", stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 8,
  },
];
