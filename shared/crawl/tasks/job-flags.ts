/**
 * What fetch must know of a job while it has no database: whether it was cancelled. And what the sweep asks before it
 * wakes the database: whether any job is unfinished.
 */
import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expiresAt, isConditionFailure } from "../../platform/aws/state-table.ts";

export interface JobFlags {
  markCancelled(jobId: string): Promise<void>;
  isCancelled(jobId: string): Promise<boolean>;
  /** Set whenever a job starts; cleared by the sweep once it has seen that no job is unfinished. */
  markActive(): Promise<void>;
  /** The time of the last `markActive` in ms, or undefined where no job is unfinished. */
  activeSince(): Promise<number | undefined>;
  /** Clears the marker unless a job started after `seen`. */
  clearActive(seen: number): Promise<void>;
}

/** A cancelled job's tasks are gone long before. */
const CANCEL_FLAG_TTL_S = 7 * 24 * 3600;

const jobKey = (jobId: string) => ({ pk: `job#${jobId}` });
const ACTIVE_KEY = { pk: "marker#active" };

export function createJobFlags(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): JobFlags {
  return {
    async markCancelled(jobId) {
      const expires_at = expiresAt(now(), CANCEL_FLAG_TTL_S);
      await dynamo.send(new PutCommand({ TableName, Item: { ...jobKey(jobId), cancelled: true, expires_at } }));
    },
    async isCancelled(jobId) {
      const { Item } = await dynamo.send(new GetCommand({ TableName, Key: jobKey(jobId), ConsistentRead: true }));
      return Item?.["cancelled"] === true;
    },
    async markActive() {
      await dynamo.send(new PutCommand({ TableName, Item: { ...ACTIVE_KEY, since: now() } }));
    },
    async activeSince() {
      const { Item } = await dynamo.send(new GetCommand({ TableName, Key: ACTIVE_KEY, ConsistentRead: true }));
      return typeof Item?.["since"] === "number" ? Item["since"] : undefined;
    },
    async clearActive(seen) {
      try {
        await dynamo.send(
          new DeleteCommand({
            TableName,
            Key: ACTIVE_KEY,
            ConditionExpression: "since = :seen",
            ExpressionAttributeValues: { ":seen": seen },
          }),
        );
      } catch (error) {
        // a job started meanwhile: the marker is its own
        if (!isConditionFailure(error)) throw error;
      }
    },
  };
}
