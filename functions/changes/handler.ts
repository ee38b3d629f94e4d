/** Computes, each minute, what changed between captures of pages. */
import { z } from "zod";
import { computeChanges } from "../../shared/archive/changes/compute-changes.ts";
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
    log: createLogger({ function: "changes" }, config.logLevel),
  };
});

/** For the comparison that is under way: two large pages. */
const RESERVE_MS = 60_000;

export const handler = createInvokedHandler({
  schema: z.unknown(),
  handle: async (_event, { remainingMs }) => {
    const all = dependencies();
    // an idle system leaves the database alone, so that it may pause: the sweep keeps the marker while pages are due
    if ((await all.flags.activeSince()) === undefined) return { pages: 0, changes: 0, failed: 0 };
    const computed = await computeChanges(all, () => remainingMs() > RESERVE_MS);
    if (computed.pages + computed.failed > 0) all.log.info("changes were computed", { ...computed });
    return computed;
  },
});
