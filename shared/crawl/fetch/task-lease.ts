/**
 * Leases fetch tasks, and keeps how far each got, in one DynamoDB item per task. SQS delivers at least once; the lease
 * makes sure that one delivery works at a time, and progress that the next one goes on where it ended.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { type Change, createStateTable, expiresAt, type StateItem } from "../../platform/aws/state-table.ts";

export const LEASE_MS = 30_000;
const TASK_TTL_S = 7 * 24 * 3600;
/** A delayed message may come this much early by our clock; it must not find its own deferral still standing. */
const DEFERRAL_SLACK_MS = 900;
const HELD = "#owner = :holder";

const taskItemSchema = z.object({
  lease_until: z.number().default(0),
  /** Times the task was taken: makes the names of its files unique. */
  takes: z.number().default(0),
  /** Times it was given up for later. */
  deferrals: z.number().default(0),
  /** Short keys of the URLs whose captures were sent. */
  done: z.array(z.string()).default([]),
  completed: z.boolean().default(false),
});

export type LeaseOutcome =
  | { outcome: "taken"; lease: TaskLease }
  | { outcome: "completed" }
  /** Someone else works on it, or it was sent again for later. */
  | { outcome: "busy"; remainingMs: number; deferred: boolean; deferrals: number };

export interface TaskLease {
  readonly take: number;
  /**
   * Whether the URL's capture was sent. By hash and not by place: a task that is sent again after its lease has lapsed
   * holds only the URLs that are still outstanding.
   */
  isDone(urlHash: string): boolean;
  /** How many are. */
  readonly done: number;
  /** Epoch ms. */
  readonly until: number;
  /** @returns false where the lease was lost: stop */
  renew(): Promise<boolean>;
  /**
   * Adds to what is done, and renews.
   * @returns false where the lease was lost
   */
  record(urlHashes: readonly string[]): Promise<boolean>;
  complete(): Promise<boolean>;
  /**
   * Gives the task up until about `delayMs` from now: an earlier delivery waits for that, too.
   * @returns how often that was done with the task, which its next message says; undefined where the lease was lost
   */
  defer(delayMs: number): Promise<number | undefined>;
}

export interface TaskLeases {
  /**
   * @param owner of this taking alone: no other call has the same
   * @param when `early`: also where it was sent again for later
   */
  take(taskId: string, owner: string, when?: "in-time" | "early"): Promise<LeaseOutcome>;
  /** How often the task was taken so far. */
  takes(taskId: string): Promise<number>;
  /** Takes the task from whoever holds it: for when that one is known to be gone. A deferral stays. */
  free(taskId: string): Promise<void>;
}

export function createTaskLeases(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): TaskLeases {
  const table = createStateTable(dynamo, TableName);
  const keyOf = (taskId: string): string => `task#${taskId}`;

  return {
    async take(taskId, owner, when = "in-time") {
      const early = when === "early" ? " OR attribute_not_exists(#owner)" : "";
      const change: Change = {
        set: { lease_until: now() + LEASE_MS, expires_at: expiresAt(now(), TASK_TTL_S) },
        add: { takes: 1 },
        when: `attribute_not_exists(completed) AND (attribute_not_exists(lease_until) OR lease_until <= :now${early})`,
        values: { now: now() },
      };
      const { taken, item } = await table.takeOnce(keyOf(taskId), "owner", change, owner);
      if (taken) return { outcome: "taken", lease: heldLease(taskId, owner, item) };
      const seen = taskItemSchema.parse(item ?? {});
      if (seen.completed) return { outcome: "completed" };
      const deferred = item?.["owner"] === undefined;
      const remainingMs = Math.max(0, seen.lease_until - now());
      return { outcome: "busy", remainingMs, deferred, deferrals: seen.deferrals };
    },
    takes: async (taskId) => taskItemSchema.parse((await table.read(keyOf(taskId))) ?? {}).takes,
    async free(taskId) {
      const change = { set: { lease_until: 0, owner: undefined }, when: "attribute_exists(#owner)" };
      await table.update(keyOf(taskId), change);
    },
  };

  function heldLease(taskId: string, owner: string, item: StateItem): TaskLease {
    const { takes: take, done: sent, lease_until, deferrals } = taskItemSchema.parse(item);
    const done = new Set(sent);
    // as it was written: the answer may have taken its time
    let until = lease_until;
    const held = async (set: StateItem): Promise<boolean> => {
      const next = now() + LEASE_MS;
      const change = { set: { lease_until: next, ...set }, when: HELD, values: { holder: owner } };
      const kept = (await table.update(keyOf(taskId), change)) !== undefined;
      if (kept) until = next;
      return kept;
    };
    const release = async (set: StateItem): Promise<boolean> => {
      const change = { set: { ...set, owner: undefined }, when: HELD, values: { holder: owner } };
      return (await table.takeOnce(keyOf(taskId), "released_by", change, owner)).taken;
    };
    return {
      take,
      isDone: (urlHash) => done.has(shortKey(urlHash)),
      get done() {
        return done.size;
      },
      get until() {
        return until;
      },
      renew: () => held({}),
      record(urlHashes) {
        for (const urlHash of urlHashes) done.add(shortKey(urlHash));
        return held({ done: [...done] });
      },
      complete: () => release({ completed: true }),
      async defer(delayMs) {
        const set = { lease_until: now() + delayMs - DEFERRAL_SLACK_MS, deferrals: deferrals + 1 };
        return (await release(set)) ? set.deferrals : undefined;
      },
    };
  }
}

/** Enough of a hash to tell 50 URLs apart, so that the item stays below the 1 KB that one write unit pays for. */
const shortKey = (urlHash: string): string => urlHash.slice(0, 12);
