/** Hands out the slots that one task has reserved of a host, one by one as their time comes. */
import type { Clock } from "../../platform/clock.ts";
import type { HostState, HostStates } from "./host-state.ts";
import type { KnownHost } from "./host-view.ts";
import { HostWait } from "./host-wait.ts";
import { longestDelayMs, type Pace, reservedMs } from "./pace.ts";
import type { FreshnessCheck } from "./stop-poll.ts";

/** The next slot is too far away to wait for: the task goes on later. */
export class SlotTooFar extends Error {
  readonly waitMs: number;

  /** @param cause why, where it is not the pace alone */
  constructor(waitMs: number, cause?: Error) {
    super(`The next slot is ${waitMs} ms away`, cause && { cause });
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
   * @param maxWaitMs longest wait for one that is not reserved yet
   * @throws SlotTooFar, or the signal's reason
   */
  take(maxWaitMs?: number): Promise<TakenSlot>;
  /** A slot that was taken passed before its request could leave, `byMs` before it was to. */
  missed(byMs: number): void;
  /** Forgets the slots that are left, as when the pace has changed. */
  drop(): void;
  /** Leaves the slots that are left to others. */
  giveBack(): Promise<void>;
}

export interface SlotQueueOptions {
  host: KnownHost;
  states: HostStates;
  clock: Clock;
  signal: AbortSignal;
  paceOf(state: HostState): Pace;
  /** Whether a connection must be made first. */
  cold(): boolean;
  /** Longest wait for a slot that is not reserved yet, in ms. */
  maxWaitMs(): number;
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
  /** How much later than the pace alone allows it may be used, in ms. */
  lateMs: number;
  /** Others may have had the host until this slot: what they learnt of it is read first. */
  afterOthers: boolean;
}

/**
 * Slots further ahead are not reserved: a worker that sleeps between two of them is paid for, a delayed message is not.
 */
const HORIZON_MS = 60_000;
/**
 * Slots further apart are reserved one by one: between two of them a worker goes for other work, and one that was
 * missed is given back.
 */
const SPARSE_MS = 2_000;
const isSparse = ({ intervalMs }: Pace): boolean => intervalMs > SPARSE_MS;
/** Between the reservation and the first slot, in ms; doubled whenever the answer came too late for every slot. */
const FIRST_LEAD_MS = 5;
const LONGEST_LEAD_MS = 2000;
/**
 * How late slots may be used where they were missed before, in ms: as late as they were missed, and a quarter more. So
 * much time is left free behind them. A worker that always wakes up too late would never make a request otherwise.
 */
const LONGEST_LATE_MS = 2000;
const LATE_SPARE = 1.25;
/** So much less after each reservation of which no slot was missed, in ms. */
const LATE_STEP_MS = 50;
/** As the first lead, for a slot whose successor is far away: it must not be missed. */
const SPARSE_LEAD_MS = 200;
/** A silence that nobody needs to be told of. */
const SHORT_SILENCE_MS = 5_000;
/** Before a slot that comes after others', in ms: long enough to read what they learnt, and no longer. */
const READ_AHEAD_MS = 50;

export function createSlotQueue(options: SlotQueueOptions): SlotQueue {
  const { host, states, clock, signal } = options;
  let slots: Slot[] = [];
  /** The host's next free slot as the last reservation left it, epoch ms. */
  let reservedUntil = 0;
  let reserving: { maxWaitMs: number; done: Promise<void> } | undefined;
  let leadMs = FIRST_LEAD_MS;
  let used = true;
  let lateMs = 0;
  /** By how much a slot of the last reservation was; 0: none was. */
  let missedMs = 0;
  /** Requests without a slot. */
  let waiting = 0;

  const reserve = async (maxWaitMs: number): Promise<void> => {
    if (!used) leadMs = Math.min(LONGEST_LEAD_MS, leadMs * 2);
    lateMs = missedMs > 0 ? Math.max(lateMs, missedMs * LATE_SPARE) : lateMs - LATE_STEP_MS;
    lateMs = Math.min(LONGEST_LATE_MS, Math.max(0, Math.ceil(lateMs)));
    used = false;
    missedMs = 0;
    const pace = options.paceOf(await host.current());
    const room = isSparse(pace) ? 0 : Math.min(HORIZON_MS, options.deadline - clock.now());
    const count = Math.max(1, Math.min(waiting + options.wanted(), Math.floor(room / pace.intervalMs)));
    const { intervalMs } = pace;
    const lead = isSparse(pace) ? Math.max(SPARSE_LEAD_MS, leadMs) : leadMs;
    const when = { notBefore: clock.now() + lead, maxWaitMs: Math.max(maxWaitMs, lead), intervalMs };
    const cold = options.cold();
    const durationMs = reservedMs(count, pace, cold) + lateMs;
    const { firstAt, taken, state } = await states.reserve(host.name, durationMs, when, host.seen);
    host.learn(state);
    if (!taken) throw new SlotTooFar(Math.ceil(firstAt - clock.now()), silence(state));
    reservedUntil = state.next_at;
    const delayMs = longestDelayMs(count, pace, cold) + lateMs;
    const afterOthers = firstAt - clock.now() > 2 * READ_AHEAD_MS;
    slots = Array.from({ length: count }, (_, index) => ({
      at: firstAt + index * intervalMs,
      latest: firstAt + index * intervalMs + delayMs,
      afterOthers: afterOthers && index === 0,
      lateMs,
    }));
  };

  /** The silence that the host asked for, which keeps slots away. */
  const silence = ({ hold_until }: HostState): HostWait | undefined => {
    if (hold_until <= clock.now() + SHORT_SILENCE_MS) return undefined;
    const until = new Date(hold_until).toISOString();
    return new HostWait("RATE_LIMITED", `${host.name} asked to be left alone until ${until}`, hold_until);
  };

  /** The host asked for silence, by then or until later. */
  const heldAt = (slot: number): boolean => slot < (host.seen?.hold_until ?? 0);

  const sleepUntil = async (at: number): Promise<void> => {
    if (at > clock.now()) await clock.sleep(at - clock.now(), signal);
  };

  /** Reserves, or waits for whoever does. */
  const reserveOnce = async (maxWaitMs: number): Promise<void> => {
    if (reserving === undefined) {
      const done = reserve(maxWaitMs).finally(() => {
        reserving = undefined;
      });
      reserving = { maxWaitMs, done };
    } else if (reserving.maxWaitMs < maxWaitMs) {
      // what is too far away for others is not for this one, which then reserves by itself
      await reserving.done.catch(() => undefined);
      return;
    }
    await reserving.done;
  };

  /** @returns false where the slot must not be used after all */
  const awaitSlot = async (slot: Slot, { graceMs }: Pace): Promise<boolean> => {
    if (heldAt(slot.at)) return false;
    if (slot.afterOthers) {
      await sleepUntil(slot.at - READ_AHEAD_MS);
      await host.refresh();
    }
    await sleepUntil(slot.at);
    await options.freshness?.ensureRecent();
    const late = clock.now() - slot.at - graceMs;
    if (late > slot.lateMs) {
      missedMs = Math.max(missedMs, late);
      return false;
    }
    // the host may have asked for silence meanwhile
    return !heldAt(slot.at);
  };

  const next = async (maxWaitMs: number): Promise<TakenSlot> => {
    for (;;) {
      signal.throwIfAborted();
      const slot = slots.shift();
      if (slot === undefined) {
        await reserveOnce(maxWaitMs);
        continue;
      }
      try {
        const pace = options.paceOf(await host.current());
        if (!(await awaitSlot(slot, pace))) {
          if (isSparse(pace)) await states.giveBack(host.name, reservedUntil, Math.max(clock.now(), slot.at));
          continue;
        }
        used = true;
        return { pace, latest: slot.latest };
      } catch (error) {
        slots.unshift(slot);
        throw error;
      }
    }
  };

  return {
    async take(maxWaitMs = options.maxWaitMs()) {
      waiting += 1;
      try {
        return await next(maxWaitMs);
      } finally {
        waiting -= 1;
      }
    },
    missed(byMs) {
      missedMs = Math.max(missedMs, lateMs + byMs);
    },
    drop() {
      slots = [];
      used = true;
    },
    async giveBack() {
      if (slots.length === 0) return;
      // as late as that the request before them may have left
      const unused = Math.max(clock.now(), Math.min(...slots.map(({ latest }) => latest)));
      slots = [];
      if (unused < reservedUntil) await states.giveBack(host.name, reservedUntil, unused);
    },
  };
}
