/**
 * Who listens to a job, and how far they have been told, as one item of the state table for each job that is listened to.
 *
 * The item also keeps two things single though messages come twice and late: `turn` names the one message that may go on with
 * the watch, and `push_seq` and `push_until` let one delivery run at a time, each with a higher number than the one before.
 */
import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { isConditionFailure } from "../platform/aws/state-table.ts";
import type { Clock } from "../platform/clock.ts";
import { uuidv7 } from "../platform/ids.ts";
import { type Listener, listenerName, parseListener } from "./listener.ts";

export interface Subscription {
  jobId: string;
  listeners: Listener[];
  /** Names of those who have had an event. */
  notified: ReadonlySet<string>;
  /** Of the message that goes on with the watch; undefined before the first. */
  round: number | undefined;
  /** When that turn was taken, epoch ms. */
  roundAt: number;
  /** Id of the event that the listeners had last. */
  sent: string | undefined;
  /** When anything was sent, epoch ms. */
  sentAt: number;
}

export interface Subscriptions {
  /** @throws the condition's failure where the job has as many listeners as it may have */
  join(jobId: string, listener: Listener): Promise<void>;
  leave(jobId: string, listeners: readonly Listener[]): Promise<void>;
  read(jobId: string): Promise<Subscription | undefined>;
  /** @returns the number of the turn; undefined where another took it since `watch` was read */
  takeRound(subscription: Subscription): Promise<number | undefined>;
  /** The turn leads to no other: whichever message comes next takes it again. */
  loseRound(jobId: string, round: number): Promise<void>;
  /** Removes the watch, if nobody listens. */
  end(jobId: string): Promise<boolean>;
  /** Begins a delivery. @returns undefined where another is under way, or was begun with this number or a higher one */
  beginPush(jobId: string, seq: number, leaseMs: number): Promise<Subscription | undefined>;
  /** Ends it. @param refused listeners to whom it must be told again */
  endPush(jobId: string, seq: number, outcome: PushOutcome): Promise<void>;
  /** Jobs with a watch. */
  jobs(): Promise<string[]>;
}

export interface PushOutcome {
  /** Id of the event. */
  sent: string;
  delivered: readonly Listener[];
  refused: readonly Listener[];
}

/** At once. Their names must fit into one item of the state table and into one message, many times over. */
const MOST_LISTENERS = 200;
/** Every job that is watched, for the sweep. */
const INDEX = "subscriptions";
/** Turns between two entries of the job into that list, which someone may have removed it from meanwhile. */
const TURNS_PER_ENTRY = 30;

export function createSubscriptions(
  { dynamo, clock }: { dynamo: DynamoDBDocumentClient; clock: Clock },
  TableName: string,
): Subscriptions {
  const update = (pk: string, expressions: Omit<UpdateCommand["input"], "TableName" | "Key">) =>
    dynamo.send(new UpdateCommand({ TableName, Key: { pk }, ...expressions }));

  const itemOf = async (jobId: string): Promise<Record<string, unknown> | undefined> => {
    const Key = { pk: subscriptionKey(jobId) };
    return (await dynamo.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;
  };
  const enlist = (jobId: string) =>
    update(INDEX, { UpdateExpression: "ADD jobs :job", ExpressionAttributeValues: { ":job": new Set([jobId]) } });
  const delist = (jobId: string) =>
    update(INDEX, { UpdateExpression: "DELETE jobs :job", ExpressionAttributeValues: { ":job": new Set([jobId]) } });

  return {
    async join(jobId, listener) {
      await update(subscriptionKey(jobId), {
        UpdateExpression: "ADD listeners :one SET expires_at = :expires",
        ConditionExpression: "attribute_not_exists(listeners) OR size(listeners) < :most",
        ExpressionAttributeValues: {
          ":one": namesOf([listener]),
          ":expires": listener.expiresAt,
          ":most": MOST_LISTENERS,
        },
      });
      await enlist(jobId);
    },
    async leave(jobId, listeners) {
      if (listeners.length === 0) return;
      await ifHolds(
        update(subscriptionKey(jobId), {
          UpdateExpression: "DELETE listeners :names, notified :names",
          ConditionExpression: "attribute_exists(pk)",
          ExpressionAttributeValues: { ":names": namesOf(listeners) },
        }),
      );
    },
    async read(jobId) {
      const item = await itemOf(jobId);
      return item && subscriptionOf(jobId, item);
    },
    async takeRound({ jobId, round }) {
      // the clock's, so that messages of a watch that has ended mean no turn of one that began later
      const next = round === undefined ? clock.now() : round + 1;
      const by = uuidv7();
      const isWritten = await ifHolds(
        update(subscriptionKey(jobId), {
          UpdateExpression: "SET round = :next, round_at = :now, round_by = :by",
          ConditionExpression:
            round === undefined ? "attribute_exists(pk) AND attribute_not_exists(round)" : "round = :round",
          ExpressionAttributeValues: {
            ":next": next,
            ":now": clock.now(),
            ":by": by,
            ...(round === undefined ? {} : { ":round": round }),
          },
        }),
      );
      // a write whose answer is lost is tried again by the SDK, and meets itself
      const taken = isWritten || (await itemOf(jobId))?.["round_by"] === by;
      if (taken && next % TURNS_PER_ENTRY === 0) await enlist(jobId);
      return taken ? next : undefined;
    },
    async loseRound(jobId, round) {
      await ifHolds(
        update(subscriptionKey(jobId), {
          UpdateExpression: "SET round_at = :never",
          ConditionExpression: "round = :round",
          ExpressionAttributeValues: { ":never": 0, ":round": round },
        }),
      );
    },
    async end(jobId) {
      const Key = { pk: subscriptionKey(jobId) };
      const ConditionExpression = "attribute_not_exists(listeners)";
      const ended = await ifHolds(dynamo.send(new DeleteCommand({ TableName, Key, ConditionExpression })));
      if (ended) await delist(jobId);
      return ended;
    },
    async beginPush(jobId, seq, leaseMs) {
      const by = uuidv7();
      try {
        const { Attributes = {} } = await update(subscriptionKey(jobId), {
          UpdateExpression: "SET push_seq = :seq, push_until = :until, push_by = :by",
          ConditionExpression:
            "attribute_exists(pk) AND (attribute_not_exists(push_seq) OR push_seq < :seq AND push_until < :now)",
          ExpressionAttributeValues: { ":seq": seq, ":until": clock.now() + leaseMs, ":now": clock.now(), ":by": by },
          ReturnValues: "ALL_NEW",
        });
        return subscriptionOf(jobId, Attributes);
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        const item = await itemOf(jobId);
        return item?.["push_by"] === by ? subscriptionOf(jobId, item) : undefined;
      }
    },
    async endPush(jobId, seq, { sent, delivered, refused }) {
      const told = namesOf(delivered);
      await ifHolds(
        update(subscriptionKey(jobId), {
          UpdateExpression: `SET sent = :sent, sent_at = :now, push_until = :zero${told.size > 0 ? " ADD notified :told" : ""}`,
          ConditionExpression: "push_seq = :seq",
          ExpressionAttributeValues: {
            ":sent": sent,
            ":now": clock.now(),
            ":zero": 0,
            ":seq": seq,
            ...(told.size > 0 ? { ":told": told } : {}),
          },
        }),
      );
      if (refused.length === 0) return;
      await ifHolds(
        update(subscriptionKey(jobId), {
          UpdateExpression: "DELETE notified :names",
          ConditionExpression: "push_seq = :seq",
          ExpressionAttributeValues: { ":names": namesOf(refused), ":seq": seq },
        }),
      );
    },
    async jobs() {
      const { Item } = await dynamo.send(new GetCommand({ TableName, Key: { pk: INDEX }, ConsistentRead: true }));
      return [...setOf(Item?.["jobs"])];
    },
  };
}

const subscriptionKey = (jobId: string) => `subscription#${jobId}`;
const namesOf = (listeners: readonly Listener[]): Set<string> => new Set(listeners.map(listenerName));
/** DynamoDB has no empty sets: they are not there. */
const setOf = (value: unknown): Set<string> => (value instanceof Set ? value : new Set());

function subscriptionOf(jobId: string, item: Record<string, unknown>): Subscription {
  const { round, sent } = item;
  return {
    jobId,
    listeners: [...setOf(item["listeners"])].map(parseListener),
    notified: setOf(item["notified"]),
    round: typeof round === "number" ? round : undefined,
    roundAt: Number(item["round_at"] ?? 0),
    sent: typeof sent === "string" ? sent : undefined,
    sentAt: Number(item["sent_at"] ?? 0),
  };
}

/** @returns whether the condition of the write held */
async function ifHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}
