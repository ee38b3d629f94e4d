/** A queue of the topology with its dead-letter queue. */
import { Duration } from "aws-cdk-lib";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
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
