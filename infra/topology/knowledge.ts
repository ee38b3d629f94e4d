/** From chunks to answers: vectors and search. */
import type { FunctionSpec } from "./spec.ts";

export const KNOWLEDGE: readonly FunctionSpec[] = [
  {
    name: "embed",
    about: "Gives chunks their vectors and activates generations that are complete",
    timeoutS: 120,
    memoryMb: 1024,
    network: "private",
    queues: [
      { queue: "embed-high", batchSize: 1, maxConcurrency: 4 },
      { queue: "embed-normal", batchSize: 1, maxConcurrency: 3 },
      { queue: "embed-low", batchSize: 1, maxConcurrency: 2 },
    ],
    cycleEnds: "the redrives of a message: it sends nothing else",
    grants: { database: true, vectors: true, embedder: true },
    localContainers: 1,
  },
  {
    name: "search-api",
    about: "Answers hybrid, vector and keyword queries",
    timeoutS: 29,
    memoryMb: 1024,
    network: "private",
    maxConcurrency: 20,
    routes: [
      { method: "POST", path: "/api/v1/search" },
      { method: "POST", path: "/api/v1/search/vector" },
      { method: "POST", path: "/api/v1/search/keyword" },
    ],
    grants: { stateTable: true, database: true, vectors: true, embedder: true, reranker: true, bucket: "cache" },
    localContainers: 2,
  },
];
