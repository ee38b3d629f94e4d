/**
 * Queues in the memory of this process, for tests whose point is not the queue. No test waits for a delay: their clock
 * skips it.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { QueueSender } from "../../shared/platform/aws/queues.ts";

export interface MemoryQueues extends QueueSender {
  /**
   * Takes up to ten messages, parsed from JSON. Where none is ready, the clock goes on to the first whose delay ends
   * within `withinS` seconds.
   */
  receive(queue: string, withinS?: number): Promise<unknown[]>;
  /** How many messages of a queue nobody has taken. */
  waiting(queue: string): number;
  /** How many messages of a queue have a delay that is not over. */
  delayed(queue: string): number;
  /** Epoch ms by the clock of these queues. */
  now(): number;
}

interface Message {
  body: string;
  /** By the clock of the queues. */
  readyAt: number;
}

/** What SQS hands out at once, and the longest delay that it takes. */
const BATCH_SIZE = 10;
const LONGEST_DELAY_S = 900;

export function memoryQueues(): MemoryQueues {
  const messages = new Map<string, Message[]>();
  let skippedMs = 0;
  const now = () => Date.now() + skippedMs;
  const of = (queue: string): Message[] => {
    const known = messages.get(queue) ?? [];
    messages.set(queue, known);
    return known;
  };
  const put = (queue: string, body: string, delayS = 0): void => {
    of(queue).push({ body, readyAt: now() + Math.min(LONGEST_DELAY_S, Math.ceil(delayS)) * 1000 });
  };
  return {
    async send(queue, message, delayS) {
      put(queue, JSON.stringify(message), delayS);
    },
    async sendRaw(queue, body) {
      put(queue, body);
    },
    async sendAll(queue, all) {
      for (const message of all) put(queue, JSON.stringify(message));
    },
    async receive(queue, withinS = 0) {
      const first = Math.min(...of(queue).map(({ readyAt }) => readyAt));
      const waitMs = first - now();
      if (waitMs > 0 && waitMs <= withinS * 1000) skippedMs += waitMs;
      const at = now();
      const taken = of(queue)
        .filter(({ readyAt }) => readyAt <= at)
        .slice(0, BATCH_SIZE);
      messages.set(
        queue,
        of(queue).filter((message) => !taken.includes(message)),
      );
      // those who ask again and again leave time for what they wait for
      if (taken.length === 0) await delay(1);
      return taken.map(({ body }) => JSON.parse(body) as unknown);
    },
    waiting: (queue) => of(queue).length,
    delayed: (queue) => of(queue).filter(({ readyAt }) => readyAt > now()).length,
    now,
  };
}
