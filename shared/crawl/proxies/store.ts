/**
 * Keeps proxy configs for fetch, since it has no database: written through to the state table, which is encrypted
 * at rest, by whoever changes them. And what its workers share about the servers, in an item per config and hour, so
 * that one write for each task is small and counts start anew.
 */
import { createHash } from "node:crypto";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { ProxyServer } from "../../access/proxy-server.ts";
import { type Change, createStateTable, expiresAt, type StateItem } from "../../platform/aws/state-table.ts";
import { pauseAfter, ROTATION_STRATEGIES, type ServerUse } from "./rotation.ts";

const configSchema = z.strictObject({
  servers: z
    .array(z.strictObject({ url: z.string(), username: z.string().optional(), password: z.string().optional() }))
    .min(1),
  rotation: z.enum(ROTATION_STRATEGIES),
  active: z.boolean(),
});
export type SharedProxyConfig = z.infer<typeof configSchema>;

export interface ProxyStates {
  /**
   * What a change in the database is followed by.
   * @param forS how long it is there, in seconds; for good where not given
   */
  share(proxyId: string, config: SharedProxyConfig, forS?: number): Promise<void>;
  forget(proxyId: string): Promise<void>;
  /** Kept for `keepMs`. undefined: there is none. */
  read(proxyId: string): Promise<SharedProxyConfig | undefined>;
  /**
   * Counts one task.
   * @returns how many there were before it in this hour, and what is known of each server
   */
  takeRotation(proxyId: string, servers: readonly ProxyServer[]): Promise<{ rotationIndex: number; uses: ServerUse[] }>;
  countUse(proxyId: string, server: ProxyServer): Promise<void>;
  /**
   * The server failed: it is avoided for a while, longer each time.
   * @param failures in a row, this one included
   */
  reportFailure(proxyId: string, server: ProxyServer, failures: number): Promise<void>;
  /** Only worth a call where failures were seen. */
  reportSuccess(proxyId: string, server: ProxyServer): Promise<void>;
}

/** A proxy that is removed or switched off is used no longer than this. */
const KEEP_MS = 1_000;
const MOST_KEPT = 100;
const HOUR_MS = 3_600_000;
const USE_TTL_S = 2 * 3600;

export function createProxyStates(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
  keepMs = KEEP_MS,
): ProxyStates {
  const known = new LRUCache<string, { config: SharedProxyConfig | undefined; at: number }>({ max: MOST_KEPT });
  const table = createStateTable(dynamo, TableName);
  const configKey = (proxyId: string): string => `proxy#${proxyId}`;
  const updateUse = async (proxyId: string, { set, add = {} }: Change): Promise<StateItem> => {
    const pk = `proxy-use#${proxyId}#${Math.floor(now() / HOUR_MS)}`;
    return (await table.update(pk, { set: { ...set, expires_at: expiresAt(now(), USE_TTL_S) }, add })) ?? {};
  };

  return {
    async share(proxyId, config, forS) {
      known.delete(proxyId);
      const expires_at = forS === undefined ? undefined : expiresAt(now(), forS);
      await table.put(configKey(proxyId), { config: JSON.stringify(configSchema.parse(config)), expires_at });
    },
    async forget(proxyId) {
      known.delete(proxyId);
      await table.remove(configKey(proxyId));
    },
    async read(proxyId) {
      const held = known.get(proxyId);
      if (held !== undefined && now() - held.at < keepMs) return held.config;
      // a config may be removed while it is read
      const at = now();
      const item = await table.read(configKey(proxyId));
      const config = item && configSchema.parse(JSON.parse(String(item["config"])));
      known.set(proxyId, { config, at });
      return config;
    },
    async takeRotation(proxyId, servers) {
      const item = await updateUse(proxyId, { add: { tasks: 1 } });
      const number = (name: string): number => (typeof item[name] === "number" ? item[name] : 0);
      const uses = servers.map((server) => {
        const key = serverKey(server);
        return { uses: number(`u_${key}`), failures: number(`f_${key}`), downUntil: number(`d_${key}`) };
      });
      return { rotationIndex: number("tasks") - 1, uses };
    },
    async countUse(proxyId, server) {
      await updateUse(proxyId, { add: { [`u_${serverKey(server)}`]: 1 } });
    },
    async reportFailure(proxyId, server, failures) {
      const key = serverKey(server);
      await updateUse(proxyId, { set: { [`f_${key}`]: failures, [`d_${key}`]: now() + pauseAfter(failures) } });
    },
    async reportSuccess(proxyId, server) {
      const key = serverKey(server);
      await updateUse(proxyId, { set: { [`f_${key}`]: undefined, [`d_${key}`]: undefined } });
    },
  };
}

/** Names a server, not its password. */
function serverKey({ url, username = "" }: ProxyServer): string {
  return createHash("sha256").update(`${url}\n${username}`).digest("hex").slice(0, 12);
}
