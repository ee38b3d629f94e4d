/**
 * The WebSocket connections that listen to a job, kept in the state table: an item each, and their names in a set of the job
 * and in a set of the API key, so that both are bounded. All go within minutes of the time at which API Gateway ends them.
 */
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { expiresAt, isConditionFailure } from "../platform/aws/state-table.ts";
import type { Clock } from "../platform/clock.ts";
import { ApiError } from "../platform/errors.ts";
import { uuidv7 } from "../platform/ids.ts";
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
  /** Gives it back: the event has not left. @returns how often that happened */
  returnTerminalEvent(connectionId: string): Promise<number>;
}

export function createConnections(
  { dynamo, clock, subscriptions }: { dynamo: DynamoDBDocumentClient; clock: Clock; subscriptions: Subscriptions },
  TableName: string,
): Connections {
  const update = (pk: string, expressions: Omit<UpdateCommand["input"], "TableName" | "Key">) =>
    dynamo.send(new UpdateCommand({ TableName, Key: { pk }, ...expressions }));

  const joinKey = async (keyId: string, listener: Listener): Promise<void> => {
    const join = () =>
      update(keySet(keyId), {
        UpdateExpression: "ADD connections :one SET expires_at = :expires",
        ConditionExpression: "attribute_not_exists(connections) OR size(connections) < :most",
        ExpressionAttributeValues: {
          ":one": new Set([listenerName(listener)]),
          ":expires": listener.expiresAt,
          ":most": MOST_PER_KEY,
        },
      });
    try {
      await join();
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      // those that were not seen to leave
      if (!(await dropExpired(keyId))) throw tooMany(`This API key has ${MOST_PER_KEY} connections already`);
      await orTooMany(join(), `This API key has ${MOST_PER_KEY} connections already`);
    }
  };

  const dropExpired = async (keyId: string): Promise<boolean> => {
    const { Item } = await dynamo.send(new GetCommand({ TableName, Key: { pk: keySet(keyId) }, ConsistentRead: true }));
    const names = [...((Item?.["connections"] as Set<string> | undefined) ?? [])];
    const expired = names.filter((name) => parseListener(name).expiresAt < clock.now() / 1000);
    if (expired.length > 0) await leaveKey(keyId, expired);
    return expired.length > 0;
  };

  const leaveKey = async (keyId: string, names: readonly string[]): Promise<void> => {
    try {
      await update(keySet(keyId), {
        UpdateExpression: "DELETE connections :names",
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeValues: { ":names": new Set(names) },
      });
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  };

  const connections: Connections = {
    async open({ connectionId, jobId, keyId }) {
      const expires_at = expiresAt(clock.now(), LISTENER_LIFETIME_S);
      const listener = { connectionId, expiresAt: expires_at };
      const item = { job_id: jobId, key_id: keyId, expires_at };
      await dynamo.send(new PutCommand({ TableName, Item: { pk: connectionKey(connectionId), ...item } }));
      try {
        await joinKey(keyId, listener);
        await orTooMany(subscriptions.join(jobId, listener), "This job has as many listeners as it may have");
      } catch (error) {
        await connections.forget(connectionId);
        throw error;
      }
    },
    async forget(connectionId) {
      const Key = { pk: connectionKey(connectionId) };
      const { Item } = await dynamo.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
      if (Item === undefined) return;
      const listener = { connectionId, expiresAt: Number(Item["expires_at"]) };
      await Promise.all([
        subscriptions.leave(String(Item["job_id"]), [listener]),
        leaveKey(String(Item["key_id"]), [listenerName(listener)]),
      ]);
      await dynamo.send(new DeleteCommand({ TableName, Key }));
    },
    async takeTerminalEvent(connectionId) {
      const by = uuidv7();
      try {
        await update(connectionKey(connectionId), {
          UpdateExpression: "SET last_word = :by",
          ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(last_word)",
          ExpressionAttributeValues: { ":by": by },
        });
        return "given";
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        const Key = { pk: connectionKey(connectionId) };
        const { Item } = await dynamo.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
        if (Item === undefined) return "missing";
        // a write whose answer is lost is tried again by the SDK, and meets itself
        return Item["last_word"] === by ? "given" : "taken";
      }
    },
    async returnTerminalEvent(connectionId) {
      try {
        const { Attributes } = await update(connectionKey(connectionId), {
          UpdateExpression: "REMOVE last_word ADD refusals :one",
          ConditionExpression: "attribute_exists(pk)",
          ExpressionAttributeValues: { ":one": 1 },
          ReturnValues: "UPDATED_NEW",
        });
        return Number(Attributes?.["refusals"]);
      } catch (error) {
        if (isConditionFailure(error)) return Number.POSITIVE_INFINITY;
        throw error;
      }
    },
  };
  return connections;
}

const connectionKey = (connectionId: string) => `socket#${connectionId}`;
const keySet = (keyId: string) => `sockets#${keyId}`;

const tooMany = (message: string) =>
  new ApiError(429, `${message}: close one first`, { code: "TOO_MANY_CONNECTIONS", headers: { "retry-after": "60" } });

async function orTooMany(write: Promise<unknown>, message: string): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw isConditionFailure(error) ? tooMany(message) : error;
  }
}
