/** Makes the key that makes all other keys. */
import type { Sql } from "../platform/database/database.ts";
import { PermanentError } from "../platform/errors.ts";
import { createApiKey } from "./api-keys.ts";

/**
 * Makes an admin key where there is no key yet.
 * @param rateLimitRpm requests a minute
 * @returns the key, which is shown this once and stored nowhere
 * @throws PermanentError ADMIN_KEY_EXISTS where any key was ever made: an admin key makes the next one
 */
export async function createFirstAdminKey(sql: Sql, rateLimitRpm: number): Promise<string> {
  return await sql.begin(async (tx) => {
    // two callers at once must not each find the table empty
    await tx`lock table api_keys in share row exclusive mode`;
    const [first] = await tx`select 1 from api_keys limit 1`;
    if (first !== undefined) {
      throw new PermanentError("There are API keys already: make another one with an admin key", {
        code: "ADMIN_KEY_EXISTS",
      });
    }
    const { key } = await createApiKey(tx, {
      name: "first admin key",
      scopes: ["admin"],
      rateLimitRpm,
      expiresAt: null,
    });
    return key;
  });
}
