/**
 * Keeps the schedules of monitored sources at EventBridge Scheduler: without a database, and with a way to AWS. Now and
 * then it tells which there are, so that whoever has the database can see what differs.
 */
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { z } from "zod";
import { keepSchema, RUNS_QUEUE, type RunsMessage } from "../../shared/crawl/schedules/messages.ts";
import { createScheduleKeeper } from "../../shared/crawl/schedules/schedule-keeper.ts";
import { dynamoClient, schedulerClient } from "../../shared/platform/aws/clients.ts";
import { createStateTable } from "../../shared/platform/aws/state-table.ts";
import { once } from "../../shared/platform/once.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

/** There since the first source had a schedule: without it there is nothing to compare, and no database is woken. */
const EVER_KEPT = "sources#schedules";

const dependencies = once(() => {
  const container = createQueueContainer("source-schedules");
  const { schedulerGroup: group, schedulerTarget: targetArn, schedulerRole: roleArn, stateTable } = container.config;
  return {
    ...container,
    state: createStateTable(dynamoClient(), stateTable),
    keeper: createScheduleKeeper(schedulerClient(), { group, targetArn, roleArn }),
  };
});

const onMessage = createQueueHandler(dependencies, {
  schema: keepSchema,
  handle: async ({ keep }, { log }, { keeper, queues, state }) => {
    if (keep.expressions.length > 0) await state.put(EVER_KEPT, { kept: true });
    if (!(await keeper.keep(keep))) return log.info("a source has later schedules", { source_id: keep.source_id });
    const { source_id, version } = keep;
    await queues.send(RUNS_QUEUE, { kept: { source_id, version } } satisfies RunsMessage);
  },
});

const onSchedule = createInvokedHandler({
  schema: z.unknown(),
  handle: async () => {
    const { keeper, queues, state } = dependencies();
    if ((await state.read(EVER_KEPT)) === undefined) return { listed: 0 };
    const ranges = await keeper.list();
    await queues.sendAll(
      RUNS_QUEUE,
      ranges.map((listed): RunsMessage => ({ listed })),
    );
    return { listed: ranges.reduce((sum, { sources }) => sum + sources.length, 0) };
  },
});

const isQueueEvent = (event: unknown): event is SQSEvent =>
  typeof event === "object" && event !== null && "Records" in event;

export async function handler(event: unknown, context: Context): Promise<SQSBatchResponse | { listed: number }> {
  return isQueueEvent(event) ? await onMessage(event, context) : await onSchedule(event, context);
}
