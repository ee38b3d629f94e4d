/** Messages between whoever knows of runs, and whoever starts and stops the tasks that they run in. */
import { z } from "zod";

/** To the side that may start tasks. */
export const TASKS_QUEUE = "engine-tasks";

const run = z.object({ runId: z.number().int() });
export const taskOrderSchema = z.discriminatedUnion("do", [
  run.extend({ do: z.literal("start"), prefix: z.string() }),
  run.extend({ do: z.literal("stop"), reason: z.string() }),
]);
export type TaskOrder = z.output<typeof taskOrderSchema>;

/** What became of an order. */
const outcomeSchema = z.object({
  runId: z.number().int(),
  taskId: z.string().nullable(),
  failure: z.string().nullable(),
});
export type TaskOutcome = z.output<typeof outcomeSchema>;

/** As much of an event of ECS as concerns us. */
const stateChangeSchema = z.object({
  "detail-type": z.literal("ECS Task State Change"),
  detail: z.object({
    taskArn: z.string(),
    lastStatus: z.string(),
    startedBy: z.string().optional(),
    stopCode: z.string().optional(),
    stoppedReason: z.string().optional(),
    containers: z
      .array(z.object({ name: z.string(), exitCode: z.number().int().optional(), reason: z.string().optional() }))
      .default([]),
  }),
});

export const taskEventSchema = z.union([outcomeSchema, stateChangeSchema]);
export type TaskEvent = z.output<typeof taskEventSchema>;

export const EVENTS_QUEUE = "engine-events";

const STARTED_BY = /^run-(\d{1,15})$/;
/** How a task names its run. */
export const startedBy = (runId: number): string => `run-${runId}`;
export const runOf = (name: string | undefined): number | undefined => {
  const [, id] = STARTED_BY.exec(name ?? "") ?? [];
  return id === undefined ? undefined : Number(id);
};

export interface EngineTasks {
  /**
   * The same run twice is one task.
   * @returns its id, or why there is none
   */
  start(runId: number, prefix: string): Promise<{ taskId: string } | { failure: string }>;
  /** Does nothing where none runs. */
  stop(runId: number, reason: string): Promise<void>;
}

/**
 * Does what a message orders.
 * @returns what is to be told of it
 */
export async function obey(tasks: EngineTasks, order: TaskOrder): Promise<TaskOutcome | undefined> {
  if (order.do === "stop") {
    await tasks.stop(order.runId, order.reason);
    return undefined;
  }
  const started = await tasks.start(order.runId, order.prefix);
  return {
    runId: order.runId,
    taskId: "taskId" in started ? started.taskId : null,
    failure: "failure" in started ? started.failure : null,
  };
}
