/**
 * Caches robots.txt rules by origin, for a day: in the container's memory, and in the state table for the others. An
 * item of its own and not part of the host's, since that one is written at every reservation and DynamoDB bills a write
 * by the item's size.
 */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { type CaptureError, captureErrorSchema } from "../../capture/capture.ts";
import { createStateTable, expiresAt, type StateItem } from "../../platform/aws/state-table.ts";
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
  /** @returns whether the caller is the one to fetch; then it owes `put` or `settle` */
  claim(origin: string): Promise<boolean>;
  /** Ends a claim without rules to keep: those who wait for it take the outcome, where there is one. */
  settle(origin: string, outcome: RobotsOutcome | null): Promise<void>;
  /**
   * What became of another's claim.
   * @param since epoch ms: older outcomes count for nobody
   */
  awaited(origin: string, since: number): Promise<RobotsOutcome | "pending" | "unclaimed">;
  /** The next task fetches robots.txt anew; workers that have it in memory do so within `MEMORY_MS`. */
  forget(origin: string): Promise<void>;
}

/** Rules, or why they could not be had. */
export type RobotsOutcome = RobotsRules | CaptureError;

/** How long others wait for whoever fetches: its own time limit, and a slot of the host. */
const CLAIM_MS = 45_000;

const itemSchema = z.object({ rules_zst: z.instanceof(Uint8Array), fetched_at: z.number() });
const rulesSchema: z.ZodType<RobotsRules> = z.strictObject({
  rules: z.array(z.strictObject({ allow: z.boolean(), pattern: z.string() })),
  crawlDelayMs: z.number().nullable(),
  sitemaps: z.array(z.string()),
});

const claimSchema = z.object({ claimed_until: z.number() });
const outcomeSchema = z.object({ outcome: z.string(), settled_at: z.number() });

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

  const rulesOf = (item: StateItem | undefined): { rules: RobotsRules; fetchedAt: number } | undefined => {
    const parsed = itemSchema.safeParse(item);
    if (!parsed.success || !fresh(parsed.data.fetched_at)) return undefined;
    const json = zstdDecompressSync(parsed.data.rules_zst, { maxOutputLength: MAX_JSON_BYTES });
    return { rules: rulesSchema.parse(JSON.parse(json.toString("utf8"))), fetchedAt: parsed.data.fetched_at };
  };

  return {
    async get(origin) {
      const held = memory.get(origin);
      if (held && fresh(held.fetchedAt) && now() - held.readAt < MEMORY_MS) return held.rules;
      const kept = rulesOf(await table.read(keyOf(origin), false));
      if (kept === undefined) return undefined;
      remember(origin, kept.rules, kept.fetchedAt);
      return kept.rules;
    },
    async put(origin, rules) {
      const fetchedAt = now();
      remember(origin, rules, fetchedAt);
      const rules_zst = zstdCompressSync(JSON.stringify(rules));
      if (rules_zst.length > MAX_ITEM_BYTES) return;
      const expires_at = expiresAt(fetchedAt, ROBOTS_TTL_MS / 1000);
      await table.put(keyOf(origin), { rules_zst, fetched_at: fetchedAt, expires_at });
    },
    async claim(origin) {
      const at = now();
      const { taken } = await table.takeOnce(keyOf(origin), "claimed_by", {
        set: { claimed_until: at + CLAIM_MS, expires_at: expiresAt(at, ROBOTS_TTL_MS / 1000) },
        // others may have put rules since the caller looked
        when:
          "(attribute_not_exists(claimed_until) or claimed_until < :at) " +
          "and (attribute_not_exists(fetched_at) or fetched_at <= :stale)",
        values: { at, stale: at - ROBOTS_TTL_MS },
      });
      return taken;
    },
    async settle(origin, outcome) {
      const set = outcome === null ? {} : { outcome: JSON.stringify(outcome), settled_at: now() };
      await table.update(keyOf(origin), { set: { claimed_until: 0, ...set } });
    },
    async awaited(origin, since) {
      const item = await table.read(keyOf(origin));
      const kept = rulesOf(item);
      if (kept !== undefined) {
        remember(origin, kept.rules, kept.fetchedAt);
        return kept.rules;
      }
      const settled = outcomeSchema.safeParse(item);
      if (settled.success && settled.data.settled_at >= since) {
        return z.union([rulesSchema, captureErrorSchema]).parse(JSON.parse(settled.data.outcome));
      }
      const claim = claimSchema.safeParse(item);
      return claim.success && claim.data.claimed_until > now() ? "pending" : "unclaimed";
    },
    async forget(origin) {
      memory.delete(origin);
      await table.remove(keyOf(origin));
    },
  };
}
