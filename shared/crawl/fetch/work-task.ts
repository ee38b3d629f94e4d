/** The work of one delivery of a fetch task: a few workers over its URLs, each of which ends as exactly one capture. */
import type { CaptureError } from "../../capture/capture.ts";
import { fault } from "../http/faults.ts";
import { SlotTooFar } from "../politeness/slot-queue.ts";
import { createRobotsGate } from "../robots/gate.ts";
import type { FetchTask } from "../tasks/fetch-task.ts";
import { hostOf } from "../urls/normalize-url.ts";
import { archiveExchange } from "./archive-exchange.ts";
import { type CaptureOutbox, createCaptureOutbox } from "./capture-writer.ts";
import type { FetchDependencies, TaskDelivery, WorkOutcome } from "./dependencies.ts";
import { capturedWithout, fetchPage, judge, type PageContext, type TaskUrl } from "./fetch-page.ts";
import type { FetchTally } from "./metrics.ts";
import { createTaskWatch } from "./stop-poll.ts";
import { createTaskHalt, type HaltReason, isInfrastructureFault, type TaskHalt } from "./stop-reason.ts";
import { createTaskHosts, type TaskHosts } from "./task-hosts.ts";
import type { TaskLease } from "./task-lease.ts";

/** Kept free at the end of the function's time, beyond the longest page. */
const CLOSING_MS = 15_000;

/** What becomes of the URLs that a stop of the whole job leaves. */
const STOPPED: Partial<Record<HaltReason["kind"], CaptureError>> = {
  cancelled: fault("CANCELLED", "The job was cancelled"),
  "timed-out": fault("TIMEOUT", "The time of the job was up"),
};

/** @throws where S3, SQS or DynamoDB fail: the task is delivered again and goes on after its last flush */
export async function workThrough(
  dependencies: FetchDependencies,
  task: FetchTask,
  lease: TaskLease,
  { remainingMs, log }: TaskDelivery,
  tally: FetchTally,
): Promise<WorkOutcome> {
  const { clock, settings } = dependencies;
  const halt = createTaskHalt();
  const closing = Math.min(task.config.page_timeout_ms + CLOSING_MS, remainingMs() / 2);
  const deadline = clock.now() + remainingMs() - closing;
  const outbox = openOutbox(dependencies, task, lease, halt, deadline);
  let queue: TaskUrl[] = [];
  const queued = (): number => queue.length;
  const watch = createTaskWatch(dependencies, task, lease, halt);
  const hosts = createTaskHosts({ dependencies, task, signal: halt.signal, deadline, queued, lookout: watch });
  const context = pageContext(dependencies, task, hosts, outbox);
  const ended = new Set(task.urls.map(({ urlHash }) => urlHash).filter((urlHash) => lease.isDone(urlHash)));

  const endWithout = async (url: TaskUrl, error: CaptureError): Promise<void> => {
    ended.add(url.urlHash);
    const capture = capturedWithout(url, error, clock.now());
    tally.page(capture, url.attempt, false);
    await outbox.add(capture, [], null);
  };

  /** What stops the task stops it; what goes wrong with one page is that page's. */
  const guarded = async (url: TaskUrl, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof SlotTooFar) return halt.stopFor({ kind: "later", waitMs: error.waitMs });
      if (halt.signal.aborted) return;
      if (isInfrastructureFault(error)) return halt.stopFor({ kind: "failed", error });
      log.error("a page could not be handled", { error, url: url.url });
      await endWithout(url, fault("INVALID_RESPONSE", `The page could not be handled: ${String(error)}`));
    }
  };

  /** Refusals that need no request come first, so that slots are reserved for the others only. */
  const sortOut = async (): Promise<void> => {
    const wanted: TaskUrl[] = [];
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
      if (clock.now() >= deadline) return halt.stopFor({ kind: "later", waitMs: 0 });
      await guarded(next, async () => {
        const { capture, members, recordId, rendering } = await fetchPage(next, context);
        ended.add(next.urlHash);
        tally.page(capture, next.attempt, rendering !== null);
        await outbox.add(capture, members, recordId, rendering);
      });
    }
  };

  try {
    await watch.look();
    watch.start(hosts.refresh);
    await sortOut();
    await Promise.all(
      Array.from({ length: Math.min(settings.concurrency, task.concurrency ?? settings.concurrency) }, worker),
    );
  } finally {
    await watch.stop();
    outbox.close();
  }

  const { reason } = halt;
  if (reason?.kind === "failed") throw reason.error;
  if (reason?.kind === "lost") return reason;
  const stopped = reason && STOPPED[reason.kind];
  if (stopped !== undefined) {
    const left = task.urls.filter(({ urlHash }) => !ended.has(urlHash));
    for (const url of left) await endWithout(url, stopped);
  }
  if (!(await outbox.flush())) return { kind: "lost" };
  return reason?.kind === "later" ? reason : { kind: "done" };
}

function openOutbox(
  { objects, queues, clock, settings }: FetchDependencies,
  task: FetchTask,
  lease: TaskLease,
  halt: TaskHalt,
  deadline: number,
): CaptureOutbox {
  return createCaptureOutbox({
    task,
    lease,
    objects,
    queues,
    warcinfo: warcinfoFields(settings.userAgent, task),
    clock,
    deadline,
    onTrouble: (trouble) =>
      halt.stopFor(trouble === "lease-lost" ? { kind: "lost" } : { kind: "failed", error: trouble }),
  });
}

function pageContext(
  { robots: cache, guard, settings, clock }: FetchDependencies,
  task: FetchTask,
  hosts: TaskHosts,
  outbox: CaptureOutbox,
): PageContext {
  const robots = createRobotsGate({
    cache,
    guard,
    userAgent: settings.userAgent,
    unreachable: settings.robotsUnreachable,
    get: hosts.get,
    archive: async (exchange) => outbox.archive((await archiveExchange(exchange, null)).members),
    onCrawlDelay: (origin, delayMs) => hosts.slowTo(hostOf(origin), delayMs),
  });
  return {
    config: task.config,
    scope: task.scope,
    host: task.host,
    anchors: task.anchors,
    userAgent: settings.userAgent,
    guard,
    get: hosts.get,
    robotsFault: async (url) => (task.config.respect_robots_txt ? await robots.faultOf(url) : null),
    now: clock.now,
  };
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
