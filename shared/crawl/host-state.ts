/**
 * What all tasks must agree on about a host, in one DynamoDB item: the next free slot, how long it asked to be left alone,
 * whether it is blocked, and its circuit breaker.
 */
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { expiresAt, isConditionFailure } from "../platform/state-item.ts";

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
  /** Failures in a row. */
  failures: z.number().default(0),
  /** Epoch ms at which the circuit opened; 0 while it is closed. */
  opened_at: z.number().default(0),
  /** Epoch ms until which one task may probe. */
  probe_until: z.number().default(0),
});
export type HostState = z.infer<typeof hostItemSchema>;

/** Of the reference's domain settings. */
export const CIRCUIT_THRESHOLD = 5;
export const CIRCUIT_OPEN_MS = 300_000;
/** A probe that is not answered by then was lost with its worker. */
const PROBE_LEASE_MS = 60_000;
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
  /** Half-open: exactly one caller gets the probe. @returns whether it is this one */
  takeProbe(host: string, seen: HostState): Promise<boolean>;
}

export type Circuit = "closed" | "open" | "half-open";

export function circuitOf(state: HostState, now: number): Circuit {
  if (state.opened_at === 0) return "closed";
  return now < state.opened_at + CIRCUIT_OPEN_MS ? "open" : "half-open";
}

export function createHostStates(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): HostStates {
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
      return hostItemSchema.parse(Item ?? {});
    },
    async reserve(host, durationMs, { notBefore, maxWaitMs, intervalMs }, seen) {
      let state = seen ?? (await states.read(host));
      for (;;) {
        const { next_at, hold_until, rate_limit_rps, blocked } = state;
        const firstAt = Math.max(now(), notBefore, next_at, hold_until);
        if (firstAt - now() > maxWaitMs) return { firstAt, taken: false, state };
        // a domain's settings outlive its traffic: only an item without any expires
        const expires = rate_limit_rps === undefined && !blocked;
        const taken = await attempt(
          update(
            host,
            `SET next_at = :next, interval_ms = :interval${expires ? ", expires_at = :expiry" : " REMOVE expires_at"}`,
            {
              ":next": firstAt + durationMs,
              ":interval": Math.ceil(intervalMs),
              ":next_at": next_at,
              ":hold_until": hold_until,
              ...(expires ? { ":expiry": expiresAt(now(), HOST_TTL_S) } : {}),
            },
            `${unchanged("next_at", next_at)} AND ${unchanged("hold_until", hold_until)}`,
          ),
        );
        if (taken !== undefined) return { firstAt, taken: true, state: hostItemSchema.parse(taken) };
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
      const state = hostItemSchema.parse(counted ?? {});
      if (state.failures < CIRCUIT_THRESHOLD || circuitOf(state, now()) === "open") return state;
      const opened = await attempt(
        update(
          host,
          "SET opened_at = :now, probe_until = :zero",
          { ":now": now(), ":zero": 0, ":opened_at": state.opened_at },
          unchanged("opened_at", state.opened_at),
        ),
      );
      return opened === undefined ? states.read(host) : hostItemSchema.parse(opened);
    },
    async recordSuccess(host) {
      const closed = "SET failures = :zero, opened_at = :zero, probe_until = :zero";
      return hostItemSchema.parse((await attempt(update(host, closed, { ":zero": 0 }))) ?? {});
    },
    async takeProbe(host, seen) {
      const taken = await attempt(
        update(
          host,
          "SET probe_until = :until",
          { ":until": now() + PROBE_LEASE_MS, ":opened": seen.opened_at, ":now": now() },
          "opened_at = :opened AND (attribute_not_exists(probe_until) OR probe_until < :now)",
        ),
      );
      return taken !== undefined;
    },
  };
  return states;
}

/** A condition on the value `:name`; an attribute that is not there counts as 0. */
function unchanged(name: string, seen: number): string {
  return seen === 0 ? `(attribute_not_exists(${name}) OR ${name} = :${name})` : `${name} = :${name}`;
}
