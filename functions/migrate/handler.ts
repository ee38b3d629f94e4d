/**
 * Brings the database schema up to date: once per deployment, and at each local start. Asked with `{"first_admin_key":
 * true}` it also makes the first admin key and answers with it, since nobody could ask the API for one; who may invoke
 * this function is a matter of AWS's own permissions.
 */
import { z } from "zod";
import { createFirstAdminKey } from "../../shared/access/first-admin-key.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { connectDatabase, databaseOf } from "../../shared/platform/database/database.ts";
import { migrate } from "../../shared/platform/database/migrations.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import { isUnreachable, retryTransient } from "../../shared/platform/transient-errors.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";

const requestSchema = z.object({ first_admin_key: z.boolean().default(false) });

/** A database that was paused for days may take minutes, and a deployment that gives up on it is undone as a whole. */
const LONGEST_RESUME_MS = 240_000;

interface Migrated {
  applied: string[];
  admin_key?: string;
}

export const handler = createInvokedHandler({ schema: requestSchema, handle: migrateDatabase });

async function migrateDatabase(request: z.output<typeof requestSchema>): Promise<Migrated> {
  const config = loadConfig();
  const sql = connectDatabase({ ...databaseOf(config), poolSize: 1 });
  try {
    const until = systemClock.now() + LONGEST_RESUME_MS;
    const applied = await retryTransient(systemClock, { until, isTransient: isUnreachable }, () => migrate(sql));
    createLogger({ function: "migrate" }, config.logLevel).info("schema is up to date", { applied });
    return request.first_admin_key
      ? { applied, admin_key: await createFirstAdminKey(sql, config.apiRpm) }
      : { applied };
  } finally {
    await sql.end();
  }
}
