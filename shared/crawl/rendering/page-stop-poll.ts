/** Polls what may end the rendering of a page: its job was cancelled, its time is up, its host was blocked. */
import type { CaptureError } from "../../capture/capture.ts";
import type { Clock } from "../../platform/clock.ts";
import { fault } from "../http/faults.ts";
import type { HostStates } from "../politeness/host-state.ts";
import { createStopPoll, POLL_EVERY_MS } from "../politeness/stop-poll.ts";
import type { JobFlags } from "../tasks/job-flags.ts";
import type { RenderClaim, RenderTask } from "../tasks/render-task.ts";

export interface PageStopPollDependencies {
  flags: Pick<JobFlags, "isCancelled">;
  hosts: Pick<HostStates, "read">;
  clock: Clock;
}

export interface PageStopPoll {
  /** Aborts with the reason, a CaptureError, once the page is not wanted any more. */
  readonly signal: AbortSignal;
  /**
   * Polls, unless the last poll is recent.
   * @returns why the page is not wanted any more
   */
  reason(): Promise<CaptureError | null>;
  /** Whether a request of the page may leave right now: it waits until the last poll is recent. */
  mayLeave(): Promise<boolean>;
  /** Polls until stopped. */
  start(): void;
  stop(): void;
}

export function createPageStopPoll(
  { flags, hosts, clock }: PageStopPollDependencies,
  task: RenderTask,
  { capture }: RenderClaim,
): PageStopPoll {
  const unwanted = new AbortController();
  const { signal } = unwanted;
  let stopped = false;

  const whyNot = async (): Promise<CaptureError | null> => {
    if (await flags.isCancelled(task.jobId)) return fault("CANCELLED", "The job was cancelled");
    if (task.deadline !== null && clock.now() >= task.deadline) return fault("TIMEOUT", "The time of the job was up");
    const { host } = new URL(capture.finalUrl);
    const { blocked } = await hosts.read(host);
    return blocked ? fault("DOMAIN_BLOCKED", `The domain setting of ${host} blocks it`) : null;
  };
  const poll = createStopPoll(
    clock,
    async () => {
      const reason = await whyNot();
      if (reason !== null) unwanted.abort(reason);
    },
    task.deadline,
  );

  return {
    signal,
    async reason() {
      await poll.ensureRecent();
      return signal.aborted ? (signal.reason as CaptureError) : null;
    },
    async mayLeave() {
      while (!poll.recent && !signal.aborted && !stopped) {
        // the next poll may succeed, and the page has its own time limit
        await poll.ensureRecent().catch(() => clock.sleep(POLL_EVERY_MS));
      }
      return !signal.aborted && !stopped;
    },
    start: poll.start,
    stop() {
      stopped = true;
      // the capture need not wait for a poll that is under way
      void poll.stop();
    },
  };
}
