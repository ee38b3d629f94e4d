/** Brings the database schema up to date: once per deployment, and at each local start. */
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database.ts";
import { createLogger } from "../../shared/platform/log.ts";
import { migrate } from "../../shared/platform/migrations.ts";

export async function handler(): Promise<{ applied: string[] }> {
  const config = loadConfig();
  const sql = configuredDatabase(config, 1);
  try {
    const applied = await migrate(sql);
    createLogger({ function: "migrate" }, config.logLevel).info("schema is up to date", { applied });
    return { applied };
  } finally {
    await sql.end();
  }
}
