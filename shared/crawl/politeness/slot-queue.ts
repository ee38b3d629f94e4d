/** The slots that one task has reserved of a host, taken one by one as their time comes. */
import type { Clock } from "../../platform/clock.ts";
import type { HostState, HostStates } from "./host-state.ts";
import type { KnownHost } from "./host-view.ts";
import { longestDelayMs, type Pace, reservedMs } from "./pace.ts";
import type { FreshnessCheck } from "./stop-poll.ts";

/** The next slot is too far away to wait for: the task goes on later. */
export class SlotTooFar extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super(`The next slot is ${waitMs} ms away`);
    this.name = "SlotTooFar";
    this.waitMs = waitMs;
  }
}

/** A slot, taken for one request. */
export interface TakenSlot {
  pace: Pace;
  /** Epoch ms after which a request would come too close to those of the next worker. */
  latest: number;
}

export interface SlotQueue {
  /**
   * Waits for the next slot.
   *
   * @throws SlotTooFar, or the signal's reason
   */
  take(): Promise<TakenSlot>;
  /** Forgets the slots that are left, as when the pace has changed. */
  drop(): void;
}

export interface SlotQueueOptions {
  host: KnownHost;
  states: HostStates;
  clock: Clock;
  signal: AbortSignal;
  paceOf(state: HostState): Pace;
  /** Whether a connection must be made first. */
  cold(): boolean;
  /** Longest wait for a first slot, in ms. */
  maxWaitMs: number;
  /** Requests still to come after those that wait already: slots are reserved for all of them at once. */
  wanted(): number;
  /** Epoch ms by which the last slot must be. */
  deadline: number;
  /** Undefined: only the signal stops requests. */
  freshness?: FreshnessCheck | undefined;
}

interface Slot {
  /** Epoch ms. */
  at: number;
  /** As of a taken slot. */
  latest: number;
  /** Others may have had the host until this slot: what they learnt of it is read first. */
  afterOthers: boolean;
}

/**
 * Slots further ahead are not reserved: a worker that sleeps between two of them is paid for, a delayed message is not.
 */
const HORIZON_MS = 60_000;
/** Between the reservation and the first slot, in ms; doubled whenever the answer came too late for every slot. */
const FIRST_LEAD_MS = 5;
const LONGEST_LEAD_MS = 2000;
/** Before a slot that comes after others', in ms: long enough to read what they learnt, and no longer. */
const READ_AHEAD_MS = 50;

export function createSlotQueue(options: SlotQueueOptions): SlotQueue {
  const { host, states, clock, signal } = options;
  let slots: Slot[] = [];
  let reserving: Promise<void> | undefined;
  let leadMs = FIRST_LEAD_MS;
  let used = true;
  /** Requests without a slot. */
  let waiting = 0;

  const reserve = async (): Promise<void> => {
    if (!used) leadMs = Math.min(LONGEST_LEAD_MS, leadMs * 2);
    used = false;
    const pace = options.paceOf(await host.current());
    const room = Math.min(HORIZON_MS, options.deadline - clock.now());
    const count = Math.max(1, Math.min(waiting + options.wanted(), Math.floor(room / pace.intervalMs)));
    const { intervalMs } = pace;
    const when = { notBefore: clock.now() + leadMs, maxWaitMs: Math.max(options.maxWaitMs, leadMs), intervalMs };
    const cold = options.cold();
    const { firstAt, taken, state } = await states.reserve(host.name, reservedMs(count, pace, cold), when, host.seen);
    host.learn(state);
    if (!taken) throw new SlotTooFar(Math.ceil(firstAt - clock.now()));
    const delayMs = longestDelayMs(count, pace, cold);
    const afterOthers = firstAt - clock.now() > 2 * READ_AHEAD_MS;
    slots = Array.from({ length: count }, (_, index) => ({
      at: firstAt + index * intervalMs,
      latest: firstAt + index * intervalMs + delayMs,
      afterOthers: afterOthers && index === 0,
    }));
  };

  /** The host asked for silence, by then or until later. */
  const heldAt = (slot: number): boolean => slot < (host.seen?.hold_until ?? 0);

  const sleepUntil = async (at: number): Promise<void> => {
    if (at > clock.now()) await clock.sleep(at - clock.now(), signal);
  };

  const next = async (): Promise<TakenSlot> => {
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
      const pace = options.paceOf(await host.current());
      if (heldAt(slot.at)) continue;
      if (slot.afterOthers) {
        await sleepUntil(slot.at - READ_AHEAD_MS);
        await host.refresh();
      }
      await sleepUntil(slot.at);
      await options.freshness?.ensureRecent();
      // missed, or the host asked for silence meanwhile
      if (clock.now() > slot.at + pace.graceMs || heldAt(slot.at)) continue;
      used = true;
      return { pace, latest: slot.latest };
    }
  };

  return {
    async take() {
      waiting += 1;
      try {
        return await next();
      } finally {
        waiting -= 1;
      }
    },
    drop() {
      slots = [];
      used = true;
    },
  };
}
