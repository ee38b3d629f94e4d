/**
 * Lambda's own queue of asynchronous invocations, for schedules: an event that was accepted survives a kill, and one
 * that fails is tried again.
 */
import { randomUUID } from "node:crypto";
import type { FunctionSpec, Topology } from "../../infra/topology/spec.ts";
import { ACCOUNT, REGION } from "../aws/emulators.ts";
import { type Fauxqs, SqsStore } from "../aws/fauxqs.ts";
import { scheduledEvent } from "../scheduler/alarm-clock.ts";
import type { PollTrigger } from "./queue-poller.ts";

export interface AsyncEvents {
  /** Accepts an event for a function. */
  send(functionName: string, event: unknown): void;
  /** Events of a function that nobody has taken yet. */
  waiting(functionName: string): number;
}

const queueName = (functionName: string) => `async-invocations-${functionName}`;

/** What a function's poller takes besides its queues. */
export const asyncTrigger = (spec: FunctionSpec): PollTrigger => ({
  queue: queueName(spec.name),
  batchSize: 1,
  maxConcurrency: spec.localContainers,
  asynchronous: true,
});

export function createAsyncEvents({ queues }: Fauxqs, topology: Topology): AsyncEvents {
  for (const { name, timeoutS } of topology.functions) {
    if (queues.getQueueByName(queueName(name))) continue;
    const arn = `arn:aws:sqs:${REGION}:${ACCOUNT}:${queueName(name)}`;
    // longer than the function runs: it is put back when that failed
    const attributes = { VisibilityTimeout: String(6 * timeoutS) };
    queues.createQueue(queueName(name), `http://127.0.0.1/${ACCOUNT}/${queueName(name)}`, arn, attributes);
  }
  return {
    send(functionName, event) {
      const queue = queues.getQueueByName(queueName(functionName));
      if (queue === undefined) throw new Error(`The topology names no function ${functionName}`);
      queue.enqueue(SqsStore.createMessage(JSON.stringify(event)));
    },
    waiting: (functionName) => queues.getQueueByName(queueName(functionName))?.messages.length ?? 0,
  };
}

/** Soon after the start: what a killed runtime left undone waits for the sweep. */
const FIRST_TICK_MS = 2_000;
/** From one function to the next, so that one warm thread runs them all: at once, each would start its own. */
const APART_MS = 4_000;

/**
 * Runs the topology's own schedules, one after the other in its order. A tick is left out while the one before still
 * waits.
 * @returns stops them
 */
export function startTicking(topology: Topology, events: AsyncEvents): () => void {
  const timers = new Set<NodeJS.Timeout>();
  let place = 0;
  for (const { name: functionName, schedules = [] } of topology.functions) {
    for (const { name, everyMinutes } of schedules) {
      const arn = `arn:aws:scheduler:${REGION}:${ACCOUNT}:schedule/default/${name}`;
      const tick = () => {
        if (events.waiting(functionName) > 0) return;
        events.send(functionName, scheduledEvent(arn, randomUUID(), new Date().toISOString().replace(/\.\d+Z$/, "Z")));
      };
      const everyMs = everyMinutes * 60_000;
      const start = () => {
        tick();
        timers.add(setInterval(tick, everyMs));
      };
      timers.add(setTimeout(start, Math.min(FIRST_TICK_MS + place * APART_MS, everyMs)));
      place++;
    }
  }
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
