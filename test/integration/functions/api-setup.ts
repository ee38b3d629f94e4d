/** The real API handlers on services of the test file's own: their environment is set before they are first called. */

import type { AccessScope } from "../../../shared/access/api-keys.ts";
import { createApiKey } from "../../../shared/access/api-keys.ts";
import { type TestAws, type TestDatabase, testAws, testDatabase } from "../../services/index.ts";

export interface ApiSetup {
  database: TestDatabase;
  aws: TestAws;
  /** A key per scope, with a limit that no test reaches. */
  keys: Record<AccessScope, string>;
  /** Another key. */
  createKey(options?: {
    scopes?: AccessScope[];
    rpm?: number;
    expiresAt?: Date;
    collectionIds?: string[];
  }): Promise<{ id: string; key: string }>;
  close(): Promise<void>;
}

export async function setUpApi(env: Record<string, string> = {}): Promise<ApiSetup> {
  const [database, aws] = await Promise.all([testDatabase(), testAws()]);
  Object.assign(process.env, aws.env, { DATABASE__POSTGRES_URL: database.url, LOG_LEVEL: "error" }, env);
  const createKey: ApiSetup["createKey"] = ({ scopes = ["read" as const], rpm = 100_000, expiresAt, ...limit } = {}) =>
    createApiKey(database.sql, { name: "test", scopes, rateLimitRpm: rpm, expiresAt: expiresAt ?? null, ...limit });
  return {
    database,
    aws,
    createKey,
    keys: {
      read: (await createKey({ scopes: ["read"] })).key,
      write: (await createKey({ scopes: ["write"] })).key,
      admin: (await createKey({ scopes: ["admin"] })).key,
    },
    async close() {
      await Promise.all([database.drop(), aws.close()]);
    },
  };
}
