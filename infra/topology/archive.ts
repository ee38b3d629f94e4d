/** The archive: WARC files of others come in, and what was captured is read and replayed. */
import { CLAIM_QUEUES } from "./queues.ts";
import type { FunctionSpec, Route } from "./spec.ts";

const READ_PATHS = [
  "/api/health",
  "/api/stats",
  "/api/snapshot/{id}",
  "/api/snapshots/raw/{id}",
  "/api/snapshots/{id}/timeline",
  "/api/snapshots/{id}/latest",
  "/api/replay/resolve",
];
const readRoutes = (["GET", "HEAD"] as const).flatMap((method) =>
  READ_PATHS.map((path): Route => ({ method, path, streaming: true })),
);

const changeRoutes = ["/api/changes", "/api/changes/compare", "/api/changes/rss"].flatMap((path) =>
  (["GET", "HEAD"] as const).map((method): Route => ({ method, path, streaming: true })),
);

const liveRoute: Route = {
  method: "GET",
  path: "/api/snapshots/{id}/compare-live",
  streaming: true,
  // four at once, and those that are told so
  throttle: { perSecond: 6, burst: 6 },
};

const exportRoutes = ["/api/exports", "/api/exports/snapshots", "/api/exports/changes"].flatMap((path) =>
  (["GET", "HEAD"] as const).map((method): Route => ({ method, path, streaming: true })),
);

const SOURCE_PATHS = [
  "/api/sources",
  "/api/sources/{code}",
  "/api/sources/{code}/editions",
  "/api/sources/{code}/preview",
  "/api/usage",
];
const sourceRoutes = SOURCE_PATHS.flatMap((path) =>
  (["GET", "HEAD"] as const).map((method): Route => ({ method, path, streaming: true })),
);
const ARCHIVE_JOB_ROUTES: [Route["method"], string][] = [
  ["GET", "/api/admin/sources"],
  ["POST", "/api/admin/sources"],
  ["GET", "/api/admin/jobs"],
  ["POST", "/api/admin/jobs"],
  ["GET", "/api/admin/jobs/status-counts"],
  ["POST", "/api/admin/jobs/validate-config"],
  ["POST", "/api/admin/jobs/register"],
  ["GET", "/api/admin/jobs/{id}"],
  ["GET", "/api/admin/jobs/{id}/snapshots"],
  ["POST", "/api/admin/jobs/{id}/retry"],
  ["POST", "/api/admin/jobs/{id}/index"],
  ["POST", "/api/admin/jobs/{id}/cleanup"],
  ["GET", "/metrics"],
  ["GET", "/api/admin/storage"],
  ["POST", "/api/admin/changes/compute"],
  ["POST", "/api/reports"],
  ["GET", "/api/admin/reports"],
  ["GET", "/api/admin/reports/{id}"],
];
const archiveJobRoutes = ARCHIVE_JOB_ROUTES.map(([method, path]): Route => ({ method, path, streaming: true }));

const mementoRoutes = ["/timegate/{url+}", "/timemap/link/{url+}", "/timemap/json/{url+}"].flatMap((path) =>
  (["GET", "HEAD"] as const).map((method): Route => ({ method, path, streaming: true })),
);

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
      { method: "GET", path: "/api/admin/warc-files" },
      { method: "GET", path: "/api/admin/warc-runs" },
      { method: "POST", path: "/api/admin/warc-runs" },
      { method: "GET", path: "/api/admin/warc-runs/{id}" },
      { method: "GET", path: "/api/admin/exclusions" },
      { method: "POST", path: "/api/admin/exclusions" },
      { method: "DELETE", path: "/api/admin/exclusions/{id}" },
    ],
    grants: { send: ["imports", "warc-runs"], bucket: "upload", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "archive-jobs",
    about: "Moves archive jobs on: begins their crawls, and follows them until all is indexed",
    timeoutS: 60,
    memoryMb: 256,
    network: "private",
    maxConcurrency: 1,
    schedules: [{ name: "archive-jobs", everyMinutes: 1 }],
    grants: {
      send: [...CLAIM_QUEUES, "engine-tasks", "imports", "media"],
      bucket: "engine",
      stateTable: true,
      database: true,
    },
    localContainers: 1,
  },
  {
    name: "engine-tasks",
    about: "Starts and stops the tasks in which engines of archive jobs run",
    timeoutS: 30,
    memoryMb: 256,
    network: "internet",
    queues: [{ queue: "engine-tasks", batchSize: 1, maxConcurrency: 2 }],
    grants: { send: ["engine-events"], tasks: true },
    localContainers: 1,
    localEventsPerContainer: 2,
  },
  {
    name: "engine-events",
    about: "Notes what is told of the tasks of archive jobs",
    timeoutS: 30,
    memoryMb: 256,
    network: "private",
    queues: [{ queue: "engine-events", batchSize: 10, maxConcurrency: 2 }],
    grants: { database: true },
    localContainers: 1,
  },
  {
    name: "editions-api",
    about: "Tells of sources and their editions, and takes archive jobs",
    timeoutS: 29,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 4,
    routes: [...sourceRoutes, ...archiveJobRoutes],
    below: ["/api/admin/jobs", "/api/sources"],
    grants: { send: ["imports"], bucket: "clear", stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 4,
  },
  {
    name: "changes",
    about: "Computes what changed between captures of pages, away from those who ask",
    timeoutS: 300,
    // a page of 400,000 tags beside the lines of another one
    memoryMb: 1024,
    network: "private",
    maxConcurrency: 1,
    schedules: [{ name: "changes", everyMinutes: 1 }],
    grants: { bucket: "read", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "changes-api",
    about: "Tells what changed between captures of pages",
    timeoutS: 29,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 10,
    routes: [...changeRoutes, liveRoute],
    below: ["/api/changes"],
    grants: { send: ["live-pages"], bucket: "read", stateTable: true, database: true },
    localContainers: 1,
    // more than may look at live pages at once: the others are told so, and changes are read meanwhile
    localEventsPerContainer: 10,
  },
  {
    name: "live-page",
    about: "Looks at pages as they are now, to compare them with their captures",
    timeoutS: 30,
    memoryMb: 512,
    network: "internet",
    queues: [{ queue: "live-pages", batchSize: 1, maxConcurrency: 4 }],
    grants: { stateTable: true },
    localContainers: 1,
    localEventsPerContainer: 4,
  },
  {
    name: "snapshot-index",
    about: "Makes new snapshots searchable",
    timeoutS: 300,
    // a page of 400,000 tags, as in fetch
    memoryMb: 1024,
    network: "private",
    maxConcurrency: 1,
    schedules: [{ name: "snapshot-index", everyMinutes: 1 }],
    grants: { bucket: "read", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "archive-search-api",
    about: "Searches the archive's snapshots",
    timeoutS: 29,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 10,
    routes: [
      { method: "GET", path: "/api/search", streaming: true },
      { method: "HEAD", path: "/api/search", streaming: true },
      { method: "GET", path: "/api/admin/search-debug", streaming: true },
    ],
    grants: { stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 4,
  },
  {
    name: "archive-exports-api",
    about: "Gives lists of the archive's snapshots and changes as files",
    // 10,000 rows to a slow reader
    timeoutS: 120,
    memoryMb: 256,
    network: "private",
    maxConcurrency: 4,
    routes: exportRoutes,
    below: ["/api/exports"],
    grants: { stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 2,
  },
  {
    name: "cdx-api",
    about: "Lists what the archive holds, in the ways that other tools ask for it",
    // an index of millions of captures, to a slow reader
    timeoutS: 300,
    memoryMb: 512,
    network: "private",
    maxConcurrency: 10,
    routes: [{ method: "GET", path: "/api/cdx", streaming: true }, ...mementoRoutes],
    below: ["/timemap"],
    grants: { stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 4,
  },
  {
    name: "exports-api",
    about: "Takes exports of jobs, tells where their files are to be had, and deletes them",
    timeoutS: 29,
    memoryMb: 256,
    network: "private",
    maxConcurrency: 4,
    routes: [
      { method: "GET", path: "/api/v1/exports" },
      { method: "POST", path: "/api/v1/exports" },
      { method: "GET", path: "/api/v1/exports/{id}" },
      { method: "DELETE", path: "/api/v1/exports/{id}" },
    ],
    grants: { send: ["exports"], bucket: "exports", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "wacz-export",
    about: "Writes what jobs have captured as WACZ files",
    // what it copies is as large as the job's WARC files
    timeoutS: 900,
    memoryMb: 512,
    network: "private",
    queues: [{ queue: "exports", batchSize: 1, maxConcurrency: 2 }],
    grants: { bucket: "write", database: true },
    localContainers: 1,
  },
  {
    name: "warc-index",
    about: "Indexes uploaded WARC files, slice by slice: their captures go to ingest as those of a crawl do",
    timeoutS: 300,
    // a page of 10 MB and 400,000 tags takes half of it, and the size of the file nothing
    memoryMb: 512,
    network: "private",
    queues: [{ queue: "imports", batchSize: 1, maxConcurrency: 4 }],
    cycleEnds: "the size of the file: each slice begins where the last one ended",
    grants: { send: ["imports", "captures"], bucket: "write", stateTable: true, database: true },
    localContainers: 1,
  },
  {
    name: "warc-keep",
    about: "Verifies WARC files, copies small ones into large ones, and deletes those that nothing needs",
    // one large file is written, and read again, within it
    timeoutS: 900,
    memoryMb: 512,
    network: "private",
    queues: [{ queue: "warc-runs", batchSize: 1, maxConcurrency: 2 }],
    cycleEnds: "the files that there are: each slice begins behind the last one, and five that come to nothing end it",
    grants: { send: ["warc-runs"], bucket: "keep", database: true },
    localContainers: 1,
  },
  {
    name: "snapshots-api",
    about: "Tells of the archive's snapshots of pages, and gives what servers sent for them",
    timeoutS: 60,
    // a page of 128 MB as archived, and decoded
    memoryMb: 1024,
    network: "private",
    maxConcurrency: 20,
    routes: readRoutes,
    grants: { bucket: "read", stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 4,
  },
  {
    name: "replay",
    about: "Replays captures, on an origin of their own",
    timeoutS: 60,
    // a page of 128 MB as archived, decoded and rewritten
    memoryMb: 1024,
    network: "private",
    maxConcurrency: 20,
    ownOrigin: true,
    grants: { bucket: "read", stateTable: true, database: true },
    localContainers: 1,
    localEventsPerContainer: 8,
  },
];
