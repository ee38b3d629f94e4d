/** What a runtime that ended left half done, made ready for the one that starts. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createTaskLeases } from "../shared/crawl/fetch/task-lease.ts";
import { createHostStates } from "../shared/crawl/politeness/host-state.ts";
import { freeInterruptedWork } from "../shared/crawl/recovery/restart.ts";
import { createJobFlags } from "../shared/crawl/tasks/job-flags.ts";
import { connectDatabase } from "../shared/platform/database/database.ts";
import type { SqsStore } from "./aws/fauxqs.ts";

export interface LeftBehind {
  databaseUrl: string;
  dynamo: DynamoDBClient;
  stateTable: string;
  queues: SqsStore;
}

export async function freeLeftBehind({ databaseUrl, dynamo, stateTable, queues }: LeftBehind): Promise<void> {
  const sql = connectDatabase({ url: databaseUrl, poolSize: 1 });
  const items = DynamoDBDocumentClient.from(dynamo);
  try {
    await freeInterruptedWork(
      {
        sql,
        leases: createTaskLeases(items, stateTable),
        hosts: createHostStates(items, stateTable),
        flags: createJobFlags(items, stateTable),
      },
      tasksInQueues(queues),
    );
  } finally {
    await sql.end();
  }
}

/** Tasks that a message of any queue speaks of, dead-letter queues included. */
function tasksInQueues(queues: SqsStore): Set<string> {
  const tasks = new Set<string>();
  for (const { messages, delayedMessages } of queues.allQueues()) {
    for (const { body } of [...messages, ...delayedMessages]) {
      const taskId = taskIdOf(body);
      if (taskId !== undefined) tasks.add(taskId);
    }
  }
  return tasks;
}

function taskIdOf(body: string): string | undefined {
  try {
    const message = JSON.parse(body) as { taskId?: unknown } | null;
    return typeof message?.taskId === "string" ? message.taskId : undefined;
  } catch {
    // a poison message asks for nothing
    return undefined;
  }
}
