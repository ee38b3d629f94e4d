/**
 * Who listens to a job, and which events they have had, as one item of the state table for each job that is listened
 * to.
 *
 * The item also keeps two things single though messages come twice and late: `round` names the one message that may
 * continue the update loop, and `push_seq` and `push_until` let one delivery run at a time, each with a higher number
 * than the one before.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { type Change, createStateTable, type StateItem } from "../platform/aws/state-table.ts";
import type { Clock } from "../platform/clock.ts";
import { type Listener, listenerName, parseListener } from "./listener.ts";

export interface Subscription {
  jobId: string;
  listeners: Listener[];
  /** Names of those who have had an event. */
  notified: ReadonlySet<string>;
  /** Number of the message that continues the update loop; undefined before the first. */
  round: number | undefined;
  /** When that round was taken, epoch ms. */
  roundAt: number;
  /** Id of the event that the listeners had last. */
  sent: string | undefined;
  /** When anything was sent, epoch ms. */
  sentAt: number;
}

export interface Subscriptions {
  /** @returns false where the job has as many listeners as it may have */
  join(jobId: string, listener: Listener): Promise<boolean>;
  leave(jobId: string, listeners: readonly Listener[]): Promise<void>;
  read(jobId: string): Promise<Subscription | undefined>;
  /** @returns the number of the round; undefined where another took it since `subscription` was read */
  takeRound(subscription: Subscription): Promise<number | undefined>;
  /** The round leads to no other: whichever message comes next takes it again. */
  loseRound(jobId: string, round: number): Promise<void>;
  /**
   * Removes the item, if nobody listens.
   * @returns whether it did
   */
  end(jobId: string): Promise<boolean>;
  /**
   * Begins a delivery.
   * @returns undefined where another is under way, or was begun with this number or a higher one
   */
  beginPush(jobId: string, seq: number, leaseMs: number): Promise<Subscription | undefined>;
  /**
   * Ends it.
   * @param refused listeners to whom it must be sent again
   */
  endPush(jobId: string, seq: number, outcome: PushOutcome): Promise<void>;
  /** Jobs that are listened to. */
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
/** Every job that is listened to, for the sweep. */
const INDEX = "subscriptions";
/** Rounds between two entries of the job into that list, which someone may have removed it from meanwhile. */
const ROUNDS_PER_ENTRY = 30;

export function createSubscriptions(
  { dynamo, clock }: { dynamo: DynamoDBDocumentClient; clock: Clock },
  TableName: string,
): Subscriptions {
  const table = createStateTable(dynamo, TableName);
  const enlist = (jobId: string) => table.update(INDEX, { add: { jobs: new Set([jobId]) } });
  const delist = (jobId: string) => table.update(INDEX, { drop: { jobs: new Set([jobId]) } });

  return {
    async join(jobId, listener) {
      const name = listenerName(listener);
      const item = await table.update(subscriptionKey(jobId), {
        set: { expires_at: listener.expiresAt },
        add: { listeners: new Set([name]) },
        when: "attribute_not_exists(listeners) OR size(listeners) < :most OR contains(listeners, :name)",
        values: { most: MOST_LISTENERS, name },
      });
      if (item !== undefined) await enlist(jobId);
      return item !== undefined;
    },
    async leave(jobId, listeners) {
      if (listeners.length === 0) return;
      const names = namesOf(listeners);
      const drop = { listeners: names, notified: names };
      await table.update(subscriptionKey(jobId), { drop, when: "attribute_exists(pk)" });
    },
    async read(jobId) {
      const item = await table.read(subscriptionKey(jobId));
      return item && subscriptionOf(jobId, item);
    },
    async takeRound({ jobId, round }) {
      // the clock's, so that messages of a loop that has ended mean no round of one that began later
      const next = round === undefined ? clock.now() : round + 1;
      const { taken } = await table.takeOnce(subscriptionKey(jobId), "round_by", {
        set: { round: next, round_at: clock.now() },
        when: round === undefined ? "attribute_exists(pk) AND attribute_not_exists(round)" : "round = :seen",
        values: { seen: round },
      });
      if (taken && next % ROUNDS_PER_ENTRY === 0) await enlist(jobId);
      return taken ? next : undefined;
    },
    async loseRound(jobId, round) {
      await table.update(subscriptionKey(jobId), { set: { round_at: 0 }, when: "round = :round", values: { round } });
    },
    async end(jobId) {
      const ended = await table.remove(subscriptionKey(jobId), { when: "attribute_not_exists(listeners)" });
      if (ended) await delist(jobId);
      return ended;
    },
    async beginPush(jobId, seq, leaseMs) {
      const { taken, item } = await table.takeOnce(subscriptionKey(jobId), "push_by", {
        set: { push_seq: seq, push_until: clock.now() + leaseMs },
        when: "attribute_exists(pk) AND (attribute_not_exists(push_seq) OR push_seq < :push_seq AND push_until < :now)",
        values: { now: clock.now() },
      });
      return taken ? subscriptionOf(jobId, item) : undefined;
    },
    async endPush(jobId, seq, { sent, delivered, refused }) {
      const write = (change: Change) =>
        table.update(subscriptionKey(jobId), { ...change, when: "push_seq = :seq", values: { seq } });
      const add = delivered.length > 0 ? { notified: namesOf(delivered) } : {};
      await write({ set: { sent, sent_at: clock.now(), push_until: 0 }, add });
      if (refused.length > 0) await write({ drop: { notified: namesOf(refused) } });
    },
    async jobs() {
      return [...setOf((await table.read(INDEX))?.["jobs"])];
    },
  };
}

const subscriptionKey = (jobId: string) => `subscription#${jobId}`;
const namesOf = (listeners: readonly Listener[]): Set<string> => new Set(listeners.map(listenerName));
/** DynamoDB has no empty sets: they are not there. */
const setOf = (value: unknown): Set<string> => (value instanceof Set ? value : new Set());

function subscriptionOf(jobId: string, item: StateItem): Subscription {
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
