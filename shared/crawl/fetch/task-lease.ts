/**
 * Who works on a fetch task, and how far it got, in one DynamoDB item per task. SQS delivers at least once; the lease makes
 * sure that one delivery works at a time, and progress that the next one goes on where it ended.
 */
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { expiresAt, isConditionFailure } from "../../platform/aws/state-table.ts";

export const LEASE_MS = 30_000;
const TASK_TTL_S = 7 * 24 * 3600;
/** A delayed message may come this much early by our clock; it must not find its own deferral still standing. */
const DEFERRAL_SLACK_MS = 900;

const taskItemSchema = z.object({
  lease_until: z.number().default(0),
  /** Times the task was taken: makes the names of its files unique. */
  takes: z.number().default(0),
  /** Short keys of the URLs whose captures were sent. */
  done: z.array(z.string()).default([]),
  completed: z.boolean().default(false),
});

export type LeaseOutcome =
  | { outcome: "taken"; lease: TaskLease }
  | { outcome: "completed" }
  /** Someone else works on it, or it was sent again for later. */
  | { outcome: "busy"; remainingMs: number; deferred: boolean };

export interface TaskLease {
  readonly take: number;
  /**
   * Whether the URL's capture was sent. By hash and not by place: a task that is sent again after its lease has lapsed holds
   * only the URLs that are still owed.
   */
  isDone(urlHash: string): boolean;
  /** How many are. */
  readonly done: number;
  /** Epoch ms. */
  readonly until: number;
  /** @returns false where the lease was lost: stop */
  renew(): Promise<boolean>;
  /** Adds to what is done, and renews. @returns false where the lease was lost */
  record(urlHashes: readonly string[]): Promise<boolean>;
  complete(): Promise<boolean>;
  /** Gives the task up until about `delayMs` from now: an earlier first delivery is a duplicate. */
  defer(delayMs: number): Promise<boolean>;
}

export interface TaskLeases {
  /**
   * @param owner of this taking alone: no other call has the same
   * @param when `early`: also where it was sent again for later
   */
  take(taskId: string, owner: string, when?: "in-time" | "early"): Promise<LeaseOutcome>;
  /** Takes the task from whoever holds it: for when that one is known to be gone. A deferral stays. */
  free(taskId: string): Promise<void>;
}

export function createTaskLeases(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): TaskLeases {
  const write = async (
    taskId: string,
    UpdateExpression: string,
    ConditionExpression: string,
    values: Record<string, unknown>,
  ): Promise<z.infer<typeof taskItemSchema> | undefined> => {
    try {
      const { Attributes } = await dynamo.send(
        new UpdateCommand({
          TableName,
          Key: { pk: `task#${taskId}` },
          UpdateExpression,
          ConditionExpression,
          ExpressionAttributeNames: { "#owner": "owner" },
          ExpressionAttributeValues: values,
          ReturnValues: "ALL_NEW",
        }),
      );
      return taskItemSchema.parse(Attributes ?? {});
    } catch (error) {
      if (isConditionFailure(error)) return undefined;
      throw error;
    }
  };

  return {
    async take(taskId, owner, when = "in-time") {
      const early = when === "early" ? " OR attribute_not_exists(#owner)" : "";
      const item = await write(
        taskId,
        "SET #owner = :owner, lease_until = :until, expires_at = :expiry, takes = if_not_exists(takes, :zero) + :one",
        `attribute_not_exists(completed) AND (attribute_not_exists(lease_until) OR lease_until <= :now${early})`,
        {
          ":owner": owner,
          ":until": now() + LEASE_MS,
          ":now": now(),
          ":expiry": expiresAt(now(), TASK_TTL_S),
          ":zero": 0,
          ":one": 1,
        },
      );
      if (item !== undefined) return { outcome: "taken", lease: heldLease(taskId, owner, item) };
      const { Item } = await dynamo.send(
        new GetCommand({ TableName, Key: { pk: `task#${taskId}` }, ConsistentRead: true }),
      );
      const seen = taskItemSchema.parse(Item ?? {});
      if (seen.completed) return { outcome: "completed" };
      // a write whose answer is lost is tried again by the SDK, and meets itself
      if (Item?.["owner"] === owner) return { outcome: "taken", lease: heldLease(taskId, owner, seen) };
      const deferred = Item?.["owner"] === undefined;
      return { outcome: "busy", remainingMs: Math.max(0, seen.lease_until - now()), deferred };
    },
    async free(taskId) {
      await write(taskId, "SET lease_until = :zero REMOVE #owner", "attribute_exists(#owner)", { ":zero": 0 });
    },
  };

  function heldLease(taskId: string, owner: string, item: z.infer<typeof taskItemSchema>): TaskLease {
    const { takes: take } = item;
    const done = new Set(item.done);
    // as it was written: the answer may have taken its time
    let until = item.lease_until;
    const change = async (expression: string, values: Record<string, unknown>): Promise<boolean> =>
      (await write(taskId, expression, "#owner = :owner", { ":owner": owner, ...values })) !== undefined;
    const held = async (expression: string, values: Record<string, unknown>): Promise<boolean> => {
      const next = now() + LEASE_MS;
      const kept = await change(`SET lease_until = :until${expression}`, { ":until": next, ...values });
      if (kept) until = next;
      return kept;
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
      renew: () => held("", {}),
      record(urlHashes) {
        for (const urlHash of urlHashes) done.add(shortKey(urlHash));
        return held(", done = :done", { ":done": [...done] });
      },
      complete: () => change("SET completed = :true REMOVE #owner", { ":true": true }),
      defer: (delayMs) =>
        change("SET lease_until = :until REMOVE #owner", { ":until": now() + delayMs - DEFERRAL_SLACK_MS }),
    };
  }
}

/** Enough of a hash to tell 50 URLs apart, so that the item stays below the 1 KB that one write unit pays for. */
const shortKey = (urlHash: string): string => urlHash.slice(0, 12);
