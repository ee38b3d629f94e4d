/** The work of one delivery of a fetch task: a few workers over its URLs, and a watch on what may stop them. */
import type { Agent } from "undici";
import type { UrlGuard } from "../access/url-guard.ts";
import type { CaptureError } from "../capture/capture.ts";
import type { Clock } from "../platform/clock.ts";
import { RetryableError } from "../platform/errors.ts";
import type { Logger } from "../platform/log.ts";
import type { ObjectStore } from "../platform/objects.ts";
import type { QueueSender } from "../platform/queues.ts";
import { archiveExchange } from "./archive-exchange.ts";
import { createCaptureOutbox } from "./capture-outbox.ts";
import type { BodyBudget } from "./exchange.ts";
import { fault } from "./fetch-faults.ts";
import type { FetchTask } from "./fetch-task.ts";
import type { HostStates } from "./host-state.ts";
import type { JobFlags } from "./job-flags.ts";
import { capturedWithout, fetchPage, judge, type PageContext, type TaskUrl } from "./page-fetch.ts";
import { createPoliteClient, type PoliteClient, RequestRefused, SlotTooFar } from "./polite-client.ts";
import type { RobotsCache } from "./robots-cache.ts";
import { createRobotsGate } from "./robots-gate.ts";
import { LEASE_MS, type TaskLease, type TaskLeases } from "./task-lease.ts";

export interface FetchDependencies {
  guard: UrlGuard;
  client: Agent;
  budget: BodyBudget;
  hosts: HostStates;
  leases: TaskLeases;
  robots: RobotsCache;
  flags: JobFlags;
  objects: ObjectStore;
  queues: QueueSender;
  clock: Clock;
  settings: {
    userAgent: string;
    concurrency: number;
    /** Requests a second per host where a job names none. */
    defaultRps: number;
    robotsUnreachable: "disallow" | "allow";
  };
}

export interface TaskDelivery {
  /** 1 for the first. */
  receiveCount: number;
  remainingMs(): number;
  log: Logger;
}

/** How a delivery ended. `lost`: another delivery has the task now. */
export type WorkOutcome = { kind: "done" } | { kind: "lost" } | { kind: "later"; waitMs: number };

/** A first slot further away than this is not waited for. */
const MAX_SLOT_WAIT_MS = 5000;
/** The same for another host that a redirect leads to: its task cannot be sent there. */
const MAX_FOREIGN_WAIT_MS = 30_000;
/** A cancelled job makes no request later than twice this. */
const WATCH_EVERY_MS = 1000;
/** Kept free at the end of the function's time, beyond the longest page. */
const CLOSING_MS = 15_000;

type Stop = { kind: "cancelled" } | { kind: "failed"; error: unknown } | Exclude<WorkOutcome, { kind: "done" }>;

/** @throws where S3, SQS or DynamoDB fail: the task is delivered again and goes on after its last flush */
export async function workThrough(
  dependencies: FetchDependencies,
  task: FetchTask,
  lease: TaskLease,
  { remainingMs, log }: TaskDelivery,
): Promise<WorkOutcome> {
  const { clock, settings, flags } = dependencies;
  const halt = new AbortController();
  const halted: { reason?: Stop } = {};
  const stopFor = (reason: Stop): void => {
    halted.reason ??= reason;
    halt.abort();
  };
  const closing = Math.min(task.config.page_timeout_ms + CLOSING_MS, remainingMs() / 2);
  const deadline = clock.now() + remainingMs() - closing;
  const outbox = createCaptureOutbox({
    jobId: task.jobId,
    taskId: task.taskId,
    lease,
    objects: dependencies.objects,
    queues: dependencies.queues,
    warcinfo: warcinfoFields(settings.userAgent, task),
    now: clock.now,
    onTrouble: (trouble) => stopFor(trouble === "lease-lost" ? { kind: "lost" } : { kind: "failed", error: trouble }),
  });

  let queue: TaskUrl[] = [];
  const clients = new Map<string, PoliteClient>();
  const clientOf = (host: string): PoliteClient => {
    const held = clients.get(host);
    if (held) return held;
    const own = host === task.host;
    const made = createPoliteClient({
      host,
      jobRps: task.config.rate_limit_rps ?? settings.defaultRps,
      states: dependencies.hosts,
      client: dependencies.client,
      budget: dependencies.budget,
      clock,
      signal: halt.signal,
      maxWaitMs: own ? MAX_SLOT_WAIT_MS : MAX_FOREIGN_WAIT_MS,
      wanted: () => (own ? queue.length : 0),
      deadline,
    });
    clients.set(host, made);
    return made;
  };
  const get: PageContext["get"] = async (url, headers, limits) => {
    try {
      return await clientOf(url.host).get(url, headers, limits);
    } catch (error) {
      if (!(error instanceof SlotTooFar) || url.host === task.host) throw error;
      throw new RequestRefused("RATE_LIMITED", `${url.host} has no free slot for the next ${error.waitMs} ms`);
    }
  };
  const robots = createRobotsGate({
    cache: dependencies.robots,
    guard: dependencies.guard,
    userAgent: settings.userAgent,
    unreachable: settings.robotsUnreachable,
    get,
    archive: async (exchange) => outbox.archive((await archiveExchange(exchange, null)).members),
    onCrawlDelay: (origin, delayMs) => clientOf(origin.host).slowTo(delayMs),
  });
  const context: PageContext = {
    config: task.config,
    scope: task.scope,
    host: task.host,
    userAgent: settings.userAgent,
    guard: dependencies.guard,
    get,
    robotsFault: async (url) => (task.config.respect_robots_txt ? await robots.faultOf(url) : null),
    now: clock.now,
  };

  const ended = new Set(task.urls.map(({ urlHash }) => urlHash).filter((urlHash) => lease.isDone(urlHash)));
  const endWithout = async (url: TaskUrl, error: CaptureError): Promise<void> => {
    ended.add(url.urlHash);
    await outbox.add(capturedWithout(url, error, clock.now()), [], null);
  };

  /** What stops the task stops it; what goes wrong with one page is that page's. */
  const guarded = async (url: TaskUrl, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof SlotTooFar) return stopFor({ kind: "later", waitMs: error.waitMs });
      if (halt.signal.aborted) return;
      if (isInfrastructure(error)) return stopFor({ kind: "failed", error });
      log.error("a page could not be handled", { error, url: url.url });
      await endWithout(url, fault("INVALID_RESPONSE", `The page could not be handled: ${String(error)}`));
    }
  };

  /** Refusals that need no request come first, so that slots are reserved for the others only. */
  const sortOut = async (): Promise<void> => {
    const wanted: typeof queue = [];
    for (const url of task.urls) {
      if (ended.has(url.urlHash) || halt.signal.aborted) continue;
      await guarded(url, async () => {
        const judged = await judge(url.url, false, context);
        if (judged instanceof URL) wanted.push(url);
        else await endWithout(url, judged);
      });
    }
    queue = wanted;
  };

  const worker = async (): Promise<void> => {
    while (!halt.signal.aborted) {
      const next = queue.shift();
      if (next === undefined) return;
      if (clock.now() >= deadline) return stopFor({ kind: "later", waitMs: 0 });
      await guarded(next, async () => {
        const { capture, members, recordId } = await fetchPage(next, context);
        ended.add(next.urlHash);
        await outbox.add(capture, members, recordId);
      });
    }
  };

  const watching = new AbortController();
  const look = async (): Promise<void> => {
    if (await flags.isCancelled(task.jobId)) stopFor({ kind: "cancelled" });
    if (lease.until - clock.now() < LEASE_MS / 2 && !(await lease.renew())) stopFor({ kind: "lost" });
  };
  const watch = async (): Promise<void> => {
    while (!watching.signal.aborted && !halt.signal.aborted) {
      await clock.sleep(WATCH_EVERY_MS, watching.signal).catch(() => undefined);
      if (watching.signal.aborted) return;
      try {
        await Promise.all([look(), clientOf(task.host).refresh()]);
      } catch (error) {
        stopFor({ kind: "failed", error });
      }
    }
  };

  const watcher = look().then(() => watch());
  try {
    await look();
    await sortOut();
    await Promise.all(Array.from({ length: settings.concurrency }, worker));
  } finally {
    watching.abort();
    await watcher.catch(() => undefined);
    outbox.close();
  }

  const { reason } = halted;
  if (reason?.kind === "failed") throw reason.error;
  if (reason?.kind === "lost") return reason;
  if (reason?.kind === "cancelled") {
    for (const url of task.urls) {
      if (!ended.has(url.urlHash)) await endWithout(url, fault("CANCELLED", "The job was cancelled"));
    }
  }
  if (!(await outbox.flush())) return { kind: "lost" };
  return reason?.kind === "later" ? reason : { kind: "done" };
}

/** Faults of S3, SQS and DynamoDB, which say nothing about the page at hand. */
function isInfrastructure(error: unknown): boolean {
  return error instanceof RetryableError || (error instanceof Error && "$metadata" in error);
}

/** ISO 28500 section 6.2. */
function warcinfoFields(userAgent: string, task: FetchTask): Record<string, string> {
  return {
    software: userAgent.split(" ", 1)[0] ?? userAgent,
    format: "WARC File Format 1.1",
    conformsTo: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    robots: task.config.respect_robots_txt ? "obey" : "ignore",
    "http-header-user-agent": userAgent,
    isPartOf: task.jobId,
  };
}
