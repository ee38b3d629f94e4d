/**
 * Keeps what the database said of presented keys, in the state table: a key in use asks it once in five minutes, and
 * one that is none once a day, so that a client with a revoked key does not keep a paused database awake.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { createStateTable, expiresAt } from "../platform/aws/state-table.ts";
import { type ApiKey, type FoundKey, SCOPES } from "./api-keys.ts";

export type KnownKey = Pick<ApiKey, "id" | "name" | "scopes" | "rateLimitRpm" | "collectionIds" | "expiresAt">;

export interface KeyCache {
  /**
   * @param hash SHA-256 of the key
   * @returns null where it admits nobody; where the database has to say, `changing` for a key of its own whose row is
   *   being changed, undefined for any other
   */
  read(hash: Buffer): Promise<KnownKey | null | "changing" | undefined>;
  /** @param found as the database has it */
  keep(hash: Buffer, found: FoundKey | undefined): Promise<void>;
  /**
   * Lets the database alone speak for the key, for two minutes. Called before its row is changed: what was read of the
   * row before that is then kept no more, and what follows is the change.
   */
  bypass(hash: Buffer): Promise<void>;
}

/** A key changed by SQL, past the API, is held to it this much later. */
const ADMITTED_S = 300;
/** No key that was refused is ever admitted again. */
const REFUSED_S = 86_400;
/** Longer than any request of an API that is not a stream: nobody keeps after it what was read before it. */
const BYPASSED_S = 120;

const itemSchema = z.object({
  until: z.number(),
  bypassed: z.boolean().optional(),
  key: z
    .object({
      id: z.string(),
      name: z.string(),
      scopes: z.array(z.enum(SCOPES)),
      rateLimitRpm: z.number(),
      collectionIds: z.array(z.string()).nullable(),
      expiresAt: z.number().nullable(),
    })
    .optional(),
});

export function createKeyCache(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): KeyCache {
  const table = createStateTable(dynamo, TableName);
  const pkOf = (hash: Buffer): string => `key#${hash.toString("base64url")}`;
  const times = (seconds: number) => ({ until: now() + seconds * 1000, expires_at: expiresAt(now(), seconds) });
  return {
    async read(hash) {
      const item = itemSchema.safeParse(await table.read(pkOf(hash))).data;
      if (item === undefined || item.until <= now()) return undefined;
      if (item.bypassed) return "changing";
      return item.key === undefined ? null : { ...item.key, expiresAt: momentOf(item.key.expiresAt) };
    },
    async keep(hash, found) {
      const usable = found?.isActive && (found.expiresAt?.getTime() ?? Infinity) > now() ? found : undefined;
      await table.update(pkOf(hash), {
        set: { ...times(usable ? ADMITTED_S : REFUSED_S), bypassed: undefined, key: usable && itemOf(usable) },
        when: "attribute_not_exists(bypassed) OR #until <= :now",
        values: { now: now() },
      });
    },
    async bypass(hash) {
      await table.put(pkOf(hash), { bypassed: true, ...times(BYPASSED_S) });
    },
  };
}

const momentOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

const itemOf = ({ id, name, scopes, rateLimitRpm, collectionIds, expiresAt }: FoundKey) => ({
  ...{ id, name, scopes, rateLimitRpm, collectionIds },
  expiresAt: expiresAt?.getTime() ?? null,
});
