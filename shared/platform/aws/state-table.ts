/** The state table: items by their key `pk`, gone some time after `expires_at`, and changed on conditions. */
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { uuidv7 } from "../ids.ts";

export type StateItem = Readonly<Record<string, unknown>>;

export interface Condition {
  /**
   * A condition expression. `:name` is a value of `values` or of the change; `#name` an attribute that DynamoDB
   * reserves.
   */
  when?: string;
  values?: StateItem;
}

export interface Change extends Condition {
  /** Values by attribute; undefined removes the attribute. */
  set?: StateItem;
  /** Numbers to add, and sets whose members are put into the attribute's. */
  add?: StateItem;
  /** Sets whose members are taken out of the attribute's. */
  drop?: StateItem;
}

export interface StateTable {
  /** @param consistent false where an old item is as good, at half the price */
  read(pk: string, consistent?: boolean): Promise<StateItem | undefined>;
  put(pk: string, attributes: StateItem): Promise<void>;
  /** @returns false where the condition did not hold */
  remove(pk: string, condition?: Condition): Promise<boolean>;
  /**
   * Makes the item where there is none.
   *
   * @returns the whole item after the change; undefined where the condition did not hold
   */
  update(pk: string, change: Change): Promise<StateItem | undefined>;
  /**
   * A change whose condition holds for one caller only. The SDK sends a write again when its answer is lost, and that
   * one finds the condition broken by itself; so the item says whose change it was.
   *
   * @param by attribute that holds the token
   * @param token the same in all tries of one caller, and nobody else's
   * @returns the item after the change, or as it is where another was first
   */
  takeOnce(
    pk: string,
    by: string,
    change: Change,
    token?: string,
  ): Promise<{ taken: true; item: StateItem } | { taken: false; item: StateItem | undefined }>;
}

export function createStateTable(dynamo: DynamoDBDocumentClient, TableName: string): StateTable {
  const table: StateTable = {
    async read(pk, ConsistentRead = true) {
      return (await dynamo.send(new GetCommand({ TableName, Key: { pk }, ConsistentRead }))).Item;
    },
    async put(pk, attributes) {
      await dynamo.send(new PutCommand({ TableName, Item: { pk, ...attributes } }));
    },
    async remove(pk, condition = {}) {
      const command = new DeleteCommand({ TableName, Key: { pk }, ...expressionsOf(condition) });
      return (await unlessBroken(dynamo.send(command))) !== undefined;
    },
    async update(pk, change) {
      const expressions = expressionsOf(change);
      const command = new UpdateCommand({ TableName, Key: { pk }, ...expressions, ReturnValues: "ALL_NEW" });
      const result = await unlessBroken(dynamo.send(command));
      return result && (result.Attributes ?? {});
    },
    async takeOnce(pk, by, change, token = uuidv7()) {
      const item = await table.update(pk, { ...change, set: { ...change.set, [by]: token } });
      if (item !== undefined) return { taken: true, item };
      const found = await table.read(pk);
      return found?.[by] === token ? { taken: true, item: found } : { taken: false, item: found };
    },
  };
  return table;
}

/** DynamoDB's expiry attribute. Expired items may stay for days: compare times in conditions too. */
export function expiresAt(now: number, seconds: number): number {
  return Math.ceil(now / 1000) + seconds;
}

function expressionsOf({ set = {}, add = {}, drop = {}, when, values = {} }: Change) {
  const given = Object.keys(set).filter((name) => set[name] !== undefined);
  const clauses = [
    clause("SET", given, (name) => `#${name} = :${name}`),
    clause(
      "REMOVE",
      Object.keys(set).filter((name) => set[name] === undefined),
      (name) => `#${name}`,
    ),
    clause("ADD", Object.keys(add), (name) => `#${name} :${name}`),
    clause("DELETE", Object.keys(drop), (name) => `#${name} :${name}`),
  ];
  const UpdateExpression = clauses.join("").trim();
  const names = new Set(`${UpdateExpression} ${when}`.match(/#\w+/g));
  const valued = Object.entries({ ...set, ...add, ...drop, ...values }).filter(([, value]) => value !== undefined);
  return {
    ...(UpdateExpression !== "" && { UpdateExpression }),
    ...(when !== undefined && { ConditionExpression: when }),
    ...(names.size > 0 && {
      ExpressionAttributeNames: Object.fromEntries([...names].map((name) => [name, name.slice(1)])),
    }),
    ...(valued.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(valued.map(([name, value]) => [`:${name}`, value])),
    }),
  };
}

function clause(word: string, attributes: readonly string[], term: (name: string) => string): string {
  return attributes.length === 0 ? "" : ` ${word} ${attributes.map(term).join(", ")}`;
}

/** @returns undefined where the condition of the write did not hold */
async function unlessBroken<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionalCheckFailedException") return undefined;
    throw error;
  }
}
