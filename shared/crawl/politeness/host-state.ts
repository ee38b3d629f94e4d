/**
 * Keeps what all tasks must agree on about a host, in one DynamoDB item: the next free slot, how long it asked to be
 * left alone, whether it is blocked, and its circuit breaker.
 */
import { createHash } from "node:crypto";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { type Condition, createStateTable, expiresAt, type StateItem } from "../../platform/aws/state-table.ts";

const hostItemSchema = z.object({
  /** Epoch ms of the next free slot. */
  next_at: z.number().default(0),
  /** Between the slots that were last reserved, in ms. */
  interval_ms: z.number().default(0),
  /** Epoch ms until which the host asked for silence. */
  hold_until: z.number().default(0),
  /** The domain's own setting; can only slow a job down. */
  rate_limit_rps: z.number().positive().optional(),
  blocked: z.boolean().default(false),
  /** Of the domain's settings, or as the deployment is set. */
  circuit_threshold: z.number().int().positive().optional(),
  circuit_timeout_s: z.number().positive().optional(),
  /** Of the domain's settings that are held here; 0: the domain has none. */
  settings_revision: z.number().default(0),
  /** URLs that failed in a row. */
  failures: z.number().default(0),
  /** Of these, requests that never reached the host. */
  unreached: z.number().default(0),
  /** Proper answers, each within `EVIDENCE_MS` of the one before. */
  answered: z.number().default(0),
  /** Epoch ms of the last of them. */
  answered_at: z.number().default(0),
  /** Epoch ms at which the circuit opened; 0 while it is closed. */
  opened_at: z.number().default(0),
  /** Epoch ms at which it first opened since the host last answered; 0 while it is closed. */
  down_since: z.number().default(0),
  /** How often it opened since then. */
  openings: z.number().default(0),
  /** Epoch ms until which one task may probe. */
  probe_until: z.number().default(0),
});
/** With what the deployment is set to where the domain has no setting of its own. */
export type HostState = z.output<typeof hostItemSchema> & { circuit_threshold: number; circuit_timeout_s: number };

/** Failures in a row that open a circuit, and seconds until it may be probed. */
export interface CircuitLimits {
  threshold: number;
  timeoutS: number;
}

/** Settings of a domain, as fetch needs them; undefined: as the deployment is set. */
export interface HostSettings {
  rate_limit_rps: number | undefined;
  blocked: boolean;
  circuit_threshold: number | undefined;
  circuit_timeout_s: number | undefined;
}

/** Of the reference's domain settings. */
export const DEFAULT_CIRCUIT: CircuitLimits = { threshold: 5, timeoutS: 300 };
/** The longest that requests of a rate above one a second may look back. */
const SHORTEST_REST_MS = 1_100;
/** For so long what a host answered says that it works. */
const EVIDENCE_MS = 600_000;
/** A host that answers is given up after so many times the failures of one that does not, at the most. */
const MOST_PATIENCE = 4;
const HOST_TTL_S = 7 * 24 * 3600;
/** Enough to tell the URLs apart that may fail in a row. */
const FAILED_KEY_CHARS = 8;

export interface HostStates {
  read(host: string): Promise<HostState>;
  /**
   * Takes the next `durationMs` of the host for the caller's requests.
   * @param when it begins not before `notBefore` (epoch ms); `intervalMs` apart are the requests in it
   * @param seen what was last read, which saves a read where it still holds
   * @returns epoch ms at which it begins; where that is more than `maxWaitMs` away nothing is taken
   */
  reserve(
    host: string,
    durationMs: number,
    when: { notBefore: number; maxWaitMs: number; intervalMs: number },
    seen?: HostState,
  ): Promise<{ firstAt: number; taken: boolean; state: HostState }>;
  /**
   * Gives back the end of what was reserved, unless somebody has reserved what follows it.
   * @param reserved `next_at` as `reserve` left it; `unused` (epoch ms) becomes the next free slot
   */
  giveBack(host: string, reserved: number, unused: number): Promise<void>;
  /**
   * Gives back what is reserved, for when nobody is left who would use it: the next slot is one interval, or a second,
   * away.
   */
  freeSlots(host: string): Promise<void>;
  /** Leaves the host alone until then; never shortens an earlier request. */
  hold(host: string, untilMs: number): Promise<void>;
  /**
   * Counts a failure, and opens the circuit at the threshold, or again where a probe failed.
   * @param url that failed; one that fails again counts once
   * @param reached the host was there, so that the fault may be the URL's
   */
  recordFailure(host: string, url: string, reached?: boolean): Promise<HostState>;
  /** Counts proper answers, which say that failures are their URLs'. */
  recordAnswers(host: string, count: number): Promise<HostState>;
  /** Closes the circuit. Only worth a call where failures were seen. */
  recordSuccess(host: string): Promise<HostState>;
  /**
   * Half-open: exactly one caller gets the probe.
   * @param leaseMs longer than the probe takes: one that is not answered by then was lost with its worker
   * @returns until when (epoch ms); undefined where another has it
   */
  takeProbe(host: string, seen: HostState, leaseMs: number): Promise<number | undefined>;
  /**
   * Gives the probe back that was not made after all.
   * @param until as `takeProbe` gave it
   */
  dropProbe(host: string, until: number): Promise<void>;
  /**
   * Writes the domain's settings for all workers to see.
   * @param revision of these settings: older ones that arrive later change nothing
   */
  applySettings(host: string, settings: HostSettings, revision: number): Promise<void>;
}

export type Circuit = "closed" | "open" | "half-open";

export function circuitOf(state: HostState, now: number): Circuit {
  if (state.opened_at === 0) return "closed";
  return now < circuitOpenUntil(state) ? "open" : "half-open";
}

/** Epoch ms from which an open circuit may be probed. */
export function circuitOpenUntil({ opened_at, circuit_timeout_s }: HostState): number {
  return opened_at + circuit_timeout_s * 1000;
}

/**
 * Failures in a row that open the circuit: one more for every two proper answers that came shortly before, since pages
 * that fail beside pages that work are no fault of the host.
 */
function failuresToOpen({ circuit_threshold, answered, answered_at }: HostState, now: number): number {
  const known = now - answered_at < EVIDENCE_MS ? answered : 0;
  return Math.min(circuit_threshold * MOST_PATIENCE, circuit_threshold + Math.floor(known / 2));
}

/** Whether more answers would say nothing new for a while. */
export function isKnownToAnswer({ circuit_threshold, answered, answered_at }: HostState, now: number): boolean {
  return answered >= 2 * MOST_PATIENCE * circuit_threshold && now - answered_at < EVIDENCE_MS / 2;
}

/** @param onOpened called for each opening of a circuit, by the one whose failure opened it */
export function createHostStates(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
  circuit: CircuitLimits = DEFAULT_CIRCUIT,
  onOpened: (host: string) => void = () => {},
): HostStates {
  const stateOf = (item: StateItem | undefined): HostState => {
    const own = hostItemSchema.parse(item ?? {});
    return {
      ...own,
      circuit_threshold: own.circuit_threshold ?? circuit.threshold,
      circuit_timeout_s: own.circuit_timeout_s ?? circuit.timeoutS,
    };
  };
  const table = createStateTable(dynamo, TableName);
  const keyOf = (host: string): string => `host#${host}`;
  const states: HostStates = {
    read: async (host) => stateOf(await table.read(keyOf(host))),
    async reserve(host, durationMs, { notBefore, maxWaitMs, intervalMs }, seen) {
      let state = seen ?? (await states.read(host));
      for (;;) {
        const { next_at, hold_until, rate_limit_rps, blocked, settings_revision } = state;
        const firstAt = Math.max(now(), notBefore, next_at, hold_until);
        if (firstAt - now() > maxWaitMs) return { firstAt, taken: false, state };
        // a domain's settings outlive its traffic: only an item without any expires
        const expires = settings_revision === 0 && rate_limit_rps === undefined && !blocked;
        const { taken, item } = await table.takeOnce(keyOf(host), "reserved_by", {
          set: {
            next_at: firstAt + durationMs,
            interval_ms: Math.ceil(intervalMs),
            expires_at: expires ? expiresAt(now(), HOST_TTL_S) : undefined,
          },
          // settings that came meanwhile must neither be overlooked nor expire
          ...unchanged({ next_at, hold_until, settings_revision }),
        });
        state = stateOf(item);
        if (taken) return { firstAt, taken, state };
      }
    },
    async giveBack(host, reserved, unused) {
      await table.update(keyOf(host), { set: { next_at: unused }, ...unchanged({ next_at: reserved }) });
    },
    async freeSlots(host) {
      const { next_at, interval_ms } = await states.read(host);
      const next = now() + Math.max(SHORTEST_REST_MS, interval_ms);
      if (next_at > next) await table.update(keyOf(host), { set: { next_at: next }, ...unchanged({ next_at }) });
    },
    async hold(host, untilMs) {
      const when = "attribute_not_exists(hold_until) OR hold_until < :hold_until";
      await table.update(keyOf(host), { set: { hold_until: untilMs }, when });
    },
    async recordFailure(host, url, reached = true) {
      const key = createHash("sha256").update(url).digest("base64url").slice(0, FAILED_KEY_CHARS);
      const counted = await table.update(keyOf(host), {
        add: { failures: 1, unreached: reached ? 0 : 1, failed: new Set([key]) },
        when: "attribute_not_exists(failed) OR NOT contains(failed, :key)",
        values: { key },
      });
      const state = counted === undefined ? await states.read(host) : stateOf(counted);
      const { opened_at, down_since, openings } = state;
      const isHostsFault = state.unreached >= state.circuit_threshold || state.failures >= failuresToOpen(state, now());
      if (opened_at === 0 ? !isHostsFault : circuitOf(state, now()) === "open") return state;
      const { taken, item } = await table.takeOnce(keyOf(host), "opened_by", {
        set: {
          opened_at: now(),
          probe_until: 0,
          openings: openings + 1,
          answered: 0,
          down_since: down_since === 0 ? now() : down_since,
        },
        ...unchanged({ opened_at }),
      });
      if (taken) onOpened(host);
      return stateOf(item);
    },
    async recordAnswers(host, count) {
      const answered_at = now();
      const counted = await table.update(keyOf(host), {
        set: { answered_at },
        add: { answered: count },
        when: "answered_at > :since",
        values: { since: answered_at - EVIDENCE_MS },
      });
      return stateOf(counted ?? (await table.update(keyOf(host), { set: { answered: count, answered_at } })));
    },
    async recordSuccess(host) {
      const set = {
        failures: 0,
        unreached: 0,
        failed: undefined,
        opened_at: 0,
        probe_until: 0,
        openings: 0,
        down_since: 0,
      };
      // where nothing is known of the host there is nothing to close
      return stateOf(await table.update(keyOf(host), { set, when: "attribute_exists(pk)" }));
    },
    async takeProbe(host, seen, leaseMs) {
      const until = now() + leaseMs;
      const { taken } = await table.takeOnce(keyOf(host), "probe_by", {
        set: { probe_until: until },
        when: "opened_at = :opened AND (attribute_not_exists(probe_until) OR probe_until < :now)",
        values: { opened: seen.opened_at, now: now() },
      });
      return taken ? until : undefined;
    },
    async dropProbe(host, until) {
      await table.update(keyOf(host), { set: { probe_until: 0 }, ...unchanged({ probe_until: until }) });
    },
    async applySettings(host, settings, revision) {
      await table.update(keyOf(host), {
        set: { ...settings, settings_revision: revision, expires_at: undefined },
        when: "attribute_not_exists(settings_revision) OR settings_revision <= :settings_revision",
      });
    },
  };
  return states;
}

/** The condition that the attributes are as they were seen; one that is not there counts as 0. */
function unchanged(seen: Readonly<Record<string, number>>): Condition {
  const terms = Object.entries(seen).map(([name, value]) =>
    value === 0 ? `(attribute_not_exists(${name}) OR ${name} = :seen_${name})` : `${name} = :seen_${name}`,
  );
  const values = Object.fromEntries(Object.entries(seen).map(([name, value]) => [`seen_${name}`, value]));
  return { when: terms.join(" AND "), values };
}
