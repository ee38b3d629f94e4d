/**
 * Requests of one task to one host, each at a slot of its own, none where the host is blocked, asked for silence or has its
 * circuit open.
 */
import type { Agent } from "undici";
import type { CaptureErrorCode } from "../capture/capture.ts";
import type { Clock } from "../platform/clock.ts";
import { type BodyBudget, type Exchange, type ExchangeLimits, exchange, headerValue } from "./exchange.ts";
import { fault } from "./fetch-faults.ts";
import { CIRCUIT_OPEN_MS, circuitOf, type HostState, type HostStates } from "./host-state.ts";
import { createPacer, type Pace, paceOf, reservedMs } from "./politeness.ts";
import { retryAfterMs } from "./retry-after.ts";

/** No request was made, for a reason that ends the URL. */
export class RequestRefused extends Error {
  readonly fault;

  constructor(code: CaptureErrorCode, message: string) {
    super(message);
    this.name = "RequestRefused";
    this.fault = fault(code, message);
  }
}

/** The host's next slot is too far away to wait for: the task goes on later. */
export class SlotTooFar extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super(`The next slot is ${waitMs} ms away`);
    this.name = "SlotTooFar";
    this.waitMs = waitMs;
  }
}

export interface PoliteClient {
  readonly host: string;
  /** Reads again what the other workers know of the host. */
  refresh(): Promise<HostState>;
  /** What robots.txt asks for; the longest delay heard of counts. */
  slowTo(crawlDelayMs: number): void;
  /**
   * @throws RequestRefused where the host may not be asked, SlotTooFar where not now, the signal's reason where stopped
   */
  get(url: URL, headers: readonly [string, string][], limits: ExchangeLimits): Promise<Exchange>;
}

export interface PoliteClientOptions {
  host: string;
  jobRps: number;
  states: HostStates;
  client: Agent;
  budget: BodyBudget;
  clock: Clock;
  signal: AbortSignal;
  /** Longest wait for a first slot, in ms. */
  maxWaitMs: number;
  /** Requests still to come after those that wait already: slots are reserved for all of them at once. */
  wanted(): number;
  /** Epoch ms by which the last slot must be. */
  deadline: number;
}

/** What a 429 without Retry-After asks for, in ms. */
const DEFAULT_HOLD_MS = 5000;
/** Between the reservation and the first slot, in ms; doubled whenever the answer came too late for every slot. */
const FIRST_LEAD_MS = 5;
const LONGEST_LEAD_MS = 2000;

export function createPoliteClient(options: PoliteClientOptions): PoliteClient {
  const { host, states, clock, signal } = options;
  const pacer = createPacer(clock);
  let crawlDelayMs: number | undefined;
  let state: HostState | undefined;
  let slots: number[] = [];
  let reserving: Promise<void> | undefined;
  let probe: Promise<void> | undefined;
  let leadMs = FIRST_LEAD_MS;
  let used = true;
  /** Requests without a slot. */
  let waiting = 0;

  const refresh = async (): Promise<HostState> => {
    state = await states.read(host);
    return state;
  };
  let reading: Promise<HostState> | undefined;
  const known = async (): Promise<HostState> => {
    if (state !== undefined) return state;
    reading ??= refresh();
    return await reading;
  };
  const paceNow = (seen: HostState): Pace => paceOf(options.jobRps, seen.rate_limit_rps, crawlDelayMs);

  /** @returns what to call when the request has an outcome, where it is the one probe of a half-open circuit */
  const pass = async (): Promise<(() => void) | undefined> => {
    for (;;) {
      const seen = await known();
      if (seen.blocked) throw new RequestRefused("DOMAIN_BLOCKED", `The domain setting of ${host} blocks it`);
      const circuit = circuitOf(seen, clock.now());
      if (circuit === "closed") return undefined;
      if (probe !== undefined) {
        await probe;
        continue;
      }
      if (circuit === "half-open") {
        const { promise, resolve } = Promise.withResolvers<void>();
        probe = promise;
        const over = (): void => {
          probe = undefined;
          resolve();
        };
        if (await states.takeProbe(host, seen)) return over;
        over();
      }
      const until = new Date(seen.opened_at + CIRCUIT_OPEN_MS).toISOString();
      throw new RequestRefused("CIRCUIT_OPEN", `${host} failed ${seen.failures} times in a row; next try at ${until}`);
    }
  };

  const reserve = async (): Promise<void> => {
    if (!used) leadMs = Math.min(LONGEST_LEAD_MS, leadMs * 2);
    used = false;
    const pace = paceNow(await known());
    const { intervalMs } = pace;
    const inTime = Math.floor((options.deadline - clock.now()) / intervalMs);
    const count = Math.max(1, Math.min(waiting + options.wanted(), inTime));
    const when = { notBefore: clock.now() + leadMs, maxWaitMs: Math.max(options.maxWaitMs, leadMs) };
    const reserved = await states.reserve(host, reservedMs(count, pace), when, state);
    const { firstAt, taken } = reserved;
    state = reserved.state;
    if (!taken) throw new SlotTooFar(Math.ceil(firstAt - clock.now()));
    slots = Array.from({ length: count }, (_, index) => firstAt + index * intervalMs);
  };

  const heldAt = (slot: number): boolean => state !== undefined && slot < state.hold_until;

  const takeSlot = async (): Promise<Pace> => {
    for (;;) {
      signal.throwIfAborted();
      const slot = slots.shift();
      if (slot === undefined) {
        reserving ??= reserve().finally(() => {
          reserving = undefined;
        });
        await reserving;
        continue;
      }
      const pace = paceNow(await known());
      if (heldAt(slot)) continue;
      if (slot > clock.now()) await clock.sleep(slot - clock.now(), signal);
      // missed, or the host asked for silence meanwhile
      if (clock.now() > slot + pace.graceMs || heldAt(slot)) continue;
      used = true;
      return pace;
    }
  };

  /** What the answer means for everyone who asks this host. */
  const learn = async ({ fault: failed, response }: Exchange): Promise<void> => {
    const askedToWait = response?.status === 429 || response?.status === 503;
    if (response && askedToWait) {
      const asked = retryAfterMs(headerValue(response.headers, "retry-after"), clock.now());
      const wait = asked ?? (response.status === 429 ? DEFAULT_HOLD_MS : undefined);
      if (wait !== undefined) {
        const until = clock.now() + wait;
        await states.hold(host, until);
        if (state) state = { ...state, hold_until: Math.max(state.hold_until, until) };
        return;
      }
    }
    if (failed?.retryable || (response && response.status >= 500)) state = await states.recordFailure(host);
    else if (state && (state.failures > 0 || state.opened_at > 0)) state = await states.recordSuccess(host);
  };

  return {
    host,
    refresh,
    slowTo(delayMs) {
      if (delayMs <= (crawlDelayMs ?? 0)) return;
      crawlDelayMs = delayMs;
      // slots of the faster pace are too close together
      slots = [];
      used = true;
    },
    async get(url, headers, limits) {
      const probed = await pass();
      try {
        waiting += 1;
        const pace = await takeSlot().finally(() => {
          waiting -= 1;
        });
        const left = await pacer.turn(pace, signal);
        const answer = await exchange(options.client, url, headers, limits, options.budget, left);
        await learn(answer);
        return answer;
      } finally {
        probed?.();
      }
    },
  };
}
