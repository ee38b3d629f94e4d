/** A queue of the topology with its dead-letter queue, and how other stacks name them. */
import { Duration, Stack } from "aws-cdk-lib";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import { deadLetterQueue, type QueueSpec, visibilityTimeoutS } from "../topology/spec.ts";
import { TOPOLOGY } from "../topology.ts";

/** The longest that SQS keeps a message. */
const RETENTION = Duration.days(14);

/**
 * @param prefix of the names
 * @returns both, by their names in the topology
 */
export function createQueuePair(scope: Construct, prefix: string, spec: QueueSpec): [string, Queue][] {
  const { name, maxReceiveCount } = spec;
  const common = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, retentionPeriod: RETENTION };
  const visibilityTimeout = (queue: string) => Duration.seconds(visibilityTimeoutS(TOPOLOGY, queue));
  const dead = deadLetterQueue(name);
  const deadLetters = new Queue(scope, `queue-${dead}`, {
    ...common,
    queueName: `${prefix}-${dead}`,
    visibilityTimeout: visibilityTimeout(dead),
  });
  acknowledge(deadLetters, ["SQS3"], "This is a dead-letter queue; its own consumer and an alarm watch it");
  const queue = new Queue(scope, `queue-${name}`, {
    ...common,
    queueName: `${prefix}-${name}`,
    visibilityTimeout: visibilityTimeout(name),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount },
  });
  return [
    [name, queue],
    [dead, deadLetters],
  ];
}

/**
 * Every queue as the stacks name it that do not make it: by what it is called, so that a queue may go while another
 * stack still knows it. An export would hold it there, and with it the whole deployment.
 */
export function queuesByName(scope: Construct, prefix: string): Map<string, IQueue> {
  const arnOf = (name: string) => Stack.of(scope).formatArn({ service: "sqs", resource: `${prefix}-${name}` });
  return new Map(
    TOPOLOGY.queues
      .flatMap(({ name }) => [name, deadLetterQueue(name)])
      .map((name) => [name, Queue.fromQueueArn(scope, `named-${name}`, arnOf(name))]),
  );
}
