/** Works through the URLs of one delivery of a fetch task, a few at a time; each ends as exactly one capture. */
import type { CaptureError } from "../../capture/capture.ts";
import { atOnce } from "../../platform/at-once.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { fault } from "../http/faults.ts";
import { SlotTooFar } from "../politeness/slot-queue.ts";
import type { StopPoll } from "../politeness/stop-poll.ts";
import { createRobotsGate } from "../robots/gate.ts";
import { pageTimeoutMs } from "../settings/crawl-config.ts";
import type { FetchTask } from "../tasks/fetch-task.ts";
import { hostOf } from "../urls/normalize-url.ts";
import { archiveExchange } from "./archive-exchange.ts";
import { type CaptureWriter, type CaptureWriterOptions, createCaptureWriter } from "./capture-writer.ts";
import type { FetchDependencies, TaskDelivery, WorkOutcome } from "./dependencies.ts";
import { capturedWithout, check, fetchPage, type PageContext, type TaskUrl } from "./fetch-page.ts";
import type { FetchRecord } from "./metrics.ts";
import { createTaskStop, isInfrastructureFault, type StopReason, type TaskStop } from "./stop-reason.ts";
import { createTaskHosts, type TaskHosts } from "./task-hosts.ts";
import type { TaskLease } from "./task-lease.ts";
import { createTaskNotes } from "./task-notes.ts";
import { createTaskStopPoll } from "./task-stop-poll.ts";

/** Kept free at the end of the function's time, beyond the longest page. */
const CLOSING_MS = 15_000;

/** What is held back then would come after the end of its job, in ms. */
const LAST_MS = 20_000;

const isDueSoon = ({ deadline }: FetchTask, now: number): boolean => deadline !== null && deadline - now < LAST_MS;

/** What becomes of the URLs that a stop of the whole job leaves. */
const STOPPED: Partial<Record<StopReason["kind"], CaptureError>> = {
  cancelled: fault("CANCELLED", "The job was cancelled"),
  "timed-out": fault("TIMEOUT", "The time of the job was up"),
};

/** @throws where S3, SQS or DynamoDB fail: the task is delivered again and goes on after its last flush */
export async function workThrough(
  dependencies: FetchDependencies,
  task: FetchTask,
  lease: TaskLease,
  { remainingMs, log, hasCompany, ending }: TaskDelivery,
  record: FetchRecord,
): Promise<WorkOutcome> {
  const { clock, settings } = dependencies;
  const stop = createTaskStop();
  const closing = Math.min(pageTimeoutMs(task.config) + CLOSING_MS, remainingMs() / 2);
  const deadline = clock.now() + remainingMs() - closing;
  const notes = createTaskNotes(task, { ...dependencies, log });
  let listened = false;
  const writer = openWriter(dependencies, task, lease, {
    stop,
    deadline,
    onDelivered: notes.delivered,
    isListened: () => listened || isDueSoon(task, clock.now()),
  });
  let queue: TaskUrl[] = [];
  const queued = (): number => queue.length;
  const poll: StopPoll = createTaskStopPoll(
    dependencies,
    task,
    lease,
    stop,
    () => hosts.refresh(),
    (isListened) => {
      listened = isListened;
    },
  );
  const hosts = createTaskHosts({
    dependencies,
    task,
    signal: stop.signal,
    deadline,
    queued,
    freshness: poll,
    onRequest: notes.requested,
    hasCompany,
  });
  const stopForEnd = (): void => stop.stopFor({ kind: "later", waitMs: 0 });
  ending?.addEventListener("abort", stopForEnd);
  const context = pageContext(dependencies, task, hosts, writer, stop.signal);
  const ended = new Set(task.urls.map(({ urlHash }) => urlHash).filter((urlHash) => lease.isDone(urlHash)));

  const endWithout = async (url: TaskUrl, error: CaptureError): Promise<void> => {
    ended.add(url.urlHash);
    const capture = capturedWithout(url, error, clock.now());
    record.page(capture, url.attempt, false);
    await writer.add(capture, [], null);
  };

  /** What stops the task stops it; what goes wrong with one page is that page's. */
  const guarded = async (url: TaskUrl, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof SlotTooFar) {
        notes.postponed(error);
        return stop.stopFor({ kind: "later", waitMs: error.waitMs });
      }
      if (stop.signal.aborted) return;
      if (isInfrastructureFault(error)) return stop.stopFor({ kind: "failed", error });
      log.error("a page could not be handled", { error, url: url.url });
      await endWithout(url, fault("INVALID_RESPONSE", `The page could not be handled: ${String(error)}`));
    }
  };

  /** Refusals that need no request come first, so that slots are reserved for the others only. */
  const sortOut = async (): Promise<void> => {
    const wanted: TaskUrl[] = [];
    for (const url of task.urls) {
      if (ended.has(url.urlHash) || stop.reason !== undefined) continue;
      await guarded(url, async () => {
        const checked = await check(url.url, false, context);
        if (checked instanceof URL) wanted.push(url);
        else await endWithout(url, checked);
      });
    }
    // whether a host answers again is found out with a URL that has not failed, if there is one
    queue = wanted.toSorted((a, b) => Number(a.attempt > 0) - Number(b.attempt > 0));
  };

  const untilStopped = function* (): Generator<TaskUrl> {
    for (let next = queue.shift(); next !== undefined && stop.reason === undefined; next = queue.shift()) yield next;
  };

  const work = async (url: TaskUrl): Promise<void> => {
    if (clock.now() >= deadline) return stop.stopFor({ kind: "later", waitMs: 0 });
    await guarded(url, async () => {
      const { capture, members, recordId, rendering } = await fetchPage(url, context);
      ended.add(url.urlHash);
      record.page(capture, url.attempt, rendering !== null);
      await writer.add(capture, members, recordId, rendering);
    });
  };

  try {
    if (ending?.aborted) stopForEnd();
    await poll.ensureRecent();
    poll.start((error) => stop.stopFor({ kind: "failed", error }));
    await sortOut();
    await atOnce(task.concurrency ?? settings.concurrency, untilStopped(), work);
  } finally {
    ending?.removeEventListener("abort", stopForEnd);
    await poll.stop();
    writer.close();
    await leaveSlots(hosts, log);
  }

  const { reason } = stop;
  if (reason?.kind === "failed") throw reason.error;
  if (reason?.kind === "lost") return reason;
  const stopped = reason && STOPPED[reason.kind];
  if (stopped !== undefined) {
    const left = task.urls.filter(({ urlHash }) => !ended.has(urlHash));
    for (const url of left) await endWithout(url, stopped);
  }
  const flushed = await writer.flush();
  await notes.close();
  if (!flushed) return { kind: "lost" };
  return reason?.kind === "later" ? reason : { kind: "done" };
}

/** A host that a stopped task leaves is free for others at once. */
async function leaveSlots(hosts: TaskHosts, log: Logger): Promise<void> {
  try {
    await hosts.giveBack();
  } catch (error) {
    log.warn("slots were not given back: the host stays idle until they have passed", { error });
  }
}

function openWriter(
  { objects, queues, clock, settings, held }: FetchDependencies,
  task: FetchTask,
  lease: TaskLease,
  { stop, ...options }: Pick<CaptureWriterOptions, "deadline" | "onDelivered" | "isListened"> & { stop: TaskStop },
): CaptureWriter {
  return createCaptureWriter({
    task,
    lease,
    held,
    objects,
    queues,
    warcinfo: warcinfoFields(settings.userAgent, task),
    clock,
    ...options,
    onTrouble: (trouble) =>
      stop.stopFor(trouble === "lease-lost" ? { kind: "lost" } : { kind: "failed", error: trouble }),
  });
}

function pageContext(
  { robots: cache, guard, settings, clock, sessions }: FetchDependencies,
  task: FetchTask,
  hosts: TaskHosts,
  writer: CaptureWriter,
  signal: AbortSignal,
): PageContext {
  const respected = task.config.respect_robots_txt;
  const robots = createRobotsGate({
    cache,
    guard,
    userAgent: settings.userAgent,
    unreachable: settings.robotsUnreachable,
    get: hosts.get,
    archive: async (exchange) => writer.archive((await archiveExchange(exchange, null)).members),
    onCrawlDelay: (origin, delayMs) => hosts.slowTo(hostOf(origin), delayMs),
    now: clock.now,
    pause: (ms) => clock.sleep(ms, signal),
  });
  return {
    config: task.config,
    scope: task.scope,
    host: task.host,
    anchors: task.anchors,
    userAgent: settings.userAgent,
    guard,
    get: hosts.get,
    robotsFault: async (url) => (respected ? await robots.faultOf(url) : null),
    isDisallowed: async (url) => !respected && (await robots.isKnownToForbid(url)),
    session: task.config.session ? sessions.of(task.jobId) : null,
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
