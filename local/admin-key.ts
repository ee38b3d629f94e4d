/** The first key of the API: made once, kept for the CLI, made again where the database does not know it any more. */
import { createApiKey, findApiKey, isWellFormedKey } from "../shared/access/api-keys.ts";
import { connectDatabase } from "../shared/platform/database/database.ts";
import { sha256 } from "../shared/platform/ids.ts";
import { readCredentials, writeCredentials } from "./home.ts";

export interface AdminKeyOptions {
  databaseUrl: string;
  home: string;
  apiUrl: string;
  rateLimitRpm: number;
}

/**
 * The key of whoever owns this machine: a limit would protect nobody, and stop a benchmark or a watched crawl half-way.
 */
const LOCAL_ADMIN_RPM = 1_000_000;

export async function ensureAdminKey(options: AdminKeyOptions): Promise<{ key: string; isNew: boolean }> {
  const { databaseUrl, home, apiUrl, rateLimitRpm } = options;
  const sql = connectDatabase({ url: databaseUrl, poolSize: 1 });
  try {
    const kept = readCredentials(home)?.api_key;
    const known = kept !== undefined && isWellFormedKey(kept) ? await findApiKey(sql, sha256(kept)) : undefined;
    const isUsable = known?.isActive === true && (known.expiresAt === null || known.expiresAt > new Date());
    const key =
      kept !== undefined && isUsable
        ? kept
        : (
            await createApiKey(sql, {
              name: "local admin",
              scopes: ["admin"],
              rateLimitRpm: Math.max(rateLimitRpm, LOCAL_ADMIN_RPM),
              expiresAt: null,
            })
          ).key;
    writeCredentials(home, { api_url: apiUrl, api_key: key });
    return { key, isNew: key !== kept };
  } finally {
    await sql.end();
  }
}
