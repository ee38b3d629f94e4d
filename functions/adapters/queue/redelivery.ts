/**
 * Middleware that decides what becomes of a message that could not be handled. A transient error returns it to its
 * queue with a growing delay; a permanent one sends it to the dead-letter queue at once; both are logged with their
 * cause.
 *
 * A service that is down says nothing of the message: then it is tried for as long as the queue allows, some six
 * minutes.
 */
import { ChangeMessageVisibilityCommand } from "@aws-sdk/client-sqs";
import type { MiddlewareObj } from "@middy/core";
import { PERMANENT_FAULT } from "../../../shared/platform/aws/queues.ts";
import { PermanentError, ThrottledError } from "../../../shared/platform/errors.ts";
import { isTransientError } from "../../../shared/platform/transient-errors.ts";
import type { ConsumerDependencies, Delivery } from "./delivery.ts";

/** `again`: the queue must deliver it once more. `dead`: the dead-letter queue has it. */
export type FailedDelivery = "again" | "dead";

const DEAD_LETTERS = "-dlq";
const FIRST_RETRY_S = 1;
export const LONGEST_RETRY_S = 60;
/** Deliveries of a message that fails by itself, and may be one of those that always will. */
const TRIES_OF_A_MESSAGE = 5;

export function redelivery(
  dependencies: ConsumerDependencies,
): MiddlewareObj<unknown, FailedDelivery, Error, Delivery> {
  return {
    onError: ({ error, context: delivery }) =>
      isFinal(error, delivery)
        ? sendToDeadLetters(dependencies, delivery, error)
        : returnToQueue(dependencies, delivery, error),
  };
}

function isFinal(error: unknown, { receiveCount, queue }: Delivery): boolean {
  if (error instanceof PermanentError) return true;
  return receiveCount >= TRIES_OF_A_MESSAGE && !isTransientError(error) && !queue.endsWith(DEAD_LETTERS);
}

async function sendToDeadLetters(
  { queues }: ConsumerDependencies,
  { queue, body, attributes, log }: Delivery,
  error: unknown,
): Promise<FailedDelivery> {
  log.error("message can never be handled: it goes to the dead-letter queue", { error });
  // what fails only for now is sent again from there; what can never be handled says so
  const verdict = error instanceof PermanentError ? { [PERMANENT_FAULT]: error.code } : {};
  try {
    await queues.sendRaw(queue + DEAD_LETTERS, body, { ...attributes, ...verdict });
    return "dead";
  } catch (sendError) {
    log.error("the dead-letter queue did not take the message: it is delivered again", { error: sendError });
    return "again";
  }
}

async function returnToQueue(
  { sqs, queueUrlPrefix }: ConsumerDependencies,
  { queue, receiptHandle: ReceiptHandle, receiveCount, log }: Delivery,
  error: unknown,
): Promise<FailedDelivery> {
  log.warn("message failed: it is delivered again", { error });
  const asked = error instanceof ThrottledError ? Math.ceil(error.retryAfterMs / 1000) : 0;
  const delay = Math.max(asked, FIRST_RETRY_S * 2 ** (receiveCount - 1));
  const VisibilityTimeout = Math.min(LONGEST_RETRY_S, delay);
  try {
    const QueueUrl = queueUrlPrefix + queue;
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
  } catch (visibilityError) {
    log.warn("the retry keeps the queue's own delay", { error: visibilityError });
  }
  return "again";
}
