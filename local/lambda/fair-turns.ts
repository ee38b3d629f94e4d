/**
 * Shares a queue fairly between jobs, as SQS does where messages name their group: whose turn was longest ago is next,
 * in order of arrival. The emulator drops the group, which is the job that the body names.
 */
interface Message {
  body: string;
}

export interface FairTurns {
  /** Puts those to the front whose turn it is next. */
  moveForward(messages: Message[], count: number): void;
}

/** Jobs whose last turn is remembered; beyond that all begin anew. */
const MOST_JOBS = 10_000;
const JOB_ID = /"jobId":"([^"]{1,100})"/;

export function createFairTurns(): FairTurns {
  const lastTurns = new Map<string, number>();
  const jobs = new WeakMap<Message, string>();
  let turn = 0;

  const jobOf = (message: Message): string => {
    let job = jobs.get(message);
    if (job === undefined) {
      job = JOB_ID.exec(message.body)?.[1] ?? "";
      jobs.set(message, job);
    }
    return job;
  };

  /** @param from messages before it have been chosen */
  const nextOf = (messages: readonly Message[], from: number): number => {
    let next = from;
    let longestAgo = Number.POSITIVE_INFINITY;
    for (let index = from; index < messages.length; index += 1) {
      const last = lastTurns.get(jobOf(messages[index] as Message)) ?? 0;
      if (last >= longestAgo) continue;
      [next, longestAgo] = [index, last];
      if (last === 0) break;
    }
    return next;
  };

  return {
    moveForward(messages, count) {
      if (lastTurns.size > MOST_JOBS) lastTurns.clear();
      for (let place = 0; place < Math.min(count, messages.length); place += 1) {
        const [message] = messages.splice(nextOf(messages, place), 1);
        if (message === undefined) return;
        messages.splice(place, 0, message);
        turn += 1;
        lastTurns.set(jobOf(message), turn);
      }
    },
  };
}
