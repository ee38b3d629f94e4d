/**
 * The one way to consume a queue: each message is parsed, handled and answered for by itself, while the others of its
 * batch go on.
 *
 * @example
 * export const handler = createQueueHandler(dependencies, {
 *   schema: thingSchema,
 *   handle: async (thing, { log }, { sql }) => await keepThing({ sql, log }, thing),
 * });
 */
import middy from "@middy/core";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { z } from "zod";
import { failureLog } from "../middleware/failure-log.ts";
import { NO_EARLY_END } from "../middleware/options.ts";
import { parsed } from "../middleware/parsed.ts";
import { type ConsumerDependencies, type Delivery, deliveryOf } from "./delivery.ts";
import { type FailedDelivery, redelivery } from "./redelivery.ts";

export interface QueueConsumer<Message, Dependencies> {
  schema: z.ZodType<Message>;
  /** What the schema is given: the parsed body by default, or the body as it stands. */
  body?: "json" | "text";
  handle(message: Message, delivery: Delivery, dependencies: Dependencies): Promise<void>;
}

type Invocation = Pick<Context, "getRemainingTimeInMillis"> & Partial<Pick<Context, "functionName">>;
export type QueueHandler = (event: SQSEvent, context: Invocation) => Promise<SQSBatchResponse>;

/** @param dependencies called for every batch; builds what the container keeps at the first call */
export function createQueueHandler<Message, Dependencies extends ConsumerDependencies>(
  dependencies: () => Dependencies | Promise<Dependencies>,
  { schema, body = "json", handle }: QueueConsumer<Message, Dependencies>,
): QueueHandler {
  const handler = middy<SQSEvent, SQSBatchResponse, Error, Invocation>(NO_EARLY_END)
    .use(failureLog())
    .handler(async ({ Records }, context) => {
      const shared = await dependencies();
      const handleOne = middy<unknown, FailedDelivery | undefined, Error, Delivery>(NO_EARLY_END)
        .use(parsed<Delivery>({ schema, from: body === "json" ? "json" : "value" }))
        .use(redelivery(shared))
        .handler(async (message, delivery) => void (await handle(message as Message, delivery, shared)));
      const outcomes = await Promise.all(
        Records.map((record) =>
          handleOne(
            record.body,
            deliveryOf(record, shared, () => context.getRemainingTimeInMillis()),
          ),
        ),
      );
      const again = Records.filter((_, index) => outcomes[index] === "again");
      return { batchItemFailures: again.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });
  return async (event, context) => await handler(event, context);
}
