/** Fires schedules when they are due. One timer for each, so an idle scheduler costs nothing. */
import { randomUUID } from "node:crypto";
import { ACCOUNT, REGION } from "../aws/emulators.ts";
import { parseExpression } from "./expression.ts";
import type { ScheduleStore } from "./schedule-store.ts";
import { type Schedule, scheduleArn } from "./schedules.ts";

export interface AlarmClock {
  /** Sets, moves or takes off the timer of a schedule that was changed. */
  update(schedule: Schedule): void;
  remove(schedule: Schedule): void;
  stop(): void;
}

/** What it knows the time by, and waits with. */
export interface SchedulerClock {
  /** In ms. */
  now(): number;
  /** @returns forgets it */
  after(ms: number, ring: () => void): () => void;
}

const SYSTEM_CLOCK: SchedulerClock = {
  now: Date.now,
  after(ms, ring) {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};

/** Invokes the target of a schedule. */
export type Fire = (targetArn: string, event: unknown) => void;

/** A timer holds 2^31 ms at most; a later one is set again on the way. */
const LONGEST_TIMER_MS = 24 * 3_600_000;
/** AWS drops an event that could not be delivered for so long. */
const DEFAULT_MAXIMUM_AGE_S = 86_400;

export function startAlarmClock(store: ScheduleStore, fire: Fire, clock: SchedulerClock = SYSTEM_CLOCK): AlarmClock {
  const timers = new Map<string, () => void>();

  const remove = (schedule: Schedule) => {
    timers.get(scheduleArn(schedule))?.();
    timers.delete(scheduleArn(schedule));
  };

  const set = (schedule: Schedule, after: number) => {
    remove(schedule);
    if (schedule.State === "DISABLED") return;
    const due = nextTime(schedule, after);
    if (due === undefined) return;
    const wait = Math.min(LONGEST_TIMER_MS, Math.max(0, due - clock.now()));
    timers.set(
      scheduleArn(schedule),
      clock.after(wait, () => (clock.now() < due ? set(schedule, after) : run(schedule, due))),
    );
  };

  const run = (schedule: Schedule, due: number) => {
    const last = isLast(schedule, due);
    if (last && schedule.ActionAfterCompletion === "DELETE") store.delete(schedule);
    else {
      schedule.firedAt = due;
      store.put(schedule);
    }
    fire(schedule.Target.Arn, eventOf(schedule, due));
    if (last) remove(schedule);
    else set(schedule, Math.max(due, clock.now()));
  };

  // what came due while nothing ran is late, once however often it did
  for (const schedule of store.all()) {
    const missed = schedule.State === "DISABLED" ? undefined : missedTime(schedule, clock.now());
    if (missed === undefined) set(schedule, clock.now());
    else run(schedule, missed);
  }
  return {
    update: (schedule) => set(schedule, clock.now()),
    remove,
    stop() {
      for (const cancel of timers.values()) cancel();
      timers.clear();
    },
  };
}

function nextTime(schedule: Schedule, after: number): number | undefined {
  const timetable = parseExpression(schedule.ScheduleExpression, schedule.ScheduleExpressionTimezone);
  if (timetable.once && schedule.firedAt !== undefined) return undefined;
  const start = (schedule.StartDate ?? schedule.CreationDate) * 1000;
  return timetable.next(after, { start, ...(schedule.EndDate === undefined ? {} : { end: schedule.EndDate * 1000 }) });
}

/** The latest time it should have fired at, where AWS would still try to deliver that. */
function missedTime(schedule: Schedule, now: number): number | undefined {
  const oldest = now - (schedule.Target.RetryPolicy?.MaximumEventAgeInSeconds ?? DEFAULT_MAXIMUM_AGE_S) * 1000;
  let after = Math.max(schedule.firedAt ?? 0, schedule.LastModificationDate * 1000, oldest);
  let missed: number | undefined;
  for (;;) {
    const time = nextTime(schedule, after);
    if (time === undefined || time > now) return missed;
    missed = time;
    after = time;
  }
}

function isLast(schedule: Schedule, due: number): boolean {
  const { once } = parseExpression(schedule.ScheduleExpression, schedule.ScheduleExpressionTimezone);
  return once || nextTime(schedule, due) === undefined;
}

/** The target's own input, with the context attributes filled in; else the event that Scheduler makes. */
function eventOf(schedule: Schedule, due: number): unknown {
  const id = randomUUID();
  const time = new Date(due).toISOString().replace(/\.\d+Z$/, "Z");
  const { Input } = schedule.Target;
  if (Input === undefined) return scheduledEvent(scheduleArn(schedule), id, time);
  const text = Input.replaceAll("<aws.scheduler.schedule-arn>", scheduleArn(schedule))
    .replaceAll("<aws.scheduler.scheduled-time>", time)
    .replaceAll("<aws.scheduler.execution-id>", id)
    .replaceAll("<aws.scheduler.attempt-number>", "1");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function scheduledEvent(arn: string, id: string, time: string) {
  return {
    version: "0",
    id,
    "detail-type": "Scheduled Event",
    source: "aws.scheduler",
    account: ACCOUNT,
    time,
    region: REGION,
    resources: [arn],
    detail: "{}",
  };
}
