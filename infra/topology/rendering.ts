/** Pages in a browser: those of crawls, and those that somebody asks to see. */
import type { FunctionSpec, Topology } from "./spec.ts";

export const RENDERING: readonly FunctionSpec[] = [
  {
    name: "render",
    about: "Opens fetched pages in a browser, archives their DOM, delivers their captures",
    timeoutS: 120,
    memoryMb: 2048,
    network: "internet",
    browser: true,
    queues: [{ queue: "render", batchSize: 1, maxConcurrency: 50 }],
    cycleEnds: "the deadline in the message",
    grants: { send: ["captures", "render"], bucket: "write", stateTable: true, renderer: true },
    localContainers: 1,
  },
  {
    name: "media-api",
    about: "Takes pictures and PDFs of pages and runs scripts in them, for whoever waits for it",
    timeoutS: 29,
    memoryMb: 256,
    network: "private",
    maxConcurrency: 10,
    routes: [
      { method: "POST", path: "/api/v1/screenshot", streaming: true },
      { method: "POST", path: "/api/v1/pdf", streaming: true },
      { method: "POST", path: "/api/v1/execute-js", streaming: true },
    ],
    grants: { send: ["media"], bucket: "read", stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 8,
  },
  {
    name: "render-media",
    about: "Opens pages in a browser for the media API",
    timeoutS: 60,
    memoryMb: 2048,
    network: "internet",
    browser: true,
    queues: [{ queue: "media", batchSize: 1, maxConcurrency: 20 }],
    grants: { bucket: "write", stateTable: true },
    localContainers: 1,
  },
];

/**
 * The topology where Crawl4AI renders: its queue gives it no more pages than its browser bears, and who asks it mostly
 * waits. More at once than that, and pages that wait in the server's own queue lose their rendering.
 */
export function renderedByCrawl4Ai(topology: Topology, pagesAtOnce: number): Topology {
  const limited = (spec: FunctionSpec): FunctionSpec => ({
    ...spec,
    queues: (spec.queues ?? []).map((trigger) => ({ ...trigger, maxConcurrency: pagesAtOnce })),
    localEventsPerContainer: pagesAtOnce,
  });
  const functions = topology.functions.map((spec) => (spec.grants.renderer ? limited(spec) : spec));
  return { ...topology, functions };
}
