/** Polls what may end the work with a page: its job was cancelled, its time is up, its host was blocked. */
import type { CaptureError } from "../../capture/capture.ts";
import type { Clock } from "../../platform/clock.ts";
import { fault } from "../http/faults.ts";
import type { HostStates } from "../politeness/host-state.ts";
import { createStopPoll, isRecentPoll, POLL_EVERY_MS } from "../politeness/stop-poll.ts";

export interface PageStopPollDependencies {
  hosts: Pick<HostStates, "read">;
  clock: Clock;
}

/** What a page is wanted by. */
export interface WantedPage {
  /** Of the page and of what led to it; more may be added. */
  hosts: ReadonlySet<string>;
  /** Of its job, if it has one. */
  isCancelled?(): Promise<boolean>;
  /** Epoch ms; null: none. */
  deadline: number | null;
}

export interface PageStopPoll {
  /** Aborts with the reason, a CaptureError, once the page is not wanted any more. */
  readonly signal: AbortSignal;
  /**
   * Polls, unless the last poll is recent.
   * @returns why the page is not wanted any more
   */
  reason(): Promise<CaptureError | null>;
  /**
   * Whether a request of the page may leave for a host right now: it waits until the last poll is recent. A block of
   * another host than the page's own stops what the page asks of that one.
   */
  mayLeave(host: string): Promise<boolean>;
  /** Polls until stopped. */
  start(): void;
  stop(): void;
}

export function createPageStopPoll({ hosts, clock }: PageStopPollDependencies, page: WantedPage): PageStopPoll {
  const unwanted = new AbortController();
  const { signal } = unwanted;
  let stopped = false;

  const whyNot = async (): Promise<CaptureError | null> => {
    if (await page.isCancelled?.()) return fault("CANCELLED", "The job was cancelled");
    if (page.deadline !== null && clock.now() >= page.deadline) return fault("TIMEOUT", "The time of the job was up");
    for (const host of page.hosts) {
      const { blocked } = await hosts.read(host);
      if (blocked) return fault("DOMAIN_BLOCKED", `The domain setting of ${host} blocks it`);
    }
    return null;
  };
  const poll = createStopPoll(
    clock,
    async () => {
      const reason = await whyNot();
      if (reason !== null) unwanted.abort(reason);
    },
    page.deadline,
  );

  /** Of hosts that the page loads from, read when something is to leave for them. */
  const others = new Map<string, { at: number; blocked: Promise<boolean> }>();
  const isBlocked = async (host: string): Promise<boolean> => {
    for (;;) {
      let look = others.get(host);
      if (look === undefined || clock.now() - look.at >= POLL_EVERY_MS) {
        look = { at: clock.now(), blocked: hosts.read(host).then(({ blocked }) => blocked) };
        others.set(host, look);
      }
      try {
        const blocked = await look.blocked;
        if (isRecentPoll(look.at, clock.now()) || signal.aborted || stopped) return blocked;
      } catch {
        // the next one may succeed, and the page has its own time limit
        await clock.sleep(POLL_EVERY_MS);
        if (signal.aborted || stopped) return true;
      }
    }
  };

  return {
    signal,
    async reason() {
      await poll.ensureRecent();
      return signal.aborted ? (signal.reason as CaptureError) : null;
    },
    async mayLeave(host) {
      if (!page.hosts.has(host) && (await isBlocked(host))) return false;
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
