/** Telling those who listen how a job goes on. */
import type { FunctionSpec } from "./spec.ts";

export const PROGRESS: readonly FunctionSpec[] = [
  {
    name: "progress-api",
    about: "Streams the progress of a job, until it ends",
    // the longest of Lambda and of a streamed answer; a client comes again for the rest
    timeoutS: 900,
    memoryMb: 256,
    network: "private",
    // one for each stream: a WebSocket costs nothing while nothing changes
    maxConcurrency: 20,
    routes: [{ method: "GET", path: "/api/v1/crawl/{job_id}/stream", streaming: true }],
    grants: { stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 20,
  },
  {
    name: "socket",
    about: "Takes WebSocket connections that listen to a job",
    timeoutS: 29,
    memoryMb: 256,
    network: "private",
    maxConcurrency: 10,
    websocket: true,
    grants: { send: ["progress"], stateTable: true, database: true },
    localContainers: 2,
  },
  {
    name: "progress",
    about: "Watches the jobs that somebody listens to, a look each second, and tells what has changed",
    timeoutS: 20,
    memoryMb: 256,
    network: "private",
    queues: [{ queue: "progress", batchSize: 10, maxConcurrency: 4 }],
    cycleEnds: "the listeners of the job, whose leases lapse, and the end of the job",
    grants: { send: ["progress", "push"], stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "push",
    about: "Writes events to WebSocket connections",
    timeoutS: 30,
    memoryMb: 256,
    network: "internet",
    queues: [{ queue: "push", batchSize: 1, maxConcurrency: 10 }],
    grants: { stateTable: true, connections: true },
    localContainers: 1,
  },
];
