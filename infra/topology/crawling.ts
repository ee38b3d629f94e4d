/** From a URL to a document: jobs, fetching, ingest, and what watches that none is lost. */
import { CLAIM_QUEUES, EMBED_QUEUES, FETCH_QUEUES, QUEUES } from "./queues.ts";
import { deadLetterQueue, type FunctionSpec } from "./spec.ts";

export const CRAWLING: readonly FunctionSpec[] = [
  {
    name: "crawl-api",
    about: "Takes crawl jobs, tells what became of them, cancels them",
    timeoutS: 29,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 20,
    routes: [
      { method: "POST", path: "/api/v1/crawl" },
      { method: "POST", path: "/api/v1/crawl/batch" },
      { method: "POST", path: "/api/v1/crawl/deep" },
      { method: "GET", path: "/api/v1/crawl/{job_id}" },
      { method: "POST", path: "/api/v1/crawl/{job_id}/cancel" },
      { method: "GET", path: "/api/v1/jobs" },
      { method: "GET", path: "/api/v1/jobs/failed" },
      { method: "POST", path: "/api/v1/jobs/{job_id}/retry" },
    ],
    grants: { send: CLAIM_QUEUES, stateTable: true, database: true },
    localContainers: 2,
  },
  {
    name: "fetch",
    about: "Fetches the URLs of one task politely, writes their WARC, extracts their text",
    timeoutS: 360,
    memoryMb: 1024,
    network: "internet",
    queues: [
      { queue: "fetch-high", batchSize: 1, maxConcurrency: 200 },
      { queue: "fetch-normal", batchSize: 1, maxConcurrency: 100 },
      { queue: "fetch-low", batchSize: 1, maxConcurrency: 20 },
    ],
    cycleEnds: "the job's limits of pages, depth and attempts: a URL is sent once for each claim of its row",
    grants: { send: [...FETCH_QUEUES, "captures", "render"], bucket: "write", stateTable: true },
    localContainers: 4,
    // a task waits politely for most of its time: together what its queues may have under way
    localEventsPerContainer: 80,
  },
  {
    name: "ingest",
    about: "Writes captures, documents and chunks; claims the next URLs of the frontier",
    timeoutS: 60,
    memoryMb: 1024,
    network: "private",
    queues: [{ queue: "captures", batchSize: 4, maxConcurrency: 8 }],
    cycleEnds: "the job's limits of pages, depth and attempts: a URL is sent once for each claim of its row",
    grants: { send: [...CLAIM_QUEUES, ...EMBED_QUEUES], bucket: "read", database: true },
    localContainers: 2,
  },
  {
    name: "dead-letter",
    about: "Has messages that no delivery could complete sent again later, or ends their work, so that their jobs end",
    timeoutS: 60,
    memoryMb: 256,
    network: "private",
    queues: QUEUES.map(({ name }) => ({ queue: deadLetterQueue(name), batchSize: 10, maxConcurrency: 2 })),
    // a page that could not be rendered is delivered as it was fetched, in a batch of its own; uploads are begun anew
    cycleEnds: "the redrives of a message, which it carries and which are capped",
    grants: { send: [...CLAIM_QUEUES, "imports"], bucket: "write", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "sweep",
    about: "Sends again what a lapsed lease or an old pending row still asks for",
    timeoutS: 60,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 1,
    schedules: [{ name: "sweep", everyMinutes: 1 }],
    grants: {
      send: [...CLAIM_QUEUES, ...EMBED_QUEUES, "discover", "progress", "imports", "exports", "warc-runs"],
      bucket: "read",
      stateTable: true,
      database: true,
    },
    localContainers: 1,
  },
  {
    name: "maintain",
    about:
      "Removes replaced generations with their vectors, refreshes the corpus statistics, ages caches, begins upkeep",
    timeoutS: 300,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 1,
    schedules: [{ name: "maintain", everyMinutes: 5 }],
    grants: { stateTable: true, database: true, vectors: true },
    localContainers: 1,
  },
];
