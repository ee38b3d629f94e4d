/**
 * Holds why the work on a task stops before its last URL. What must not go on wakes up all that wait; a task that goes
 * on later only begins nothing more: a request that has its slot is made, and what it began is finished.
 */
import { RetryableError } from "../../platform/errors.ts";
import type { WorkOutcome } from "./dependencies.ts";

export type StopReason =
  | { kind: "cancelled" }
  | { kind: "timed-out" }
  | { kind: "failed"; error: unknown }
  | Exclude<WorkOutcome, { kind: "done" }>;

export interface TaskStop {
  readonly signal: AbortSignal;
  /** The first; but whatever must stop at once comes before "later". */
  readonly reason: StopReason | undefined;
  stopFor(reason: StopReason): void;
}

export function createTaskStop(): TaskStop {
  const controller = new AbortController();
  let first: StopReason | undefined;
  return {
    signal: controller.signal,
    get reason() {
      return first;
    },
    stopFor(reason) {
      if (first === undefined || first.kind === "later") first = reason.kind === "later" ? (first ?? reason) : reason;
      if (reason.kind !== "later") controller.abort();
    },
  };
}

/** Faults of S3, SQS and DynamoDB: they say nothing about the page at hand, and the task is tried again. */
export function isInfrastructureFault(error: unknown): boolean {
  return error instanceof RetryableError || (error instanceof Error && "$metadata" in error);
}
