/** As much of ECS as engines need, on loopback: tasks run as processes, and tell of themselves as ECS does. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { ACCOUNT, REGION } from "../aws/emulators.ts";
import { errorAnswer, type ServiceFront, startServiceFront } from "../front/service-front.ts";
import type { SignatureCheck } from "../front/signature.ts";
import { runTask, type Task } from "./task-run.ts";

export interface TaskServerOptions {
  port?: number;
  /** Of the callers. */
  signatures: SignatureCheck;
  /** Holds a folder for each task. */
  directory: string;
  /** The zimit program; empty: there is none. */
  command: string;
  /** Of all tasks: where the services are, and their credentials. */
  environment: () => Record<string, string>;
  /** Takes the events of tasks. */
  tell(event: unknown): void;
  onLine(line: string): void;
}

export interface TaskServer extends ServiceFront {
  /** Ends the tasks of a run as a machine that goes. */
  kill(startedBy: string): void;
}

const LARGEST_REQUEST_BYTES = 64 * 1024;

const runSchema = z.object({
  clientToken: z.string(),
  startedBy: z.string(),
  overrides: z
    .object({
      containerOverrides: z.array(
        z.object({ environment: z.array(z.object({ name: z.string(), value: z.string() })).default([]) }),
      ),
    })
    .optional(),
});
const stopSchema = z.object({ task: z.string(), reason: z.string().default("") });
const listSchema = z.object({ startedBy: z.string() });

interface Running {
  arn: string;
  startedBy: string;
  task: Task;
  stopReason: string | undefined;
}

export async function startTaskServer(options: TaskServerOptions): Promise<TaskServer> {
  /** By client token: asked for once more, a task is the same. */
  const tasks = new Map<string, Running>();
  const running = new Set<Running>();

  const tell = ({ arn, startedBy, stopReason }: Running, status: string, exitCodes: Record<string, number | null>) =>
    options.tell({
      "detail-type": "ECS Task State Change",
      source: "aws.ecs",
      detail: {
        taskArn: arn,
        lastStatus: status,
        startedBy,
        ...(status === "STOPPED" && {
          stopCode: stopReason === undefined ? "EssentialContainerExited" : "UserInitiated",
          stoppedReason: stopReason ?? "Essential container in task exited",
        }),
        containers: Object.entries(exitCodes).map(([name, exitCode]) => ({
          name,
          ...(exitCode === null ? {} : { exitCode }),
        })),
      },
    });

  const run = ({ clientToken, startedBy, overrides }: z.output<typeof runSchema>): Record<string, unknown> => {
    const known = tasks.get(clientToken);
    if (known !== undefined) return { tasks: [{ taskArn: known.arn }], failures: [] };
    if (options.command === "") return { tasks: [], failures: [{ reason: "ZIMIT__COMMAND is not set" }] };
    const id = randomUUID().replaceAll("-", "");
    const overridden = overrides?.containerOverrides.flatMap(({ environment }) => environment) ?? [];
    const task = runTask({
      directory: join(options.directory, id),
      command: options.command,
      environment: {
        ...options.environment(),
        ...Object.fromEntries(overridden.map(({ name, value }) => [name, value])),
      },
      onLine: options.onLine,
    });
    const arn = `arn:aws:ecs:${REGION}:${ACCOUNT}:task/local/${id}`;
    const entry: Running = { arn, startedBy, task, stopReason: undefined };
    tasks.set(clientToken, entry);
    running.add(entry);
    tell(entry, "RUNNING", {});
    void task.ended
      .catch((error: unknown) => {
        options.onLine(String(error));
        return { exitCodes: {} };
      })
      .then(({ exitCodes }) => {
        running.delete(entry);
        tell(entry, "STOPPED", exitCodes);
      });
    return { tasks: [{ taskArn: arn }], failures: [] };
  };

  const of = (name: string) => [...running].filter(({ startedBy }) => startedBy === name);

  const answer = (operation: string, input: unknown): Record<string, unknown> | undefined => {
    switch (operation) {
      case "RunTask":
        return run(runSchema.parse(input));
      case "StopTask": {
        const { task, reason } = stopSchema.parse(input);
        const entry = [...running].find(({ arn }) => arn === task);
        if (entry !== undefined && entry.stopReason === undefined) {
          entry.stopReason = reason;
          entry.task.stop();
        }
        return { task: { taskArn: task } };
      }
      case "ListTasks":
        return { taskArns: of(listSchema.parse(input).startedBy).map(({ arn }) => arn) };
      default:
        return undefined;
    }
  };

  const front = await startServiceFront({
    port: options.port ?? 0,
    service: "ecs",
    signatures: options.signatures,
    largestBodyBytes: LARGEST_REQUEST_BYTES,
    async answer({ headers, body }) {
      const operation = String(headers["x-amz-target"]).replace(/^.*\./, "");
      try {
        const answered = answer(operation, JSON.parse(body.toString("utf8")));
        if (answered === undefined) return errorAnswer(400, "InvalidAction", `The local ECS knows no ${operation}`);
        const contentType = { "content-type": "application/x-amz-json-1.1" };
        return { status: 200, headers: contentType, body: JSON.stringify(answered) };
      } catch (error) {
        return errorAnswer(400, "ClientException", String(error));
      }
    },
  });
  return {
    ...front,
    kill: (startedBy) => {
      for (const { task } of of(startedBy)) task.kill();
    },
    async stop() {
      for (const { task } of running) task.kill();
      await front.stop();
    },
  };
}
