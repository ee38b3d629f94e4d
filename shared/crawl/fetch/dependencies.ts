/** Declares the dependencies of the fetch worker, and how one delivery of a task begins and ends. */
import type { UrlGuard } from "../../access/url-guard.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { BodyBudget } from "../http/exchange.ts";
import type { HostStates } from "../politeness/host-state.ts";
import type { Egress } from "../proxies/egress.ts";
import type { RobotsCache } from "../robots/cache.ts";
import type { JobFlags } from "../tasks/job-flags.ts";
import type { SessionCookies } from "../tasks/session-cookies.ts";
import type { HeldCaptures } from "./held-captures.ts";
import type { TaskLeases } from "./task-lease.ts";

export interface FetchDependencies {
  guard: UrlGuard;
  egress: Egress;
  budget: BodyBudget;
  /** Of all tasks of the worker together. */
  held: HeldCaptures;
  hosts: HostStates;
  leases: TaskLeases;
  robots: RobotsCache;
  flags: JobFlags;
  sessions: SessionCookies;
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
  /** Whether the worker has other tasks at the moment, beside which waiting costs nothing more; false if left out. */
  hasCompany?: () => boolean;
  /** The worker is to end: the task goes on in another. */
  ending?: AbortSignal;
}

/** How a delivery ended. `lost`: another delivery has the task now. */
export type WorkOutcome = { kind: "done" } | { kind: "lost" } | { kind: "later"; waitMs: number };
