/**
 * Takes messages of a queue by itself, beside those that it has at work: for work that mostly waits, of which a worker
 * does much at once.
 */
import type { SQSRecord } from "aws-lambda";
import { systemClock } from "../../../shared/platform/clock.ts";
import type { QueueHandler } from "./consumer.ts";
import type { ConsumerDependencies } from "./delivery.ts";
import { receiveRecords, removeRecords } from "./received.ts";
import { LONGEST_RETRY_S } from "./redelivery.ts";

export interface QueueWork {
  queue: string;
  /** Messages at work at once, at the most. */
  most: number;
  /** How long one question waits for a message, in seconds, 1 to 20: so long an idle worker outlives its work. */
  waitS: number;
  /** For how long a message is hidden from others, in seconds; the queue's own time where it is left out. */
  hiddenS?: () => number;
  /** Given one message at a time, as a trigger with batches of one does. */
  handler: QueueHandler;
  context: Parameters<QueueHandler>[1];
  /** Whether more may be taken. */
  takesMore(): boolean;
  /** Whether it goes on where there is nothing to do, for as long as it takes more. */
  stays?: boolean;
  /** Told of the messages at work whenever it changes. */
  onRunning?: (count: number) => void;
}

/** The most that SQS gives at once. */
const BATCH = 10;
const AFTER_FAULT_MS = 1_000;

/**
 * Ends once nothing is at work and the queue had nothing more, or no more may be taken.
 * @throws what SQS throws, where nothing is at work that would have to be finished
 */
export async function workQueue(shared: ConsumerDependencies, work: QueueWork): Promise<void> {
  const { queue, most, stays = false } = work;
  const running = new Set<Promise<void>>();
  /** Messages that failed, which nobody else listens for, with the epoch ms until which they come again. */
  const failed = new Map<string, number>();
  const expectsMore = (): boolean => Math.max(0, ...failed.values()) > Date.now();

  const finish = async (record: SQSRecord): Promise<void> => {
    failed.delete(record.messageId);
    try {
      const { batchItemFailures } = await work.handler({ Records: [record] }, work.context);
      if (batchItemFailures.length === 0) await removeRecords(shared, queue, [record]);
      else failed.set(record.messageId, Date.now() + LONGEST_RETRY_S * 1000);
    } catch (error) {
      // it comes again where it was not done, and is a duplicate where it was
      shared.log.error("a message was left to its queue", { error, queue, message_id: record.messageId });
    }
  };
  const begin = (record: SQSRecord): void => {
    const one = finish(record).finally(() => {
      running.delete(one);
      work.onRunning?.(running.size);
    });
    running.add(one);
    work.onRunning?.(running.size);
  };
  const take = async (room: number): Promise<number> => {
    const asking = { most: Math.min(BATCH, room), waitS: work.waitS };
    const records = await receiveRecords(shared, queue, work.hiddenS ? { ...asking, hiddenS: work.hiddenS() } : asking);
    for (const record of records) begin(record);
    return records.length;
  };
  const takeOrWait = async (room: number): Promise<number> => {
    try {
      return await take(room);
    } catch (error) {
      if (running.size === 0 && !stays) throw error;
      shared.log.warn("a queue could not be asked for more", { error, queue });
      await systemClock.sleep(AFTER_FAULT_MS);
      return 0;
    }
  };

  for (;;) {
    const room = most - running.size;
    if (work.takesMore() && room > 0) {
      const taken = await takeOrWait(room);
      if (taken === 0 && running.size === 0 && !stays && !expectsMore()) return;
    } else {
      if (running.size === 0) return;
      await Promise.race(running);
    }
  }
}
