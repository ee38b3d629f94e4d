/**
 * Makes the requests of one task to one host, each at a slot of its own, and none where the host is blocked, asked for
 * silence or has its circuit open.
 */
import type { Clock } from "../../platform/clock.ts";
import { type BodyBudget, type Exchange, exchange, type RequestLimits } from "../http/exchange.ts";
import type { TaskEgress } from "../proxies/egress.ts";
import { createHostPermits, type Permit } from "./host-permit.ts";
import type { HostStates } from "./host-state.ts";
import { createKnownHost } from "./host-view.ts";
import { paceOf } from "./pace.ts";
import { createPacer } from "./pacer.ts";
import { createSlotQueue, type SlotQueueOptions, type TakenSlot } from "./slot-queue.ts";

/** As they are, or as they are right before the request leaves. */
export type RequestHeaders = readonly [string, string][] | (() => Promise<readonly [string, string][]>);

export interface PoliteClient {
  /** Reads again what the other workers know of the host. */
  refresh(): Promise<void>;
  /** What robots.txt asks for; the longest delay heard of counts. */
  slowTo(crawlDelayMs: number): void;
  /**
   * @throws RequestRefused where the host may not be asked, CircuitOpen and SlotTooFar where not now, the signal's
   *   reason where stopped
   */
  get(url: URL, headers: RequestHeaders, limits: RequestLimits): Promise<Exchange>;
  /** Leaves to others what is reserved and not used, and what was learnt; to be called once no more requests follow. */
  giveBack(): Promise<void>;
}

type SlotOptions = Pick<SlotQueueOptions, "signal" | "maxWaitMs" | "wanted" | "deadline" | "freshness">;

export interface PoliteClientOptions extends SlotOptions {
  host: string;
  jobRps: number;
  /** Epoch ms from which the job may have waited for the host. */
  waitingSince: number;
  states: HostStates;
  egress: TaskEgress;
  budget: BodyBudget;
  clock: Clock;
  /** A request leaves. */
  onRequest?: (() => void) | undefined;
}

/** The slot passed, or the host asked for silence, before the request was written: it needs another slot. */
class SlotMissed extends Error {
  override readonly name = "SlotMissed";
}

/**
 * Longest wait for the slot of a request that continues what another has begun: a redirect, which would lead here
 * again. As long as a host's requests may be apart, and some more.
 */
const MAX_CONTINUED_WAIT_MS = 150_000;
/** Proxy routes that one request tries. */
const MOST_ROUTES = 5;

export function createPoliteClient(options: PoliteClientOptions): PoliteClient {
  const { states, clock, signal, egress, budget } = options;
  const host = createKnownHost(options.host, states);
  const permits = createHostPermits(host, states, clock, options.waitingSince);
  const pacer = createPacer(clock);
  let crawlDelayMs = 0;
  let connected = (): boolean => false;
  const slots = createSlotQueue({
    ...options,
    host,
    cold: () => !connected(),
    paceOf: ({ rate_limit_rps }) => paceOf(options.jobRps, rate_limit_rps, crawlDelayMs),
  });

  /**
   * Checks, right before a request is written, that it may still leave: since it took its slot it may have waited for
   * others, and for a connection.
   *
   * @param mayBeLate a connection that always takes so long must not keep a page from being asked for
   */
  const mayLeave = ({ latest }: TakenSlot, permit: Permit, mayBeLate: boolean): void => {
    signal.throwIfAborted();
    permit.confirm();
    const now = clock.now();
    const held = now < (host.seen?.hold_until ?? 0);
    const isLate = now > latest && !mayBeLate;
    if (isLate) slots.missed(now - latest);
    if (held || isLate || options.freshness?.recent === false) throw new SlotMissed();
  };

  return {
    refresh: host.refresh,
    slowTo(delayMs) {
      if (delayMs <= crawlDelayMs) return;
      crawlDelayMs = delayMs;
      // slots of the faster pace are too close together
      slots.drop();
    },
    async giveBack() {
      await slots.giveBack();
      await permits.shareAnswers();
    },
    async get(url, headers, limits) {
      const permit = await permits.acquire(limits.timeoutMs, limits.retried);
      let answered = false;
      try {
        let routes = 0;
        /** The last try came too late because its connection had to be made. */
        let slowlyConnected = false;
        for (;;) {
          const { client: expected } = await egress.chooseRoute();
          connected = () => Boolean(expected.stats[url.origin]?.connected);
          const left = Math.max(options.maxWaitMs(), options.deadline - clock.now());
          const slot = await slots.take(limits.continues ? Math.min(MAX_CONTINUED_WAIT_MS, left) : undefined);
          const admission = await pacer.admit(slot.pace, signal);
          const cold = !connected();
          const mayBeLate = cold && slowlyConnected;
          // a proxy may have been taken away while the request waited
          const { client, server, report } = await egress.chooseRoute().catch((error: unknown) => {
            admission.withdrawn();
            throw error;
          });
          let made: Exchange;
          try {
            const begin = (): void => {
              mayLeave(slot, permit, mayBeLate);
              options.onRequest?.();
            };
            const sent = typeof headers === "function" ? await headers() : headers;
            made = await exchange(client, url, sent, limits, budget, { begin, end: admission.sent });
          } catch (error) {
            admission.withdrawn();
            if (!(error instanceof SlotMissed)) throw error;
            slowlyConnected = cold;
            continue;
          }
          routes += 1;
          const elsewhere = await report(made);
          if (made.fault?.code === "PROXY_UNAVAILABLE") {
            // that says nothing of the host
            if (elsewhere && routes < MOST_ROUTES) continue;
            return made;
          }
          // what is lost behind a proxy may be lost by the proxy: no circuit opens for those who go another way
          if (server === undefined || made.response !== null) {
            await permits.learnFrom(made, limits.retried);
            answered = true;
          }
          return made;
        }
      } finally {
        await permit.release(answered);
      }
    },
  };
}
