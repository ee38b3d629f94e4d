/**
 * robots.txt rules by origin, for a day: in the container's memory, and in the state table for the others. An item of
 * its own and not part of the host's, since that one is written at every reservation and DynamoDB bills a write by the
 * item's size.
 */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { createStateTable, expiresAt } from "../../platform/aws/state-table.ts";
import type { RobotsRules } from "./rules.ts";

export const ROBOTS_TTL_MS = 24 * 3600 * 1000;
/** Rules in memory are read again after this, since they may have been cleared. */
const MEMORY_MS = 300_000;
/** Origins kept in memory. */
const MEMORY_ORIGINS = 1000;
/** Below DynamoDB's limit of 400 KB an item; larger rules stay in memory only. */
const MAX_ITEM_BYTES = 350_000;
const MAX_JSON_BYTES = 8 * 1024 * 1024;

export interface RobotsCache {
  get(origin: string): Promise<RobotsRules | undefined>;
  put(origin: string, rules: RobotsRules): Promise<void>;
  /** The next task fetches robots.txt anew; workers that have it in memory do so within `MEMORY_MS`. */
  forget(origin: string): Promise<void>;
}

const itemSchema = z.object({ rules_zst: z.instanceof(Uint8Array), fetched_at: z.number() });
const rulesSchema: z.ZodType<RobotsRules> = z.strictObject({
  rules: z.array(z.strictObject({ allow: z.boolean(), pattern: z.string() })),
  crawlDelayMs: z.number().nullable(),
  sitemaps: z.array(z.string()),
});

export function createRobotsCache(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): RobotsCache {
  const table = createStateTable(dynamo, TableName);
  const keyOf = (origin: string): string => `robots#${origin}`;
  const memory = new LRUCache<string, { rules: RobotsRules; fetchedAt: number; readAt: number }>({
    max: MEMORY_ORIGINS,
  });
  const remember = (origin: string, rules: RobotsRules, fetchedAt: number): void => {
    memory.set(origin, { rules, fetchedAt, readAt: now() });
  };
  const fresh = (fetchedAt: number): boolean => now() - fetchedAt < ROBOTS_TTL_MS;

  return {
    async get(origin) {
      const held = memory.get(origin);
      if (held && fresh(held.fetchedAt) && now() - held.readAt < MEMORY_MS) return held.rules;
      const item = itemSchema.safeParse(await table.read(keyOf(origin), false));
      if (!item.success || !fresh(item.data.fetched_at)) return undefined;
      const json = zstdDecompressSync(item.data.rules_zst, { maxOutputLength: MAX_JSON_BYTES });
      const rules = rulesSchema.parse(JSON.parse(json.toString("utf8")));
      remember(origin, rules, item.data.fetched_at);
      return rules;
    },
    async put(origin, rules) {
      const fetchedAt = now();
      remember(origin, rules, fetchedAt);
      const rules_zst = zstdCompressSync(JSON.stringify(rules));
      if (rules_zst.length > MAX_ITEM_BYTES) return;
      const expires_at = expiresAt(fetchedAt, ROBOTS_TTL_MS / 1000);
      await table.put(keyOf(origin), { rules_zst, fetched_at: fetchedAt, expires_at });
    },
    async forget(origin) {
      memory.delete(origin);
      await table.remove(keyOf(origin));
    },
  };
}
