/** What functions are built from that work on the archive each minute, away from those who crawl and read. */
import { createJobFlags } from "../../../shared/crawl/tasks/job-flags.ts";
import { dynamoClient, s3Client } from "../../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../../shared/platform/aws/objects.ts";
import { loadConfig } from "../../../shared/platform/config.ts";
import { configuredDatabase } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";

/** @param name of the function, for its log */
export function createUpkeepContainer(name: string) {
  const config = loadConfig();
  return {
    sql: configuredDatabase(config),
    objects: createObjectStore(s3Client(), config.bucket),
    flags: createJobFlags(dynamoClient(), config.stateTable),
    log: createLogger({ function: name }, config.logLevel),
  };
}
