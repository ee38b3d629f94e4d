/** Runs fetch tasks against a test site, with real objects and state. */

import { randomUUID } from "node:crypto";
import { fetchDependencies } from "../../../../functions/fetch/dependencies.ts";
import type { Capture } from "../../../../shared/capture/capture.ts";
import { capturesMessageSchema, readCaptureBatch } from "../../../../shared/capture/capture-batch.ts";
import { readWarcRecord, type WarcRecordContents } from "../../../../shared/capture/warc-reader.ts";
import type { FetchDependencies } from "../../../../shared/crawl/fetch/dependencies.ts";
import { runFetchTask } from "../../../../shared/crawl/fetch/run-task.ts";
import { createTaskLeases } from "../../../../shared/crawl/fetch/task-lease.ts";
import { createHostStates } from "../../../../shared/crawl/politeness/host-state.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { type FetchTask, fetchTaskSchema, type PriorCapture } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { type TaskNote, taskNoteSchema } from "../../../../shared/crawl/tasks/task-note.ts";
import { normalizeUrl, urlHash } from "../../../../shared/crawl/urls/normalize-url.ts";
import { ANYWHERE, type Scope } from "../../../../shared/crawl/urls/scope.ts";
import type { Clock } from "../../../../shared/platform/clock.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { type MemoryAws, testAwsWithoutSqs } from "../../../services/index.ts";

export interface FetchHarness {
  aws: MemoryAws;
  dependencies: FetchDependencies;
  logged: string[];
  /** Runs one delivery of the task. */
  deliver(task: FetchTask, delivery?: { receiveCount?: number; remainingMs?: () => number }): Promise<void>;
  /** All captures sent so far and not yet taken, in the order sent. */
  captures(): Promise<Capture[]>;
  /**
   * Runs the task once.
   * @returns its captures in the order of the task's URLs
   */
  fetch(task: FetchTask): Promise<Capture[]>;
  /** How often a task was sent again with a delay, which may be over. */
  delayed(): number;
  record(capture: Capture): Promise<WarcRecordContents>;
  /** What came between the captures that were taken so far. */
  notes: TaskNote[];
}

/**
 * @param settings environment variables;
 * @param clock of the politeness; the system's where it is not given
 */
export async function fetchHarness(settings: Record<string, string> = {}, clock?: Clock): Promise<FetchHarness> {
  const aws = await testAwsWithoutSqs();
  const config = loadConfig({
    ...aws.env,
    ACCESS__ALLOW_HOSTS: "127.0.0.1,localhost",
    LOG_LEVEL: "error",
    ...settings,
  });
  const logged: string[] = [];
  const log = createLogger({}, config.logLevel, (line) => logged.push(line));
  const dependencies = {
    ...fetchDependencies(config, aws, log),
    // a lease lasts as long as the delay of the message that comes back for it
    leases: createTaskLeases(aws.dynamo, aws.stateTable, aws.queues.now),
    ...(clock && { clock, hosts: createHostStates(aws.dynamo, aws.stateTable, clock.now) }),
  };
  const { queues } = dependencies;
  const { send } = aws.queues;
  let delayed = 0;
  queues.send = async (queue, message, delayS) => {
    await send(queue, message, delayS);
    if (queue === "fetch-normal" && (delayS ?? 0) > 0) delayed += 1;
  };
  const notes: TaskNote[] = [];
  const harness: FetchHarness = {
    aws,
    notes,
    dependencies,
    logged,
    deliver: (task, { receiveCount = 1, remainingMs = () => 300_000 } = {}) =>
      runFetchTask(dependencies, task, { receiveCount, remainingMs, log }),
    async captures() {
      const found: Capture[] = [];
      for (;;) {
        const messages = await aws.receive("captures");
        if (messages.length === 0) return found;
        for (const message of messages) {
          const note = taskNoteSchema.safeParse(message).data;
          if (note !== undefined) {
            notes.push(note);
            continue;
          }
          const { batchKey } = capturesMessageSchema.parse(message);
          found.push(...(await readCaptureBatch(dependencies.objects, batchKey)));
        }
      }
    },
    async fetch(task) {
      await harness.deliver(task);
      const found = await harness.captures();
      const order = task.urls.map(({ urlHash: hash }) => hash);
      return found.sort((a, b) => order.indexOf(a.urlHash) - order.indexOf(b.urlHash));
    },
    delayed: () => delayed,
    async record(capture) {
      if (capture.warc === null) throw new Error(`No WARC record for ${capture.url}`);
      return await readWarcRecord(dependencies.objects, capture.warc);
    },
  };
  return harness;
}

export interface TaskOptions {
  urls: readonly (string | { url: string; prior: PriorCapture })[];
  scope?: Scope;
  /** A rate of 1000 a second unless it says otherwise. */
  config?: Record<string, unknown>;
  jobId?: string;
  announce?: boolean;
  deadline?: number | null;
}

/** A valid task of the host of its first URL. */
export function fetchTask({
  urls,
  scope = ANYWHERE,
  config = {},
  jobId = randomUUID(),
  announce = false,
  deadline = null,
}: TaskOptions): FetchTask {
  const targets = urls.map((each) => (typeof each === "string" ? { url: each, prior: null } : each));
  return fetchTaskSchema.parse({
    taskId: randomUUID(),
    jobId,
    announce,
    priority: "normal",
    host: new URL(targets[0]?.url ?? "").host,
    scope,
    deadline,
    concurrency: null,
    config: crawlConfigSchema.parse({ rate_limit_rps: 1000, ...config }),
    urls: targets.map(({ url, prior }) => ({ url, urlHash: urlHash(normalizeUrl(url)), depth: 0, attempt: 0, prior })),
  });
}
