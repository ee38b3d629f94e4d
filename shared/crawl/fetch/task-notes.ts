/** Tells the job of a task that it has begun, and what it waits for, where no captures tell it soon. */
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { HostWait } from "../politeness/host-wait.ts";
import type { FetchTask } from "../tasks/fetch-task.ts";
import type { TaskNote } from "../tasks/task-note.ts";

export interface TaskNotes {
  /** A request leaves. */
  requested(): void;
  /** Captures are on their way, and say as much. */
  delivered(): void;
  /** The task goes on later. */
  postponed(error: Error): void;
  /** To be called when the task has ended; waits for what is being sent. */
  close(): Promise<void>;
}

function waitIn(error: unknown): HostWait | undefined {
  if (error instanceof HostWait) return error;
  return error instanceof Error && error.cause !== undefined ? waitIn(error.cause) : undefined;
}

/** Captures that come sooner than this need no message before them. */
const ANNOUNCED_AFTER_MS = 300;

/** A note that cannot be sent is logged: it says nothing that captures will not say later. */
export function createTaskNotes(
  task: Pick<FetchTask, "jobId" | "host" | "announce">,
  { queues, clock, log }: { queues: QueueSender; clock: Clock; log: Logger },
): TaskNotes {
  let begunAt: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let told = !task.announce;
  let wait: HostWait | undefined;
  let sending: Promise<void> = Promise.resolve();

  const send = (waits: TaskNote["waits"]): void => {
    const note: TaskNote = { jobId: task.jobId, begunAt: told ? null : begunAt, waits };
    told ||= begunAt !== null;
    sending = sending
      .then(() => queues.send("captures", note))
      .catch((error: unknown) => log.warn("a note of the task could not be sent", { error }));
  };

  return {
    requested() {
      if (begunAt !== null) return;
      begunAt = new Date(clock.now()).toISOString();
      if (!told) timer = setTimeout(() => told || send(null), ANNOUNCED_AFTER_MS);
    },
    delivered() {
      told = true;
      clearTimeout(timer);
    },
    postponed(error) {
      if (wait !== undefined) return;
      wait = waitIn(error);
      if (wait === undefined) return;
      const { code, message, until } = wait;
      send({ host: task.host, code, message, until: new Date(until).toISOString() });
    },
    async close() {
      clearTimeout(timer);
      if (!told && begunAt !== null) send(null);
      await sending;
    },
  };
}
