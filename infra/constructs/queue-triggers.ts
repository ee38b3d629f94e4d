/** The queues of the topology as what wakes a function. */
import { Duration } from "aws-cdk-lib";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import type { StrandlineFunction, Surroundings } from "./strandline-function.ts";

/** The fewest that SQS takes. */
const FEWEST_AT_ONCE = 2;

/** @throws Error where the topology names no such queue */
export function listenToQueues({ spec, lambda }: StrandlineFunction, { queues, settings }: Surroundings): void {
  for (const { queue: name, batchSize, maxConcurrency, batchingWindowS, drainedEveryMinutes } of spec.queues ?? []) {
    const queue = queues.get(name);
    if (queue === undefined) throw new Error(`${spec.name} listens to ${name}, which the topology does not name`);
    if (drainedEveryMinutes !== undefined) continue;
    lambda.addEventSource(
      new SqsEventSource(queue, {
        batchSize,
        maxConcurrency: settings.size === "small" ? FEWEST_AT_ONCE : maxConcurrency,
        reportBatchItemFailures: true,
        ...(batchingWindowS === undefined ? {} : { maxBatchingWindow: Duration.seconds(batchingWindowS) }),
      }),
    );
  }
}
