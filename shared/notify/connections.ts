/**
 * Keeps the WebSocket connections that listen to a job in the state table: an item each, and their names in a set of
 * the job and in a set of the API key, so that both are bounded. All go within minutes of the time at which API Gateway
 * ends them.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createStateTable, expiresAt } from "../platform/aws/state-table.ts";
import type { Clock } from "../platform/clock.ts";
import { ApiError } from "../platform/errors.ts";
import { LISTENER_LIFETIME_S, type Listener, listenerName, parseListener } from "./listener.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** At once. */
const MOST_PER_KEY = 100;

export interface NewConnection {
  connectionId: string;
  jobId: string;
  keyId: string;
}

export interface Connections {
  /** @throws ApiError 429 TOO_MANY_CONNECTIONS of this job or key */
  open(connection: NewConnection): Promise<void>;
  /** Forgets it; a second time changes nothing. */
  forget(connectionId: string): Promise<void>;
  /**
   * Takes the right to send the last event, which is given once.
   * @returns "taken" where it was given before, "missing" where the connection is forgotten
   */
  takeTerminalEvent(connectionId: string): Promise<"given" | "taken" | "missing">;
  /**
   * Gives it back: the event has not left.
   * @returns how often that happened
   */
  returnTerminalEvent(connectionId: string): Promise<number>;
}

export function createConnections(
  { dynamo, clock, subscriptions }: { dynamo: DynamoDBDocumentClient; clock: Clock; subscriptions: Subscriptions },
  TableName: string,
): Connections {
  const table = createStateTable(dynamo, TableName);

  const joinKey = async (keyId: string, listener: Listener): Promise<boolean> => {
    const name = listenerName(listener);
    const join = () =>
      table.update(keySet(keyId), {
        set: { expires_at: listener.expiresAt },
        add: { connections: new Set([name]) },
        when: "attribute_not_exists(connections) OR size(connections) < :most OR contains(connections, :name)",
        values: { most: MOST_PER_KEY, name },
      });
    if ((await join()) !== undefined) return true;
    // those that were not seen to leave
    return (await dropExpired(keyId)) && (await join()) !== undefined;
  };

  const dropExpired = async (keyId: string): Promise<boolean> => {
    const item = await table.read(keySet(keyId));
    const names = [...((item?.["connections"] as Set<string> | undefined) ?? [])];
    const expired = names.filter((name) => parseListener(name).expiresAt < clock.now() / 1000);
    if (expired.length > 0) await leaveKey(keyId, expired);
    return expired.length > 0;
  };

  const leaveKey = (keyId: string, names: readonly string[]) =>
    table.update(keySet(keyId), { drop: { connections: new Set(names) }, when: "attribute_exists(pk)" });

  const connections: Connections = {
    async open({ connectionId, jobId, keyId }) {
      const expires_at = expiresAt(clock.now(), LISTENER_LIFETIME_S);
      const listener = { connectionId, keyId, expiresAt: expires_at };
      await table.put(connectionKey(connectionId), { job_id: jobId, key_id: keyId, expires_at });
      try {
        if (!(await joinKey(keyId, listener))) throw tooMany(`This API key has ${MOST_PER_KEY} connections already`);
        if (!(await subscriptions.join(jobId, listener))) {
          throw tooMany("This job has as many listeners as it may have");
        }
      } catch (error) {
        await connections.forget(connectionId);
        throw error;
      }
    },
    async forget(connectionId) {
      const item = await table.read(connectionKey(connectionId));
      if (item === undefined) return;
      const keyId = String(item["key_id"]);
      const listener = { connectionId, keyId, expiresAt: Number(item["expires_at"]) };
      await Promise.all([
        subscriptions.leave(String(item["job_id"]), [listener]),
        leaveKey(keyId, [listenerName(listener)]),
      ]);
      await table.remove(connectionKey(connectionId));
    },
    async takeTerminalEvent(connectionId) {
      const when = "attribute_exists(pk) AND attribute_not_exists(terminal_event_by)";
      const { taken, item } = await table.takeOnce(connectionKey(connectionId), "terminal_event_by", { when });
      if (taken) return "given";
      return item === undefined ? "missing" : "taken";
    },
    async returnTerminalEvent(connectionId) {
      const change = { set: { terminal_event_by: undefined }, add: { refusals: 1 }, when: "attribute_exists(pk)" };
      const item = await table.update(connectionKey(connectionId), change);
      return item === undefined ? Number.POSITIVE_INFINITY : Number(item["refusals"]);
    },
  };
  return connections;
}

const connectionKey = (connectionId: string) => `socket#${connectionId}`;
const keySet = (keyId: string) => `sockets#${keyId}`;

const tooMany = (message: string) =>
  new ApiError(429, `${message}: close one first`, { code: "TOO_MANY_CONNECTIONS", headers: { "retry-after": "60" } });
