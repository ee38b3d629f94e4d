/**
 * A job that somebody listens to: with real state and rows, a clock that tests move, and connections that only record.
 */
import { randomUUID } from "node:crypto";
import { createApiKey } from "../../../shared/access/api-keys.ts";
import { createConnections } from "../../../shared/notify/connections.ts";
import { parseListener } from "../../../shared/notify/listener.ts";
import { type PushMessage, pushEvent, pushMessageSchema, type Sockets } from "../../../shared/notify/push-event.ts";
import { createSubscriptions } from "../../../shared/notify/subscriptions.ts";
import { takeRound, updateMessageSchema, wakeStalledSubscriptions } from "../../../shared/notify/update-loop.ts";
import type { Clock } from "../../../shared/platform/clock.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { testAwsWithoutSqs, testDatabase } from "../../services/index.ts";

type Fault = "gone" | "refused" | Error;

export type ProgressHarness = Awaited<ReturnType<typeof progressHarness>>;

export async function progressHarness() {
  const [{ sql }, aws] = await Promise.all([testDatabase(), testAwsWithoutSqs()]);
  let time = Date.now();
  const clock: Clock = { now: () => time, sleep: async () => {} };
  const { queues } = aws;
  const subscriptions = createSubscriptions({ dynamo: aws.dynamo, clock }, aws.stateTable);
  const connections = createConnections({ dynamo: aws.dynamo, clock, subscriptions }, aws.stateTable);
  const log = createLogger({}, "error", () => {});
  const told = new Map<string, string[]>();
  const closed = new Set<string>();
  let faultOf: (connectionId: string, body: string) => Fault | undefined = () => undefined;
  let delayOf: () => Promise<void> = async () => {};
  const sockets: Sockets = {
    async post(connectionId, body) {
      await delayOf();
      const fault = faultOf(connectionId, body);
      if (fault instanceof Error) throw fault;
      if (fault !== undefined) return fault;
      if (closed.has(connectionId)) return "gone";
      told.set(connectionId, [...(told.get(connectionId) ?? []), body]);
      return "sent";
    },
    async close(connectionId) {
      closed.add(connectionId);
    },
  };
  const harness = {
    sql,
    aws,
    clock,
    queues,
    subscriptions,
    connections,
    closed,
    /** A job of `discovered` URLs, all open. */
    async job(discovered = 10): Promise<string> {
      const id = uuidv7();
      await sql`insert into jobs (id, kind, generation_id, settings, status, discovered, open_urls)
        values (${id}, 'site', ${uuidv7()}, '{}', 'running', ${discovered}, ${discovered})`;
      return id;
    },
    async crawled(jobId: string, pages: number): Promise<void> {
      await sql`update jobs set crawled = crawled + ${pages}, open_urls = open_urls - ${pages} where id = ${jobId}`;
    },
    async end(jobId: string, status = "completed"): Promise<void> {
      await sql`update jobs set status = ${status}, stop_reason = 'completed' where id = ${jobId}`;
    },
    /** @param keyId of an API key; where it is not given, of a new one */
    async listen(jobId: string, keyId?: string): Promise<string> {
      const connectionId = randomUUID();
      await connections.open({ connectionId, jobId, keyId: keyId ?? (await harness.apiKey()) });
      return connectionId;
    },
    /** @returns the id of a new one */
    apiKey: async () =>
      (await createApiKey(sql, { name: "listener", scopes: ["read"], rateLimitRpm: 60, expiresAt: null })).id,
    pass(ms: number): void {
      time += ms;
    },
    failWith(fault: typeof faultOf): void {
      faultOf = fault;
    },
    /** Before each message to a connection. */
    delayWith(delay: typeof delayOf): void {
      delayOf = delay;
    },
    round: (message: unknown, database = sql) =>
      takeRound({ sql: database, queues, subscriptions, clock }, updateMessageSchema.parse(message)),
    push: (message: PushMessage) => pushEvent({ subscriptions, connections, sockets, clock, log }, message),
    sweep: () => wakeStalledSubscriptions({ queues, subscriptions, clock, log }),
    /**
     * Messages of the update loop; those with a delay of a second too.
     * @param waitS for the first, in seconds
     */
    turns: (waitS = 2) => aws.receive("progress", waitS),
    async pushes(): Promise<PushMessage[]> {
      return (await aws.receive("push")).map((message) => pushMessageSchema.parse(message));
    },
    /** What a connection was told, parsed. */
    // biome-ignore lint/suspicious/noExplicitAny: an event is compared, never trusted
    heard: (connectionId: string): any[] => (told.get(connectionId) ?? []).map((body) => JSON.parse(body)),
    async listeners(jobId: string): Promise<string[]> {
      return (await subscriptions.read(jobId))?.listeners.map(({ connectionId }) => connectionId) ?? [];
    },
    /**
     * One round of the update loop, and what it leads to.
     * @returns the message of the next turn
     */
    async step(message: unknown): Promise<unknown> {
      await harness.round(message);
      for (const each of await harness.pushes()) await harness.push(each);
      // a watch that has ended sends nothing
      const watched = (await subscriptions.read(updateMessageSchema.parse(message).jobId)) !== undefined;
      const [next] = await harness.turns(watched ? 20 : 2);
      return next;
    },
    idOf: (name: string) => parseListener(name).connectionId,
  };
  return harness;
}
