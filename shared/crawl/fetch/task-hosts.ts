/** Keeps a polite client for each host that a task talks to: its own, and those that redirects lead to. */

import { uuidTime } from "../../platform/ids.ts";
import { RequestRefused } from "../http/request-refused.ts";
import { CircuitOpen } from "../politeness/host-permit.ts";
import { createPoliteClient, type PoliteClient } from "../politeness/polite-client.ts";
import { SlotTooFar } from "../politeness/slot-queue.ts";
import type { FreshnessCheck } from "../politeness/stop-poll.ts";
import type { FetchTask } from "../tasks/fetch-task.ts";
import { hostOf } from "../urls/normalize-url.ts";
import type { FetchDependencies } from "./dependencies.ts";
import type { PageContext } from "./fetch-page.ts";

/** A slot further away than this is not waited for: the task is sent again, and its worker goes for other work. */
const MAX_SLOT_WAIT_MS = 2000;
/** The same while the worker has other tasks, in ms: waiting beside them costs nothing more. */
const MAX_SHARED_WAIT_MS = 60_000;
/** The same for another host, since the task cannot be sent there. */
const MAX_FOREIGN_WAIT_MS = 30_000;

/** Rounded up: a circuit is not probed before its time, and a queue counts in seconds. */
const inSeconds = (ms: number): number => Math.ceil(ms / 1000) * 1000;

export interface TaskHosts {
  get: PageContext["get"];
  slowTo(host: string, crawlDelayMs: number): void;
  /** Reads again what other workers know of the hosts. */
  refresh(): Promise<void>;
  /** Leaves what is reserved and not used to others; to be called once no more requests follow. */
  giveBack(): Promise<void>;
}

export interface TaskHostsOptions {
  dependencies: Pick<FetchDependencies, "hosts" | "egress" | "budget" | "clock" | "settings">;
  task: Pick<FetchTask, "jobId" | "host" | "config" | "deadline">;
  signal: AbortSignal;
  /** Epoch ms by which the last slot must be. */
  deadline: number;
  /** URLs of the task that still wait for a worker. */
  queued(): number;
  /** Undefined: only the signal stops requests. */
  freshness?: FreshnessCheck;
  /** A request leaves. */
  onRequest?: () => void;
  /** Whether the worker has other tasks at the moment; false if left out. */
  hasCompany?: (() => boolean) | undefined;
}

export function createTaskHosts(options: TaskHostsOptions): TaskHosts {
  const { dependencies, task, signal, deadline, queued, freshness } = options;
  const { hosts, egress, budget, clock, settings } = dependencies;
  const clients = new Map<string, PoliteClient>();
  const ownEgress = egress.forTask(task.config.proxy_id);

  const ownWaitMs = (): number =>
    options.hasCompany?.()
      ? Math.max(MAX_SLOT_WAIT_MS, Math.min(MAX_SHARED_WAIT_MS, deadline - clock.now()))
      : MAX_SLOT_WAIT_MS;

  const clientOf = (host: string): PoliteClient => {
    const held = clients.get(host);
    if (held) return held;
    const own = host === task.host;
    const made = createPoliteClient({
      host,
      jobRps: task.config.rate_limit_rps ?? settings.defaultRps,
      waitingSince: uuidTime(task.jobId) ?? 0,
      states: hosts,
      egress: ownEgress,
      budget,
      clock,
      signal,
      maxWaitMs: own ? ownWaitMs : () => MAX_FOREIGN_WAIT_MS,
      wanted: own ? queued : () => 0,
      deadline,
      freshness,
      onRequest: options.onRequest,
    });
    clients.set(host, made);
    return made;
  };

  return {
    async get(url, headers, limits) {
      const host = hostOf(url);
      try {
        return await clientOf(host).get(url, headers, limits);
      } catch (error) {
        if (error instanceof CircuitOpen) {
          // a job whose time is up before then has nothing to wait for
          const endsBefore = task.deadline !== null && clock.now() + error.waitMs >= task.deadline;
          if (host === task.host && endsBefore) throw new RequestRefused("CIRCUIT_OPEN", error.message);
          // the whole task waits, rather than each of its URLs
          if (host === task.host) throw new SlotTooFar(inSeconds(error.waitMs), error);
          throw new RequestRefused("CIRCUIT_OPEN", error.message, error.waitMs);
        }
        if (!(error instanceof SlotTooFar) || host === task.host) throw error;
        throw new RequestRefused("RATE_LIMITED", `${host} has no free slot for the next ${error.waitMs} ms`);
      }
    },
    slowTo: (host, crawlDelayMs) => clientOf(host).slowTo(crawlDelayMs),
    async refresh() {
      clientOf(task.host);
      await Promise.all([...clients.values()].map((each) => each.refresh()));
    },
    async giveBack() {
      await Promise.all([...clients.values()].map((each) => each.giveBack()));
    },
  };
}
