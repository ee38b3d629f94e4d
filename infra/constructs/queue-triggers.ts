/** The queues of the topology as what wakes a function. */
import { Duration } from "aws-cdk-lib";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { StrandlineFunction } from "./strandline-function.ts";

/** @throws Error where the topology names no such queue */
export function listenToQueues({ spec, lambda }: StrandlineFunction, queues: ReadonlyMap<string, IQueue>): void {
  for (const { queue: name, batchSize, maxConcurrency, batchingWindowS } of spec.queues ?? []) {
    const queue = queues.get(name);
    if (queue === undefined) throw new Error(`${spec.name} listens to ${name}, which the topology does not name`);
    lambda.addEventSource(
      new SqsEventSource(queue, {
        batchSize,
        maxConcurrency,
        reportBatchItemFailures: true,
        ...(batchingWindowS === undefined ? {} : { maxBatchingWindow: Duration.seconds(batchingWindowS) }),
      }),
    );
  }
}
