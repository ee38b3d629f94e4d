/** Makes new snapshots searchable, each minute. */
import { z } from "zod";
import { indexSnapshots } from "../../shared/archive/search/index-snapshots.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { dynamoClient, s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import { once } from "../../shared/platform/once.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";

const dependencies = once(() => {
  const config = loadConfig();
  return {
    sql: configuredDatabase(config),
    objects: createObjectStore(s3Client(), config.bucket),
    flags: createJobFlags(dynamoClient(), config.stateTable),
    log: createLogger({ function: "snapshot-index" }, config.logLevel),
  };
});

/** For a large page, and for writing what was read. */
const RESERVE_MS = 60_000;

export const handler = createInvokedHandler({
  schema: z.unknown(),
  handle: async (_event, { remainingMs }) => {
    const all = dependencies();
    // an idle system leaves the database alone: the sweep keeps the marker while snapshots are due
    if ((await all.flags.activeSince()) === undefined) return { snapshots: 0, failed: 0 };
    const indexed = await indexSnapshots(all, () => remainingMs() > RESERVE_MS);
    if (indexed.snapshots + indexed.failed > 0) all.log.info("snapshots were indexed", { ...indexed });
    return indexed;
  },
});
