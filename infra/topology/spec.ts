/** What a topology may say of its functions and queues, and what follows from it. */

export type HttpMethod = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";

export interface Route {
  method: HttpMethod;
  /** As requests have it, e.g. `/api/v1/crawl/{job_id}`; see `gatewayResource`. */
  path: string;
  /** The handler is wrapped in `awslambda.streamifyResponse`. */
  streaming?: true;
  /**
   * What comes faster, or finds no room in its function, is refused with 429: requests of it are few at once, and the
   * function's other routes are to be answered meanwhile. Once it has begun, the function itself tells who is too many.
   */
  throttle?: { perSecond: number; burst: number };
}

export interface QueueTrigger {
  queue: string;
  batchSize: number;
  /** Invocations at once, at the most (2 to 1000 on AWS). */
  maxConcurrency: number;
  /** Longest wait for a batch to fill, in seconds. */
  batchingWindowS?: number;
  /**
   * On AWS a schedule has the function empty it, and nothing polls it: for what mostly has no messages, and may wait
   * for them. The handler is one of `alsoDraining`.
   */
  drainedEveryMinutes?: number;
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
  /** Paths below which everything is its own: one resource of API Gateway, of which a stack takes few. */
  below?: readonly string[];
  queues?: readonly QueueTrigger[];
  schedules?: readonly { name: string; everyMinutes: number }[];
  /** Serves the WebSocket API. */
  websocket?: true;
  /** Serves an origin of its own, whatever the path: a function URL on AWS, another port on one machine. */
  ownOrigin?: true;
  /** Runs once per deployment, and at each local start, before anything else. */
  atDeploy?: true;
  /** Runs Chromium: gets its layer, which is for x86-64, and room to unpack it. */
  browser?: true;
  /** Invocations at once, at the most. A function with queues has the sum of its triggers instead. */
  maxConcurrency?: number;
  /** Where its own messages may come back to it: what makes them fewer until none is left. */
  cycleEnds?: string;
  /** What it may touch besides its own triggers. */
  grants: {
    /** Queues it sends to. */
    send?: readonly string[];
    /** Queues it asks for messages by itself, without being woken by them. */
    receive?: readonly string[];
    /**
     * `write`: wherever functions write, which is not where uploads lie, so that no event of theirs can be their own.
     * `upload`: where uploads lie, and nowhere else. Both read.
     * `cache`: reads and writes what is cached, and nothing else.
     * `documents`: reads and writes files that documents are to be made of, and nothing else.
     * `clear`: deletes what the engines of archive jobs left, and nothing else, and reads all.
     * `engine`: reads and writes what the engines of archive jobs are told and report, and pictures of entry pages, and
     * reads all.
     * `exports`: reads and deletes exported files, and nothing else.
     * `keep`: writes and deletes WARC files that functions wrote, and nothing else, and reads all, those of engines
     * too.
     */
    bucket?: "read" | "write" | "upload" | "cache" | "documents" | "exports" | "clear" | "engine" | "keep";
    stateTable?: true;
    database?: true;
    vectors?: true;
    embedder?: true;
    /** The server of a reranker, where the deployment has one. */
    reranker?: true;
    /** The Crawl4AI service, where the deployment has one. */
    renderer?: true;
    /** The secret with the keys of search and model providers. */
    providerKeys?: true;
    /** Starts and stops tasks of engines, where the deployment has one. */
    tasks?: true;
    /** Makes and deletes the schedules of monitored sources, and no others. */
    schedules?: true;
    /** Asks the API, with the keys of those who ask it. */
    api?: true;
    /** Writes to WebSocket connections, and ends them. */
    connections?: true;
  };
  /** Worker threads of the local runtime, at the most. */
  localContainers: number;
  /**
   * Events that each of them runs at once, for a function that mostly waits; 1 where left out. A container of AWS runs
   * one in any case, and costs no more for having others beside it.
   */
  localEventsPerContainer?: number;
}

export interface QueueSpec {
  name: string;
  /** Deliveries before a message goes to `<name>-dlq`. */
  maxReceiveCount: number;
  /** The bucket sends it an event for each new object whose key matches. */
  objects?: readonly { prefix: string; suffix: string }[];
}

export interface Topology {
  functions: readonly FunctionSpec[];
  queues: readonly QueueSpec[];
}

/**
 * The API Gateway resource that takes a path of a function. A resource may hold no `+`, so the root's greedy one takes
 * such a path, and with it whatever has no resource of its own: its function answers 404 to that, as one does to what
 * is no route below its paths.
 */
export function gatewayResource(path: string, { below = [] }: Pick<FunctionSpec, "below"> = {}): string {
  const base = below.find((each) => path.startsWith(`${each}/`));
  if (base !== undefined) return `${base}/{proxy+}`;
  return path.replace(/\+\}$/, "}").includes("+") ? "/{proxy+}" : path;
}

/** What API Gateway has for the routes of a function: each method of a resource once. */
export function gatewayMethods(
  spec: FunctionSpec,
): { method: HttpMethod; resource: string; streaming: boolean; throttle: Route["throttle"] }[] {
  const methods = (spec.routes ?? []).map(({ method, path, streaming = false, throttle }) => ({
    method,
    resource: gatewayResource(path, spec),
    streaming,
    throttle,
  }));
  return [...new Map(methods.map((each) => [`${each.method} ${each.resource}`, each])).values()];
}

/** SQS visibility timeout in seconds: at least six times the timeout of the slowest consumer, as AWS advises. */
export function visibilityTimeoutS(topology: Topology, queue: string): number {
  const timeouts = topology.functions
    .filter(({ queues, grants }) => queues?.some((each) => each.queue === queue) || grants.receive?.includes(queue))
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
