/** Counts that something was asked for; where that fails, whoever asked is answered all the same. */
import { addUses } from "../../../shared/archive/usage/usage.ts";
import type { Config } from "../../../shared/platform/config.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import type { Logger } from "../../../shared/platform/observability/log.ts";

export async function noteUse(
  { sql, config, log }: { sql: Sql; config: Pick<Config, "archiveUsage">; log: Logger },
  uses: Readonly<Record<string, number>>,
): Promise<void> {
  if (!config.archiveUsage) return;
  await addUses(sql, uses).catch((error: unknown) => log.warn("a use could not be counted", { error }));
}
