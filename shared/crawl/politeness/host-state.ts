/**
 * What all tasks must agree on about a host, in one DynamoDB item: the next free slot, how long it asked to be left alone,
 * whether it is blocked, and its circuit breaker.
 */
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { expiresAt, isConditionFailure } from "../../platform/aws/state-table.ts";

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
  /** Failures in a row. */
  failures: z.number().default(0),
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
const HOST_TTL_S = 7 * 24 * 3600;

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
  /** Gives back what is reserved, for when nobody is left who would use it: the next slot is one interval, or a second, away. */
  freeSlots(host: string): Promise<void>;
  /** Leaves the host alone until then; never shortens an earlier request. */
  hold(host: string, untilMs: number): Promise<void>;
  /** Counts a failure, and opens the circuit at the threshold, or again where a probe failed. */
  recordFailure(host: string): Promise<HostState>;
  /** Closes the circuit. Only worth a call where failures were seen. */
  recordSuccess(host: string): Promise<HostState>;
  /**
   * Half-open: exactly one caller gets the probe.
   * @param leaseMs longer than the probe takes: one that is not answered by then was lost with its worker
   * @returns until when (epoch ms); undefined where another has it
   */
  takeProbe(host: string, seen: HostState, leaseMs: number): Promise<number | undefined>;
  /** Gives the probe back that was not made after all. @param until as `takeProbe` gave it */
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

/** @param onOpened told of each opening of a circuit, by the one whose failure opened it */
export function createHostStates(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
  circuit: CircuitLimits = DEFAULT_CIRCUIT,
  onOpened: (host: string) => void = () => {},
): HostStates {
  const stateOf = (item: Record<string, unknown> | undefined): HostState => {
    const own = hostItemSchema.parse(item ?? {});
    return {
      ...own,
      circuit_threshold: own.circuit_threshold ?? circuit.threshold,
      circuit_timeout_s: own.circuit_timeout_s ?? circuit.timeoutS,
    };
  };
  const keyOf = (host: string) => ({ pk: `host#${host}` });
  const update = (
    host: string,
    UpdateExpression: string,
    values: Record<string, unknown>,
    ConditionExpression?: string,
  ): UpdateCommand =>
    new UpdateCommand({
      TableName,
      Key: keyOf(host),
      UpdateExpression,
      ExpressionAttributeValues: values,
      ...(ConditionExpression === undefined ? {} : { ConditionExpression }),
      ReturnValues: "ALL_NEW",
    });
  const attempt = async (command: UpdateCommand): Promise<Record<string, unknown> | undefined> => {
    try {
      return (await dynamo.send(command)).Attributes ?? {};
    } catch (error) {
      if (isConditionFailure(error)) return undefined;
      throw error;
    }
  };
  const states: HostStates = {
    async read(host) {
      const { Item } = await dynamo.send(new GetCommand({ TableName, Key: keyOf(host), ConsistentRead: true }));
      return stateOf(Item);
    },
    async reserve(host, durationMs, { notBefore, maxWaitMs, intervalMs }, seen) {
      let state = seen ?? (await states.read(host));
      for (;;) {
        const { next_at, hold_until, rate_limit_rps, blocked, settings_revision } = state;
        const firstAt = Math.max(now(), notBefore, next_at, hold_until);
        if (firstAt - now() > maxWaitMs) return { firstAt, taken: false, state };
        // a domain's settings outlive its traffic: only an item without any expires
        const expires = settings_revision === 0 && rate_limit_rps === undefined && !blocked;
        const taken = await attempt(
          update(
            host,
            `SET next_at = :next, interval_ms = :interval${expires ? ", expires_at = :expiry" : " REMOVE expires_at"}`,
            {
              ":next": firstAt + durationMs,
              ":interval": Math.ceil(intervalMs),
              ":next_at": next_at,
              ":hold_until": hold_until,
              ":settings_revision": settings_revision,
              ...(expires ? { ":expiry": expiresAt(now(), HOST_TTL_S) } : {}),
            },
            // settings that came meanwhile must neither be overlooked nor expire
            [
              unchanged("next_at", next_at),
              unchanged("hold_until", hold_until),
              unchanged("settings_revision", settings_revision),
            ].join(" AND "),
          ),
        );
        if (taken !== undefined) return { firstAt, taken: true, state: stateOf(taken) };
        state = await states.read(host);
      }
    },
    async freeSlots(host) {
      const { next_at, interval_ms } = await states.read(host);
      const next = now() + Math.max(SHORTEST_REST_MS, interval_ms);
      if (next_at <= next) return;
      await attempt(update(host, "SET next_at = :next", { ":next": next, ":next_at": next_at }, "next_at = :next_at"));
    },
    async hold(host, untilMs) {
      await attempt(
        update(
          host,
          "SET hold_until = :until",
          { ":until": untilMs },
          "attribute_not_exists(hold_until) OR hold_until < :until",
        ),
      );
    },
    async recordFailure(host) {
      const counted = await attempt(
        update(host, "SET failures = if_not_exists(failures, :zero) + :one", { ":zero": 0, ":one": 1 }),
      );
      const state = stateOf(counted);
      if (state.failures < state.circuit_threshold || circuitOf(state, now()) === "open") return state;
      const opened = await attempt(
        update(
          host,
          "SET opened_at = :now, probe_until = :zero, openings = :openings, down_since = :down_since",
          {
            ":now": now(),
            ":zero": 0,
            ":openings": state.openings + 1,
            ":down_since": state.down_since === 0 ? now() : state.down_since,
            ":opened_at": state.opened_at,
          },
          unchanged("opened_at", state.opened_at),
        ),
      );
      if (opened === undefined) return states.read(host);
      onOpened(host);
      return stateOf(opened);
    },
    async recordSuccess(host) {
      const closed =
        "SET failures = :zero, opened_at = :zero, probe_until = :zero, openings = :zero, down_since = :zero";
      // where nothing is known of the host there is nothing to close
      return stateOf(await attempt(update(host, closed, { ":zero": 0 }, "attribute_exists(pk)")));
    },
    async takeProbe(host, seen, leaseMs) {
      const until = now() + leaseMs;
      const taken = await attempt(
        update(
          host,
          "SET probe_until = :until",
          { ":until": until, ":opened": seen.opened_at, ":now": now() },
          "opened_at = :opened AND (attribute_not_exists(probe_until) OR probe_until < :now)",
        ),
      );
      return taken === undefined ? undefined : until;
    },
    async dropProbe(host, until) {
      const values = { ":zero": 0, ":until": until };
      await attempt(update(host, "SET probe_until = :zero", values, "probe_until = :until"));
    },
    async applySettings(host, settings, revision) {
      const values = { ...settings, settings_revision: revision };
      const given = Object.entries(values).filter(([, value]) => value !== undefined);
      const gone = Object.keys(values).filter((name) => !given.some(([each]) => each === name));
      await attempt(
        update(
          host,
          `SET ${given.map(([name]) => `${name} = :${name}`).join(", ")} REMOVE ${[...gone, "expires_at"].join(", ")}`,
          Object.fromEntries(given.map(([name, value]) => [`:${name}`, value])),
          "attribute_not_exists(settings_revision) OR settings_revision <= :settings_revision",
        ),
      );
    },
  };
  return states;
}

/** A condition on the value `:name`; an attribute that is not there counts as 0. */
function unchanged(name: string, seen: number): string {
  return seen === 0 ? `(attribute_not_exists(${name}) OR ${name} = :${name})` : `${name} = :${name}`;
}
