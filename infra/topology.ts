/**
 * The declaration: every function with its routes, queues, schedules and limits, as plain data. The CDK stacks build AWS
 * resources from it and the local runtime wires the same handlers from it; neither knows a route or a queue that is not
 * named here.
 */

export type HttpMethod = "GET" | "POST" | "PUT" | "DELETE";

export interface Route {
  method: HttpMethod;
  /** As requests have it, e.g. `/api/v1/crawl/{job_id}`; see `gatewayResource`. */
  path: string;
  /** The handler is wrapped in `awslambda.streamifyResponse`. */
  streaming?: true;
}

export interface QueueTrigger {
  queue: string;
  batchSize: number;
  /** Invocations at once, at the most (2 to 1000 on AWS). */
  maxConcurrency: number;
  /** Longest wait for a batch to fill, in seconds. */
  batchingWindowS?: number;
}

export interface FunctionSpec {
  /** Folder below `functions/`; its `handler.ts` exports `handler`. */
  name: string;
  about: string;
  timeoutS: number;
  memoryMb: number;
  /** `internet`: outside the VPC, no database. `private`: inside the VPC, reaches the database but no web site. */
  network: "internet" | "private";
  routes?: readonly Route[];
  queues?: readonly QueueTrigger[];
  schedules?: readonly { name: string; everyMinutes: number }[];
  /** S3 object-created events whose key matches. */
  objects?: readonly { prefix: string; suffix: string }[];
  /** Serves the WebSocket API. */
  websocket?: true;
  /** Runs once per deployment, and at each local start, before anything else. */
  atDeploy?: true;
  /** Runs Chromium: gets its layer, which is for x86-64, and room to unpack it. */
  browser?: true;
  /** Invocations at once, at the most. A function with queues has the sum of its triggers instead. */
  maxConcurrency?: number;
  /** What it may touch besides its own triggers. */
  grants: {
    /** Queues it sends to. */
    send?: readonly string[];
    bucket?: "read" | "write";
    stateTable?: true;
    database?: true;
    vectors?: true;
    embedder?: true;
    /** The Crawl4AI service, where the deployment has one. */
    renderer?: true;
    /** The secret with the keys of search and model providers. */
    providerKeys?: true;
    /** Writes to WebSocket connections, and ends them. */
    connections?: true;
  };
  /** Worker threads of the local runtime, at the most. */
  localContainers: number;
}

export interface QueueSpec {
  name: string;
  /** Deliveries before a message goes to `<name>-dlq`. */
  maxReceiveCount: number;
}

export interface Topology {
  functions: readonly FunctionSpec[];
  queues: readonly QueueSpec[];
}

/**
 * The API Gateway resource that takes a path. A resource may hold no `+`, so the root's greedy one takes such a path, and with
 * it whatever has no resource of its own: its function answers 404 to that.
 */
export function gatewayResource(path: string): string {
  return path.replace(/\+\}$/, "}").includes("+") ? "/{proxy+}" : path;
}

/** SQS visibility timeout in seconds: at least six times the timeout of the slowest consumer, as AWS advises. */
export function visibilityTimeoutS(topology: Topology, queue: string): number {
  const timeouts = topology.functions
    .filter((each) => each.queues?.some((trigger) => trigger.queue === queue))
    .map((each) => each.timeoutS);
  return 6 * Math.max(5, ...timeouts);
}

/** Invocations at once, at the most; undefined where nothing limits them. */
export function concurrencyLimit(spec: FunctionSpec): number | undefined {
  return spec.maxConcurrency ?? spec.queues?.reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0);
}

/**
 * Database connections that can be open at once: a container holds one. Aurora Serverless v2 takes some 190 for each
 * capacity unit of its maximum, and never more than 2000 where the minimum is 0.
 */
export function databaseConnections(topology: Topology): number {
  return topology.functions
    .filter(({ grants }) => grants.database)
    .reduce((sum, spec) => sum + (concurrencyLimit(spec) ?? Number.POSITIVE_INFINITY), 0);
}

/** Whether it belongs to the WebSocket API, on either side of its connections. */
export const servesSockets = ({ websocket, grants }: FunctionSpec): boolean =>
  websocket === true || grants.connections === true;

export const deadLetterQueue = (queue: string): string => `${queue}-dlq`;

/** With the consumer's growing delays, what outlives six minutes of a database or a bucket that is down. */
const MAX_RECEIVES = 12;

const QUEUES = [
  { name: "fetch-high", maxReceiveCount: MAX_RECEIVES },
  { name: "fetch-normal", maxReceiveCount: MAX_RECEIVES },
  { name: "fetch-low", maxReceiveCount: MAX_RECEIVES },
  { name: "captures", maxReceiveCount: MAX_RECEIVES },
  { name: "embed", maxReceiveCount: MAX_RECEIVES },
  { name: "render", maxReceiveCount: MAX_RECEIVES },
  // whoever asked waits no longer than half a minute
  { name: "media", maxReceiveCount: 2 },
  { name: "discover", maxReceiveCount: MAX_RECEIVES },
  { name: "discovered", maxReceiveCount: MAX_RECEIVES },
  // whoever asked has gone after a few seconds
  { name: "harvest", maxReceiveCount: 3 },
  { name: "progress", maxReceiveCount: MAX_RECEIVES },
  { name: "push", maxReceiveCount: MAX_RECEIVES },
  { name: "proxy-test", maxReceiveCount: 3 },
] as const satisfies readonly QueueSpec[];

const FETCH_QUEUES = ["fetch-high", "fetch-normal", "fetch-low"] as const;
/** Who claims URLs sends them to fetch, or to ingest where the crawl cache has them. */
const CLAIM_QUEUES = [...FETCH_QUEUES, "captures"] as const;

export const TOPOLOGY: Topology = {
  queues: QUEUES,
  functions: [
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
      ],
      grants: { bucket: "read", stateTable: true, database: true },
      localContainers: 2,
    },
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
      ],
      grants: { send: CLAIM_QUEUES, bucket: "read", stateTable: true, database: true },
      localContainers: 8,
    },
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
      localContainers: 8,
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
      localContainers: 4,
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
      grants: { stateTable: true, database: true, vectors: true, embedder: true },
      localContainers: 2,
    },
    {
      name: "keys-api",
      about: "Creates, lists and revokes API keys",
      timeoutS: 29,
      memoryMb: 256,
      network: "private",
      maxConcurrency: 4,
      routes: [
        { method: "GET", path: "/api/v1/api-keys" },
        { method: "POST", path: "/api/v1/api-keys" },
        { method: "DELETE", path: "/api/v1/api-keys/{key_id}" },
      ],
      grants: { stateTable: true, database: true },
      localContainers: 1,
    },
    {
      name: "config-api",
      about: "Creates, lists, replaces and deletes crawl configs",
      timeoutS: 29,
      memoryMb: 256,
      network: "private",
      maxConcurrency: 4,
      routes: [
        { method: "GET", path: "/api/v1/configs" },
        { method: "POST", path: "/api/v1/configs" },
        { method: "GET", path: "/api/v1/configs/{config_id}" },
        { method: "PUT", path: "/api/v1/configs/{config_id}" },
        { method: "DELETE", path: "/api/v1/configs/{config_id}" },
      ],
      grants: { stateTable: true, database: true },
      localContainers: 1,
    },
    {
      name: "domains-api",
      about: "Slows, blocks and shows domains, clears caches, tells totals",
      timeoutS: 29,
      memoryMb: 256,
      network: "private",
      maxConcurrency: 4,
      routes: [
        { method: "GET", path: "/api/v1/domains" },
        { method: "GET", path: "/api/v1/domains/{domain}" },
        { method: "PUT", path: "/api/v1/domains/{domain}" },
        { method: "POST", path: "/api/v1/domains/{domain}/block" },
        { method: "POST", path: "/api/v1/domains/{domain}/unblock" },
        { method: "POST", path: "/api/v1/domains/{domain}/reset" },
        { method: "DELETE", path: "/api/v1/cache/crawl" },
        { method: "DELETE", path: "/api/v1/cache/query" },
        { method: "DELETE", path: "/api/v1/cache/embeddings" },
        { method: "DELETE", path: "/api/v1/cache/domain/{domain}" },
        { method: "GET", path: "/api/v1/cache/stats" },
        { method: "GET", path: "/api/v1/stats" },
        { method: "GET", path: "/api/v1/stats/domains" },
      ],
      grants: { stateTable: true, database: true },
      localContainers: 1,
    },
    {
      name: "proxies-api",
      about: "Keeps the proxy configs, and has servers tried",
      timeoutS: 29,
      memoryMb: 256,
      network: "private",
      maxConcurrency: 4,
      routes: [
        { method: "GET", path: "/api/v1/proxies" },
        { method: "POST", path: "/api/v1/proxies" },
        { method: "GET", path: "/api/v1/proxies/{id}" },
        { method: "PUT", path: "/api/v1/proxies/{id}" },
        { method: "DELETE", path: "/api/v1/proxies/{id}" },
        { method: "POST", path: "/api/v1/proxies/test" },
      ],
      grants: { send: ["proxy-test"], stateTable: true, database: true },
      localContainers: 1,
    },
    {
      name: "proxy-test",
      about: "Tries proxy servers on behalf of the proxies API",
      timeoutS: 30,
      memoryMb: 256,
      network: "internet",
      queues: [{ queue: "proxy-test", batchSize: 1, maxConcurrency: 4 }],
      grants: { stateTable: true },
      localContainers: 1,
    },
    {
      name: "health-api",
      about: "Says that it lives, and whether what it depends on answers",
      timeoutS: 29,
      memoryMb: 256,
      network: "private",
      maxConcurrency: 4,
      routes: [
        { method: "GET", path: "/api/v1/health" },
        { method: "GET", path: "/api/v1/health/ready" },
      ],
      grants: { send: ["captures"], bucket: "read", stateTable: true, database: true, vectors: true, embedder: true },
      localContainers: 1,
    },
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
      about: "Writes down how a discovery began and ended",
      timeoutS: 30,
      memoryMb: 256,
      network: "private",
      queues: [{ queue: "discovered", batchSize: 10, maxConcurrency: 2 }],
      grants: { database: true },
      localContainers: 1,
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
      grants: { send: [...FETCH_QUEUES, "captures", "render"], bucket: "write", stateTable: true },
      // a task waits politely for most of its time, so this is how many hosts are crawled at once
      localContainers: 4,
    },
    {
      name: "render",
      about: "Opens fetched pages in a browser, archives their DOM, delivers their captures",
      timeoutS: 120,
      memoryMb: 2048,
      network: "internet",
      browser: true,
      queues: [{ queue: "render", batchSize: 1, maxConcurrency: 50 }],
      grants: { send: ["captures"], bucket: "write", stateTable: true, renderer: true },
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
        { method: "POST", path: "/api/v1/screenshot" },
        { method: "POST", path: "/api/v1/pdf" },
        { method: "POST", path: "/api/v1/execute-js" },
      ],
      grants: { send: ["media"], bucket: "read", stateTable: true, database: true },
      localContainers: 2,
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
    {
      name: "ingest",
      about: "Writes captures, documents and chunks; claims the next URLs of the frontier",
      timeoutS: 60,
      memoryMb: 1024,
      network: "private",
      queues: [{ queue: "captures", batchSize: 4, maxConcurrency: 8 }],
      grants: { send: [...CLAIM_QUEUES, "embed"], bucket: "read", stateTable: true, database: true },
      localContainers: 2,
    },
    {
      name: "embed",
      about: "Gives chunks their vectors and activates generations that are complete",
      timeoutS: 120,
      memoryMb: 1024,
      network: "private",
      queues: [{ queue: "embed", batchSize: 1, maxConcurrency: 4 }],
      grants: { stateTable: true, database: true, vectors: true, embedder: true },
      localContainers: 1,
    },
    {
      name: "progress",
      about: "Watches the jobs that somebody listens to, a look each second, and tells what has changed",
      timeoutS: 20,
      memoryMb: 256,
      network: "private",
      queues: [{ queue: "progress", batchSize: 10, maxConcurrency: 4 }],
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
    {
      name: "dead-letter",
      about:
        "Has messages that no delivery could complete sent again later, or ends their work, so that their jobs end",
      timeoutS: 60,
      memoryMb: 256,
      network: "private",
      queues: QUEUES.map(({ name }) => ({ queue: deadLetterQueue(name), batchSize: 10, maxConcurrency: 2 })),
      grants: { send: [...CLAIM_QUEUES, "embed"], bucket: "write", stateTable: true, database: true },
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
      // a run mostly waits for its providers, and holds a container meanwhile
      localContainers: 20,
    },
    {
      name: "harvest",
      about: "Asks language models and search providers for the harvester, with keys that it alone holds",
      timeoutS: 29,
      memoryMb: 512,
      network: "internet",
      queues: [{ queue: "harvest", batchSize: 10, maxConcurrency: 20 }],
      grants: { stateTable: true, providerKeys: true },
      // a batch takes all that wait; with so many under way the next one is free soon
      localContainers: 10,
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
        send: [...CLAIM_QUEUES, "embed", "discover", "progress"],
        bucket: "read",
        stateTable: true,
        database: true,
      },
      localContainers: 1,
    },
    {
      name: "maintain",
      about: "Removes replaced generations with their vectors, refreshes the corpus statistics, ages caches",
      timeoutS: 300,
      memoryMb: 512,
      network: "private",
      maxConcurrency: 1,
      schedules: [{ name: "maintain", everyMinutes: 5 }],
      grants: { bucket: "write", stateTable: true, database: true, vectors: true },
      localContainers: 1,
    },
    {
      name: "migrate",
      about: "Brings the database schema up to date",
      timeoutS: 300,
      memoryMb: 256,
      network: "private",
      maxConcurrency: 1,
      atDeploy: true,
      grants: { database: true },
      localContainers: 1,
    },
  ],
};
