/** Looks once a second at what may end the work with a page: its job was cancelled, its time is up, its host was blocked. */
import type { CaptureError } from "../../capture/capture.ts";
import type { Clock } from "../../platform/clock.ts";
import { fault } from "../http/faults.ts";
import { createFreshnessCheck, LOOK_EVERY_MS } from "../politeness/freshness.ts";
import type { HostStates } from "../politeness/host-state.ts";
import type { JobFlags } from "../tasks/job-flags.ts";
import type { RenderClaim, RenderTask } from "../tasks/render-task.ts";

export interface RenderStopPollDependencies {
  flags: Pick<JobFlags, "isCancelled">;
  hosts: Pick<HostStates, "read">;
  clock: Clock;
}

export interface RenderStopPoll {
  /** Aborts with the reason, a CaptureError, once the page is not wanted any more. */
  readonly signal: AbortSignal;
  /** Looks, unless the last look is recent. @returns why the page is not wanted any more */
  look(): Promise<CaptureError | null>;
  /** Whether a request of the page may leave right now: an old look is not good for it, and it waits for the next one. */
  mayLeave(): Promise<boolean>;
  /** Looks until stopped. */
  start(): void;
  stop(): void;
}

export function createRenderStopPoll(
  { flags, hosts, clock }: RenderStopPollDependencies,
  task: RenderTask,
  { capture }: RenderClaim,
): RenderStopPoll {
  const unwanted = new AbortController();
  const { signal } = unwanted;
  let timer: NodeJS.Timeout | undefined;
  let over = false;

  const whyNot = async (): Promise<CaptureError | null> => {
    if (await flags.isCancelled(task.jobId)) return fault("CANCELLED", "The job was cancelled");
    if (task.deadline !== null && clock.now() >= task.deadline) return fault("TIMEOUT", "The time of the job was up");
    const { host } = new URL(capture.finalUrl);
    const { blocked } = await hosts.read(host);
    return blocked ? fault("DOMAIN_BLOCKED", `The domain setting of ${host} blocks it`) : null;
  };
  const freshness = createFreshnessCheck(clock, async () => {
    const reason = await whyNot();
    if (reason !== null) unwanted.abort(reason);
  });

  return {
    signal,
    async look() {
      await freshness.look();
      return signal.aborted ? (signal.reason as CaptureError) : null;
    },
    async mayLeave() {
      while (!freshness.recent && !signal.aborted && !over) {
        // the next look may succeed, and the page has its own time limit
        await freshness.look().catch(() => clock.sleep(LOOK_EVERY_MS));
      }
      return !signal.aborted && !over;
    },
    start() {
      timer = setInterval(() => void freshness.lookNow().catch(() => undefined), LOOK_EVERY_MS);
    },
    stop() {
      over = true;
      clearInterval(timer);
    },
  };
}
