/** The archive: WARC files of others come in. */
import type { FunctionSpec } from "./spec.ts";

export const ARCHIVE: readonly FunctionSpec[] = [
  {
    name: "archive-api",
    about: "Takes WARC files of others into the archive, and tells what became of them",
    timeoutS: 29,
    memoryMb: 256,
    network: "private",
    maxConcurrency: 4,
    routes: [
      { method: "GET", path: "/api/admin/warcs" },
      { method: "POST", path: "/api/admin/warcs" },
      { method: "GET", path: "/api/admin/warcs/{id}" },
    ],
    grants: { send: ["imports"], bucket: "upload", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "warc-index",
    about: "Indexes uploaded WARC files, slice by slice: their captures go to ingest as those of a crawl do",
    timeoutS: 300,
    // a page of 400,000 tags takes most of it, as it does in fetch
    memoryMb: 1024,
    network: "private",
    queues: [{ queue: "imports", batchSize: 1, maxConcurrency: 4 }],
    grants: { send: ["imports", "captures"], bucket: "write", stateTable: true, database: true },
    localContainers: 1,
  },
];
