/** Begins the jobs of monitored sources when their schedules fire, and sees that EventBridge has the right ones. */
import { createUrlInspector } from "../../shared/access/url-inspection.ts";
import { runsMessageSchema } from "../../shared/crawl/schedules/messages.ts";
import { fireSource } from "../../shared/crawl/sources/fire-source.ts";
import { noteKept, reconcileSchedules } from "../../shared/crawl/sources/schedule-source.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("source-runs");
  const { config } = container;
  return {
    ...container,
    sql: configuredDatabase(config),
    flags: createJobFlags(dynamoClient(), config.stateTable),
    inspector: createUrlInspector(config.allowHosts),
  };
});

export const handler = createQueueHandler(dependencies, {
  schema: runsMessageSchema,
  handle: async (message, { log }, container) => {
    const all = { ...container, log };
    if ("kept" in message) return await noteKept(all.sql, message.kept);
    if ("listed" in message) {
      // the sweep is to be awake for what it sends
      if ((await reconcileSchedules(all, message.listed)) > 0) await all.flags.markActive();
      return;
    }
    const outcome = await fireSource(all, message.fire, systemClock.now());
    log.info("a source's schedule fired", { source_id: message.fire.source_id, at: message.fire.at, ...outcome });
  },
});
