/** Finding URLs: lists of a site, and search providers. */
import { CLAIM_QUEUES } from "./queues.ts";
import type { FunctionSpec } from "./spec.ts";

export const FINDING: readonly FunctionSpec[] = [
  {
    name: "discover-api",
    about: "Takes discovery jobs, shows the URLs that they found, scores URLs",
    timeoutS: 29,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 4,
    routes: [
      { method: "POST", path: "/api/v1/discover" },
      { method: "POST", path: "/api/v1/discover/score" },
      { method: "GET", path: "/api/v1/discover/{job_id}" },
    ],
    grants: { send: ["discover"], bucket: "read", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "discover",
    about: "Reads the sitemaps and feeds of a site, and what Common Crawl knows of it",
    timeoutS: 600,
    memoryMb: 1024,
    network: "internet",
    queues: [{ queue: "discover", batchSize: 1, maxConcurrency: 10 }],
    grants: { send: ["discovered"], bucket: "write", stateTable: true },
    localContainers: 2,
  },
  {
    name: "discovered",
    about: "Writes down how a discovery ended, and gives jobs what the lists of their sources name",
    timeoutS: 60,
    memoryMb: 512,
    network: "private",
    queues: [{ queue: "discovered", batchSize: 10, maxConcurrency: 2 }],
    grants: { send: [...CLAIM_QUEUES], bucket: "read", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "harvest-api",
    about: "From an intent to a merged list of URLs of several search providers",
    timeoutS: 29,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 30,
    routes: [
      { method: "POST", path: "/search-runs" },
      { method: "GET", path: "/search-runs" },
      { method: "GET", path: "/search-runs/{run_id}" },
      { method: "POST", path: "/search-runs/{run_id}/crawl" },
      { method: "GET", path: "/healthz" },
    ],
    grants: {
      send: ["harvest", ...CLAIM_QUEUES],
      stateTable: true,
      database: true,
      vectors: true,
      embedder: true,
    },
    // a run mostly waits for its providers
    localContainers: 2,
    localEventsPerContainer: 15,
  },
  {
    name: "harvest",
    about: "Asks language models and search providers for the harvester, with keys that it alone holds",
    timeoutS: 29,
    memoryMb: 512,
    network: "internet",
    queues: [{ queue: "harvest", batchSize: 10, maxConcurrency: 20 }],
    grants: { stateTable: true, providerKeys: true },
    // one for each run that may be under way: a message that finds none free waits for the slowest of some batch
    localContainers: 1,
    localEventsPerContainer: 20,
  },
];
