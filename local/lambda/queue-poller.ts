/**
 * Queues to functions. There is no polling: the queues live in this process, so a function's poller is woken when a
 * message arrives or falls due, takes as many as there are containers for, and otherwise costs nothing.
 */
import type { QueueTrigger } from "../../infra/topology/spec.ts";
import type { SqsStore } from "../aws/fauxqs.ts";
import { SAMPLE_MS } from "./container.ts";
import { eventsPerContainer } from "./container-group.ts";
import { createFairTurns, type FairTurns } from "./fair-turns.ts";
import type { FunctionPool, Slot } from "./function-pool.ts";
import { InvocationError } from "./invocation.ts";
import { type Delivered, failuresOf, type SqsQueue, takeBatch } from "./sqs-event.ts";

export interface PollTrigger extends QueueTrigger {
  /**
   * The message is the event itself, as in Lambda's own queue of asynchronous invocations; its answer means nothing.
   */
  asynchronous?: true;
}

export interface PollerOptions {
  pool: FunctionPool;
  /** The most wanted first. */
  triggers: readonly PollTrigger[];
  queues: SqsStore;
  /** Invokes the function twice, at once, with the same records, as SQS may. */
  deliverTwice: boolean;
  onCall(operation: string): void;
  onFault(error: unknown): void;
}

export interface Poller {
  /** Takes no more messages. */
  stop(): void;
}

interface Source {
  trigger: PollTrigger;
  queue: SqsQueue;
  turns: FairTurns;
  /** Batches that run now. */
  running: number;
  /** Since when a batch waits to fill, Unix time in ms. */
  fillingSince: number | undefined;
}

/** One batch in so many is taken from the least wanted queue that has one, so that it is slow but never starves. */
const TURN_OF_THE_LEAST = 10;
const ASYNC_ATTEMPTS = 3;
const AFTER_FAULT_MS = 1_000;
/** Until what may have fallen with another event of its thread comes again, in seconds. */
const AFTER_SHARED_CRASH_S = 1;
/** Longest wait of one timer; further ahead it is set again. */
const LONGEST_TIMER_MS = 24 * 3_600_000;

export function startPoller(options: PollerOptions): Poller {
  const { pool, queues } = options;
  const sources = options.triggers.map((trigger): Source => {
    const queue = queues.getQueueByName(trigger.queue);
    if (queue === undefined)
      throw new Error(`The topology declares no queue ${trigger.queue}, which ${pool.spec.name} consumes`);
    return { trigger, queue, turns: createFairTurns(), running: 0, fillingSince: undefined };
  });
  let stopped = false;
  let woken = false;
  let turn = 0;
  let timer: NodeJS.Timeout | undefined;

  const wake = (): void => {
    if (woken || stopped) return;
    woken = true;
    setImmediate(() => {
      woken = false;
      if (stopped) return;
      try {
        work();
      } catch (error) {
        options.onFault(error);
        timer = setTimeout(wake, AFTER_FAULT_MS);
      }
    });
  };

  /** What is most wanted goes into any thread, however busy; what is wanted less into one that mostly waits. */
  const slotFor = (source: Source): Slot | undefined => pool.tryAcquire(source === sources[0] ? "any" : "calm");

  const work = (): void => {
    clearTimeout(timer);
    for (const { queue } of sources) queue.processTimers();
    for (;;) {
      const order = (turn + 1) % TURN_OF_THE_LEAST === 0 ? sources.toReversed() : sources;
      // only for a batch: a slot that is taken and given back wakes this poller again
      const [source, slot] = firstOf(order.filter(hasBatch), slotFor) ?? [];
      if (source === undefined || slot === undefined) break;
      turn += 1;
      source.fillingSince = undefined;
      const { queue, trigger, turns } = source;
      const onCall = () => {
        if (!trigger.asynchronous) options.onCall("ReceiveMessage");
      };
      const batch = takeBatch(queue, queues, { batchSize: trigger.batchSize, turns, onCall });
      // everything that was due may have gone to the dead-letter queue
      if (batch.length === 0) slot.release();
      else if (trigger.asynchronous) for (const one of batch) void deliverAsync(source, one, slot);
      else void deliver(source, batch, slot);
    }
    const calmAt = !pool.full && sources.some(hasBatch) ? Date.now() + SAMPLE_MS : Number.POSITIVE_INFINITY;
    const due = Math.min(calmAt, ...sources.map(nextDue));
    if (due !== Number.POSITIVE_INFINITY) {
      timer = setTimeout(wake, Math.min(LONGEST_TIMER_MS, Math.max(1, due - Date.now())));
    }
  };

  const deliver = async (source: Source, batch: readonly Delivered[], slot: Slot): Promise<void> => {
    source.running += 1;
    try {
      const failed = await invoke(source, batch, slot, options);
      for (const { handle, message } of batch) {
        if (!failed(message.messageId)) source.queue.deleteMessage(handle);
      }
      options.onCall("DeleteMessageBatch");
    } catch (error) {
      // nothing is deleted: the messages come back after their visibility timeout
      options.onFault(error);
      if (hasFallenWithOthers(error, pool)) {
        for (const { handle } of batch) source.queue.changeVisibility(handle, AFTER_SHARED_CRASH_S);
      }
    } finally {
      source.running -= 1;
      wake();
    }
  };

  /** Lambda tries an asynchronous event three times, a minute and then two minutes apart, and drops it then. */
  const deliverAsync = async (source: Source, { handle, message }: Delivered, slot: Slot): Promise<void> => {
    source.running += 1;
    try {
      await slot.invoke(JSON.parse(message.body));
      source.queue.deleteMessage(handle);
    } catch (error) {
      options.onFault(error);
      const attempt = Number(message.attributes.ApproximateReceiveCount);
      const stopping = error instanceof InvocationError && error.fault === "stopped";
      if (stopping) return;
      if (attempt < ASYNC_ATTEMPTS) source.queue.changeVisibility(handle, 60 * attempt);
      else source.queue.deleteMessage(handle);
    } finally {
      source.running -= 1;
      wake();
    }
  };

  for (const { queue } of sources) onChange(queue, wake);
  pool.onFree(wake);
  wake();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** The first item for which there is something, with it. */
function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): [T, R] | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return [item, found];
  }
  return undefined;
}

/** On AWS each event has a container to itself: one that crashes takes no other with it. */
const hasFallenWithOthers = (error: unknown, { spec }: FunctionPool): boolean =>
  eventsPerContainer(spec) > 1 && error instanceof InvocationError && error.fault === "crash";

/** Calls back after anything that may make a message available, now or at a later time. */
function onChange(queue: SqsQueue, callback: () => void): void {
  const enqueue = queue.enqueue.bind(queue);
  queue.enqueue = (message) => {
    enqueue(message);
    callback();
  };
  const changeVisibility = queue.changeVisibility.bind(queue);
  queue.changeVisibility = (handle, seconds) => {
    changeVisibility(handle, seconds);
    callback();
  };
}

function hasBatch(source: Source): boolean {
  const { trigger, queue } = source;
  if (queue.messages.length === 0 || source.running >= trigger.maxConcurrency) return false;
  if (queue.messages.length >= trigger.batchSize || trigger.batchingWindowS === undefined) return true;
  source.fillingSince ??= Date.now();
  return Date.now() >= source.fillingSince + trigger.batchingWindowS * 1000;
}

function nextDue({ trigger, queue, fillingSince }: Source): number {
  let due = Number.POSITIVE_INFINITY;
  for (const { delayUntil } of queue.delayedMessages) due = Math.min(due, delayUntil ?? due);
  for (const { visibilityDeadline } of queue.inflightMessages.values()) due = Math.min(due, visibilityDeadline);
  if (fillingSince !== undefined) due = Math.min(due, fillingSince + (trigger.batchingWindowS ?? 0) * 1000);
  return due;
}

/** @returns which messages must be delivered again */
async function invoke(
  { trigger }: Source,
  batch: readonly Delivered[],
  slot: Slot,
  { pool, deliverTwice }: PollerOptions,
): Promise<(messageId: string) => boolean> {
  const event = { Records: batch.map(({ message }) => message) };
  const runs = [slot.invoke(event)];
  if (deliverTwice) runs.push(pool.invoke(event));
  const outcomes = await Promise.allSettled(runs);
  const failures = outcomes.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return failuresOf(outcome.value, trigger.queue, pool.spec.name);
  });
  return (messageId) => failures.some((failed) => failed(messageId));
}
