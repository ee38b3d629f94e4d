/**
 * The update loop of a job that somebody listens to: a message that sends itself again each second. Each round compares
 * the job with the event that its listeners had last and hands the difference to `push`, so a message that is lost on
 * the way costs a second, and nothing is read while nobody listens.
 */
import { z } from "zod";
import { usableKeys } from "../access/api-keys.ts";
import { atOnce } from "../platform/at-once.ts";
import type { QueueSender } from "../platform/aws/queues.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import type { Logger } from "../platform/observability/log.ts";
import { deletedJob, hasEnded, type ProgressEvent, readProgress } from "./job-progress.ts";
import { type Listener, listenerName } from "./listener.ts";
import type { PushMessage } from "./push-event.ts";
import type { Subscription, Subscriptions } from "./subscriptions.ts";

export const updateMessageSchema = z.strictObject({
  jobId: z.uuid(),
  /** Left out: somebody came, or the loop seems to have stopped. Then it goes on, unless it does so anyway. */
  round: z.int().optional(),
});
type UpdateMessage = z.infer<typeof updateMessageSchema>;

export interface UpdateDependencies {
  sql: Sql;
  queues: Pick<QueueSender, "send">;
  subscriptions: Subscriptions;
  clock: Clock;
}

/** A round as late as this was lost, or its message was. */
const STALE_MS = 5_000;
const ROUND_S = 1;
/**
 * Something is sent as often as this, or API Gateway ends the connection after ten minutes; and so those who left are
 * seen.
 */
const LONGEST_SILENCE_MS = 60_000;
const PING = '{"type":"ping"}';

/** Idempotent: a message that comes twice, or after its round, does nothing. */
export async function takeRound(dependencies: UpdateDependencies, message: UpdateMessage): Promise<void> {
  const { sql, queues, subscriptions, clock } = dependencies;
  const { jobId } = message;
  const subscription = await subscriptions.read(jobId);
  if (subscription === undefined) return void (await subscriptions.end(jobId));
  if (!isNext(subscription, message.round, clock.now())) return;
  const { present, gone } = apart(subscription, clock.now());
  await subscriptions.leave(jobId, gone);
  if (present.length === 0 && (await subscriptions.end(jobId))) return;
  const keys = await usableKeys(sql, [...new Set(present.map(({ keyId }) => keyId))]);
  const event = (await readProgress(sql, jobId)) ?? deletedJob(jobId);
  // after the job was read: whoever takes the next round sees it as it is now, or as it is later
  const round = await subscriptions.takeRound(subscription);
  if (round === undefined) return;
  const revoked = present.filter(({ keyId }) => !keys.has(keyId));
  const push =
    revoked.length > 0 ? farewellTo(subscription, revoked) : pushFor(subscription, present, event, clock.now());
  try {
    if (push !== undefined) await queues.send("push", { jobId, seq: round, ...push } satisfies PushMessage);
    await queues.send("progress", { jobId, round } satisfies UpdateMessage, ROUND_S);
  } catch (error) {
    await subscriptions.loseRound(jobId, round);
    throw error;
  }
}

function isNext({ round, roundAt }: Subscription, asked: number | undefined, now: number): boolean {
  return round === undefined || round === asked || roundAt < now - STALE_MS;
}

function apart({ listeners }: Subscription, now: number): { present: Listener[]; gone: Listener[] } {
  const isGone = ({ expiresAt }: Listener) => expiresAt < now / 1000;
  return { present: listeners.filter((each) => !isGone(each)), gone: listeners.filter(isGone) };
}

/** Those whose key is none any more hear of it, and are let go; what else there is to tell waits for the next round. */
const farewellTo = (subscription: Subscription, revoked: readonly Listener[]): Omit<PushMessage, "jobId" | "seq"> => ({
  kind: "last",
  eventId: subscription.sent ?? "",
  body: '{"type":"error","data":{"code":"AUTH_REQUIRED","message":"The API key is none any more"}}',
  to: revoked.map(listenerName),
});

/** What must be sent to whom; undefined where all have had everything. */
function pushFor(
  subscription: Subscription,
  present: readonly Listener[],
  event: ProgressEvent,
  now: number,
): Omit<PushMessage, "jobId" | "seq"> | undefined {
  const { type, id, data } = event;
  const everybody = present.map(listenerName);
  if (everybody.length === 0) return undefined;
  const update = { eventId: id, body: JSON.stringify({ type, data }) };
  // who has had the last event leaves, so whoever is here has not
  if (hasEnded(event)) return { ...update, kind: "last", to: everybody };
  if (subscription.sent !== id) return { ...update, kind: "progress", to: everybody };
  const newcomers = everybody.filter((name) => !subscription.notified.has(name));
  if (newcomers.length > 0) return { ...update, kind: "progress", to: newcomers };
  if (now - subscription.sentAt < LONGEST_SILENCE_MS) return undefined;
  return { ...update, kind: "ping", body: PING, to: everybody };
}

/** Subscriptions that are read at a time. */
const AT_ONCE = 25;

/**
 * Wakes the loops whose messages are lost. Reads one item where nobody listens, and no database. Never fails: it comes
 * again.
 */
export async function wakeStalledSubscriptions(
  dependencies: Omit<UpdateDependencies, "sql"> & { log: Logger },
): Promise<void> {
  try {
    const jobs = await dependencies.subscriptions.jobs();
    await atOnce(AT_ONCE, jobs, (jobId) => wakeIfStalled(dependencies, jobId));
  } catch (error) {
    dependencies.log.error("stalled update loops could not be woken: the next sweep tries again", { error });
  }
}

async function wakeIfStalled(
  { queues, subscriptions, clock, log }: Omit<UpdateDependencies, "sql"> & { log: Logger },
  jobId: string,
): Promise<void> {
  const subscription = await subscriptions.read(jobId);
  if (subscription !== undefined && subscription.roundAt >= clock.now() - STALE_MS) return;
  log.warn("an update loop had stopped: it goes on", { job_id: jobId });
  await queues.send("progress", { jobId } satisfies UpdateMessage);
}
