/**
 * An event on its way to connections. Deliveries of one job run one at a time and in the order of their numbers, so a
 * progress event never follows the last one; and each connection gets the last one once, since the right to send it is
 * given once.
 */
import { z } from "zod";
import { atOnce } from "../platform/at-once.ts";
import type { Clock } from "../platform/clock.ts";
import type { Logger } from "../platform/observability/log.ts";
import type { Connections } from "./connections.ts";
import { ageMs, type Listener, parseListener } from "./listener.ts";
import type { PushOutcome, Subscriptions } from "./subscriptions.ts";

export const pushMessageSchema = z.strictObject({
  jobId: z.uuid(),
  seq: z.int(),
  eventId: z.string(),
  /** `last`: the job has ended, and the connections are closed after this. */
  kind: z.enum(["progress", "ping", "last"]),
  /** What is sent, as it stands. */
  body: z.string(),
  /** Names of listeners. */
  to: z.array(z.string()).min(1),
});
export type PushMessage = z.infer<typeof pushMessageSchema>;

/** The management API of WebSocket connections. */
export interface Sockets {
  /**
   * @param delivery whether it may be tried again after a fault that does not say what has left
   * @returns "refused" where the connection takes nothing at the moment; other faults are thrown
   */
  post(
    connectionId: string,
    body: string,
    delivery: "at least once" | "at most once",
  ): Promise<"sent" | "gone" | "refused">;
  /** Ends it; one that is gone is well ended. */
  close(connectionId: string): Promise<void>;
}

export interface PushDependencies {
  subscriptions: Subscriptions;
  connections: Connections;
  sockets: Sockets;
  clock: Clock;
  log: Logger;
}

/** The lease outlasts the last delivery that is begun within the time limit. */
const LEASE_MS = 20_000;
const TIME_LIMIT_MS = 10_000;
const AT_ONCE = 20;
/** Until `$connect` has been answered, API Gateway calls a connection gone. */
const UNOPENED_MS = 5_000;
/** After so many refusals of the last event, the connection is closed without it. */
const MOST_REFUSALS = 15;

type Outcome = "delivered" | "refused" | "left";

/**
 * Never fails for a single connection: the update loop sees who was not notified, and includes them in its next round.
 */
export async function pushEvent(dependencies: PushDependencies, message: PushMessage): Promise<void> {
  const { subscriptions, clock, log } = dependencies;
  const { jobId, seq, eventId } = message;
  const subscription = await subscriptions.beginPush(jobId, seq, LEASE_MS);
  if (subscription === undefined) return;
  const deadline = clock.now() + TIME_LIMIT_MS;
  const outcome = { delivered: [] as Listener[], refused: [] as Listener[] };
  // a message that was made while the one before was on its way may say the same
  const isKnown = message.kind === "progress" && subscription.sent === eventId;
  const waiting = message.to.filter((name) => !(isKnown && subscription.notified.has(name))).map(parseListener);
  await atOnce(AT_ONCE, waiting, async (each) => {
    const result = clock.now() < deadline ? await deliver(dependencies, message, each) : "refused";
    if (result !== "left") outcome[result].push(each);
  });
  await subscriptions.endPush(jobId, seq, { sent: eventId, ...outcome } satisfies PushOutcome);
  if (outcome.refused.length > 0) log.info("connections did not take an event", { refused: outcome.refused.length });
}

async function deliver(dependencies: PushDependencies, message: PushMessage, listener: Listener): Promise<Outcome> {
  try {
    return await (message.kind === "last" ? sendTerminalEvent : say)(dependencies, message, listener);
  } catch (error) {
    dependencies.log.warn("a connection could not be written to", { error, job_id: message.jobId });
    return "refused";
  }
}

async function say(dependencies: PushDependencies, { jobId, body }: PushMessage, listener: Listener): Promise<Outcome> {
  const { sockets, connections, subscriptions, clock } = dependencies;
  const result = await sockets.post(listener.connectionId, body, "at least once");
  if (result === "sent") return "delivered";
  if (result === "refused" || ageMs(listener, clock.now()) < UNOPENED_MS) return "refused";
  await connections.forget(listener.connectionId);
  // where the connection is forgotten, only the subscription remembers it
  await subscriptions.leave(jobId, [listener]);
  return "left";
}

/**
 * A fault after which nobody knows whether the event has left keeps the right to send it: then the connection is only
 * closed.
 */
async function sendTerminalEvent(
  dependencies: PushDependencies,
  { jobId, body }: PushMessage,
  listener: Listener,
): Promise<Outcome> {
  const { sockets, connections, subscriptions, clock } = dependencies;
  const { connectionId } = listener;
  const right = await connections.takeTerminalEvent(connectionId);
  if (right === "given") {
    const result = await sockets.post(connectionId, body, "at most once");
    const mayOpen = result === "gone" && ageMs(listener, clock.now()) < UNOPENED_MS;
    if (result === "refused" || mayOpen) {
      if ((await connections.returnTerminalEvent(connectionId)) < MOST_REFUSALS) return "refused";
    }
  }
  await sockets.close(connectionId);
  await connections.forget(connectionId);
  // where the connection is forgotten, only the subscription remembers it
  await subscriptions.leave(jobId, [listener]);
  return "left";
}
