/**
 * Empties queues that no trigger polls: a schedule names them, each is asked until it has nothing more, and the
 * messages go to the handler as a trigger's batches do. For queues that mostly have none: a trigger asks each five
 * times in 20 s, whatever comes.
 */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { z } from "zod";
import { DRAINED } from "../../../shared/platform/observability/drained.ts";
import type { Logger } from "../../../shared/platform/observability/log.ts";
import type { QueueHandler } from "./consumer.ts";
import type { ConsumerDependencies } from "./delivery.ts";
import { receiveRecords, removeRecords } from "./received.ts";

/** The most that SQS gives at once. */
const BATCH = 10;
/** All of SQS's servers are asked, not some of them. */
const WAIT_S = 1;
/** What is left goes on at the next run. */
const ENOUGH_MS = 25_000;

const drainSchema = z.object({ drain: z.array(z.string().min(1)).min(1) });
type DrainEvent = z.infer<typeof drainSchema>;

export type DrainingHandler = (
  event: SQSEvent | DrainEvent,
  context: Parameters<QueueHandler>[1],
) => Promise<SQSBatchResponse>;

/** @throws Error, from the handler, where messages stay in their queues since they could not be handled */
export function alsoDraining(dependencies: () => ConsumerDependencies, handler: QueueHandler): DrainingHandler {
  return async (event, context) => {
    if ("Records" in event) return await handler(event, context);
    const { drain } = drainSchema.parse(event);
    const shared = dependencies();
    const handled = async (records: SQSRecord[]) => await handler({ Records: records }, context);
    const isTime = () => context.getRemainingTimeInMillis() > ENOUGH_MS;
    const counts = await Promise.all(drain.map((queue) => drainOne(shared, queue, { handled, isTime })));
    report(shared.log, counts);
    return { batchItemFailures: [] };
  };
}

interface Counts {
  found: number;
  failed: number;
}

interface Drain {
  handled(records: SQSRecord[]): Promise<SQSBatchResponse>;
  isTime(): boolean;
}

async function drainOne(shared: ConsumerDependencies, queue: string, { handled, isTime }: Drain): Promise<Counts> {
  const counts: Counts = { found: 0, failed: 0 };
  while (isTime()) {
    const records = await receiveRecords(shared, queue, { most: BATCH, waitS: WAIT_S });
    if (records.length === 0) break;
    const { batchItemFailures } = await handled(records);
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const done = records.filter(({ messageId }) => !failed.has(messageId));
    if (done.length > 0) await removeRecords(shared, queue, done);
    counts.found += records.length;
    counts.failed += failed.size;
  }
  return counts;
}

function report(log: Logger, counts: readonly Counts[]): void {
  const sum = (of: keyof Counts) => counts.reduce((total, each) => total + each[of], 0);
  const found = sum("found");
  if (found > 0) log.measure("queues were emptied", DRAINED.fields({}, { messages: found }, Date.now()));
  if (sum("failed") > 0) throw new Error(`${sum("failed")} of ${found} messages could not be handled, and stay`);
}
